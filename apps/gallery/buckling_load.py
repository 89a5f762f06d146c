"""The loads under which a column buckles.

K x = w G x: the stiffness of beam elements and their geometric stiffness under a unit load; the
least w > 0 is the load that the column bears, Euler's pi^2 E I / L^2 where both ends are pinned. A
column on springs (a rail, a pile) buckles in waves, at 2 sqrt(k E I) where it is long. With a folder
as argument the matrices are written there, and the command that finds the same by the program.
"""

import pathlib
import sys

import numpy as np
import scipy.io
import scipy.sparse as sp

import blockspan as bs


def matrices(elements: int, springs: float) -> tuple[sp.csr_array, sp.csr_array]:
    """E I = 1, L = 1; deflection and slope of a node, of a cubic between nodes."""
    h, n = 1 / elements, 2 * (elements + 1)
    bending = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]) / h**3
    geometric = np.array([[36, 3, -36, 3], [3, 4, -3, -1], [-36, -3, 36, -3], [3, -1, -3, 4]]) / (
        30 * h
    )
    bed = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]])
    slopes = np.array([1, h, 1, h])
    K, G = np.zeros((n, n)), np.zeros((n, n))
    for e in range(elements):
        at = slice(2 * e, 2 * e + 4)
        scale = np.outer(slopes, slopes)
        K[at, at] += (bending + springs * h / 420 * bed) * scale
        G[at, at] += geometric * scale
    free = np.delete(np.arange(n), [0, n - 2])  # pinned ends
    return sp.csr_array(K[np.ix_(free, free)]), sp.csr_array(G[np.ix_(free, free)])


def main(folder: str | None = None, elements: int = 100, springs: float = 0.0) -> bs.ExactResult:
    K, G = matrices(elements, springs)
    sigma = 0.9 * np.pi**2  # a load that it bears surely; nearest in 1 / w is the first above
    loads = bs.eigsh(K, 3, G, sigma=sigma, mode="buckling")
    print(loads)
    print(f"it buckles at {loads.eigenvalues[0]:.6f}; pi^2 = {np.pi**2:.6f}")
    if folder is not None:
        for name, A in (("K", K), ("G", G)):
            scipy.io.mmwrite(pathlib.Path(folder) / f"{name}.mtx", A, symmetry="symmetric")
        print(f"blockspan-eig K.mtx --mass G.mtx --buckling --near {sigma:.17g} --pairs 3")
    return loads


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]), *map(float, sys.argv[3:]))
