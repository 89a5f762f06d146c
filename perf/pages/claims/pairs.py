"""Eigenproblems from several random starts, each answer judged by reference values."""

from pages.text import origin, table

SCHEMA = "blockspan-robustness/"


def title(results):
    large = any("preconditioner" in run for run in results["runs"])
    return "Eigenproblems, judged" + (": large ones" if large else "")


def page(results):
    runs = results["runs"]
    passed = sum(run["verdict"] == "passed" for run in runs)
    found = {}
    for run in runs:
        key = (run["problem"], run["which"], run.get("preconditioner", "default"))
        found.setdefault(key, []).append(run)
    rows = [[f"`{problem}`", which, preconditioner, some[0]["rows"],
             ", ".join(sorted({run.get("path", "-") for run in some})),
             max(run.get("iterations", 0) for run in some),
             f"{max(run.get('residual', float('nan')) for run in some):.1e}",
             f"{max(run.get('difference', float('nan')) for run in some):.1e}",
             f"{sum(run['verdict'] == 'passed' for run in some)} of {len(some)}"]
            for (problem, which, preconditioner), some in found.items()]
    head = ["problem", "which", "preconditioner", "rows", "path", "most iterations",
            "largest residual", "difference over the bound", "passed"]
    lines = [
        "# " + title(results), "", origin(results), "",
        "Made by `perf/report.py` of the results of `perf/robustness.py`; do not edit.", "",
        f"`blockspan-eig` to {results['tolerance']:g}: {passed} of {len(runs)} runs passed, "
        f"{sum(run['verdict'] == 'FALSE' for run in runs)} claimed success falsely, "
        f"{sum(run.get('path') == 'iterative' for run in runs)} were iterative. A run passes where it "
        "says that it converged, its recomputed residuals are at the tolerance, and its values differ "
        "from the reference by no more than the bound.", "", *table(head, rows)]
    return "\n".join(lines).rstrip("\n") + "\n"
