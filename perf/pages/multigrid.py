"""The sections of the study `multigrid` that are no table of solvers: levels, setup and refresh by phase,
cycles beside their floor, growth with the size."""

from pages.results import median, with_id
from pages.text import ms, ratio, table
from pages.values import fault

PRECONDITIONERS = {"multigrid": "multigrid", "chebyshev:8": "Chebyshev", "jacobi": "Jacobi"}


def hierarchies(results):
    return [case for case in results["cases"] if case.get("task") == "hierarchy" and "kernels" in case]


def level_section(cases):
    rows = []
    for case in cases:
        report = case["multigrid"]
        for number, level in enumerate(report["levels"]):
            last = level is report["levels"][-1]
            whole = [f"`{case['matrix']}`", report["status"], f"{report['complexity']:.2f}",
                     f"{report['products']:.1f}", report["near_null"]]
            rows.append([*(whole if number == 0 else [""] * 5), number, level["rows"],
                         level["nonzeros"], f"{level['nonzeros'] / max(level['rows'], 1):.1f}",
                         "-" if last else level["aggregates"],
                         "-" if last else level["prolongator_nonzeros"]])
    head = ["matrix", "status", "complexity", "products a cycle", "near-null vectors", "level", "rows",
            "nonzeros", "a row", "aggregates", "nonzeros of P"]
    return ["## Levels", "", *table(head, rows)]


def setup_section(cases):
    def phases(kernel):
        return kernel["solver"]["phases"]
    kernels = [(case, with_id(case, what)) for case in cases for what in ("setup", "refresh")]
    kernels = [(case, kernel) for case, kernel in kernels if kernel]
    names = list(dict.fromkeys(phase for _, kernel in kernels for phase in phases(kernel)))
    rows = [[f"`{case['matrix']}`", kernel["id"], ms(median(kernel)) if median(kernel) else fault(kernel),
             *(ms(phases(kernel).get(phase)) for phase in names)] for case, kernel in kernels]
    return ["## Setup and refresh by phase", "",
            "The median of the whole; phases of the last one, each waited for.", "",
            *table(["matrix", "what", "ms", *names], rows)]


def cycle_section(cases):
    rows = []
    for case in cases:
        for kernel in case["kernels"]:
            if not kernel["id"].startswith("cycle/"):
                continue
            time, more = median(kernel), kernel["solver"]
            rows.append([f"`{case['matrix']}`", kernel["id"].split("/")[1], ms(time) if time else
                         fault(kernel), ms(more["floor_ms"]), ratio(more["floor_ms"], time),
                         more["kernels"], ms(more["model_ms"]), ratio(time, more["model_ms"])])
    launch = [k["solver"]["launch_ms"] for c in cases for k in c["kernels"] if "launch_ms" in k["solver"]]
    between = f" Between two empty kernels: {1000 * min(launch):.2f} us." if launch else ""
    head = ["matrix", "columns", "ms", "floor", "share of the floor", "kernels", "model", "over the model"]
    double = [f"`{case['matrix']}`" for case in cases if not case["multigrid"]["single"]]
    which = f" In double precision, whose floor is higher: {', '.join(double)}." if double else ""
    return ["## A cycle", "",
            "In single precision, beside its floor and the model (see above)." + which + between, "",
            *table(head, rows)]


def growth_section(results):
    """Iterations of the solves of one right-hand side, and what setup and solve take a row."""
    cases = [case for case in results["cases"]
             if case.get("task") == "linear_systems" and case["columns"] == 1 and "kernels" in case]
    rows = []
    for case in cases:
        own = with_id(case, "multigrid")
        if not own or not median(own):
            continue
        steps = [(with_id(case, who) or {}).get("solver", {}).get("iterations", "-")
                 for who in PRECONDITIONERS]
        rows.append([f"`{case['matrix']}`", case["rows"], *steps,
                     *(f"{1e6 * time / case['rows']:.1f}" for time in (own["setup_ms"], median(own)))])
    head = ["matrix", "rows", *(f"{who}: iterations" for who in PRECONDITIONERS.values()),
            "setup, ns a row", "solve, ns a row"]
    return ["## Growth with the size, one right-hand side", "", *table(head, rows)] if rows else []


def sections(results):
    cases = hierarchies(results)
    if not cases:
        return []
    return (level_section(cases) + setup_section(cases) + cycle_section(cases)
            + growth_section(results))
