"""Eigenpairs and solutions of an operator that is never stored: a function of a block.

The 7-point Laplacian of n^3 points with a potential, applied by shifted slices of NumPy to all
columns at once. The preconditioner is a function as well: a solve with the Laplacian alone, by the
sine transform.
"""

import sys

import numpy as np

import blockspan as bs


def laplacian(U: np.ndarray) -> np.ndarray:
    """-Laplace u on a grid with zeros around it; U: n x n x n x columns."""
    V = 6 * U
    for axis in range(3):
        inner = [slice(None)] * 4
        outer = list(inner)
        inner[axis], outer[axis] = slice(1, None), slice(None, -1)
        V[tuple(inner)] -= U[tuple(outer)]
        V[tuple(outer)] -= U[tuple(inner)]
    return V


def main(n: int = 16) -> bs.EigenResult:
    x = np.arange(1, n + 1) / (n + 1)
    well = ((x - 0.5) ** 2 * (n + 1) / 4)[:, None, None, None]
    sines = np.sqrt(2 / (n + 1)) * np.sin(np.pi * np.outer(np.arange(1, n + 1), x))
    line = 4 * np.sin(np.pi * x / 2) ** 2
    values = line[:, None, None, None] + line[:, None, None] + line[:, None]

    def transform(U: np.ndarray) -> np.ndarray:
        for axis in range(3):
            U = np.moveaxis(np.tensordot(sines, U, (1, axis)), 0, axis)
        return U

    def operator(X: np.ndarray) -> np.ndarray:
        U = X.reshape(n, n, n, -1)
        return (laplacian(U) + well * U).reshape(X.shape)

    def inverse(X: np.ndarray) -> np.ndarray:
        U = X.reshape(n, n, n, -1)
        return transform(transform(U) / values).reshape(X.shape)

    pairs = bs.lobpcg(operator, n=n**3, k=5, largest=False, M=inverse, path="iterative")
    print(pairs)
    x, info = bs.cg(operator, np.ones((n**3, 2)), M=inverse)
    print(f"two right-hand sides: {info} unsolved")
    return pairs


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
