"""An elastic cube under 24 loads: one matrix, many right-hand sides."""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg as sl

import blockspan as bs

LOADS = 24
TITLE = f"{LOADS} loads on `elasticity:20` (22,800 unknowns)"


def problem():
    K = bs.generate("elasticity:20").tocsr()
    return K, np.random.default_rng(1).standard_normal((K.shape[0], LOADS))


def blockspan(K, B):
    return bs.cg(K, B, M=bs.precond.multigrid(K, block_size=3, adaptive=6)).x


def scipy_cg_with_jacobi(K, B):
    jacobi = sl.LinearOperator(K.shape, lambda x: x.ravel() / K.diagonal())
    return np.column_stack([sl.cg(K, b, rtol=1e-8, M=jacobi)[0] for b in B.T])


def pyamg(K, B):
    import pyamg

    near_null = np.tile(np.eye(3), (K.shape[0] // 3, 1))
    hierarchy = pyamg.smoothed_aggregation_solver(K.tobsr((3, 3)), B=near_null)
    return np.column_stack([hierarchy.solve(b, tol=1e-8, accel="cg") for b in B.T])


def scipy_factors(K, B):
    return sl.splu(K.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(B)


def error(X, K, B):
    """The largest relative residual."""
    return (np.linalg.norm(B - K @ X, axis=0) / np.linalg.norm(B, axis=0)).max()


CONTENDERS = (blockspan, pyamg, scipy_cg_with_jacobi, scipy_factors)
