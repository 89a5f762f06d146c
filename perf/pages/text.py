"""How numbers and tables are written."""


def ms(value):
    return "-" if value is None else f"{value:.4f}"


def ratio(over, under):
    return "-" if not over or not under else f"{over / under:.2f}"


def short(kernel):
    """A peer's id without the name of the peer."""
    if not kernel:
        return "-"
    return kernel["id"] if kernel["family"] == "blockspan" else kernel["id"].split("/", 1)[-1]


def name(case):
    return f"`{case['matrix']}` {case['scalar']} n = {case['columns']}"


def cell(value):
    return str(value).split("\n")[0].replace("|", "\\|")


def table(head, rows):
    """Text in the first column, numbers and text as they come in the others."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows] + [""]


def listing(items, none="None."):
    return [f"- {item}" for item in items] + [""] if items else [none, ""]
