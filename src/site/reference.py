"""Pages of the reference that are made of the headers: of C++ one a room, of C one for blockspan.h."""

import re
from pathlib import Path

# The rooms that a caller meets, in the order of a first visit, and what each is for.
ROOMS = {
    "spmm": "Products",
    "solvers": "Solvers",
    "multigrid": "Multigrid",
    "operators": "Operators and preconditioners",
    "sparse": "Matrices",
    "multivector": "Blocks of vectors",
    "distributed": "Matrices on ranks",
    "communication": "Ranks",
    "blocks": "Blocks and workspaces",
    "support": "Errors, memory and scalars",
}


def headers(root):
    """A page a room with its public headers."""
    pages = {}
    for room, title in ROOMS.items():
        found = [
            header
            for header in sorted((root / "src/blockspan" / room).glob("*.hpp"))
            if "\nnamespace blockspan {" in header.read_text("utf-8")
        ]  # else for rooms alone
        lines = [f"# {title}", "", f"Headers of `blockspan/{room}/`.", ""]
        for header in found:
            name = f"blockspan/{room}/{header.name}"
            lines += [
                f"## {header.stem}",
                "",
                f"`#include <{name}>`",
                "",
                "```{doxygenfile} " + name,
                "```",
                "",
            ]
        pages[Path("reference/cpp") / f"{room}.md"] = "\n".join(lines)
    return pages


def statuses(root):
    """The statuses with what their header says of them, as a table."""
    text = (root / "src/blockspan/solvers/status.hpp").read_text("utf-8")
    listed = re.search(r"enum class Status \{\n(.*?)\};", text, re.S)[1]
    listed = re.sub(r"\n\s+///<", "", listed)  # comments of several lines
    rows = [
        f"| `{name}` | {' '.join(said.split())} |".replace("||", "\\|\\|")
        for name, said in re.findall(r"(\w+),\s*///<(.*)", listed)
    ]
    lines = [
        "# Statuses",
        "",
        "Why a solve stopped, and the state of one pair or column, with what to do next.",
        "",
        "| status | meaning |",
        "|---|---|",
        *rows,
        "",
    ]
    return {Path("reference/statuses.md"): "\n".join(lines)}


def name_files_by_path(xml):
    """Doxygen's index knows files by their last names alone, and Breathe looks there: paths instead."""
    index = (xml / "index.xml").read_text("utf-8")

    def path(found):
        location = re.findall(
            r'<location file="([^"]+)"', (xml / f"{found[2]}.xml").read_text("utf-8")
        )
        return f"{found[1]}<name>{location[-1]}</name>"

    index = re.sub(r'(<compound refid="([^"]+)" kind="file">)<name>[^<]+</name>', path, index)
    (xml / "index.xml").write_text(index, "utf-8")


def c_header(root):
    """blockspan.h by its sections, `/* ---- name ---- */`."""
    text = (root / "src/c/include/blockspan.h").read_text("utf-8")
    parts = re.split(r"^/\* -{4} (.+?) -+ \*/\n", text, flags=re.M)
    titles = ["What all of it has in common", *parts[1::2]]
    lines = ["# C", "", "The header is the reference, and this page is the header.", ""]
    for title, code in zip(titles, parts[0::2]):
        lines += [f"## {title[0].upper()}{title[1:]}", "", "```c", code.strip(), "```", ""]
    return {Path("reference/c.md"): "\n".join(lines)}
