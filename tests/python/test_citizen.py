"""A Matrix and a preconditioner among what NumPy and SciPy do with matrices."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from conftest import random_block

import blockspan as bs

pytestmark = pytest.mark.filterwarnings("ignore::blockspan.ConversionWarning")


def chain(n: int, diagonal: float = 2.5) -> sp.csr_array:
    return sp.csr_array(sp.diags_array([diagonal, -1.0, -1.0], offsets=[0, 1, -1], shape=(n, n)))


S, R = chain(40), sp.csr_array(sp.random_array((20, 30), density=0.3, rng=1))
A, B = bs.matrix(S), bs.matrix(R)
D, E = S.toarray(), R.toarray()
X = random_block((40, 3), "float64")
x = X[:, 0].copy()

DENSE = {
    "A @ list": lambda: (A @ x.tolist(), D @ x),
    "list @ A": lambda: (x.tolist() @ A, x @ D),
    "X @ A": lambda: (X.T @ A, X.T @ D),
    "X @ B.T": lambda: (X[:30].T @ B.T, X[:30].T @ E.T),
    "negative strides": lambda: (A @ X[::-1, ::-1], D @ X[::-1, ::-1]),
    "dot": lambda: (A.dot(X), D @ X),
    "np.dot": lambda: (np.dot(A, x), D @ x),
    "np.dot on the right": lambda: (np.dot(x, A), x @ D),
    "matvec": lambda: (B.matvec(x[:30]), E @ x[:30]),
    "matvec of a list": lambda: (B.matvec(x[:30].tolist()), E @ x[:30]),
    "rmatvec": lambda: (B.rmatvec(x[:20]), E.T @ x[:20]),
    "rmatmat": lambda: (B.rmatmat(X[:20]), E.T @ X[:20]),
    "diagonal": lambda: (B.T.diagonal(), E.T.diagonal()),
    "diagonal above": lambda: (A.diagonal(1), D.diagonal(1)),
    "trace": lambda: (A.trace(), D.trace()),
    "np.trace": lambda: (np.trace(A), D.trace()),
    "sum": lambda: (A.sum(), D.sum()),
    "np.sum of rows": lambda: (np.sum(B, axis=1), E.sum(axis=1)),
    "A + D": lambda: (A + D, 2 * D),
    "D - 2 A": lambda: (D - 2 * A, -D),
}
SPARSE = {
    "2 A": lambda: (2 * A, 2 * D),
    "np.float64 * A": lambda: (np.float64(3) * A, 3 * D),
    "A * array": lambda: (A * np.array(3.0), 3 * D),
    "A / 2": lambda: (A / 2, D / 2),
    "-A": lambda: (-A, -D),
    "A + sigma I": lambda: (A + 2.5 * sp.eye_array(40), D + 2.5 * np.eye(40)),
    "I - A": lambda: (sp.eye_array(40) - A, np.eye(40) - D),
    "A - A": lambda: (A - A, 0 * D),
    "sum()": lambda: (sum([A, A, S]), 3 * D),
    "B + B.T.T": lambda: (B + B.T.T, 2 * E),
    "sparse product": lambda: (B.T @ B, E.T @ E),
    "S @ A": lambda: (S @ A, D @ D),
    "A @ coo": lambda: (A @ S.tocoo(), D @ D),
    "copy": lambda: (B.copy(), E),
    "copy.copy": lambda: (copy.copy(B.T), E.T),
    "deepcopy": lambda: (copy.deepcopy(B.T), E.T),
    "pickle": lambda: (pickle.loads(pickle.dumps(B.H)), E.T),
    "hermitian_mean": lambda: ((A + sp.eye_array(40, k=1)).hermitian_mean(), D + UPPER / 2),
}
UPPER = np.eye(40, k=1) + np.eye(40, k=-1)


@pytest.mark.parametrize("name", DENSE)
def test_what_gives_arrays(name):
    found, wanted = DENSE[name]()
    assert type(found) in (np.ndarray, np.float64)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("name", SPARSE)
def test_what_gives_matrices(name):
    found, wanted = SPARSE[name]()
    np.testing.assert_allclose(found.toarray(), wanted, atol=1e-12)
    V = random_block((wanted.shape[1], 2), "float64")
    np.testing.assert_allclose(found @ V, wanted @ V, atol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: A * x,
        lambda: x * A,
        lambda: A * "a",
        lambda: A + 1,
        lambda: A + np.eye(3),
        lambda: A @ None,
        lambda: A @ 2,
        lambda: A @ X[:-1],
        lambda: X[:-1].T @ A,
        lambda: A.matvec(X),
        lambda: np.exp(A),
        lambda: np.linalg.norm(A),
        lambda: np.vstack([A, A]),
        lambda: np.allclose(A, D),
        lambda: np.linalg.solve(A, x),
        lambda: la.eigh(A),
        lambda: bs.spmm(A, X, plan=3),
        lambda: bs.spmm(A, X, plan=bs.Plan(B)),
        lambda: bs.spmm(A, X, op=["n"]),
    ],
)
def test_what_is_refused_and_never_an_array_of_objects(call):
    with pytest.raises((ValueError, TypeError)):
        call()


def test_solvers_of_scipy_take_it():
    for M in (None, bs.precond.jacobi(A), bs.precond.multigrid(A)):
        for solver in (sl.gmres, sl.cg, sl.bicgstab, sl.minres):
            found, info = solver(A, x, M=M, rtol=1e-10)
            assert info == 0
            np.testing.assert_allclose(D @ found, x, atol=1e-8)
    np.testing.assert_allclose(np.sort(sl.svds(B, 3)[1]), np.sort(la.svdvals(E))[-3:])
    np.testing.assert_allclose(sl.eigsh(A, 3)[0], la.eigvalsh(D)[-3:])
    np.testing.assert_allclose(E @ sl.lsqr(B.T @ B, E.T @ x[:20])[0], x[:20], atol=1e-4)
    np.testing.assert_allclose(sl.expm_multiply(A, X), la.expm(D) @ X, atol=1e-8)
    np.testing.assert_allclose(sl.onenormest(A), 4.5)
    np.testing.assert_allclose(sl.aslinearoperator(B).H @ X[:20], E.T @ X[:20])
    M = bs.precond.chebyshev(A, 4)
    w, _ = sl.lobpcg(A, X.copy(), M=M, largest=False, maxiter=200, tol=1e-9)
    np.testing.assert_allclose(np.sort(w), la.eigvalsh(D)[:3], rtol=1e-6)


@pytest.mark.parametrize("make", ["jacobi", "block_jacobi", "chebyshev", "multigrid"])
def test_preconditioners(make):
    M = getattr(bs.precond, make)(A)
    Y = M @ X
    for again in (pickle.loads(pickle.dumps(M)), copy.copy(M), copy.deepcopy(M)):
        assert np.array_equal(again @ X, Y) and again.shape == M.shape
    np.testing.assert_allclose(sl.aslinearoperator(M) @ X, Y)
    np.testing.assert_allclose(sl.aslinearoperator(M).H @ X, Y)
    np.testing.assert_allclose(M @ X.astype("float32"), Y, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(M @ (X + 2j * X), Y + 2j * Y)
    np.testing.assert_allclose(M @ X[::-1], M @ X[::-1].copy())
    np.testing.assert_allclose(M @ x.tolist(), Y[:, 0], atol=1e-12)
    np.testing.assert_allclose(M @ np.ones(40, int), M @ np.ones(40))
    assert bs.cg(A.T, x, M=make.replace("_", "-")).info == 0
    for wrong in (X[:-1], np.ones((2, 40, 2)), 3, sp.csr_array(X)):
        with pytest.raises(bs.Error):
            M @ wrong


def test_plans_are_pickled():
    plan = bs.Plan(B, columns=4)
    plan.hold_transpose()
    for again in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
        assert again.algorithm == plan.algorithm
        Y = bs.spmm(again._matrix.T, X[:20], plan=again)
        np.testing.assert_allclose(Y, E.T @ X[:20])


def test_results_are_pickled_and_shown():
    pairs, solved = bs.eigsh(S, 2), bs.cg(S, X)
    for result in (pairs, solved):
        for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
            assert again.status == result.status and repr(again) == repr(result)
        assert "converged" in repr(result)
        table = result._repr_html_()
        assert table.count("<tr>") == 1 + len(list(result)[0].T) and "converged" in table
    assert "0x" not in repr(A) + repr(bs.precond.jacobi(A))


def test_an_exception_survives_a_process():
    with pytest.raises(bs.NotConverged) as failed:
        bs.cg(S, x, maxiter=1, raise_on_failure=True)
    for again in (pickle.loads(pickle.dumps(failed.value)), copy.copy(failed.value)):
        assert str(again) == str(failed.value)
        assert again.result.iterations == 1
        assert np.array_equal(again.result.x, failed.value.result.x)


@pytest.mark.parametrize("which", ["SA", "LA", "LM", "BE"])
@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_all_pairs_of_each_end(which, n):
    """Equal values at both ends and of both signs: orthonormal, none twice, none missed."""
    for T in (chain(n, 0.3), sp.eye_array(n, format="csr"), -2 * sp.eye_array(n, format="csr")):
        w = la.eigvalsh(T.toarray())
        for k in {1, (n + 1) // 2, n}:
            result = bs.eigsh(T, k, which=which)
            found, V = result
            sizes = np.sort(abs(w))[::-1]
            if which == "LM":
                np.testing.assert_allclose(np.sort(abs(found))[::-1], sizes[:k], atol=1e-8)
            else:
                low = {"SA": k, "LA": 0, "BE": k // 2}[which]
                wanted = np.concatenate([w[:low], w[n - (k - low) :]])
                np.testing.assert_allclose(found, wanted, atol=1e-8)
            assert result.status.ok and np.all(np.diff(found) >= 0)
            np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-8)
            np.testing.assert_allclose(T @ V, V * found, atol=1e-6)


@pytest.mark.parametrize("k", [2, 5])
def test_both_ends_of_a_pencil(k):
    mass = sp.csr_array(sp.diags_array(np.linspace(1, 2, 40)))
    for which in ("LM", "BE"):
        result = bs.eigsh(S, k, mass, which=which)
        V = result.eigenvectors
        np.testing.assert_allclose(V.T @ mass @ V, np.eye(k), atol=1e-8)
        assert result.orthogonality_loss < 1e-8 and result.unused_rows == 0


def test_a_matrix_that_is_not_symmetric_is_told_and_its_mean_is_solved():
    skewed = S + sp.csr_array(([1e-3], ([3], [9])), shape=S.shape)
    mean = (skewed + skewed.T) / 2
    rounded = sp.csr_array((S.data * (1 + 2e-16 * np.sign(S.indices - 7)), S.indices, S.indptr))
    for form in (sp.csr_array, bs.matrix, lambda T: T.toarray()):
        with pytest.warns(bs.NotConvergedWarning, match=r"entry \((3, 9|9, 3)\)"):
            result = bs.eigsh(form(skewed), 2)
        assert result.status == "operator_not_hermitian"
        assert not any(status.ok for status in result.pair_status)
        w = bs.eigsh(form(skewed), 2, hermitian_mean=True).eigenvalues
        np.testing.assert_allclose(w, la.eigvalsh(mean.toarray())[:2], rtol=1e-9)
        x_mean, info = bs.cg(form(skewed), x, hermitian_mean=True)
        assert info == 0
        np.testing.assert_allclose(mean @ x_mean, x, atol=1e-7)
        assert bs.eigsh(form(rounded), 2).status.ok and bs.cg(form(rounded), x).info == 0
    with pytest.raises(bs.Error, match="hermitian_mean needs the entries"):
        bs.cg(lambda V: S @ V, x, hermitian_mean=True)


def test_long_tables_are_shown_without_their_middle():
    short, long = bs.cg(S, np.ones((40, 41))), bs.cg(S, np.ones((40, 500)))
    assert len(repr(short).splitlines()) == 43 and "..." not in repr(short)
    for shown, lines in ((repr(long).splitlines(), 43), (long._repr_html_().split("<tr>"), 43)):
        assert len(shown) == lines and "499" in shown[-1] and "..." in "".join(shown)
