"""Figures that are no curves: speed-ups of all cases, times to solution, the overview of a folder."""

from pages.drawing import WIDTH, grid, label_ends, logarithmic, pyplot, ticker
from pages.palette import style
from pages.results import PEERS, auto, fastest, geometric_mean, groups, kernels, median

SOLVED_BY = ("auto", "chebyshev:8", "pseudo-block", "kokkos-kernels", "cusparse", "torch", "cupy",
             "scipy", "slepc", "petsc", "primme")


def speed_ups(cases, family):
    """How many times as long the peer's fastest kernel takes, of the cases that have both."""
    pairs = ((median(auto(case)), median(fastest(kernels(case, family)))) for case in cases)
    return [peer / own for own, peer in pairs if own and peer]


def sorted_speed_ups(results):
    """Study `cases`: the speed-ups of each group, in rising order."""
    found = [(group, [case for case in results["cases"] if case["group"] == group])
             for group in groups(results["cases"])]
    found = [(group, [(peer, sorted(speed_ups(cases, peer))) for peer in PEERS])
             for group, cases in found]
    found = [(group, [(peer, some) for peer, some in peers if some]) for group, peers in found]
    found = [(group, peers) for group, peers in found if peers]
    if not found:
        return None
    figure, places = grid(len(found))
    for axes, (group, peers) in zip(places, found):
        every = [value for _, some in peers for value in some] + [1]
        for peer, some in peers:
            share = [(i + 0.5) / len(some) * 100 for i in range(len(some))]
            axes.plot(share, some, "o-", markersize=2.5, linewidth=1, color=style(peer)[1])
        axes.axhline(1, color=style("auto")[1], linewidth=1.5)
        logarithmic(axes.yaxis, axes.set_yscale, min(every), max(every))
        axes.set_title(f"{group}, {max(len(some) for _, some in peers)} cases", loc="left")
        axes.set_xlabel("share of the cases, %")
        axes.set_ylabel("time over Blockspan's")
        label_ends(axes, [(peer, (share[-1], some[-1])) for peer, some in peers]
                   + [("auto", (share[-1], 1))])
    return figure


def scatter_of_sizes(results):
    """Study `collection`: the speed-up of each matrix over its nonzeros, a panel for each width."""
    widths = sorted({case["columns"] for case in results["cases"]})
    widths = [n for n in (1, 4, 8, 16, 32, 64) if n in widths] or widths[:6]
    figure, places = grid(len(widths))
    for axes, n in zip(places, widths):
        cases = [case for case in results["cases"] if case["columns"] == n and "nonzeros" in case]
        ends, every = [], [1.0]
        for peer in PEERS:
            some = [(case["nonzeros"], *speed_ups([case], peer)) for case in cases]
            some = [pair for pair in some if len(pair) == 2]
            if some:
                mean = geometric_mean([y for _, y in some])
                axes.plot(*zip(*some), "o", markersize=2.5, alpha=0.7, color=style(peer)[1])
                ends.append((peer, (some[-1][0], mean)))
                every += [y for _, y in some]
        axes.axhline(1, color=style("auto")[1], linewidth=1.5)
        logarithmic(axes.yaxis, axes.set_yscale, min(every), max(every))
        sizes = [case["nonzeros"] for case in cases] or [1, 10]
        logarithmic(axes.xaxis, axes.set_xscale, min(sizes), max(sizes))
        axes.set_title(f"{n} column" + ("s" if n > 1 else ""), loc="left")
        axes.set_xlabel("nonzeros")
        axes.set_ylabel("time over Blockspan's")
        label_ends(axes, [*ends, ("auto", (sizes[-1], 1))])
    return figure


def solved_by(kernel):
    """The word under which a solve is drawn."""
    if kernel["family"] == "other-products":
        return kernel["id"].split("/")[-1]
    return kernel["id"] if kernel["family"] == "blockspan" else kernel["family"]


def named(who):
    """As style, and who solves with another's product is Blockspan's solver on that product."""
    name, colour, _ = style(who)
    own = f"Blockspan on {name}' product" if name.endswith("s") else f"Blockspan on {name}'s product"
    return (own if who in PEERS else name), colour


def solves(case):
    """(word, seconds) of the case that are right."""
    found = [(solved_by(kernel), median(kernel) / 1000) for kernel in case.get("kernels", [])
             if median(kernel)]
    return [pair for pair in found if pair[0] in SOLVED_BY]


def name_above(axes, words):
    """The coloured names of the points, in a line above the axes."""
    width = axes.get_position().width * WIDTH * 72
    height = axes.get_position().height * axes.figure.get_figheight() * 72
    place = 0.0
    for who in words:
        name, colour = named(who)
        name = name.replace("Blockspan on", "on")
        point = "\u25cb " if who in PEERS else "\u25cf "
        text = axes.annotate(point + name, (place / width, 1 + 5 / height),
                             xycoords="axes fraction", color=colour)
        place += text.get_window_extent().width * 72 / axes.figure.dpi + 9


