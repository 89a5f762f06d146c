"""Products on a CUDA device, of tensors of PyTorch and arrays of CuPy, against SciPy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_block, run_python
from cuda_arrays import KINDS, Arrays

import blockspan as bs


def near(scalar: str) -> dict[str, float]:
    return {"rtol": 200 * np.finfo(scalar).eps, "atol": 50 * np.finfo(scalar).eps}


def random_csr(rows: int, columns: int, scalar: str, seed: int = 1) -> sp.csr_array:
    S = sp.random_array((rows, columns), density=0.1, format="csr", rng=seed).astype(scalar)
    S.data = random_block(S.data.shape, scalar, seed)
    return S


@pytest.fixture(params=KINDS, scope="module")
def on(request: pytest.FixtureRequest) -> Arrays:
    return KINDS[request.param]()


@pytest.mark.parametrize("order", ["C", "F", "slice", "vector"])
@pytest.mark.parametrize("op", ["n", "t", "h", "c"])
def test_every_op_and_order(on, device_scalar, op, order):
    S = random_csr(50, 70, device_scalar)
    A = bs.matrix(on.csr(S))
    wanted = {"n": S, "t": S.T, "h": S.conj().T, "c": S.conj()}[op].toarray()
    shape = (wanted.shape[1],) if order == "vector" else (wanted.shape[1], 8)
    X = random_block(shape, device_scalar)
    lies = {"C": on.array, "F": on.columns, "slice": on.slices, "vector": on.array}[order](X)
    Y = bs.spmm(A, lies, op=op)
    assert on.owns(Y)
    np.testing.assert_allclose(on.numpy(Y), wanted @ X, **near(device_scalar))
    assert on.is_column_major(Y) == (order == "F")
    out = on.columns(wanted @ X) if order == "F" else on.array(wanted @ X)
    assert bs.spmm(A, lies, out=out, alpha=2.0, beta=-1.0, op=op) is out
    np.testing.assert_allclose(on.numpy(out), wanted @ X, **near(device_scalar))


def test_views_of_the_matrix(on, device_scalar):
    S = random_csr(30, 20, device_scalar)
    A = bs.matrix(on.csr(S))
    X = random_block((30, 4), device_scalar)
    np.testing.assert_allclose(on.numpy(A.T @ on.array(X)), S.T @ X, **near(device_scalar))
    np.testing.assert_allclose(on.numpy(A.H @ on.array(X)), S.conj().T @ X, **near(device_scalar))
    assert A.T.shape == (20, 30) and (A @ on.array(random_block((20, 0), device_scalar))).shape == (
        30,
        0,
    )


def test_values_and_indices_are_shared(on):
    S = random_csr(40, 40, "float64")
    given = on.csr(S)
    A = bs.matrix(given)
    addresses = [A._kind.argument(part)[1] for part in A._source]
    parts = on.parts(given)
    assert addresses[2] == A._kind.argument(parts[2])[1]
    if str(parts[0].dtype).endswith("int32"):
        assert addresses[:2] == [A._kind.argument(part)[1] for part in parts[:2]]
    X = on.array(random_block((40, 3), "float64"))
    before = on.numpy(A @ X)
    parts[2][...] = 2 * parts[2]
    np.testing.assert_array_equal(on.numpy(A @ X), 2 * before)


@pytest.mark.parametrize("cut", [False, True])
def test_the_same_bits_every_time(on, cut):
    S = sp.random_array((2000, 2000), density=0.01, format="csr", rng=1)
    if cut:  # a row of its own segments
        S = sp.csr_array(sp.vstack([S[:-1], sp.csr_array(np.ones((1, 2000)))]))
    A = bs.matrix(on.csr(S))
    X = on.array(random_block((2000, 32), "float64"))
    first = on.numpy(A @ X)
    np.testing.assert_allclose(
        first, S @ random_block((2000, 32), "float64"), rtol=1e-12, atol=1e-12
    )
    for _ in range(10):
        np.testing.assert_array_equal(on.numpy(A @ X), first)


def test_plans(on):
    S = random_csr(300, 300, "float64")
    given = on.csr(S)
    A = bs.matrix(given)
    plan = bs.Plan(A, columns=8)
    assert plan.kernel(8) in plan.explain(8)
    X = random_block((300, 8), "float64")
    plan.hold_transpose()
    got = on.numpy(bs.spmm(A, on.array(X), op="t", plan=plan))
    np.testing.assert_allclose(got, S.T @ X, rtol=1e-12, atol=1e-12)
    plan.update_values(on.array(3 * S.data))
    got = on.numpy(bs.spmm(A, on.array(X), op="t", plan=plan))
    np.testing.assert_allclose(got, 3 * (S.T @ X), rtol=1e-12, atol=1e-12)


def test_sampled_products(on, device_scalar):
    S = random_csr(40, 60, device_scalar)
    A = bs.matrix(on.csr(S))
    X, Y = random_block((40, 5), device_scalar), random_block((60, 5), device_scalar, 2)
    rows = np.repeat(np.arange(40), np.diff(S.indptr))
    wanted = np.einsum("ij,ij->i", X[rows], Y[S.indices].conj())
    np.testing.assert_allclose(
        on.numpy(bs.sddmm(A, on.array(X), on.columns(Y))), wanted, **near(device_scalar)
    )
    out = on.array(wanted)
    assert bs.sddmm(A, on.array(X), on.array(Y), out=out, beta=1.0) is out
    np.testing.assert_allclose(on.numpy(out), 2 * wanted, **near(device_scalar))


def test_streams(on):
    """Queued behind what the stream does already, with no wait but at a first call, on streams of
    all kinds."""
    S = random_csr(500, 500, "float64")
    A = bs.matrix(on.csr(S))
    X = random_block((500, 16), "float64")
    wanted = S @ X
    for stream in on.streams():
        with on.using(stream):
            source, block = on.array(X), on.array(np.zeros_like(X))
            A @ block
            on.synchronize(stream)
            on.delay()
            block[...] = source
            Y = A @ block
            Z = bs.spmm(A, block, stream=stream)
            assert on.is_busy(stream)  # nothing has waited
            on.synchronize(stream)
        np.testing.assert_allclose(on.numpy(Y), wanted, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(on.numpy(Z), on.numpy(Y))


def test_many_streams_at_once(on):
    S = sp.csr_array(sp.vstack([random_csr(2000, 2000, "float64"), np.ones((1, 2000))]))
    A = bs.matrix(on.csr(S))
    blocks = [random_block((2000, 8), "float64", seed) for seed in range(4)]
    results = []
    streams = on.streams()
    for _ in range(5):
        for stream, X in zip(streams * 4, blocks, strict=False):
            with on.using(stream):
                block = on.array(X)
                results.append((A @ block, X, block))
    for stream in streams:
        on.synchronize(stream)
    for Y, X, _ in results:
        np.testing.assert_allclose(on.numpy(Y), S @ X, rtol=1e-11, atol=1e-11)


def test_what_is_refused(on):
    S = random_csr(20, 20, "float64")
    A, host = bs.matrix(on.csr(S)), bs.matrix(S)
    X = random_block((20, 2), "float64")
    with pytest.raises(ValueError, match=r"CUDA device 0.*in host memory|in host memory.*CUDA"):
        A @ X
    with pytest.raises(ValueError, match=r"CUDA device 0.*in host memory|in host memory.*CUDA"):
        host @ on.array(X)
    with pytest.raises(ValueError, match="host memory"):
        bs.spmm(A, on.array(X), out=np.zeros((20, 2)))
    with pytest.raises(ValueError, match="float32"):
        A @ on.array(X.astype("float32"))
    with pytest.raises(ValueError, match="3 x 2"):
        A @ on.array(X[:3])
    with pytest.raises(ValueError, match="host memory"):
        bs.cg(A, X)
    with pytest.raises(ValueError, match="host memory"):
        bs.matrix((on.array(S.indptr), S.indices, S.data, S.shape))
    with pytest.raises(ValueError, match="beyond|outside|column"):
        broken = S.copy()
        broken.indices = broken.indices + 5
        bs.matrix((*map(on.array, (broken.indptr, broken.indices, broken.data)), S.shape))


def test_import_starts_no_device(on):
    code = f"""
