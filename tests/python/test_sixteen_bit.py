"""Products of float16, summed in float32, against NumPy in extended precision."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import SCALARS, random_block

import blockspan as bs

STORED: list[str] = bs.show_config()["stored"]
has_float16 = pytest.mark.skipif(
    "float16" not in STORED, reason="this build has no float16 (Blockspan_STORAGE_SCALARS)"
)

OPS = {"n": lambda S: S, "t": lambda S: S.T, "c": lambda S: S, "h": lambda S: S.T}
U16, LEAST16, U32 = 2.0**-11, 2.0**-25, 2.0**-24


def sparse(shape: tuple[int, int], seed: int = 1) -> sp.csr_array:
    """With empty rows, unsorted and repeated entries."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 9, shape[0])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    indices = rng.integers(0, shape[1], offsets[-1]).astype(np.int32)
    S = sp.csr_array(shape, dtype=np.float32)  # SciPy has no float16: only its arrays are read
    S.indptr, S.indices, S.data = offsets, indices, random_block(indices.shape, "float16", seed)
    return S


def wide(S: sp.csr_array, values=None) -> np.ndarray:
    """Dense, in extended precision; repeated entries add up."""
    D = np.zeros(S.shape, np.longdouble)
    rows = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    np.add.at(D, (rows, S.indices), S.data if values is None else values)
    return D


def is_near(actual, wanted, sizes, terms: int) -> None:
    """Sums in float32, one rounding to float16."""
    of_sums = 1.01 * (terms + 3) * U32 * sizes
    assert actual.dtype == np.float16
    error = abs(actual.astype(np.longdouble) - wanted)
    assert (error <= of_sums + U16 * (abs(wanted) + of_sums) + LEAST16).all()


@has_float16
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("k", [0, 1, 3, 8, 33])
@pytest.mark.parametrize("order", "CF")
def test_equals_numpy(op, k, order):
    S = sparse((60, 40))
    A, D, sizes = bs.matrix(S), OPS[op](wide(S)), OPS[op](wide(S, abs(S.data)))
    assert A.dtype == np.float16
    X = np.asarray(random_block((D.shape[1], k), "float16", 2), order=order)
    view = {"n": A, "t": A.T, "c": A.conj(), "h": A.H}[op]
    is_near(view @ X, D @ X, sizes @ abs(X), S.nnz)
    is_near(view @ X[::-1], D @ X[::-1], sizes @ abs(X[::-1]), S.nnz)
    out = np.full((D.shape[0], k), np.nan, np.float16)
    assert bs.spmm(A, X, out=out, op=op) is out and np.array_equal(out, view @ X)
    before = out.copy()
    bs.spmm(A, X, out=out, op=op, alpha=0.3, beta=-2.0)
    is_near(out, 0.3 * (D @ X) - 2 * before, 0.3 * (sizes @ abs(X)) + 2 * abs(before), S.nnz)


@has_float16
def test_vectors_and_rows():
    S = sparse((60, 40))
    A, D, sizes = bs.matrix(S), wide(S), wide(S, abs(S.data))
    x, y = random_block((40,), "float16", 2), random_block((60,), "float16", 3)
    is_near(A @ x, D @ x, sizes @ abs(x), 9)
    is_near(y @ A, y @ D, abs(y) @ sizes, S.nnz)
    assert (A @ x).shape == (60,)


@has_float16
def test_sums_do_not_stop_where_float16_would():
    n = 5000
    A = bs.matrix((np.array([0, n]), np.arange(n), np.ones(n, np.float16), (1, n)))
    assert (A @ np.ones((n, 2), np.float16)).tolist() == [[n, n]]
    assert np.isinf(A @ np.full((n, 1), 100, np.float16)).all()
    out = np.empty((1, 1), np.float16)
    assert bs.spmm(A, np.full((n, 1), 100, np.float16), out=out, alpha=0.1)[0, 0] == n * 10


