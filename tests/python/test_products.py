"""Products against SciPy, for every type, order, stride and shape; no copies; errors."""

from __future__ import annotations

import gc
import pickle
import threading
import tracemalloc

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import SCALARS, random_block
from hypothesis import given, settings

import blockspan as bs

OPS = {
    "n": lambda S: S,
    "t": lambda S: S.T,
    "c": lambda S: S.conj(),
    "h": lambda S: S.conj().T,
}


@st.composite
def csr_matrices(draw, dtype):
    """Any shape, rows that are empty, unsorted or have repeated entries."""
    rows, columns = draw(st.integers(0, 30)), draw(st.integers(1, 30))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, draw(st.integers(1, 12)), rows)
    lengths[rng.random(rows) < 0.3] = 0
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = rng.integers(0, columns, indptr[-1])
    index = draw(st.sampled_from([np.int32, np.int64]))
    data = random_block((int(indptr[-1]),), dtype, seed)
    S = sp.csr_array((rows, columns), dtype=dtype)
    S.indptr, S.indices, S.data = indptr.astype(index), indices.astype(index), data
    return S


def strided(draw, shape, dtype, seed, *, negative):
    """A block of that shape somewhere in a larger array."""
    steps = [draw(st.sampled_from([1, 1, 2, 3])) for _ in shape]
    big = random_block(tuple(n * s + 2 for n, s in zip(shape, steps, strict=True)), dtype, seed)
    if draw(st.booleans()):
        big = np.asfortranarray(big)
    block = big[tuple(slice(1, 1 + n * s, s) for n, s in zip(shape, steps, strict=True))]
    if negative and draw(st.booleans()):
        block = block[::-1]
    assert block.shape == shape
    return block


@given(data=st.data(), dtype=st.sampled_from(SCALARS), op=st.sampled_from("ntch"))
@settings(max_examples=300, deadline=None)
def test_products_are_scipys(data, dtype, op):
    S = data.draw(csr_matrices(dtype))
    A = bs.matrix(S)
    k = data.draw(st.integers(0, 9))
    reference = OPS[op](S.tocsc().astype(np.clongdouble if S.dtype.kind == "c" else np.longdouble))
    rows, columns = reference.shape
    X = strided(data.draw, (columns, k), dtype, 3, negative=True)
    out = strided(data.draw, (rows, k), dtype, 4, negative=False)
    alpha, beta = data.draw(st.sampled_from([(1.0, 0.0), (2.0, -1.0), (0.0, 0.5), (-0.5, 1.0)]))
    before = out.copy()
    if beta == 0:
        out[...] = np.nan
    wanted = alpha * (reference @ X) + (beta * before if beta else 0)
    # abs(S) would add repeated entries first, which may cancel
    magnitudes = S.copy()
    magnitudes.data = abs(S.data)
    sizes = OPS[op](magnitudes.astype(np.longdouble))
    size = abs(alpha) * (sizes @ abs(X)) + abs(beta) * abs(before)
    longest = max(abs(reference).astype(bool).sum(axis=1).max(initial=0), 1) + S.nnz
    returned = bs.spmm(A, X, out=out, alpha=alpha, beta=beta, op=op)
    assert returned is out
    eps = np.finfo(dtype).eps
    assert np.all(abs(out - wanted) <= 2 * (longest + 3) * eps * size)


def test_operators_are_scipys(scalar):
    S = sp.random_array((40, 30), density=0.2, format="csr", rng=1).astype(scalar)
    S.data = random_block(S.data.shape, scalar)
    A = bs.matrix(S)
    X, Z = random_block((30, 3), scalar), random_block((40, 3), scalar)
    near = {"rtol": 1e-5 if np.finfo(scalar).eps > 1e-10 else 1e-13, "atol": 1e-5}
    np.testing.assert_allclose(A @ X, S @ X, **near)
    np.testing.assert_allclose(A.T @ Z, S.T @ Z, **near)
    np.testing.assert_allclose(A.H @ Z, S.conj().T @ Z, **near)
    np.testing.assert_allclose(A.conj() @ X, S.conj() @ X, **near)
    np.testing.assert_allclose(A.T.H @ X, S.conj() @ X, **near)
    np.testing.assert_allclose(bs.spmm(A.T, X, op="h"), S.conj() @ X, **near)
    np.testing.assert_allclose(A @ X[:, 0], S @ X[:, 0], **near)
    np.testing.assert_allclose(Z.T @ A, Z.T @ S, **near)
    np.testing.assert_allclose(Z[:, 0] @ A, Z[:, 0] @ S, **near)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(A.H)) @ Z, S.conj().T @ Z, **near)
    assert (A.T.shape, A.T.T, A.H.H) == ((30, 40), A, A)