import blockspan, sys
assert "blockspan._cuda" not in sys.modules
import {on.package}
A = blockspan.generate("laplace5:10x10")
A @ __import__("numpy").ones((100, 2))
assert "blockspan._cuda" not in sys.modules
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr


def test_exit_is_silent(on):
    code = f"""
import sys; sys.path.insert(0, {str(on.folder)!r})
import numpy as np, blockspan as bs
from cuda_arrays import KINDS
on = KINDS[{on.package!r}]()
S = bs.generate("laplace7:20")
host = S @ np.ones((8000, 4))
indptr, indices, data = S._source
A = bs.matrix((on.array(indptr), on.array(indices), on.array(data), S.shape))
X = on.array(np.ones((8000, 4)))
P = bs.Plan(A); M = bs.precond.jacobi(A)
A.cycle = [A, P, M, A @ X, bs.spmm(A, X, plan=P), bs.cg(A, X, M=M)]
assert np.array_equal(on.numpy(A @ X), host)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_fork_is_refused_in_words(on):
    code = f"""
import sys; sys.path.insert(0, {str(on.folder)!r})
import os, numpy as np, blockspan as bs
from cuda_arrays import KINDS
on = KINDS[{on.package!r}]()
S = bs.generate("laplace7:8")
A = bs.matrix((*map(on.array, S._source), S.shape))
X = on.array(np.ones((512, 4)))
A @ X
child = os.fork()
if child == 0:
    for call in (lambda: bs.spmm(A, X, out=X), lambda: A @ X, lambda: bs.Plan(A), lambda: bs.cg(A, X)):
        try:
            call()
        except ValueError as error:
            if "spawn" in str(error):
                continue
        os._exit(9)
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
A @ X
assert np.array_equal(S @ np.ones((512, 4)), S @ np.ones((512, 4)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
