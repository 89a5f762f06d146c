"""The ten lowest vibration modes of a clamped elastic cube: K x = w M x."""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg as sl

import blockspan as bs

PAIRS = 10
TITLE = "ten vibration modes, `elasticity:16` (11,520 unknowns)"


def problem():
    return tuple(bs.generate(f"{name}:16").tocsr() for name in ("elasticity", "elasticity-mass"))


def blockspan(K, M):
    multigrid = bs.precond.multigrid(K, block_size=3, adaptive=6)
    return bs.lobpcg(K, B=M, M=multigrid, k=PAIRS, largest=False)


def scipy_eigsh_of_the_inverse(K, M):
    return sl.eigsh(K, PAIRS, M, sigma=0)


def scipy_lobpcg_with_pyamg(K, M):
    import pyamg

    hierarchy = pyamg.smoothed_aggregation_solver(
        K.tobsr((3, 3)), B=np.tile(np.eye(3), (K.shape[0] // 3, 1))
    )
    X = np.random.default_rng(1).standard_normal((K.shape[0], PAIRS + 4))
    w, V = sl.lobpcg(K, X, M, hierarchy.aspreconditioner(), tol=1e-6, maxiter=200, largest=False)
    return w[:PAIRS], V[:, :PAIRS]


def error(answer, K, M):
    """The largest backward error."""
    w, V = answer
    residuals = np.linalg.norm(K @ V - (M @ V) * w, axis=0) / np.linalg.norm(V, axis=0)
    return max(residuals / (sl.norm(K, np.inf) + w * sl.norm(M, np.inf)))


CONTENDERS = (blockspan, scipy_eigsh_of_the_inverse, scipy_lobpcg_with_pyamg)
