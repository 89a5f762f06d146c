"""Solvers on a CUDA device, with blocks of PyTorch and CuPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import grid_eigenvalues, random_block
from cuda_arrays import KINDS, Arrays

import blockspan as bs


@pytest.fixture(params=KINDS, scope="module")
def on(request: pytest.FixtureRequest) -> Arrays:
    return KINDS[request.param]()


def host_matrix(spec: str) -> sp.csr_array:
    A = bs.generate(spec)
    indptr, indices, data = A._source
    return sp.csr_array((data, indices, indptr), shape=A.shape)


def test_smallest_pairs(on):
    S = host_matrix("laplace5:30x30")
    A = bs.matrix(on.csr(S))
    for M in (None, "jacobi", "block-jacobi:2", "chebyshev:8", "multigrid"):
        w, V = bs.lobpcg(A, k=5, largest=False, M=M, path="iterative")
        np.testing.assert_allclose(w, grid_eigenvalues(30, 5).astype(float), rtol=1e-7)
        assert on.owns(V)
        vectors = on.numpy(V)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-9)
        assert np.linalg.norm(S @ vectors - vectors * w) < 1e-6


def test_start_mass_and_constraints(on):
    K, M = host_matrix("elasticity:5"), host_matrix("elasticity-mass:5")
    A, B = bs.matrix(on.csr(K)), bs.matrix(on.csr(M))
    X = on.array(random_block((K.shape[0], 4), "float64"))
    before = on.numpy(X).copy()
    first = bs.lobpcg(A, X, B, largest=False, M="jacobi", tol=1e-10, path="iterative")
    np.testing.assert_array_equal(on.numpy(X), before)
    V = first.eigenvectors
    np.testing.assert_allclose(on.numpy(V).T @ (M @ on.numpy(V)), np.eye(4), atol=1e-8)
    rest = bs.lobpcg(A, None, B, Y=V, k=2, largest=False, M="jacobi", tol=1e-10, path="iterative")
    both = bs.lobpcg(A, None, B, k=6, largest=False, M="jacobi", tol=1e-10, path="iterative")
    np.testing.assert_allclose(rest.eigenvalues, both.eigenvalues[4:], rtol=1e-7)


def test_eigsh_ends_of_the_spectrum(on):
    S = host_matrix("laplace5:15x16")
    A, values = bs.matrix(on.csr(S)), np.linalg.eigvalsh(S.toarray())
    for which, wanted in {
        "SA": values[:4],
        "LA": values[-4:],
        "BE": np.r_[values[:2], values[-2:]],
        "LM": values[-4:],
    }.items():
        w, V = bs.eigsh(A, 4, which=which)
        np.testing.assert_allclose(w, wanted, rtol=1e-7)
        assert on.owns(V)
        assert np.linalg.norm(S @ on.numpy(V) - on.numpy(V) * w) < 1e-5
    w = bs.eigsh(A, 2, sigma=0.0, return_eigenvectors=False)
    np.testing.assert_allclose(w, values[:2], rtol=1e-7)


@pytest.mark.parametrize("method", ["block", "columns"])
def test_many_right_hand_sides(on, method):
    S = host_matrix("laplace7:12")
    A = bs.matrix(on.csr(S))
    B = random_block((S.shape[0], 6), "float64")
    for M in (None, "jacobi", "chebyshev:4", "multigrid"):
        x, info = bs.cg(A, on.columns(B), M=M, method=method)
        assert info == 0 and on.owns(x)
        assert (
            np.linalg.norm(S @ on.numpy(x) - B, axis=0) <= 1.01e-8 * np.linalg.norm(B, axis=0)
        ).all()
    x, info = bs.cg(A, on.array(B[:, 0]), on.array(B[:, 1]))
    assert info == 0 and x.shape == (S.shape[0],)


def test_functions_of_blocks(on):
    """A, mass and preconditioner as functions; each is given blocks of the caller's kind."""
    S = host_matrix("laplace5:20x20")
    A = bs.matrix(on.csr(S))
    X = on.array(random_block((400, 3), "float64"))
    seen = []

    def function(block):
        seen.append(on.owns(block))
        return A @ block

    w, V = bs.lobpcg(function, X, M=lambda R: R * 0.25, largest=False, path="iterative")
    np.testing.assert_allclose(w, grid_eigenvalues(20, 3).astype(float), rtol=1e-7)
    assert on.owns(V) and seen and all(seen)
    x, info = bs.cg(function, X)
    assert info == 0
    np.testing.assert_allclose(S @ on.numpy(x), on.numpy(X), atol=1e-6)
    with pytest.raises(ValueError, match="returned another"):
        bs.cg(lambda block: on.numpy(block), X)
    with pytest.raises(ZeroDivisionError):
        bs.cg(lambda block: block / (1 // 0), X)


def test_preconditioners_are_operators(on):
    S = host_matrix("laplace5:20x20")
    A = bs.matrix(on.csr(S))
    M, host = bs.precond.chebyshev(A, 4), bs.precond.chebyshev(S, 4)
    X = random_block((400, 3), "float64")
    np.testing.assert_allclose(on.numpy(M @ on.array(X)), host @ X, rtol=1e-9)
    multigrid = bs.precond.multigrid(A)
    assert "level" in multigrid.report
    with pytest.raises(ValueError, match="host memory"):
        bs.cg(A, on.array(X), M=host)


def test_callbacks(on):
    A = bs.matrix(on.csr(host_matrix("laplace7:12")))
    B = on.array(random_block((1728, 2), "float64"))
    iterations = []

    def stop(progress):
        iterations.append(progress.iteration)
        return len(iterations) < 3

    result = bs.cg(A, B, callback=stop)
    assert result.status == "stopped_by_monitor" and len(iterations) == 3


def test_on_a_stream(on):
    S = host_matrix("laplace7:10")
    A = bs.matrix(on.csr(S))
    B = random_block((1000, 4), "float64")
    stream = on.streams()[1]
    with on.using(stream):
        source, block = on.array(B), on.array(np.zeros_like(B))
        on.delay()
        block[...] = source
        x, info = bs.cg(A, block)
        assert info == 0
        np.testing.assert_allclose(S @ on.numpy(x), B, atol=1e-6)
