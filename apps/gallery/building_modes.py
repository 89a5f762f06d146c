"""The modes of a building in a frequency band, and the proof that none is missing.

A tower of rigid floors on columns: two displacements and a rotation a floor, the centre of mass
beside the centre of stiffness, so that bending and torsion go together. K x = (2 pi f)^2 M x,
between 1 and 5 Hz, as an earthquake asks for them. With a folder as argument the matrices are
written there, and the command that finds the same by the program.
"""

import pathlib
import sys

import numpy as np
import scipy.io
import scipy.sparse as sp

import blockspan as bs

BAND = (1.0, 5.0)  # Hz


def matrices(floors: int) -> tuple[sp.csr_array, sp.csr_array]:
    mass, radius, apart = 3e5, 8.0, 1.5  # kg, m of gyration, m between the centres
    storey = np.array([[6e8, 0, -6e8 * apart], [0, 4e8, 0], [-6e8 * apart, 0, 9e10]])  # N/m, N m
    line = 2 * np.eye(floors) - np.eye(floors, k=1) - np.eye(floors, k=-1)
    line[-1, -1] = 1  # the roof is free
    softer = np.diag(np.linspace(1, 0.6, floors) ** 0.5)  # columns get thinner upwards
    K = sp.csr_array(np.kron(softer @ line @ softer, storey))
    M = sp.csr_array(sp.diags_array(np.tile([mass, mass, mass * radius**2], floors)))
    return K, M


def main(folder: str | None = None, floors: int = 60) -> bs.ExactResult:
    K, M = matrices(floors)
    low, high = ((2 * np.pi * f) ** 2 for f in BAND)
    modes = bs.eigs_in(K, low, high, M)
    print(modes)
    for j, w in enumerate(modes.eigenvalues):
        print(f"mode {j}: {np.sqrt(w) / (2 * np.pi):.4f} Hz")
    if folder is not None:
        for name, A in (("K", K), ("M", M)):
            scipy.io.mmwrite(pathlib.Path(folder) / f"{name}.mtx", A, symmetry="symmetric")
        print(f"blockspan-eig K.mtx --mass M.mtx --interval {low:.17g},{high:.17g}")
    return modes


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
