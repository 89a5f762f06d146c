"""Eigenpairs and systems against closed formulas and SciPy; statuses, failures, user's operators."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import SCALARS, grid_eigenvalues, random_block

import blockspan as bs


def hermitian(n: int, dtype: str, seed: int = 1) -> sp.csr_array:
    """Random, diagonally dominant: positive definite."""
    S = sp.random_array((n, n), density=4 / n, format="csr", rng=seed).astype(dtype)
    S.data = random_block(S.data.shape, dtype, seed)
    return sp.csr_array(S + S.conj().T + sp.diags_array(np.linspace(9, 40, n))).astype(dtype)


def tolerance(dtype: str) -> float:
    return 1e-8 if np.finfo(dtype).eps < 1e-10 else 2e-4


@pytest.mark.parametrize("path", ["iterative", "dense"])
@pytest.mark.parametrize("M", [None, "jacobi", "block-jacobi:3", "chebyshev:8", "multigrid"])
def test_smallest_pairs_of_a_grid(M, path):
    A = bs.generate("laplace5:24x24")
    result = bs.lobpcg(A, k=5, largest=False, M=M, path=path)
    w, V = result
    assert result.status == "converged" and result.path == path
    np.testing.assert_allclose(w, grid_eigenvalues(24, 5), rtol=1e-8)
    assert np.linalg.norm(V.T @ V - np.eye(5)) < 1e-10
    np.testing.assert_allclose(
        np.linalg.norm(A @ V - V * w, axis=0), result.residuals, rtol=0.5, atol=1e-13
    )
    assert np.all(abs(w - grid_eigenvalues(24, 5)) <= result.error_bounds)


@pytest.mark.parametrize(
    ("words", "made"),
    [
        ("none", lambda A: None),
        ("jacobi", bs.precond.jacobi),
        ("block-jacobi:3", lambda A: bs.precond.block_jacobi(A, 3)),
        ("chebyshev", bs.precond.chebyshev),
        ("chebyshev:4", lambda A: bs.precond.chebyshev(A, 4)),
        ("chebyshev:6:20", lambda A: bs.precond.chebyshev(A, 6, ratio=20)),
        ("multigrid", bs.precond.multigrid),
    ],
)
def test_words_are_those_of_the_programs(words, made):
    A = bs.generate("laplace5:24x24")
    B = np.random.default_rng(3).standard_normal((576, 2))
    one, other = (bs.cg(A, B, M=M) for M in (words, made(A)))
    np.testing.assert_array_equal(one.x, other.x)
    assert one.preconditioner == other.preconditioner


def test_chebyshev_of_eigenpairs_has_the_defaults_of_its_function():
    A = bs.generate("laplace5:24x24")
    one, other = (
        bs.lobpcg(A, k=3, largest=False, M=M) for M in ("chebyshev", bs.precond.chebyshev(A))
    )
    np.testing.assert_array_equal(one.eigenvectors, other.eigenvectors)


@pytest.mark.parametrize("largest", [False, True])
def test_pencils_of_every_scalar(scalar, largest):
    A, B = hermitian(300, scalar), hermitian(300, scalar, 2)
    w, V = bs.lobpcg(A, k=3, B=B, largest=largest)
    reference = np.sort(
        np.linalg.eigvals(
            np.linalg.solve(B.toarray().astype("c16"), A.toarray().astype("c16"))
        ).real
    )
    wanted = reference[::-1][:3] if largest else reference[:3]
    np.testing.assert_allclose(w, wanted, rtol=tolerance(scalar))
    np.testing.assert_allclose(V.conj().T @ (B @ V), np.eye(3), atol=tolerance(scalar))


def test_start_and_constraints():
    A = bs.generate("laplace5:20x20")
    w, V = bs.lobpcg(A, k=4, largest=False, path="iterative")
    start = V[:, :2].copy()
    again = bs.lobpcg(A, V, largest=False, path="iterative")
    assert again.iterations < 25 and np.array_equal(start, V[:, :2])
    rest = bs.lobpcg(A, k=2, Y=start, largest=False, path="iterative")
    np.testing.assert_allclose(rest.eigenvalues, w[2:], rtol=1e-7)


def test_certificate():
    result = bs.lobpcg(bs.generate("laplace5:20x20"), k=3, largest=False, certify=True)
    assert result.certificate is not None and result.certificate.rigorous
    error = abs(result.eigenvalues - grid_eigenvalues(20, 3))
    assert np.all(error <= result.certificate.radius)


@pytest.mark.parametrize("kind", ["function", "LinearOperator", "dense", "scipy", "view"])
def test_operators_of_the_user(kind):
    S = sp.csr_array(hermitian(200, "float64"))
    widths = []

    def function(X):
        widths.append(X.shape[1])
        assert not X.flags.writeable
        return S @ X

    A = {
        "function": function,
        "LinearOperator": sla.aslinearoperator(S),
        "dense": S.toarray(),
        "scipy": S,
        "view": bs.matrix(S).T,
    }[kind]
    wanted = np.linalg.eigvalsh(S.toarray())[:3]
    inverse = sla.splu(S.tocsc()).solve
    result = bs.lobpcg(A, n=200, k=3, largest=False, path="iterative", M=inverse, B=lambda X: X)
    np.testing.assert_allclose(result.eigenvalues, wanted, rtol=1e-9)
    assert kind != "function" or max(widths) >= 3
    B = random_block((200, 3), "float64")
    x, info = bs.cg(A, B, M=sla.LinearOperator((200, 200), matvec=inverse, matmat=inverse))
    assert info == 0
    np.testing.assert_allclose(S @ x, B, atol=1e-6)


def test_operators_that_fail():
    def wrong_shape(X):
        return X[:, :1]

    def raises(X):
        raise KeyError("mine")

    with pytest.raises(ValueError, match=r"A was given a block of shape \(50, 8\).*\(50, 1\)"):
        bs.lobpcg(wrong_shape, n=50, k=2, largest=False, path="iterative")
    with pytest.raises(KeyError, match="mine"):
        bs.cg(raises, np.ones(50))
    with pytest.warns(bs.NotConvergedWarning, match="operator_not_finite"):
        result = bs.cg(lambda X: X * np.nan, np.ones(50))
    assert result.status == "operator_not_finite"


@pytest.mark.parametrize("method", ["auto", "block", "columns"])
def test_many_right_hand_sides(method, scalar):
    A = hermitian(300, scalar)
    B = np.asfortranarray(random_block((300, 5), scalar))
    B[:, 2] = 0
    result = bs.cg(A, B, method=method, M="jacobi")
    x, info = result
    assert info == 0 and [c.status.value for c in result.columns].count("zero_rhs") == 1
    assert np.all(
        np.linalg.norm(A @ x - B, axis=0) <= 2 * tolerance(scalar) * np.linalg.norm(B, axis=0)
    )
    # the reported residuals are true
    norms = np.where(B.any(axis=0), np.linalg.norm(B, axis=0), 1)
    true = np.linalg.norm(A.astype("c16") @ x - B, axis=0) / norms
    np.testing.assert_allclose(
        result.residuals, true, atol=1e-6 if tolerance(scalar) > 1e-6 else 1e-14, rtol=0.1
    )
    vector, info = bs.cg(A, B[:, 0], X0=x[:, 0])
    assert vector.shape == (300,) and info == 0


def test_failures_are_statuses():
    A = bs.generate("laplace5:60x60")
    with pytest.warns(bs.NotConvergedWarning, match="max_iterations after 2 "):
        result = bs.cg(A, np.ones((3600, 2)), maxiter=2)
    assert result.info == 2 and result.status is bs.Status.max_iterations
    with pytest.raises(bs.NotConverged) as caught:
        bs.lobpcg(A, k=4, largest=False, maxiter=3, path="iterative", raise_on_failure=True)
    assert caught.value.result.iterations == 3
    with pytest.warns(bs.NotConvergedWarning, match="negative_curvature"):
        bs.cg(sp.diags_array([1.0, -1.0, 2.0]).tocsr(), np.ones(3), method="columns")
    with pytest.warns(bs.NotConvergedWarning, match="time_limit"):
        bs.lobpcg(A, k=4, largest=False, path="iterative", time_limit=1e-9)


def test_no_columns_take_no_method():
    result = bs.cg(bs.generate("laplace5:6"), np.ones((36, 0)))
    assert result.status.ok and "iterations (jacobi), " in str(result)


def test_callbacks():
    A, seen = bs.generate("laplace5:60x60"), []
    result = bs.lobpcg(A, k=2, largest=False, path="iterative", callback=seen.append)
    assert [p.iteration for p in seen][-1] <= result.iterations and seen[0].wanted == 2
    assert len(result.history) > 3
    stopped = bs.cg(A, np.ones(3600), callback=lambda p: np.bool_(p.iteration < 3))
    assert stopped.status is bs.Status.stopped_by_monitor and stopped.iterations == 3

    def raises(progress):
        if progress.iteration == 4:
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine") as caught:
        bs.lobpcg(A, k=2, largest=False, path="iterative", callback=raises)
    assert caught.value.partial.iterations == 4
    assert np.isfinite(caught.value.partial.eigenvectors).all()


def odd_blocks():
    """The same numbers, however they lie in memory."""
    B = random_block((400, 3), "float64")
    unaligned = np.frombuffer(b"x" + B.tobytes(), np.uint8)[1:].view(float).reshape(B.shape)
    field = np.zeros(B.shape, [("other", "i4"), ("number", "f8")])
    field["number"] = B
    return B, [
        unaligned,
        field["number"],
        B[::-1].copy()[::-1],
        np.asfortranarray(B),
        B.astype(">f8"),
    ]


def test_blocks_may_lie_in_any_way():
    A = bs.generate("laplace5:20x20")
    B, others = odd_blocks()
    wanted = bs.cg(A, B).x
    for other in others:
        assert np.array_equal(bs.cg(A, other).x, wanted)
        assert np.array_equal(bs.cg(A, B[:, 0], X0=other[:, 1]).x, bs.cg(A, B[:, 0], X0=B[:, 1]).x)
        constrained = [
            bs.lobpcg(A, X, k=2, Y=Y, largest=False) for X, Y in ((B, B), (other, other))
        ]
        assert np.array_equal(constrained[0].eigenvalues, constrained[1].eigenvalues)


def test_checkpoints_resume(tmp_path):
    A, file = bs.generate("laplace5:40x40"), str(tmp_path / "state")
    options = {"k": 3, "largest": False, "path": "iterative", "M": "jacobi"}
    whole = bs.lobpcg(A, **options)
    with pytest.warns(bs.NotConvergedWarning):
        bs.lobpcg(A, **options, maxiter=10, checkpoint=file)
    rest = bs.lobpcg(A, **options, resume=file)
    assert np.array_equal(rest.eigenvectors, whole.eigenvectors)


def test_preconditioners_are_kept_and_applied(scalar):
    A = hermitian(200, scalar)
    X = random_block((200, 3), scalar)
    for M in (bs.precond.jacobi(A), bs.precond.chebyshev(A, 4), bs.precond.block_jacobi(A, 4)):
        Y = M @ X
        assert Y.dtype == X.dtype
        np.testing.assert_allclose(M @ X[:, 1], Y[:, 1], rtol=100 * np.finfo(scalar).eps, atol=1e-7)
        for _ in range(2):
            assert bs.cg(A, X, M=M).info == 0
    assert "good" in bs.precond.multigrid(bs.generate("laplace5:40x40")).report


def test_solves_in_many_threads():
    A = bs.generate("laplace5:30x30")
    M = bs.precond.chebyshev(A, 4)
    wanted = bs.cg(A, np.ones((900, 3)), M=M).x
    wrong = []

    def work():
        for _ in range(3):
            if not np.array_equal(bs.cg(A, np.ones((900, 3)), M=M).x, wanted):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_gil_is_free_in_a_solve():
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    A = bs.generate("laplace5:150x150")
    start = time.perf_counter()
    bs.lobpcg(A, k=6, largest=False, path="iterative", time_limit=0.5, M="jacobi", certify=False)
    end = time.perf_counter()
    done.set()
    thread.join()
    assert sum(start < t < end for t in ticks) > 5


@pytest.mark.parametrize("which", ["SA", "LA", "LM", "BE"])
def test_eigsh_is_scipys(which):
    S = hermitian(150, "float64") - 20 * sp.eye_array(150)
    S = sp.csr_array(S)
    w, V = bs.eigsh(S, k=4, which=which)
    wanted = np.sort(sla.eigsh(S, k=4, which=which, return_eigenvectors=False))
    np.testing.assert_allclose(w, wanted, rtol=1e-8)
    np.testing.assert_allclose(S @ V, V * w, atol=1e-4)


def test_eigsh_where_both_ends_meet():
    S = sp.csr_array(hermitian(10, "float64") - 20 * sp.eye_array(10))
    w, V = bs.eigsh(S, k=7, which="LM")
    wanted = np.linalg.eigvalsh(S.toarray())
    np.testing.assert_allclose(w, np.sort(wanted[np.argsort(-abs(wanted))[:7]]), rtol=1e-9)
    np.testing.assert_allclose(V.T @ V, np.eye(7), atol=1e-10)


@pytest.mark.parametrize("sigma", [0, -3.0, 60.0])
def test_eigsh_near_a_number_outside_the_spectrum(sigma):
    S = hermitian(50, "float64")
    w = bs.eigsh(S, k=2, sigma=sigma, return_eigenvectors=False)
    np.testing.assert_allclose(w, sla.eigsh(S, k=2, sigma=sigma, return_eigenvectors=False))


@pytest.mark.parametrize("sigma", [15.0, 30.0])
def test_eigsh_refuses_what_it_cannot_do(sigma):
    S = hermitian(50, "float64")
    with pytest.raises(NotImplementedError, match="inside the spectrum.*given a function"):
        bs.eigsh(lambda X: S @ X, k=1, sigma=sigma, n=50)
    with pytest.raises(NotImplementedError, match="which='SM'"):
        bs.eigsh(hermitian(50, "float64"), k=1, which="SM")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda A: bs.lobpcg(A, largest=False), "how many pairs"),
        (lambda A: bs.lobpcg(A, k=0, largest=False), "0 pairs"),
        (lambda A: bs.lobpcg(A, k=101, largest=False), "101 pairs of a matrix of 100"),
        (lambda A: bs.lobpcg(A, np.ones((99, 2)), largest=False), r"\(99, 2\).*100"),
        (lambda A: bs.lobpcg(A, k=2, largest=False, tol=2.0), "toleranc"),
        (lambda A: bs.lobpcg(A, k=2, largest=False, criterion="x"), "criterion='x'"),
        (lambda A: bs.lobpcg(A, k=2, largest=False, M="ilu"), "M: 'ilu' is not none"),
        (lambda A: bs.lobpcg(A, k=2, largest=False, B=np.eye(3)), r"B has the shape \(3, 3\)"),
        (lambda A: bs.lobpcg(lambda X: X, k=2, largest=False), "its order"),
        (
            lambda A: bs.lobpcg(lambda X: X, n=9, k=2, largest=False, M="jacobi"),
            "entries of a sparse A",
        ),
        (lambda A: bs.lobpcg(object(), n=9, k=2, largest=False), "object"),
        (lambda A: bs.lobpcg(sp.csr_array(np.ones((2, 3))), k=1, largest=False), r"\(2, 3\)"),
        (lambda A: bs.cg(A, np.ones((99, 2))), "99"),
        (lambda A: bs.cg(A, np.ones(100), X0=np.ones(99)), r"\(99,\)"),
        (lambda A: bs.cg(A, np.ones(100) * 1j, dtype=float), "complex128"),
        (lambda A: bs.cg(A, np.ones(100), rtol=2.0), "toleranc"),
        (lambda A: bs.cg(A, np.ones(100), method="x"), "method='x'"),
        (
            lambda A: bs.matrix((np.zeros(2, int), [], [], (1, 2**31 - 1))),
            "1 x 2147483647 is not one of numbers from 0 to 2147483646",
        ),
        (lambda A: bs.generate("nonsense:3"), "nonsense"),
        (lambda A: bs.read_matrix_market("/nonexistent"), "/nonexistent"),
    ],
)
def test_bad_input_is_one_error(call, words):
    with pytest.raises(bs.Error, match=words):
        call(bs.generate("laplace5:10x10"))
