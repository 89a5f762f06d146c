"""The figures of a page, PNG and SVG, by matplotlib where it is there."""

from pages.results import groups
from pages.values import number

try:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "blockspan"  # the same file from the same results
    from matplotlib import pyplot
except ImportError:
    pyplot = None

MOST_PANELS = 12


def points(results, cases, x, y):
    pairs = ((number(results, case, x), number(results, case, y)) for case in cases)
    return sorted((a, b) for a, b in pairs if a is not None and b is not None and b > 0)


def panels(results, plot):
    """(group, [(name, points)]) of the groups that have any."""
    found = []
    for group in groups(results["cases"]):
        cases = [case for case in results["cases"] if case["group"] == group]
        curves = [(name, points(results, cases, plot["x"], y)) for name, y in plot["curves"]]
        curves = [(name, some) for name, some in curves if some]
        if curves:
            found.append((group, curves))
    return found[:MOST_PANELS]


def paths(folder, results, plot):
    stem = f"{results['study']}-{plot['name']}"
    return [folder / "figures" / f"{stem}.{ending}" for ending in ("png", "svg")]


def draw_panel(axes, plot, group, curves):
    for name, some in curves:
        axes.plot([x for x, _ in some], [y for _, y in some], marker="o", markersize=3, label=name)
    axes.set_title(group, fontsize=9)
    axes.set_xlabel({"note:density": "density", "note:fill": "fill", "note:aspect": "rows / length",
                     "intensity": "flop a byte", "number": "case"}.get(plot["x"], plot["x"]))
    axes.set_ylabel(plot["y"])
    if plot["log_x"]:
        axes.set_xscale("log")
    if plot["log_y"]:
        axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)


def draw(folder, results):
    """Draws the figures of a study beside its page; old ones go first."""
    for plot in results["plots"]:
        files = paths(folder, results, plot)
        for file in files:
            file.unlink(missing_ok=True)
        found = panels(results, plot)
        if pyplot is None or not found:
            continue
        across = min(3, len(found))
        down = -(-len(found) // across)
        figure, axes = pyplot.subplots(down, across, figsize=(4.6 * across, 3.6 * down),
                                       squeeze=False, layout="constrained")
        for place in axes.flat[len(found):]:
            place.set_visible(False)
        for place, (group, curves) in zip(axes.flat, found):
            draw_panel(place, plot, group, curves)
        figure.suptitle(plot["title"])
        files[0].parent.mkdir(exist_ok=True)
        figure.savefig(files[0], dpi=110, metadata={"Software": None})
        figure.savefig(files[1], metadata={"Date": None})
        pyplot.close(figure)


def lines(folder, results):
    """What the page says of the figures that lie beside it."""
    if not results["plots"]:
        return []
    text = []
    for plot in results["plots"]:
        png, svg = paths(folder, results, plot)
        if png.exists():
            text += [f"[![{plot['title']}](figures/{png.name})](figures/{svg.name})", ""]
        elif panels(results, plot):
            text += [f"Figure \"{plot['title']}\": not drawn, for want of matplotlib.", ""]
        else:
            text += [f"Figure \"{plot['title']}\": no case has what it shows.", ""]
    return ["## Figures", "", *text]
