"""Products of two blocks at the entries of a matrix, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_block

import blockspan as bs


def sparse(shape: tuple[int, int], scalar: str, seed: int = 1) -> sp.csr_array:
    S = sp.random_array(shape, density=0.2, format="csr", rng=seed).astype(scalar)
    S.data = random_block(S.data.shape, scalar)
    return S


def samples(S: sp.csr_array, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    rows, columns = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr)), S.indices
    return np.sum(X[rows] * Y[columns].conj(), axis=1)


def is_near(actual, wanted, k: int) -> None:
    """Blocks have entries of magnitude sqrt(2) at most: the bound of theory, twice."""
    eps = np.finfo(actual.dtype).eps
    assert actual.dtype == wanted.dtype
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=8 * (k + 3) * (k + 1) * eps)


@pytest.mark.parametrize("k", [1, 3, 8, 64, 300])
@pytest.mark.parametrize("orders", ["CC", "FF", "CF"])
def test_equals_numpy(scalar, k, orders):
    S = sparse((40, 30), scalar)
    A = bs.matrix(S)
    X = np.asarray(random_block((40, k), scalar, 2), order=orders[0])
    Y = np.asarray(random_block((30, k), scalar, 3), order=orders[1])
    is_near(bs.sddmm(A, X, Y), samples(S, X, Y), k)
    is_near(bs.sddmm(A, X[::-1], Y), samples(S, X[::-1], Y), k)
    T = sp.csr_array((S.T).tocsr())
    wanted = sp.csr_array((samples(T, Y, X), T.indices, T.indptr), T.shape).T.tocsr()
    for view in (A.T, A.H):
        is_near(bs.sddmm(view, Y, X), wanted.data, k)


def test_scales_into_out(scalar):
    S = sparse((20, 25), scalar)
    A, X, Y = bs.matrix(S), random_block((20,), scalar, 2), random_block((25,), scalar, 3)
    before = S.data.copy()
    assert bs.sddmm(A, X, Y, out=S.data, alpha=2, beta=-0.5) is S.data
    is_near(S.data, (2 * samples(S, X[:, None], Y[:, None]) - before / 2).astype(scalar), 1)
    out = np.full(S.nnz, np.nan, scalar)
    assert np.isfinite(bs.sddmm(A, X, Y, out=out)).all()


def test_is_the_gradient_of_a_product(scalar):
    """The change of <G, A X>, which is linear in the values: no limit to take."""
    S = sparse((20, 25), scalar)
    X, G = random_block((25, 4), scalar, 2), random_block((20, 4), scalar, 3)
    gradient = bs.sddmm(bs.matrix(S), G, X)
    for entry in (0, S.nnz // 2, S.nnz - 1):
        unit = sp.csr_array((np.zeros_like(S.data), S.indices, S.indptr), S.shape)
        unit.data[entry] = 1
        is_near(gradient[entry], np.vdot(unit @ X, G).astype(scalar), 4)


def test_what_is_refused(scalar):
    A = bs.matrix(sparse((4, 5), scalar))
    X, Y = random_block((4, 2), scalar), random_block((5, 2), scalar)
    with pytest.raises(
        bs.Error, match=r"X has the shape \(5, 2\) and Y \(4, 2\); wanted are 4 x k"
    ):
        bs.sddmm(A, Y, X)
    with pytest.raises(bs.Error, match="no out to read"):
        bs.sddmm(A, X, Y, beta=1)
    with pytest.raises(bs.Error, match=f"out is no vector of {A.nnz} numbers"):
        bs.sddmm(A, X, Y, out=np.empty(A.nnz + 1, scalar))
    with pytest.raises(bs.Error, match="float16"):
        bs.sddmm(A, X, Y.real.astype("float16"))
    with pytest.raises(bs.Error, match="not contiguous"):
        bs.sddmm(A, X, Y, out=np.empty((A.nnz, 2), scalar)[:, 0])
    with pytest.raises(bs.Error, match="overlap"):
        bs.sddmm(A, X, Y, out=np.lib.stride_tricks.as_strided(X, (A.nnz,), X.strides[1:]))
