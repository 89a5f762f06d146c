#!/usr/bin/env python3
"""The pictures of the Python package's page, from runs of the programs of apps/gallery.

perf/python/pictures.py [NAME ...] writes src/python/pictures/NAME.svg. Needs matplotlib;
graph_network needs PyTorch, spectral_clustering scikit-learn.
"""

from __future__ import annotations

import pathlib
import runpy
import sys
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "perf"))

from pages.drawing import logarithmic, pyplot  # noqa: E402
from pages.figures import save  # noqa: E402

OWN, OTHER = "#1b4f9c", "#e07b00"


def main_of(name: str) -> Any:
    return runpy.run_path(str(ROOT / "apps" / "gallery" / f"{name}.py"))["main"]


def panels(count: int, height: float = 2.3) -> Any:
    figure, axes = pyplot.subplots(1, count, figsize=(min(10, 2.6 * count), height), squeeze=False)
    return figure, axes[0]


def draw_lines(axis: Any, lines: list[Any], colour: str, width: float) -> None:
    """As one curve with gaps: a file of a third of the size."""
    gap = np.full((1, 2), np.nan)
    axis.plot(
        *np.concatenate([part for line in lines for part in (line, gap)]).T,
        color=colour,
        linewidth=width,
        solid_capstyle="butt",
    )


def vibration_modes(nodes: int = 7) -> Any:
    """Three sides of the cube, moved by a mode, seen from a corner."""
    modes = main_of("vibration_modes")(nodes)
    figure, axes = panels(4)
    seen = np.array([[-0.80, 0.60, 0.0], [-0.30, -0.40, 0.87]])  # across and up
    grid = np.arange(nodes) / (nodes - 1)
    z, y, x = np.meshgrid(grid, grid, grid, indexing="ij")
    places = np.stack([x, y, z], axis=-1)
    for axis, j in zip(axes, (2, 3, 6, 7), strict=True):
        moved = np.zeros((nodes, nodes, nodes, 3))  # z, y, x; x = 0 is clamped
        moved[:, :, 1:] = modes.eigenvectors[:, j].reshape(nodes, nodes, nodes - 1, 3)
        largest = moved.flat[np.abs(moved).argmax()]
        shape = places + 0.25 * moved / largest
        for body, colour, width in ((places, "#d0d0d0", 0.6), (shape, OWN, 0.9)):
            for side in (body[-1], body[:, -1], body[:, :, -1]):
                draw_lines(axis, [*side @ seen.T, *side.swapaxes(0, 1) @ seen.T], colour, width)
        axis.set_title(f"mode {j}: {np.sqrt(modes.eigenvalues[j]) / (2 * np.pi):.3f}", loc="left")
        axis.set_aspect("equal")
        axis.axis("off")
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.88, wspace=0.05)
    return figure


def load_cases(nodes: int = 14, cases: int = 24) -> Any:
    """The worst residual after each iteration, with the simplest preconditioner."""
    together, apart = main_of("load_cases")(nodes, cases, "jacobi")
    figure, (axis,) = panels(1)
    lowest = 1.0
    for result, name, colour in ((together, "together", OWN), (apart, "each by itself", OTHER)):
        worst = [max(step.residuals) for step in result.history]
        lowest = min(lowest, *worst)
        axis.plot([step.iteration for step in result.history], worst, color=colour)
        axis.annotate(
            name,
            (result.history[-1].iteration, worst[-1]),
            (4, 0),
            color=colour,
            textcoords="offset points",
            va="center",
        )
    logarithmic(axis.yaxis, axis.set_yscale, lowest, 1)
    axis.set_xlabel("iterations")
    axis.set_title(f"largest of {cases} residuals", loc="left")
    figure.set_size_inches(5, 2.3)
    figure.subplots_adjust(left=0.12, right=0.78, bottom=0.2, top=0.88)
    return figure


def own_operator(n: int = 16) -> Any:
    """Three eigenfunctions of simple eigenvalues, in a plane along the well and across it."""
    pairs = main_of("own_operator")(n)
    figure, axes = panels(3, 2.4)
    for j, axis in zip((0, 3, 4), axes, strict=True):
        plane = pairs.eigenvectors[:, j].reshape(n, n, n)[:, n // 4, :]
        plane = plane / plane.flat[np.abs(plane).argmax()]
        axis.imshow(plane, cmap="RdBu", vmin=-1, vmax=1, interpolation="none", origin="lower")
        axis.set_title(f"pair {j}: {pairs.eigenvalues[j]:.4f}", loc="left")
        axis.axis("off")
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.02, top=0.88, wspace=0.06)
    return figure


def spectral_clustering(points: int = 500) -> Any:
    """Points in the colours of the clusters that k-means finds, and of the spectral ones."""
    from sklearn.cluster import KMeans

    program = runpy.run_path(str(ROOT / "apps" / "gallery" / "spectral_clustering.py"))
    X, _ = program["rings"](points)
    labels, _ = program["main"](points)
    plain = KMeans(2, n_init=1, random_state=0).fit_predict(X)
    figure, axes = panels(2, 2.7)
    for axis, found, title in (
        (axes[0], plain, "k-means of the points"),
        (axes[1], labels, "spectral clustering"),
    ):
        for cluster, colour in enumerate((OWN, OTHER)):
            own = X[(found ^ found[0]) == cluster]
            draw_lines(
                axis, [point + np.array([[-0.02, 0], [0.02, 0]]) for point in own], colour, 1.8
            )
        axis.set_title(title, loc="left")
        axis.set_aspect("equal")
        axis.axis("off")
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=0.9, wspace=0.05)
    return figure


def graph_network() -> Any:
    """The loss of the nodes with a label."""
    figure, (axis,) = panels(1)
    losses, right = main_of("graph_network")()
    axis.plot(losses, color=OWN)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("steps")
    axis.set_title(f"cross entropy; {right:.1%} of the other nodes are right", loc="left")
    figure.set_size_inches(5, 2.3)
    figure.subplots_adjust(left=0.1, right=0.97, bottom=0.2, top=0.88)
    return figure


PICTURES = (vibration_modes, load_cases, own_operator, spectral_clustering, graph_network)


def main(names: list[str]) -> None:
    for draw in PICTURES:
        if not names or draw.__name__ in names:
            save(draw(), ROOT / "src" / "python" / "pictures" / f"{draw.__name__}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