def test_order_of_X_is_that_of_Y():
    A = bs.matrix(sp.eye_array(10, format="csr"))
    assert (A @ np.ones((10, 3), order="F")).flags.f_contiguous
    assert (A @ np.ones((10, 3))).flags.c_contiguous


@pytest.mark.parametrize("columns", [7, 8, 9, 40, 130, 700])
def test_orders_have_the_same_bits(scalar, columns):
    """Rows of a strided Y go through a tile, where they fit one; columns of X through another."""
    S = sp.random_array((515, 259), density=0.05, format="csr", rng=1).astype(scalar)
    A, X = bs.matrix(S), random_block((259, columns), scalar)
    for op, block in (("n", X), ("c", X), ("h", random_block((515, columns), scalar))):
        wanted = bs.spmm(A, block, op=op)
        rows = len(wanted)
        strided = np.empty((2 * columns, 2 * rows), scalar)[::2, ::2].T
        aligned = np.empty((columns, 1024), scalar)[:, :rows].T  # columns share sets of a cache
        for out in (np.empty((rows, columns), scalar, order="F"), strided, aligned):
            for given in (block, np.asfortranarray(block)):
                bs.spmm(A, given, op=op, out=out)
                np.testing.assert_array_equal(out, wanted)
            bs.spmm(A, block, op=op, out=out, beta=2.0)
            np.testing.assert_allclose(out, 3 * wanted, rtol=1e-5, atol=1e-5)


