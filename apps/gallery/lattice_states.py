"""The states of a lattice within its gap, and how many there are.

Electrons that hop on a square lattice of two kinds of atoms: energies between -1 and 1 are those of
no wave. Atoms of a third kind, here and there, bind states in that gap, deep inside the spectrum,
where only factors find them. With a folder as argument the matrix is written there, and the command
that finds the same by the program.
"""

import pathlib
import sys

import numpy as np
import scipy.io
import scipy.sparse as sp

import blockspan as bs

GAP = (-0.95, 0.95)


def hamiltonian(edge: int, impurities: int) -> sp.csr_array:
    hop = sp.diags_array([-1.0, -1.0], offsets=[-1, 1], shape=(edge, edge))
    one = sp.eye_array(edge)
    x, y = np.divmod(np.arange(edge * edge), edge)
    atoms = np.where((x + y) % 2 == 0, 1.0, -1.0)
    places = np.random.default_rng(1).choice(edge * edge, impurities, replace=False)
    atoms[places] *= -2.5
    return sp.csr_array(sp.kron(hop, one) + sp.kron(one, hop) + sp.diags_array(atoms))


def main(folder: str | None = None, edge: int = 40, impurities: int = 6) -> bs.ExactResult:
    H = hamiltonian(edge, impurities)
    print(f"{int(bs.count(H, *GAP))} states in the gap, {int(bs.count(H, -np.inf, GAP[0]))} below")
    states = bs.eigs_in(H, *GAP)
    print(states)
    weight = (np.abs(states.eigenvectors) ** 2).max(axis=0)
    print(f"largest part of a state on one atom: {weight.round(2)}")
    if folder is not None:
        scipy.io.mmwrite(pathlib.Path(folder) / "H.mtx", H, symmetry="symmetric")
        print(f"blockspan-eig H.mtx --interval={GAP[0]},{GAP[1]}")
    return states


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
