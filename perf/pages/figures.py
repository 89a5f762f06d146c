"""The figure of a study, one SVG, by matplotlib where it is there: a panel for each group and plot,
every curve named at its end."""

import io
import re

from pages import charts
from pages.drawing import grid, label_ends, logarithmic, pyplot
from pages.palette import style
from pages.results import groups
from pages.values import number

MOST_PANELS = 12
UNITS = {"note:density": "share of nonzeros", "note:fill": "share of nonzeros",
         "note:aspect": "rows over row length", "intensity": "operations a byte", "number": "",
         "columns": "columns of X", "nonzeros": "nonzeros", "note:block": "columns of X",
         "note:ranks": "ranks"}
NAMED = {"ms": "milliseconds"}


def points(results, cases, x, y):
    pairs = ((number(results, case, x), number(results, case, y)) for case in cases)
    return sorted((a, b) for a, b in pairs if a is not None and b is not None and b > 0)


def panels(results):
    """(plot, group, [(word, points)]) of the groups that have any."""
    found = []
    for plot in results.get("plots", []):
        for group in groups(results["cases"]):
            cases = [case for case in results["cases"] if case["group"] == group]
            curves = [(word, points(results, cases, plot["x"], word)) for _, word in plot["curves"]]
            curves = [(word, some) for word, some in curves if some]
            if curves:
                found.append((plot, group, curves))
    return found[:MOST_PANELS]


def category(case, cases):
    """A case in few characters: what it does not share with the others of its panel."""
    parts = case["matrix"].split(":")
    same = len({c["matrix"].split(":")[0] for c in cases}) == 1 and len(cases) > 1
    text = ":".join(parts[1:] if same and len(parts) > 1 else parts)
    return text + (f", {case['columns']}" if len({c["columns"] for c in cases}) > 1 else "")


def draw_categories(axes, results, plot, group, curves):
    cases = [case for case in results["cases"] if case["group"] == group]
    for word, some in curves:
        places = [cases.index(results["cases"][int(x) - 1]) for x, _ in some]
        _, colour, _ = style(word)
        axes.plot(places, [y for _, y in some], "o", markersize=4, color=colour)
    axes.set_xticks(range(len(cases)), [category(c, cases) for c in cases], rotation=90,
                    fontsize=7 if len(cases) < 13 else 6.3)
    axes.set_xlim(-0.6, len(cases) - 0.4)
    ys = [y for _, some in curves for _, y in some]
    if plot["log_y"]:
        logarithmic(axes.yaxis, axes.set_yscale, min(ys), max(ys))
    else:
        axes.set_ylim(bottom=0)


def draw_lines(axes, plot, curves):
    for word, some in curves:
        _, colour, dashes = style(word)
        own = word.split(":")[-1] == "auto" and not word.startswith("setup")
        axes.plot([x for x, _ in some], [y for _, y in some], color=colour, linestyle=dashes,
                  linewidth=(2 if len(some) < 20 else 1.5) if own else 1.1, zorder=3 if own else 2,
                  marker="o" if len(some) < 20 else None, markersize=2.5)
    xs = [x for _, some in curves for x, _ in some]
    ys = [y for _, some in curves for _, y in some]
    if plot["log_x"]:
        logarithmic(axes.xaxis, axes.set_xscale, min(xs), max(xs))
    if plot["log_y"]:
        logarithmic(axes.yaxis, axes.set_yscale, min(ys), max(ys))
    else:
        axes.set_ylim(bottom=0)


def draw_panel(axes, results, plot, group, curves):
    if plot["x"] == "number":
        draw_categories(axes, results, plot, group, curves)
    else:
        draw_lines(axes, plot, curves)
    axes.set_title(group, loc="left")
    axes.set_xlabel(UNITS.get(plot["x"], plot["x"]))
    axes.set_ylabel(NAMED.get(plot["y"], plot["y"]))
    label_ends(axes, [(word, some[-1]) for word, some in curves])


def make(stem, results):
    """The figure of a study, None where no case has what it shows."""
    special = charts.OF_STUDIES.get(results.get("study"))
    if special:
        return special(results)
    found = panels(results)
    if not found:
        return None
    below = 0.55
    if found[0][0]["x"] == "number":  # names of cases stand below the axes
        longest = max(len(category(case, results["cases"])) for case in results["cases"])
        below = 0.3 + 0.06 * longest
    figure, axes = grid(len(found), below=below)
    for place, (plot, group, curves) in zip(axes, found):
        draw_panel(place, results, plot, group, curves)
    return figure


def path(folder, stem):
    return folder / "figures" / f"{stem}.svg"


def lean(svg):
    """The font once, no groups that only have a name, and no colours that what is used has itself."""
    svg = re.sub(r"font-size: 8px; |(; )?font-family: 'DejaVu Sans', sans-serif(?(1)|; )", "", svg)
    svg = re.sub(r'(?<=<g) id="[^"]*"', "", svg)
    svg = re.sub(r'(<use [^>]*) style="stroke: #000000; stroke-width: 0.8"', r"\1", svg)
    font = " text{font: 8px 'DejaVu Sans', sans-serif}"
    svg = svg.replace("</style>", font + "</style>", 1)
    before = None
    while svg != before:
        before, svg = svg, re.sub(r"<g>\n((?:(?!</?g).)*?)</g>\n", r"\1", svg, flags=re.S)
    return svg


def save(figure, file):
    """Coordinates to a tenth of a point, and what no viewer needs left out: a third of the bytes stay."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    short = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text.getvalue(), flags=re.S)
    short = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d+\.\d)\d+", r"\1", tag[0]), short)
    short = re.sub(r' transform="rotate\(-0 [^"]*\)"|; stroke-linecap: (square|round)', "", short)
    file.parent.mkdir(exist_ok=True)
    file.write_text(lean(re.sub(r"\n\s*", "\n", short)), encoding="utf-8")


def draw(folder, stem, results):
    """Draws the figure of a study next to its page; an old one goes first."""
    file = path(folder, stem)
    file.unlink(missing_ok=True)
    figure = make(stem, results) if pyplot else None
    if figure:
        save(figure, file)


def lines(folder, stem, results):
    """What the page says of the figure that lies next to it."""
    if path(folder, stem).exists():
        caption = charts.CAPTIONS.get(results["study"])
        return [f"![{results['title']}](figures/{stem}.svg)", "", *([caption, ""] if caption else [])]
    return []
