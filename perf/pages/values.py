"""The words in which a study lays out its table and figures, and what they mean for a case.

Of a case: matrix, scalar, columns, source, rows, nonzeros, mean, longest; number (its place in the
study); note:A.B (a member of its entry); floor, gather (ms), intensity (flop a byte of compulsory
traffic), roof (GFLOP/s of that at the speed of a copy).

Of a contender, MEASURE:WHO: ms, min, max, mean, spread, setup (ms), total (of both), setup_products,
gflops, gbytes, error, over_floor, over_gather, share (of the floor in the time), ran (the kernel), who
(its id). WHO is an id, or a family or the beginning of ids, of which the fastest right one counts.

speedup:WHO:PEER: how often WHO runs while PEER runs once, total_speedup:WHO:PEER with the setups of
both. Where one of them has no right result there is none, and the cell says who is to blame.

In tables with the column `contender` a row is a kernel, `this`: contender, ms, setup, total, solver:KEY,
phase:KEY; it is the PEER of speedup:WHO:this."""

from pages.results import fastest, is_choice, median, with_id

MEMBERS = ("matrix", "scalar", "columns", "source", "rows", "nonzeros", "mean", "longest")


class Missing(Exception):
    """There is no such value; the words say why, as short as a cell."""


def flops(case):
    return (8 if case["scalar"].startswith("c") else 2) * case["nonzeros"] * case["columns"]


def candidates(case, who):
    """The kernels that a word means."""
    exact = with_id(case, who)
    if exact:
        return [exact]
    all_kernels = case.get("kernels", [])
    family = [k for k in all_kernels if k["family"] == who and not is_choice(k)]
    return family or [k for k in all_kernels if k["id"].startswith(who + "/")]


def words_of(results):
    """All that a study's layout calls a contender by, and the two that records always keep."""
    words = [word for _, word in results["table"]]
    words += [word for plot in results["plots"] for _, word in plot["curves"]]
    words += [one["value"] for one in results["summaries"]]
    found = set()
    for word in words:
        measure, *who = word.removeprefix("by_width:").split(":")
        several = measure in SPEEDUPS or measure.startswith(("geomean", "mean_sp"))
        found.update(who if several or measure in ("peak", "least", "behind", "worst")
                     else [":".join(who)])
    return sorted(found - {"", "this"}) + ["row_split", "merge"]


def fault(kernel):
    """Why a kernel has no time, in a word or two."""
    if "refused" in kernel:
        return "refused"
    if "unconverged" in kernel:
        return "NOT CONVERGED"
    return "WRONG"


def contender(case, who):
    """The right and fastest of them."""
    if "error" in case or "refused" in case:
        raise Missing("-")
    some = candidates(case, who)
    best = fastest(some)
    if best:
        return best
    faults = [fault(kernel) for kernel in some]
    serious = next((word for word in faults if word != "refused"), None)
    raise Missing(serious or (faults[0] if faults else "-"))


def total(kernel):
    """Milliseconds of its setup and of what it was set up for."""
    return median(kernel) + kernel.get("setup_ms", 0)


TIMES = {"ms": median, "total": total}
SPEEDUPS = {"speedup": median, "total_speedup": total}


def blamed(case, who, time=median):
    """The contender's milliseconds; where there are none, the cell names it."""
    try:
        return time(contender(case, who))
    except Missing as missing:
        word = str(missing)
        raise Missing(word if word in ("-", "refused") else f"{who} {word}") from None


def of_contender(case, measure, who):
    kernel = contender(case, who)
    time = median(kernel)
    if measure in ("min", "max", "mean", "spread"):
        if measure not in kernel["ms"]:
            raise Missing("-")
        return kernel["ms"][measure]
    values = {
        "ms": lambda: time,
        "setup": lambda: kernel["setup_ms"],
        "total": lambda: total(kernel),
        "setup_products": lambda: kernel["setup_products"],
        "gflops": lambda: flops(case) / time * 1e-6,
        "gbytes": lambda: case["floor_bytes"] / time * 1e-6,
        "error": lambda: kernel["error"],
        "over_floor": lambda: time / case["floor_ms"],
        "share": lambda: case["floor_ms"] / time,
        "over_gather": lambda: time / case["gather_ms"],
        "ran": lambda: kernel.get("ran", kernel["id"]),
        "who": lambda: kernel["id"] if kernel["family"] == "blockspan"
        else kernel["id"].split("/", 1)[-1],
    }
    try:
        return values[measure]()
    except (KeyError, ZeroDivisionError):
        raise Missing("-") from None


def note(case, path):
    value = case
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            raise Missing("-")
        value = value[key]
    return value


def of_kernel(case, kernel, value):
    """Values of a row that is a kernel; None where the word is not one of those."""
    if value == "contender":
        return kernel["id"]
    if value in TIMES:
        if median(kernel) is None:
            raise Missing(fault(kernel))
        return TIMES[value](kernel)
    if value == "setup":
        return kernel.get("setup_ms")
    if value.startswith("solver:"):
        return note(kernel, "solver." + value.split(":")[1])
    if value.startswith("phase:"):
        return note(kernel, "solver.phases." + value.split(":")[1])
    measure, *who = value.split(":")
    if measure in SPEEDUPS and who[-1] == "this":
        own, time = ":".join(who[:-1]), SPEEDUPS[measure]
        if kernel["id"] == own:
            raise Missing("-")
        own_time = blamed(case, own, time)
        if median(kernel) is None:
            raise Missing(fault(kernel))
        return time(kernel) / own_time
    return None


def evaluate(results, case, value, kernel=None):
    """Number or text. Throws Missing."""
    if kernel is not None:
        found = of_kernel(case, kernel, value)
        if found is not None:
            return found
    if value in MEMBERS:
        if value not in case:
            raise Missing("-")
        return case[value]
    if value == "number":
        return results["cases"].index(case) + 1
    if value.startswith("note:"):
        return note(case, value[len("note:"):])
    if value in ("floor", "gather"):
        return note(case, value + "_ms")
    if value in ("intensity", "roof"):
        intensity = flops(case) / note(case, "floor_bytes") if "nonzeros" in case else None
        if intensity is None:
            raise Missing("-")
        return intensity if value == "intensity" else intensity * results["copy_gbytes"]
    measure, *who = value.split(":")
    if measure in SPEEDUPS:
        peer, own = (blamed(case, one, SPEEDUPS[measure]) for one in reversed(who))
        return peer / own
    return of_contender(case, measure, ":".join(who))


FORMATS = {
    "gflops": "{:.1f}", "gbytes": "{:.0f}", "error": "{:.1e}", "speedup": "{:.2f}",
    "total_speedup": "{:.2f}",
    "over_floor": "{:.2f}", "share": "{:.2f}", "over_gather": "{:.2f}", "mean": "{:.4g}", "intensity": "{:.3g}",
    "setup_products": "{:.1f}",
}


def written(results, case, value, kernel=None):
    """The cell."""
    try:
        found = evaluate(results, case, value, kernel)
    except Missing as missing:
        return str(missing)
    if value == "matrix":
        return f"`{found}`"
    if not isinstance(found, float):
        return str(found)
    if value.startswith("note:"):
        return f"{found:g}"
    if value == "solver:residual":
        return f"{found:.1e}"
    measure = value.split(":")[0]
    if measure == "mean" and ":" in value:
        measure = "ms"
    return FORMATS.get(measure, "{:.4f}").format(found)


def number(results, case, value):
    """For figures: a float, or None."""
    try:
        return float(evaluate(results, case, value))
    except (Missing, ValueError):
        return None
