"""A matrix shares arrays that SciPy may reorder in place: products are right, or an Error."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from conftest import SCALARS

import blockspan as bs

pytestmark = pytest.mark.filterwarnings("ignore::blockspan.ConversionWarning")

N = 60


def unsorted(kind: str = "float64") -> sp.csr_array:
    """A product of two matrices, whose rows SciPy leaves in no order."""
    random = (
        sp.random_array((N, N), density=0.08, format="csr", rng=seed).multiply(9).astype(kind)
        for seed in (1, 2)
    )
    S = next(random).tocsr() @ next(random).tocsr()
    assert not S.has_sorted_indices
    return S


def ordered(kind: str = "float64") -> sp.csr_array:
    S = unsorted(kind)
    S.sort_indices()
    return S


ASKED = {
    "max": lambda S: S.max(),
    "sort_indices": lambda S: S.sort_indices(),
    "sum_duplicates": lambda S: S.sum_duplicates(),
    "spsolve": lambda S: sl.spsolve(S, np.ones(N)),
    "transposed": lambda S: S.T.sort_indices(),
    "other": lambda S: (S.argmax(axis=0), S + S, S[3, 4], sp.tril(S), S.tocsc()),
    "eliminate_zeros": lambda S: S.eliminate_zeros(),
}

MADE = {
    "array": bs.matrix,
    "matrix": lambda S: bs.matrix(_as_matrix(S)),
    "int64": lambda S: bs.matrix(_with_indices(S, np.int64)),
    "tuple": lambda S: bs.matrix((S.indptr, S.indices, S.data, S.shape)),
    "other values": lambda S: bs.matrix((S.indptr, S.indices, S.data.copy(), S.shape)),
    "converted": lambda S: bs.matrix(S).astype("float32" if S.dtype == float else float),
    "csc": lambda S: bs.matrix(S.tocsc()),
    "coo": lambda S: bs.matrix(S.tocoo()),
}
if "float32" not in SCALARS:  # this build has no other type to convert to
    del MADE["converted"]


def _as_matrix(S):
    M = sp.csr_matrix(S.shape)
    M.indptr, M.indices, M.data = S.indptr, S.indices, S.data
    return M


def _with_indices(S, kind):
    S.indptr, S.indices = S.indptr.astype(kind), S.indices.astype(kind)
    return S


def right_or_refused(call, wanted) -> bool:
    """Whether it answered, and then rightly."""
    try:
        found = call()
    except bs.Error as refused:
        assert "in place" in str(refused)
        return False
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-4)
    return True


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("start", [unsorted, ordered])
@pytest.mark.parametrize("kind", ["float64", "int64"])
@pytest.mark.parametrize("used_before", [False, True])
def test_no_answer_is_wrong(asked, made, start, kind, used_before):
    S = start(kind)
    if kind == "int64" and (asked == "spsolve" or made not in ("array", "converted")):
        return
    if asked == "eliminate_zeros":
        S.data[::3] = 0
    dense, X = S.toarray(), np.random.default_rng(3).standard_normal((N, 3))
    A = MADE[made](S)
    own = X.astype(A.dtype)  # plans do not convert
    mean = (dense + dense.T) / 2
    pattern = bs.sddmm(A, X, X).sum()
    calls = {
        "A @ X": (lambda: A @ X, dense @ X),
        "A.T @ X": (lambda: A.T @ X, dense.T @ X),
        "A.T @ X in another type": (lambda: A.T @ X.astype("float32"), dense.T @ X),
        "toarray": (A.toarray, dense),
        "sddmm": (lambda: bs.sddmm(A, X, X).sum(), pattern),
        "astype": (lambda: A.astype(complex) @ X if "complex128" in SCALARS else A @ X, dense @ X),
        "hermitian_mean": (lambda: A.hermitian_mean().toarray(), mean),
        "Plan": (lambda: bs.spmm(A, own, plan=bs.Plan(A)), dense @ X),
        "jacobi": (lambda: bs.precond.jacobi(A) @ X, jacobi_of(dense) @ X),
    }
    if used_before:
        for call, wanted in calls.values():
            assert right_or_refused(call, wanted)
        plan, M = bs.Plan(A), bs.precond.jacobi(A)
        plan.hold_transpose()
        calls["plan"] = lambda: bs.spmm(A, own, plan=plan), dense @ X
        calls["held transpose"] = lambda: bs.spmm(A.T, own, plan=plan), dense.T @ X
        calls["preconditioner"] = lambda: M @ X, jacobi_of(dense) @ X
    ASKED[asked](S)
    answers = [right_or_refused(call, wanted) for call, wanted in calls.values()]
    joins = asked in ("eliminate_zeros", "sum_duplicates")
    if made in ("array", "matrix", "csc", "coo") and not joins:
        assert all(answers[:9]), "it could have answered"
    if asked == "eliminate_zeros" and made == "array" and kind == "float64":
        assert not any(answers[:3])


def jacobi_of(dense):
    diagonal = abs(np.diag(dense))
    zero = diagonal == 0  # there the least of the others
    least = diagonal[~zero].min() if not zero.all() else 1
    return np.diag(1 / np.where(zero, least, diagonal))


def test_preconditioners_and_solves_after_it():
    S = unsorted()
    S = S @ S.T + 9 * sp.eye_array(N)
    A, b = bs.matrix(S), np.ones(N)
    wanted = np.linalg.solve(S.toarray(), b)
    makers = (
        bs.precond.jacobi,
        lambda A: bs.precond.block_jacobi(A, 2),
        lambda A: bs.precond.chebyshev(A, 4),
        bs.precond.multigrid,
    )
    before = [(M, M @ b) for M in (make(A) for make in makers)]
    S.max()
    for M, first in before:
        right_or_refused(lambda M=M: M @ b, first)
    np.testing.assert_allclose(bs.cg(A, b, rtol=1e-12).x, wanted, rtol=1e-8)
    np.testing.assert_allclose(bs.eigsh(A, 2).eigenvalues, np.linalg.eigvalsh(S.toarray())[:2])
    assert A.asymmetry() == ""


def test_values_stay_shared():
    S = ordered()
    A, x = bs.matrix(S), np.ones(N)
    assert np.shares_memory(A._source[2], S.data) and np.shares_memory(A._source[1], S.indices)
    S.data *= 2
    np.testing.assert_allclose(A @ x, S @ x)
    np.testing.assert_allclose(A.T @ x.astype("float32"), S.T @ x)


@pytest.mark.parametrize("layout", ["csr", "parts"])
def test_tensors_over_arrays_of_scipy(layout):
    torch = pytest.importorskip("torch")
    S = unsorted()
    dense, X = S.toarray(), np.ones((N, 2))
    parts = [torch.from_numpy(part) for part in (S.indptr, S.indices, S.data)]
    if layout == "csr":
        A = bs.matrix(torch.sparse_csr_tensor(*parts, S.shape))
    else:
        A = bs.matrix((*parts, S.shape))
    np.testing.assert_allclose(A.T @ X, dense.T @ X)
    S.max()
    right_or_refused(lambda: A.T @ X, dense.T @ X)
    right_or_refused(lambda: A @ X, dense @ X)
