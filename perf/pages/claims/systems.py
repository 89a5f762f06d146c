"""Linear systems, each claim of success judged by SciPy."""

from pages.text import origin, table

SCHEMA = "blockspan-robustness-systems/"


def methods(results):
    return list(dict.fromkeys(run["method"] for run in results["runs"]))


def title(results):
    who = "SciPy's" if methods(results) == ["scipy"] else "Blockspan's"
    large = min(run["rows"] for run in results["runs"]) >= 5000
    return f"Linear systems, {who} answers judged" + (": large ones" if large else "")


def counted(results, chosen):
    """A row of solved systems for each method."""
    return [sum(run["method"] == method and run["verdict"] == "solved" for run in chosen)
            for method in methods(results)]


def unsolved(results):
    found = {}
    for run in results["runs"]:
        if run["verdict"] != "solved":
            key = (run["matrix"], run["preconditioner"])
            found.setdefault(key, {}).setdefault((run["method"], run["verdict"]), []).append(run)
    return [[f"`{matrix}`", preconditioner,
             ", ".join(f"{method}: {len(some)} {verdict}" for (method, verdict), some in by.items()),
             ", ".join(sorted({status for some in by.values() for run in some
                               for status in run.get("statuses", {})} - {"converged", "zero_rhs"}))]
            for (matrix, preconditioner), by in found.items()]


def page(results):
    runs = results["runs"]
    each = len(runs) // len(methods(results))
    false = [sum(run["method"] == m and run["verdict"] == "FALSE" for run in runs)
             for m in methods(results)]
    rows = [[f"all {each}", *counted(results, runs)]]
    for value in ("jacobi", "none"):
        some = [run for run in runs if run["preconditioner"] == value]
        rows.append([f"preconditioner {value}, {len(some) // len(methods(results))}",
                     *counted(results, some)])
    some = [run for run in runs if run["kind"] != "scaled"]
    rows.append([f"all but the scaled right-hand sides, {len(some) // len(methods(results))}",
                 *counted(results, some)])
    rows.append(["claimed falsely", *false])
    lines = [
        "# " + title(results), "", origin(results), "",
        "Made by `perf/report.py` of the results of `perf/robustness_systems.py`; do not edit.", "",
        f"To {results['tolerance']:g}. Systems of which all columns were solved:", "",
        *table(["systems", *methods(results)], rows), "## Not solved", "",
        *table(["matrix", "preconditioner", "solves", "status"], unsolved(results))]
    return "\n".join(lines).rstrip("\n") + "\n"
