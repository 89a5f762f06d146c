"""Hierarchies of pyamg as preconditioners; skipped where it is not installed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import SCALARS, grid_eigenvalues, random_block

import blockspan as bs

pyamg = pytest.importorskip("pyamg")

DOUBLES = [scalar for scalar in SCALARS if scalar in ("float64", "complex128")]


def grid(n: int) -> sp.csr_array:
    line = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    return sp.csr_array(sp.kronsum(line, line))


def hierarchy(n: int, scalar: str = "float64", method=pyamg.smoothed_aggregation_solver):
    """Of a grid, with phases that leave its eigenvalues as they are where it is complex."""
    S = grid(n).astype(scalar)
    near_null = np.ones((n * n, 1), scalar)
    if np.dtype(scalar).kind == "c":
        phases = np.exp(1j * np.arange(n * n))
        S = sp.csr_array(sp.diags_array(phases) @ S @ sp.diags_array(phases.conj()))
        near_null = phases[:, None]
    options = {"B": near_null} if method is pyamg.smoothed_aggregation_solver else {}
    return S, method(sp.csr_matrix(S), max_coarse=20, **options)


@pytest.mark.parametrize("scalar", DOUBLES)
def test_the_cycle_is_hermitian_and_definite(scalar):
    S, ml = hierarchy(12, scalar)
    assert len(ml.levels) > 1
    M = bs.precond.pyamg(ml) @ np.eye(144, dtype=scalar)
    np.testing.assert_allclose(M, M.conj().T, rtol=0, atol=1e-14)
    assert np.linalg.eigvalsh(M).min() > 0
    # a convergent iteration: the error of one step, in the norm of the matrix
    values = np.linalg.eigvals(M @ S.toarray()).real
    assert 0.3 < values.min() and values.max() < 1 + 1e-12


@pytest.mark.parametrize("scalar", DOUBLES)
def test_iterations_do_not_grow(scalar):
    counts = []
    for n in (30, 90):
        S, ml = hierarchy(n, scalar)
        B = random_block((n * n, 4), scalar)
        result = bs.cg(S, B, M=bs.precond.pyamg(ml), method="columns", rtol=1e-10)
        assert result.info == 0
        assert np.linalg.norm(S @ result.x - B) <= 1e-9 * np.linalg.norm(B)
        counts.append(result.iterations)
    assert counts[1] <= counts[0] + 6
    assert 3 * counts[1] < bs.cg(S, B, method="columns", rtol=1e-10).iterations


def test_eigenpairs_and_other_methods():
    S, ml = hierarchy(40, method=pyamg.ruge_stuben_solver)
    pairs = bs.lobpcg(S, M=bs.precond.pyamg(ml), k=4, largest=False)
    np.testing.assert_allclose(pairs.eigenvalues, grid_eigenvalues(40, 4).astype(float), rtol=1e-9)


def test_what_is_refused():
    S, ml = hierarchy(12)
    ml.levels[0].R = 2 * ml.levels[0].R
    with pytest.raises(bs.Error, match="restriction of level 0 is not the adjoint"):
        bs.precond.pyamg(ml)
    with pytest.raises(bs.Error, match="6400 rows"):
        bs.precond.pyamg(pyamg.smoothed_aggregation_solver(sp.csr_matrix(grid(80)), max_levels=1))
