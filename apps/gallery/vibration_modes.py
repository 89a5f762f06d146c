"""The lowest vibration modes of an elastic cube that is clamped at one side.

K x = w M x: stiffness and mass of 8-node bricks, multigrid as preconditioner. Frequencies are
sqrt(w) / (2 pi), for E = 1, density 1 and an edge of 1.
"""

import sys

import numpy as np

import blockspan as bs


def main(nodes: int = 9) -> bs.EigenResult:
    K = bs.generate(f"elasticity:{nodes}")
    M = bs.generate(f"elasticity-mass:{nodes}")
    multigrid = bs.precond.multigrid(K, block_size=3, adaptive=6)
    print(f"{K}\nmultigrid: {multigrid.report}")

    modes = bs.lobpcg(K, B=M, M=multigrid, k=8, largest=False)
    print(modes)
    for j, w in enumerate(modes.eigenvalues):
        print(f"mode {j}: frequency {np.sqrt(w) / (2 * np.pi):.6f}")
    return modes


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
