"""The page of one file of results."""

from pages import cases, figures, multigrid, ranks
from pages.results import groups, troubles
from pages.summaries import summarize
from pages.text import listing, name, origin, table
from pages.values import written


def counts(results):
    entries = results["cases"]
    failed = sum("error" in case for case in entries)
    refused = sum("refused" in case for case in entries)
    text = f"Cases: {len(entries)}, of which {failed} failed or did not run"
    return text + (f" and {refused} refused." if refused else ".")


def clock_lines(results):
    """What was read of the machine's clocks during the run."""
    readings = results.get("clocks", [])
    if not readings:
        return []
    parts = []
    for key, unit in (("sm_mhz", "MHz SM"), ("memory_mhz", "MHz memory"), ("cpu_mhz", "MHz CPU"),
                      ("temperature", "C"), ("load", "load of the host")):
        values = [reading[key] for reading in readings if key in reading]
        if values:
            parts.append(f"{min(values):g} to {max(values):g} {unit}")
    throttled = [reading["throttled"] for reading in readings if "throttled" in reading]
    if throttled:
        parts.append("THROTTLED at times" if any(throttled) else "not throttled")
    return [f"Clocks at the ends of the run: {', '.join(parts)}."]


def time_lines(results):
    if "clock" not in results:  # nothing was timed
        return []
    gather = f" Gather: {results['gather_gbytes']:.0f} GB/s." if "gather_gbytes" in results else ""
    return [f"Times: {results['clock']}, medians, milliseconds. Copy: {results['copy_gbytes']:.0f} GB/s."
            + gather + (" Caches emptied before every product." if results.get("flush") else ""),
            *([f"Ranks: {results['ranks']}, by {results['transport']}; {', '.join(results['devices'])}."]
              if "ranks" in results else [])]


PROGRAMS = {"ranks": "-ranks", "ranks_plan": "-ranks-plan", None: "-spmm"}  # others: blockspan-perf


def about(results):
    old = "study" not in results  # schema blockspan-perf-spmm/1
    lines = [
        "# " + results.get("title", "Products of a sparse matrix with a block of vectors"),
        "",
        origin(results),
        "",
        f"Made by `perf/report.py` of the results of `blockspan-perf"
        f"{PROGRAMS.get(results.get('study'), '')}`; do not edit.",
        "",
    ]
    if not old:
        lines += [results["reproduces"], ""] + ([results["note"], ""] if results["note"] else [])
    return lines + [
        *time_lines(results),
        *clock_lines(results),
        *([f"RESULTS OF `{results['fault']}` WERE SPOILT ON PURPOSE."] if results.get("fault") else []),
        counts(results) + (" A quick run: the times mean little." if results["quick"] else ""),
        "",
    ]


def rows_of(results, case, columns):
    """One row, or one a kernel where the table has a column for it."""
    values = [value for _, value in columns]
    if "contender" not in values:
        return [[written(results, case, value) for value in values]]
    shown = [kernel for kernel in case.get("kernels", []) if "refused" not in kernel]
    return [[written(results, case, value, kernel) for value in values] for kernel in shown]


OWN_SECTIONS = ("profile", "hierarchy")


def table_sections(results):
    """A table a group, without empty columns: a peer this build is without."""
    columns = results["table"]
    rows = {group: [row for case in results["cases"]
                    if case["group"] == group and case.get("task") not in OWN_SECTIONS
                    for row in rows_of(results, case, columns)]
            for group in groups(results["cases"])}
    def used(some):
        return [i for i in range(len(columns)) if any(row[i] != "-" for row in some)]
    every = used([row for some in rows.values() for row in some])
    lines = []
    for group, some in rows.items():
        if some:
            # groups of ranks have little in common
            shown = used(some) if results["study"].startswith("ranks") else every
            lines += [f"## {group}", "", *table([columns[i][0] for i in shown],
                                                [[row[i] for i in shown] for row in some])]
    return lines


def profile_section(results):
    profiled = [case for case in results["cases"] if case.get("task") == "profile"]
    lines = []
    for case in profiled:
        lines += ["## Profile", ""]
        kernels = case.get("kernels", [])
        if not kernels:
            lines += [f"{name(case)}: {case.get('refused', case.get('error', 'nothing'))}.", ""]
            continue
        heads = list(kernels[0]["profile"])
        rows = [[kernel["id"], *(f"{kernel['profile'].get(head, float('nan')):g}" for head in heads)]
                for kernel in kernels]
        lines += [f"{name(case)}, by Nsight Compute.", "", *table(["kernel", *heads], rows)]
    return lines


def summary_section(results):
    if not results["summaries"]:
        return []
    rows = [[one["text"], summarize(results, one["value"]), one["published"] or "-"]
            for one in results["summaries"]]
    return ["## In short", "", *table(["what", "here", "published"], rows)]


def trouble_section(results):
    rows = [[f"`{kernel}`", what, len(some), name(some[0])]
            for (kernel, what), some in troubles(results).items()]
    head = ["kernel", "what", "cases", "the first"]
    return ["## Wrong, refused, failed", "", *(table(head, rows) if rows else listing([]))]


def page(results, folder, stem=""):
    """folder: where the page will lie, its figure below it, under the same stem."""
    lines = about(results) + figures.lines(folder, stem, results)
    if results.get("study", "cases") == "cases":
        for section in cases.SECTIONS:
            lines += section(results)
    else:
        lines += summary_section(results) + multigrid.sections(results) + table_sections(results)
        lines += profile_section(results) + ranks.sections(results)
    lines += trouble_section(results)
    return "\n".join(lines).rstrip("\n") + "\n"
