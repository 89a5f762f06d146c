"""The page of a folder of results: one line a study."""

from pages.results import SOLVERS, troubles
from pages.summaries import summarize
from pages.text import device_of, listing, origin, table


def line(stem, results, titles):
    wrong = {case["matrix"] for (_, what), some in troubles(results).items()
             if what.startswith(("WRONG", "NOT CONVERGED")) for case in some}
    failed = sum("error" in case for case in results["cases"])
    products = results.get("study") not in SOLVERS
    speed_ups = [summarize(results, f"geomean:auto:{peer}") if products else "see its page"
                 for peer in ("cusparse", "kokkos-kernels")]
    floor = summarize(results, "geomean_floor:auto") if products else "see its page"
    title = results.get("title", stem)
    if titles.count(title) > 1 and stem != results.get("study"):
        title += f" ({stem.replace('_', ' ')})"
    return [f"[{title}]({stem}.md)", results["commit"] or "unknown",
            len(results["cases"]), failed, len(wrong), *speed_ups, floor]


def page(folder, studies, others):
    """studies: (stem of the file, its results); others: (stem, title, results) of what is no study."""
    head = ["study", "commit", "cases", "failed", "with a wrong or unconverged result", "over cuSPARSE",
            "over Kokkos Kernels", "time over the floor"]
    first = (studies or [(None, others[0][2])])[0][1]
    lines = [f"# Performance on {device_of(first)}" if studies else "# Tests and judged solves", "",
             origin(first), "",
             "Made by `perf/report.py` from the results in this folder; do not edit. The line above is that"
             " of the first page; each page names its own commit, device and versions.", ""]
    if (folder / "figures" / "overview.svg").exists():
        lines += ["![A product and a solve](figures/overview.svg)", "",
                  "Left from `cases`, right from `solvers` and `multigrid`.", ""]
    titles = [results.get("title") for _, results in studies]
    if studies:
        lines += ["Geometric means of what `auto` gains over the fastest right kernel of each peer, and of"
                  " its time over that of the compulsory traffic.", "",
                  *table(head, [line(stem, results, titles) for stem, results in studies])]
    if others:
        lines += [*(["## Tests and judged solves", ""] if studies else []),
                  *listing([f"[{title}]({stem}.md)" for stem, title, _ in others])]
    return "\n".join(lines).rstrip("\n") + "\n"
