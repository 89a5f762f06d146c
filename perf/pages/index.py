"""The page of a folder of results: one line a study."""

from pages.results import troubles
from pages.summaries import summarize
from pages.text import table


def line(stem, results):
    wrong = {case["matrix"] for (_, what), some in troubles(results).items()
             if what.startswith(("WRONG", "NOT CONVERGED")) for case in some}
    failed = sum("error" in case for case in results["cases"])
    products = results.get("study") != "solvers"
    speed_ups = [summarize(results, f"geomean:auto:{peer}") if products else "see its page"
                 for peer in ("cusparse", "kokkos-kernels")]
    floor = summarize(results, "geomean_floor:auto") if products else "see its page"
    return [f"[{results.get('title', stem)}]({stem}.md)", results["commit"] or "unknown",
            len(results["cases"]), failed, len(wrong), *speed_ups, floor]


def page(studies):
    """studies: (stem of the file, its results)."""
    first = studies[0][1]
    device = first["device"]["name"] or f"{first['device']['threads']} threads"
    head = ["study", "commit", "cases", "failed", "with a wrong or unconverged result", "over cuSPARSE",
            "over Kokkos Kernels", "time over the floor"]
    lines = [
        "# Performance of Blockspan",
        "",
        "Made by `perf/report.py` of the results of `blockspan-perf`; do not edit.",
        "",
        f"{first['backend']}, {device}. Geometric means of what `auto` gains over the fastest right"
        " kernel of each peer, and of its time over that of the compulsory traffic.",
        "",
        *table(head, [line(stem, results) for stem, results in studies]),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"
