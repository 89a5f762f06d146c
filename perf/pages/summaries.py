"""Numbers made of all cases of a study, in the words of its summaries: geomean:WHO:PEER, mean_speedup,
peak and least (of speed-ups), mean_gflops:WHO, geomean_floor:WHO, behind:WHO:PEER (cases with a speed-up
below one), worst:WHO:PEER (the ten largest), by_width:SUMMARY (one for each number of columns)."""

from pages.results import geometric_mean
from pages.text import name
from pages.values import Missing, evaluate, number


def collected(results, value):
    """(numbers, cases without one that took part)"""
    numbers, without = [], 0
    for case in results["cases"]:
        if "kernels" not in case:
            continue
        try:
            numbers.append(evaluate(results, case, value))
        except Missing as missing:
            without += str(missing) not in ("-", "refused")
    return numbers, without


def counted(text, numbers, without):
    if not numbers:
        return "no case" + (f" ({without} without a right result)" if without else "")
    cases = f"{len(numbers)} case" + ("s" if len(numbers) != 1 else "")
    return f"{text} ({cases}" + (f"; {without} without a right result left out)" if without else ")")


def extremes(results, kind, who, peer):
    """The cases of too small or of the largest speed-ups, the furthest from one first."""
    some = [(number(results, case, f"speedup:{who}:{peer}"), case) for case in results["cases"]]
    some = sorted((one for one in some if one[0]), key=lambda one: one[0], reverse=kind == "worst")
    chosen = some[:10] if kind == "worst" else [one for one in some if one[0] < 1]
    listed = "; ".join(f"{name(case)} {speed_up:.2f}" for speed_up, case in chosen)
    return f"{len(chosen)} of {len(some)} cases" + (f": {listed}" if listed else "")


def by_width(results, value):
    def of_width(n):
        return dict(results, cases=[case for case in results["cases"] if case["columns"] == n])
    widths = sorted({case["columns"] for case in results["cases"]})
    return "; ".join(f"n = {n}: {summarize(of_width(n), value)}" for n in widths)


def summarize(results, value):
    kind, *rest = value.split(":")
    if kind == "by_width":
        return by_width(results, ":".join(rest))
    if kind in ("behind", "worst"):
        return extremes(results, kind, *rest)
    source = {"mean_gflops": "gflops:", "geomean_floor": "over_floor:"}.get(kind, "speedup:")
    numbers, without = collected(results, source + ":".join(rest))
    if not numbers:
        return counted("", numbers, without)
    reduce = {"geomean": geometric_mean, "geomean_floor": geometric_mean, "peak": max, "least": min}
    mean = reduce.get(kind, lambda some: sum(some) / len(some))(numbers)
    return counted(f"{mean:.1f}" if kind == "mean_gflops" else f"{mean:.2f}", numbers, without)
