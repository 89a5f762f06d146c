"""What counts as Hermitian: rounding, in entries and in the sums that have made them, does not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import SCALARS, random_block

import blockspan as bs

N, K = 80, 3
CHAIN = sp.csr_array(sp.diags_array([2.5, -1.0, -1.0], offsets=[0, 1, -1], shape=(N, N)))
TALL = sp.random_array((200, N), density=0.1, format="csr", rng=1)
INNER = sp.csr_array(sp.diags_array([2.5, -1.0, -1.0], offsets=[0, 1, -1], shape=(200, 200)))


def congruence() -> sp.csr_array:
    """P^T A P, whose mirrored entries are sums in other orders."""
    product = sp.csr_array(TALL.T @ INNER @ TALL)
    assert abs(product - product.T).max() > 0
    return product


def rotated(scalar: str) -> np.ndarray:
    """Q D Q^H, a dense one."""
    Q = np.linalg.qr(random_block((N, N), scalar))[0]
    A = (Q * np.linspace(1, 2, N).astype(Q.real.dtype)) @ Q.conj().T
    assert not np.array_equal(A, A.conj().T)
    return A


def test_sums_of_products_are_symmetric_to_rounding():
    A, B = congruence(), sp.csr_array(TALL.T @ TALL)
    r = bs.eigsh(A, K)
    assert r.status.ok and not r.trouble
    np.testing.assert_allclose(r.eigenvalues, np.linalg.eigvalsh(A.toarray())[:K], atol=1e-9)
    assert bs.eigsh(A + sp.eye_array(N), K, B).status.ok
    assert bs.cg(A + sp.eye_array(N), np.ones(N)).info == 0


@pytest.mark.parametrize("scalar", SCALARS)
def test_dense_products_are_hermitian_to_rounding(scalar):
    A = rotated(scalar)
    r = bs.eigsh(A, K)
    assert r.status.ok and not r.trouble, r
    np.testing.assert_allclose(r.eigenvalues, np.linspace(1, 2, N)[:K], rtol=1e-4)


@pytest.mark.parametrize("dense", [False, True])
def test_scaling_of_rows_and_columns_does_not_count(dense):
    """Neither for what is rounding, nor for what is not."""
    D = sp.diags_array(2.0 ** np.random.default_rng(2).integers(-30, 30, N))
    good = D @ congruence() @ D
    bad = congruence()
    i = int(np.argmax(np.abs(bad[[7]].toarray() * (np.arange(N) != 7))))
    bad[7, i] *= 1 + 1e-9
    bad = D @ bad @ D
    as_given = sp.csr_array.toarray if dense else sp.csr_array
    assert "not symmetric" not in bs.eigsh(as_given(sp.csr_array(good)), K).trouble
    assert "not symmetric" in bs.eigsh(as_given(sp.csr_array(bad)), K).trouble


@pytest.mark.filterwarnings("ignore::blockspan.NotConvergedWarning")
@pytest.mark.parametrize("scalar", SCALARS)
@pytest.mark.parametrize("dense", [False, True])
def test_other_matrices_are_told_with_the_entry(scalar, dense):
    eps = float(np.finfo(scalar).eps)
    for factor in (2.0, 1 + 2000 * eps):
        A = CHAIN.astype(scalar)
        A[4, 5] *= np.asarray(factor, A.real.dtype)
        r = bs.eigsh(A.toarray() if dense else A, K)
        assert r.status is bs.Status.operator_not_hermitian
        assert "entry (4, 5)" in r.trouble or "entry (5, 4)" in r.trouble
        one, other = (
            r.trouble.split(" is ")[2].split(",")[0],
            r.trouble.split(" is ")[3].split(";")[0],
        )
        assert one != other  # there are enough digits
        mean = bs.eigsh(A.toarray() if dense else A, K, hermitian_mean=True)
        dense_mean = (A.toarray() + A.toarray().conj().T) / 2
        assert mean.status.ok
        np.testing.assert_allclose(
            mean.eigenvalues, np.linalg.eigvalsh(dense_mean)[:K], rtol=200 * eps
        )


def test_an_entry_without_a_mirror_is_told():
    A = CHAIN.tolil()
    A[0, 9] = 1e-3
    assert "entry (0, 9) is 0.001, but entry (9, 0) is 0 (counted from 0)" in bs.eigsh(A.tocsr(), K).trouble


SYMBOL = N * np.abs(np.fft.fftfreq(N)) + 1


def filtered(x):
    """Of vectors only: of an n x 1 block it would be something else, of the same shape."""
    assert x.shape == (N,)
    return np.real(np.fft.ifft(np.fft.fft(x) * SYMBOL))


class Filter(sla.LinearOperator):
    def __init__(self):
        super().__init__(np.float64, (N, N))

    def _matvec(self, x):
        return filtered(x)


def test_operators_that_are_made_of_operators_of_vectors():
    filters = sla.LinearOperator((N, N), matvec=filtered, rmatvec=filtered, dtype=float)
    w = np.sort(SYMBOL)
    for op, wanted in (
        (filters, w),
        (Filter(), w),
        (filters + sla.aslinearoperator(sp.eye_array(N)), w + 1),
        (2 * filters, 2 * w),
        (filters @ filters, w**2),
        (filters**2, w**2),
        (filters.H, w),
        (filters.T, w),
        (Filter() - -filters, 2 * w),
    ):
        np.testing.assert_allclose(bs.eigsh(op, K).eigenvalues, wanted[:K], rtol=1e-9)