def test_arrays_are_shared():
    S = sp.random_array((2000, 2000), density=0.01, format="csr", rng=1)
    assert S.indices.dtype == np.int32
    tracemalloc.start()
    A = bs.matrix(S)
    X, Y = np.ones((2000, 4)), np.empty((2000, 4))
    start, _ = tracemalloc.get_traced_memory()
    bs.spmm(A, X, out=Y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak - start < 10_000
    S.data *= 2  # seen, since it is the same memory
    np.testing.assert_allclose(A @ X, S @ X)


def test_read_only_arrays_serve():
    S = sp.random_array((20, 20), density=0.3, format="csr", rng=1)
    for part in (S.indptr, S.indices, S.data):
        part.flags.writeable = False
    X = np.ones((20, 2))
    X.flags.writeable = False
    np.testing.assert_allclose(bs.matrix(S) @ X, S @ X)


@pytest.mark.parametrize("format", ["csc", "coo", "dia", "lil"])
def test_other_formats_are_converted_and_said(format):
    S = sp.random_array((20, 30), density=0.3, format="csr", rng=1)
    with pytest.warns(bs.ConversionWarning, match=format):
        A = bs.matrix(S.asformat(format))
    np.testing.assert_allclose(A @ np.ones((30, 2)), S @ np.ones((30, 2)))


def test_plans():
    S = sp.random_array((300, 300), density=0.05, format="csr", rng=1)
    A = bs.matrix(S)
    plan = bs.Plan(A, columns=8)
    assert plan.algorithm in plan.explain(8)
    assert isinstance(plan.kernel(8), str)
    X = random_block((300, 8), "float64")
    plan.hold_transpose()
    np.testing.assert_allclose(bs.spmm(A.T, X, plan=plan), S.T @ X)
    plan.update_values(3 * S.data)
    np.testing.assert_allclose(bs.spmm(A.T, X, plan=plan), S.T @ X)
    np.testing.assert_allclose(bs.spmm(A, X, plan=plan), S @ X)
    # other values are read where they are, also in the matrix' own array
    S.data[:] *= 5
    Y = np.empty((300, 8))
    plan._plan.multiply_with(S.data, "t", X, Y, A._kind.stream())
    np.testing.assert_allclose(Y, S.T @ X)
    with pytest.raises(bs.Error, match="another matrix"):
        bs.spmm(bs.matrix(S), X, plan=plan)
    with pytest.raises(bs.Error, match="nonsense"):
        bs.Plan(A, algorithm="nonsense")


def test_tuned_plans_are_cached(tmp_path):
    A = bs.generate("laplace5:20x20")
    cache = tmp_path / "tuned"
    first = bs.Plan(A, columns=4, tune=True, cache=str(cache))
    assert "measured" in first.explain(4)
    text = cache.read_text()
    again = bs.Plan(A, columns=4, tune=True, cache=str(cache))
    assert again.algorithm == first.algorithm and cache.read_text() == text


def bad_products():
    A = bs.matrix(sp.csr_array(np.ones((2, 3))))
    X = np.ones((3, 2))
    memory = np.ones((10, 2))
    square = bs.matrix(sp.csr_array(np.ones((3, 3))))
    return [
        (lambda: A @ np.ones((2, 2)), "2 x 3.*2 x 2"),
        (lambda: A.T @ X, "3 x 2.*3 x 2"),
        (lambda: bs.spmm(A, X, out=np.ones((3, 2))), "2 x 3.*Y: 3 x 2"),
        (lambda: bs.spmm(A, X, beta=1.0), "beta = 1.0"),
        (lambda: bs.spmm(A, X, alpha=1j), "alpha"),
        (lambda: bs.spmm(A, X, alpha="2"), "alpha = 2"),
        (lambda: A @ X.astype(object), "'O'"),
        (lambda: A @ np.ones((3, 2, 2)), r"\(3, 2, 2\)"),
        (lambda: bs.spmm(A, X, op="x"), "op='x'"),
        (lambda: bs.spmm(square, memory[:3], out=memory[2:5]), "overlap"),
        (lambda: bs.spmm(A, X, out=np.broadcast_to(np.ones(2), (2, 2))), "can be written"),
    ]


@pytest.mark.parametrize("case", range(len(bad_products())))
def test_bad_products_are_one_error(case):
    call, words = bad_products()[case]
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (([0, 1], [0], [1.0], (2, 2)), "indptr has 2"),
        (([0, 1, 3], [0], [1.0], (2, 2)), "3"),
        (([0, 2, 1], [0], [1.0], (2, 2)), "2"),
        (([0, 1, 1], [5], [1.0], (2, 2)), "5"),
        (([0, 1, 1], [-1], [1.0], (2, 2)), "-1"),
        (([0, 1, 1], [2**32], [1.0], (2, 2)), "4294967296"),
        (([0, 1, 1], [0.0], [1.0], (2, 2)), "float64"),
        (([0, 1, 1], [0], np.array([1], np.longdouble), (2, 2)), "longdouble|float128"),
        (([0, 1, 1], [0, 1], [1.0], (2, 2)), "indices has 2"),
        (([0, 1, 1], [0], np.array([1.0], ">f8"), (2, 2)), "'>f8'"),
        (([0, 1, 1], [0], [1.0], (2,)), r"\(2,\)"),
        (([0, 1, 1], [0], [1.0]), "tuple of 3"),
        ("matrix", "str"),
    ],
)
def test_bad_matrices_are_one_error(parts, words):
    with pytest.raises(ValueError, match=words):
        bs.matrix(parts)


def test_many_threads_on_one_matrix():
    S = sp.random_array((500, 500), density=0.02, format="csr", rng=1)
    A = bs.matrix(S)
    X = random_block((500, 4), "float64")
    wanted, wanted_t, wrong = A @ X, A.T @ X, []

    def work() -> None:
        for _ in range(20):
            if not (np.array_equal(A @ X, wanted) and np.array_equal(A.T @ X, wanted_t)):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_products_leave_no_references():
    import sys

    S = sp.eye_array(10, format="csr")
    X = np.ones((10, 2))
    A = bs.matrix(S)
    A @ X
    gc.collect()
    before = [sys.getrefcount(x) for x in (X, S.data, A)]
    for _ in range(2000):
        A @ X
    assert [sys.getrefcount(x) for x in (X, S.data, A)] == before