def solver_points(axes, cases):
    for place, case in enumerate(reversed(cases)):
        for who, seconds in solves(case):
            hollow = who in PEERS
            colour = named(who)[1]
            axes.plot(seconds, place, "o", markersize=5.5, color=colour,
                      markerfacecolor="white" if hollow else colour, zorder=2 + (who == "auto"))
    unit = "pairs" if cases[0].get("task") == "eigenpairs" else "right-hand sides"
    names = [f"{case['matrix']}, {case['columns']} "
             + (unit if case["columns"] > 1 else unit[:-1])
             + (", with mass" if "mass" in case else "") for case in reversed(cases)]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    times = [seconds for case in cases for _, seconds in solves(case)]
    logarithmic(axes.xaxis, axes.set_xscale, min(times), max(times))
    axes.set_xlabel("seconds to solution")
    taken = {who for case in cases for who, _ in solves(case)}
    name_above(axes, [who for who in SOLVED_BY if who in taken])


def solver_times(results):
    """Study `solvers`: a line for each case, a point for each solver."""
    kinds = [[case for case in results["cases"] if case.get("task") == task and solves(case)]
             for task in ("eigenpairs", "linear_systems")]
    kinds = [cases for cases in kinds if cases]
    if not kinds:
        return None
    rows = [len(cases) for cases in kinds]
    height = 0.25 * sum(rows) + 0.8 * len(rows) + 0.1
    figure, places = pyplot.subplots(len(kinds), 1, figsize=(WIDTH, height), squeeze=False,
                                     gridspec_kw={"height_ratios": rows})
    figure.subplots_adjust(left=0.22, right=0.97, top=1 - 0.35 / height, bottom=0.5 / height,
                           hspace=0.8 * len(rows) / (0.25 * sum(rows)))
    for axes, cases in zip(places.flat, kinds):
        solver_points(axes, cases)
    return figure


CAPTIONS = {
    "cases": "Each case is a point: the time of the peer's fastest kernel over Blockspan's, in rising order.",
    "collection": "Each matrix is a point: the time of the peer's fastest kernel over Blockspan's. The"
    " peers' names are at the height of the geometric means.",
    "solvers": "Open circles: Blockspan's solver with the product of another library."}
OF_STUDIES = {"cases": sorted_speed_ups, "collection": scatter_of_sizes, "solvers": solver_times}


def overview_products(axes, results, matrix):
    """Time of a product over its columns."""
    of_width = {case["columns"]: case for case in results["cases"]
                if case["matrix"] == matrix and case["scalar"] == "f64"}
    cases = [case for _, case in sorted(of_width.items())]
    ends = []
    for who in ("auto", *PEERS, "floor"):
        some = [(c["columns"], c.get("floor_ms") if who == "floor" else
                 median(auto(c) if who == "auto" else fastest(kernels(c, who)))) for c in cases]
        some = [(n, time) for n, time in some if time and n <= 64]
        _, colour, dashes = style(who)
        axes.plot(*zip(*some), color=colour, linestyle=dashes, marker=None if who == "floor" else ".",
                  linewidth=2 if who == "auto" else 1.2)
        ends.append((who, some[-1]))
    axes.set_ylim(bottom=0)
    axes.set_title(f"Y = A X, {matrix}", loc="left")
    axes.set_xlabel("columns of X")
    axes.set_ylabel("milliseconds")
    label_ends(axes, ends)


def eigenpairs_of(results, matrix):
    """The case of the lowest eigenpairs of this matrix, or none."""
    return next((case for case in results["cases"] if case.get("task") == "eigenpairs"
                 and case["matrix"] == matrix and "mass" not in case), None)


def overview_solve(axes, studies, matrix):
    """Time to the lowest eigenpairs, a bar each; multigrid's with its setup."""
    case = eigenpairs_of(studies["solvers"], matrix)
    found = solves(case)
    hierarchy = eigenpairs_of(studies.get("multigrid", {"cases": []}), matrix)
    for kernel in hierarchy["kernels"] if hierarchy else []:
        if kernel["id"] == "multigrid" and median(kernel):
            found.append(("multigrid", (median(kernel) + kernel["setup_ms"]) / 1000))
    found.sort(key=lambda pair: -pair[1])
    words = {"auto": "Blockspan, Jacobi", "chebyshev:8": "Blockspan, Chebyshev",
             "multigrid": "Blockspan, multigrid and its setup"}
    for place, (who, seconds) in enumerate(found):
        name, colour = named("auto" if who == "multigrid" else who)
        name = words.get(who, name.replace("Blockspan on", "on"))
        axes.barh(place, seconds, color=colour, height=0.6, alpha=0.55 if who in PEERS else 1)
        axes.annotate(f"{name}  {seconds:.2f} s", (seconds, place), xytext=(4, 0),
                      textcoords="offset points", va="center", color=colour)
    axes.set_xlim(right=1.35 * found[0][1])
    axes.set_yticks([])
    axes.xaxis.set_major_locator(ticker.MaxNLocator(4))
    axes.grid(False, axis="y")
    axes.set_title(f"{case['columns']} lowest eigenpairs, {matrix}", loc="left")
    axes.set_xlabel("seconds")


def overview(studies):
    """The picture of a folder of results that has these cases of products and solvers."""
    product, solve = "laplace27:96", "laplace27:80"
    for study, matrix in (("cases", product), ("solvers", solve)):
        if not any(case["matrix"] == matrix for case in studies.get(study, {"cases": []})["cases"]):
            return None
    figure, (left, right) = grid(2, tall=2.6)
    overview_products(left, studies["cases"], product)
    overview_solve(right, studies, solve)
    return figure