@has_float16
def test_columns_have_the_bits_that_they_have_alone():
    S = sparse((200, 150))
    A, X = bs.matrix(S), random_block((150, 37), "float16", 2)
    Y = A @ X
    assert np.array_equal(Y, A @ X) and np.array_equal(Y, A @ np.asfortranarray(X))
    for j in (0, 17, 36):
        assert np.array_equal(Y[:, j], A @ X[:, j])
        assert np.array_equal(Y[:, j : j + 5], A @ X[:, j : j + 5])


@has_float16
def test_plans():
    S = sparse((60, 40))
    A, X = bs.matrix(S), random_block((60, 8), "float16", 2)
    plan = bs.Plan(A, columns=8)
    wanted = bs.spmm(A, X, op="t")
    plan.hold_transpose()
    assert np.array_equal(bs.spmm(A, X, op="t", plan=plan), wanted)
    plan.update_values(2 * S.data)
    assert np.array_equal(bs.spmm(A, X, op="t", plan=plan), bs.spmm(A, X, op="t"))
    assert plan.algorithm in plan.kernel(8) and plan.explain(8)
    other = bs.Plan(A, algorithm="groups")
    with pytest.raises(bs.Error, match="groups has no kernel for 16-bit scalars"):
        bs.spmm(A, X, op="t", plan=other)
    with pytest.raises(bs.Error, match="float16.*tune"):
        bs.Plan(A, tune=True)


@has_float16
@pytest.mark.parametrize("k", [1, 3, 8, 64, 300])
@pytest.mark.parametrize("orders", ["CC", "FF", "CF"])
def test_sampled_products(k, orders):
    S = sparse((60, 40))
    A = bs.matrix(S)
    X = np.asarray(random_block((60, k), "float16", 2), order=orders[0])
    Y = np.asarray(random_block((40, k), "float16", 3), order=orders[1])
    rows = np.repeat(np.arange(60), np.diff(S.indptr))
    x, y = X[rows].astype(np.longdouble), Y[S.indices].astype(np.longdouble)
    wanted, sizes = (x * y).sum(axis=1), abs(x * y).sum(axis=1)
    is_near(bs.sddmm(A, X, Y), wanted, sizes, k)
    is_near(bs.sddmm(A.T, Y[::-1], X), (x * Y[::-1][S.indices]).sum(axis=1), sizes + 4 * k, k)
    before = S.data.copy()
    assert bs.sddmm(A, X, Y, out=S.data, alpha=2, beta=-0.5) is S.data
    is_near(S.data, 2 * wanted - before / 2, 2 * sizes + abs(before), k)


@has_float16
def test_survives_pickling():
    S = sparse((60, 40))
    X = random_block((40, 3), "float16", 2)
    twin = pickle.loads(pickle.dumps(bs.matrix(S).T)).T
    assert twin.dtype == np.float16 and np.array_equal(twin @ X, bs.matrix(S) @ X)


@has_float16
def test_what_is_refused():
    S = sparse((40, 40))
    A, X = bs.matrix(S), random_block((40, 2), "float16", 2)
    with pytest.raises(bs.Error, match="X is 40 x 2 float32 and the matrix has float16"):
        A @ X.astype(np.float32)
    with pytest.raises(bs.Error, match="out is 40 x 2 float32"):
        bs.spmm(A, X, out=np.empty((40, 2), np.float32))
    with pytest.raises(bs.Error, match="alpha.*real"):
        bs.spmm(A, X, alpha=1j)
    for solve in (lambda: bs.cg(A, X), lambda: bs.eigsh(A, 2), lambda: bs.precond.jacobi(A)):
        with pytest.raises(bs.Error, match="float16.*products and sddmm alone"):
            solve()
    B = bs.matrix(sp.csr_array(np.eye(40), dtype=SCALARS[0]))
    assert (B @ X).dtype == SCALARS[0] and np.array_equal(B @ X, X)  # joined as NumPy does
    with pytest.raises(bs.Error, match="wanted are float16"):
        bs.matrix((S.indptr, S.indices, S.data.astype("V2"), S.shape))


@pytest.mark.skipif("float16" in STORED, reason="this build has float16")
def test_builds_without_it_say_so():
    S = sparse((4, 3))
    with pytest.raises(bs.Error, match="float16.*this build has.*Blockspan_STORAGE_SCALARS"):
        bs.matrix(S)
