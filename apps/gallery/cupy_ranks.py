"""Ranks of the nodes of a graph as seen from many nodes at once, on a GPU. Needs CuPy and a CUDA device.

Personalized PageRank: X = (1 - d) S + d P^T X with a column for each start, P the matrix of a random
walk. CuPy arrays go in and come out, nothing is copied, and a step is one product: Y = d P^T X + Y.
"""

import sys

import cupy
import numpy as np
from cupyx.scipy.sparse import csr_matrix

import blockspan as bs


def random_walk(spec: str) -> csr_matrix:
    """The adjacency of a generated graph on the device, rows scaled to a sum of one."""
    A = bs.generate(spec)
    indptr, indices, data = A._source
    lengths = np.maximum(np.diff(indptr), 1)
    probabilities = np.repeat(1 / lengths, np.diff(indptr))
    parts = (cupy.asarray(part) for part in (probabilities, indices, indptr))
    return csr_matrix(tuple(parts), shape=A.shape)


def main(spec: str = "rmat:14:16", starts: int = 32, damping: float = 0.85) -> cupy.ndarray:
    P = random_walk(spec)
    A = bs.matrix(P)
    plan = bs.Plan(A, columns=starts)
    plan.hold_transpose()  # products with P^T then cost what those with P do
    nodes = A.shape[0]
    seeds = cupy.zeros((nodes, starts))
    seeds[cupy.linspace(0, nodes - 1, starts).astype(int), cupy.arange(starts)] = 1 - damping

    X, Y = seeds.copy(), cupy.empty_like(seeds)
    for step in range(200):
        Y[...] = seeds
        bs.spmm(A, X, out=Y, alpha=damping, beta=1.0, op="t", plan=plan)
        change = float(cupy.abs(Y - X).sum(axis=0).max())
        X, Y = Y, X
        if change < 1e-10:
            break
    print(f"{nodes} nodes, {A.nnz} edges, {starts} starts: {step + 1} steps, change {change:.1e}")
    return X


if __name__ == "__main__":
    main(*sys.argv[1:2])
