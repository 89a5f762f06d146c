"""Axes, ticks and names of curves, by matplotlib where it is there (pyplot is None else)."""

import math

from pages.palette import style

try:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({
        "svg.hashsalt": "blockspan",  # the same file from the same results
        "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"],
        "font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "grid.color": "#e4e4e4", "grid.linewidth": 0.6, "axes.axisbelow": True,
        "path.simplify": True})
    from matplotlib import pyplot, ticker
except ImportError:
    pyplot = ticker = None

WIDTH = 10  # inches: 1,000 pixels


def series(low, high, most=5):
    """Ticks of a logarithmic axis: of 1, 2, 5 or fewer to a decade what leaves at most `most`."""
    powers = range(-9, 13)
    fine = [(1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8)] if high < 4 * low else []
    for steps in (*fine, (1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**power for power in powers for step in steps
                 if low * 0.999 <= step * 10.0**power <= high * 1.001]
        if len(ticks) <= most:
            return ticks
    return ticks[::-(-len(ticks) // most)]


def plain(value, _=None):
    if value and not 1e-3 <= value < 1e10:
        return f"$10^{{{round(math.log10(value))}}}$"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 10 * size or (size > 1e3 and value >= size):
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def logarithmic(axis, set_scale, low, high):
    set_scale("log")
    axis.set_major_locator(ticker.FixedLocator(series(low, high)))
    axis.set_major_formatter(ticker.FuncFormatter(plain))
    axis.set_minor_locator(ticker.NullLocator())


def spread(heights, gap):
    """Heights in rising order moved apart to at least `gap`, as little as that takes, up to 1."""
    moved = list(heights)
    for _ in range(200):
        for i in range(len(moved) - 1):
            lack = gap - (moved[i + 1] - moved[i])
            if lack > 1e-6:
                moved[i] -= lack / 2
                moved[i + 1] += lack / 2
        if moved and moved[-1] > 1:
            moved[-1] = 1
    return moved


def label_ends(axes, ends):
    """Names to the right of the axes, at the height at which each curve ends."""
    places = sorted((axes.transLimits.transform(axes.transScale.transform(end))[1], *style(word)[:2])
                    for word, end in ends)
    gap = 10.5 / (axes.get_position().height * axes.figure.get_figheight() * 72)
    for height, (_, name, colour) in zip(spread([p[0] for p in places], gap), places):
        axes.annotate(name, (1.02, height), xycoords="axes fraction", color=colour, va="center",
                      annotation_clip=False)


def grid(count, tall=2.5, below=0.55, right=None):
    """A figure of that many panels, with room for names on their right."""
    across = 1 if count == 1 else 2 if count in (2, 4) else 3
    down = -(-count // across)
    height = down * (tall + below) + (down - 1) * 0.3 + 0.3
    figure, axes = pyplot.subplots(down, across, figsize=(WIDTH, height), squeeze=False)
    room = right or {1: 0.87, 2: 0.865, 3: 0.902}[across]
    figure.subplots_adjust(left=0.075, right=room, top=1 - 0.3 / height, bottom=below / height,
                           wspace={1: 0, 2: 0.6, 3: 0.82}[across], hspace=(below + 0.3) / tall)
    for place in axes.flat[count:]:
        place.set_visible(False)
    return figure, list(axes.flat[:count])
