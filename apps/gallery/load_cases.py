"""Many load cases of one elastic body: all right-hand sides are solved together.

A cube, clamped at one side, under a unit force at one node after the other: one block of right-hand
sides, multigrid as preconditioner, or another by its name. Solved together they need fewer
iterations, for each searches the directions of all, and every pass over the matrix serves all.
"""

import sys

import numpy as np

import blockspan as bs


def main(
    nodes: int = 8, cases: int = 12, preconditioner: str = "multigrid"
) -> tuple[bs.CgResult, bs.CgResult]:
    K = bs.generate(f"elasticity:{nodes}")
    n = K.shape[0]
    loads = np.zeros((n, cases))
    loads[np.linspace(0, n - 1, cases).astype(int), np.arange(cases)] = 1
    M: str | bs.Preconditioner = preconditioner
    if preconditioner == "multigrid":
        M = bs.precond.multigrid(K, block_size=3, adaptive=6)

    together = bs.cg(K, loads, M=M, method="block", rtol=1e-10)
    apart = bs.cg(K, loads, M=M, method="columns", rtol=1e-10)
    print(together)
    print(f"together {together.iterations} iterations, apart {apart.iterations}")
    stiffness = 1 / np.einsum("ij,ij->j", loads, together.x)
    print(f"stiffness at the loaded nodes: {stiffness.min():.3g} to {stiffness.max():.3g}")
    return together, apart


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
