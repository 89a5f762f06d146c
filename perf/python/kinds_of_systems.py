"""Positive definite matrices of the kinds that preconditioners part on."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.spatial


def stencil(n: int, weights: dict[tuple[int, int], float]) -> Any:
    """Of a grid of n x n points, fixed all around."""
    parts = []
    for (dx, dy), value in weights.items():
        shift = sp.diags_array([np.ones(n - abs(dy))], offsets=[dy], shape=(n, n))
        along = sp.diags_array([np.ones(n - abs(dx))], offsets=[dx], shape=(n, n))
        parts.append(value * sp.kron(shift, along))
    return sp.csr_array(sum(parts[1:], parts[0]))


def rotated(n: int, degrees: float, across: float = 1e-3) -> Any:
    """-div K grad by bilinear elements, K stretching by 1 along `degrees`, by `across` across."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    xx, yy, xy = c * c + across * s * s, s * s + across * c * c, (1 - across) * c * s
    weights = {(0, 0): 4 * (xx + yy) / 3}
    for d in (-1, 1):
        weights[d, 0] = (yy - 2 * xx) / 3
        weights[0, d] = (xx - 2 * yy) / 3
        for e in (-1, 1):
            weights[d, e] = -(xx + yy) / 6 - d * e * xy / 2
    return stencil(n, weights)


def plate(n: int) -> Any:
    """Thirteen points: the square of five."""
    five = stencil(n, {(0, 0): 4, (1, 0): -1, (-1, 0): -1, (0, 1): -1, (0, -1): -1})
    return sp.csr_array(five @ five)


def _network(pairs: Any, weights: Any, n: int) -> Any:
    """The Laplacian of a weighted graph, of its largest part, one vertex of which is held."""
    W = sp.coo_array((weights, (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()
    W = W + W.T
    _, part = sp.csgraph.connected_components(W)
    kept = np.flatnonzero(part == np.bincount(part).argmax())
    W = W[kept][:, kept]
    L = sp.diags_array([W.sum(axis=0)], offsets=[0]) - W
    return sp.csr_array(L.tocsr()[1:, 1:])


def streets(n: int, seed: int = 1) -> Any:
    """A grid of n x n crossings without three streets in ten; lengths over two decades."""
    rng = np.random.default_rng(seed)
    number = np.arange(n * n).reshape(n, n)
    down = np.c_[number[:-1].ravel(), number[1:].ravel()]
    across = np.c_[number[:, :-1].ravel(), number[:, 1:].ravel()]
    pairs = np.r_[down, across]
    pairs = pairs[rng.random(len(pairs)) < 0.7]
    return _network(pairs, 10.0 ** rng.uniform(-1, 1, len(pairs)), n * n)


def checkerboard(n: int, cells: int = 7, jump: float = 1e6) -> Any:
    """Five points; cells x cells squares with coefficient 1 or `jump` by turns, fixed all around."""
    side = (np.arange(n) * cells) // n
    a = np.where((side[:, None] + side) % 2 == 0, 1.0, jump)
    number = np.arange(n * n).reshape(n, n)
    rows, columns, values = [], [], []
    diagonal = np.zeros((n, n))
    for axis in (0, 1):
        here, there = (np.delete(x, end, axis) for x, end in ((a, -1), (a, 0)))
        i, j = (np.delete(number, end, axis).ravel() for end in (-1, 0))
        w = (2 * here * there / (here + there)).ravel()
        rows += [i, j]
        columns += [j, i]
        values += [-w, -w]
        np.add.at(diagonal.ravel(), i, w)
        np.add.at(diagonal.ravel(), j, w)
        for end in (0, -1):
            np.moveaxis(diagonal, axis, 0)[end] += 2 * np.moveaxis(a, axis, 0)[end]
    rows.append(number.ravel())
    columns.append(number.ravel())
    values.append(diagonal.ravel())
    entries = [np.concatenate(part) for part in (values, rows, columns)]
    return sp.csr_array(sp.coo_array((entries[0], (entries[1], entries[2])), shape=(n * n, n * n)))


def tetrahedra(points: int, seed: int = 1) -> Any:
    """Linear elements on the Delaunay tetrahedra of random points of a cube, its boundary fixed;
    with the mass, of the points inside."""
    X = np.random.default_rng(seed).random((points, 3))
    mesh = scipy.spatial.Delaunay(X)
    T = mesh.simplices
    edges = X[T[:, 1:]] - X[T[:, :1]]
    volume = abs(np.linalg.det(edges)) / 6
    T, edges, volume = (part[volume > 1e-12] for part in (T, edges, volume))
    G = np.linalg.inv(edges).transpose(0, 2, 1)
    G = np.concatenate([-G.sum(axis=1, keepdims=True), G], axis=1)
    K = np.einsum("t,tia,tja->tij", volume, G, G)
    M = np.einsum("t,ij->tij", volume / 20, np.ones((4, 4)) + np.eye(4))
    i, j = np.repeat(T, 4, axis=1).ravel(), np.tile(T, (1, 4)).ravel()
    inside = np.setdiff1d(np.arange(points), np.unique(mesh.convex_hull))

    def assembled(values: Any) -> Any:
        whole = sp.coo_array((values.ravel(), (i, j)), shape=(points, points)).tocsr()
        whole = whole[inside][:, inside]
        return sp.csr_array((whole + whole.T) / 2)

    return assembled(K), assembled(M)


def stretched_elasticity(n: int, stretch: float) -> Any:
    """Bricks of eight nodes, `stretch` times as long along x as along y and z, clamped at x = 0."""
    size = np.array([stretch, 1.0, 1.0])
    lame, shear = 0.3 / (1.3 * 0.4), 1 / 2.6
    D = np.diag([2.0 * shear] * 3 + [shear] * 3)
    D[:3, :3] += lame
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)])
    K = np.zeros((24, 24))
    at = 0.5 + np.array([-1, 1]) / np.sqrt(12)
    for p in np.array([[x, y, z] for x in at for y in at for z in at]):
        each = np.where(corners == 1, p, 1 - p)
        sign = np.where(corners == 1, 1.0, -1.0)
        B = np.zeros((6, 24))
        for a in range(8):
            g = [sign[a, d] * np.prod(np.delete(each[a], d)) / size[d] for d in range(3)]
            B[[0, 1, 2], [3 * a, 3 * a + 1, 3 * a + 2]] = g
            B[3, [3 * a, 3 * a + 1]] = g[1], g[0]
            B[4, [3 * a + 1, 3 * a + 2]] = g[2], g[1]
            B[5, [3 * a, 3 * a + 2]] = g[2], g[0]
        K += B.T @ D @ B * np.prod(size) / 8
    number = np.arange(n**3).reshape(n, n, n)  # z, y, x
    first = number[:-1, :-1, :-1].ravel()
    nodes = first[:, None] + np.array([x + n * y + n * n * z for x, y, z in corners])
    unknowns = (3 * nodes[:, :, None] + np.arange(3)).reshape(len(nodes), 24)
    i, j = np.repeat(unknowns, 24, axis=1).ravel(), np.tile(unknowns, (1, 24)).ravel()
    whole = sp.coo_array((np.tile(K.ravel(), len(nodes)), (i, j)), shape=(3 * n**3,) * 2).tocsr()
    free = (3 * number[:, :, 1:].reshape(-1, 1) + np.arange(3)).ravel()
    whole = whole[free][:, free]
    return sp.csr_array((whole + whole.T) / 2)
