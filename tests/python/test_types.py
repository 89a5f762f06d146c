"""Types of matrices, blocks and functions join as those of NumPy; what is no number is told."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from conftest import SCALARS, random_block
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import blockspan as bs

pytestmark = pytest.mark.filterwarnings("ignore::blockspan.ConversionWarning")

WHOLE = ["bool", "int8", "uint16", "int32", "int64", "uint64"]
GIVEN = [*WHOLE, *SCALARS, ">f8"]


def chain(n: int, dtype: str = "float64", diagonal: float = 3.0) -> sp.csr_array:
    """Hermitian, with imaginary parts where the type has them; whole numbers."""
    side = -1 + 1j if np.dtype(dtype).kind == "c" else -1.0
    shape = {"offsets": [0, 1, -1], "shape": (n, n)}
    return sp.csr_array(sp.diags_array([diagonal, side, np.conj(side)], **shape)).astype(dtype)


def joined(*types: str) -> np.dtype:
    found = np.result_type(*types).newbyteorder("=")
    return found if found.kind in "fc" else np.dtype(float)


def is_known(*types: str) -> bool:
    return joined(*types).name in SCALARS


def tolerance(*types: str) -> float:
    return 1e-4 if joined(*types) in (np.float32, np.complex64) else 1e-7


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([*WHOLE, *SCALARS]),
    st.sampled_from(GIVEN),
    st.sampled_from("ntch"),
    st.integers(1, 3),
)
def test_products_are_those_of_numpy(of_matrix, of_block, op, columns):
    own = joined(of_matrix)
    if not is_known(own.name, of_block):
        return
    S = (10 * sp.random_array((9, 7), density=0.5, rng=1)).astype(of_matrix).tocsr()
    X = (10 * random_block((9 if op in "th" else 7, columns), "float64")).astype(of_block)
    D = {"n": S, "t": S.T, "c": S.conj(), "h": S.conj().T}[op].toarray().astype(own)
    wanted = D @ X.astype(joined(of_block))
    near = {"rtol": 1e-5, "atol": 1e-3}
    A = bs.matrix(S)
    Y = bs.spmm(A, X, op=op)
    assert Y.dtype == joined(own.name, of_block)
    np.testing.assert_allclose(Y, wanted, **near)
    if op == "n":
        np.testing.assert_allclose(X[:, 0] @ A.T, wanted[:, 0], **near)
        turned = D @ X[::-1, ::-1].astype(joined(of_block))
        np.testing.assert_allclose(A @ X[::-1, ::-1], turned, **near)


@pytest.mark.parametrize(
    ("of_matrix", "of_block"),
    list(itertools.product([*WHOLE[2:], *SCALARS], [*WHOLE, *SCALARS, ">f8"])),
)
def test_systems_in_the_joined_type(of_matrix, of_block):
    if not is_known(of_matrix, of_block) or np.dtype(of_matrix).kind == "u":
        return
    S = chain(40, of_matrix)
    b = (5 * random_block((40,), "float64")).astype(of_block)
    for A in (S, S.toarray(), bs.matrix(S)):
        x, info = bs.cg(A, b)
        wanted = la.solve(S.toarray().astype(joined(of_matrix)), b.astype(joined(of_block)))
        assert info == 0
        own = getattr(A, "dtype", of_matrix)
        assert x.dtype == joined(own, of_block)
        assert np.max(abs(x - wanted)) <= 30 * tolerance(own, of_block) * np.max(abs(wanted))


@pytest.mark.parametrize("complex_ones", list(itertools.product([0, 1], repeat=4)))
def test_real_and_complex_parts_of_one_problem(complex_ones):
    """Matrix, mass, preconditioner and start."""
    if "complex128" not in SCALARS:
        pytest.skip("this build has no complex128")
    A, B, M, X = (("float64", "complex128")[is_complex] for is_complex in complex_ones)
    n = 60
    S, mass = chain(n, A), chain(n, B, 9.0)
    w, V = bs.eigsh(
        S,
        3,
        mass,
        v0=random_block((n, 3), X),
        preconditioner=sp.csr_array(np.linalg.inv(chain(n, M).toarray())),
    )
    wanted = la.eigh(S.toarray(), mass.toarray(), eigvals_only=True)[:3]
    np.testing.assert_allclose(w, wanted, rtol=1e-8)
    assert V.dtype == joined(A, B, M, X)
    x, info = bs.cg(S, random_block((n,), X), M=bs.precond.chebyshev(chain(n, M), 3))
    assert info == 0 and x.dtype == joined(A, M, X)
    np.testing.assert_allclose(S @ x, random_block((n,), X), atol=1e-6)


def test_single_matrix_and_double_loads_are_solved_in_double():
    if "float32" not in SCALARS:
        pytest.skip("this build has no float32")
    S = chain(80, "float32")
    x, info = bs.cg(S, np.ones(80) + 1e-9 * np.arange(80))
    assert info == 0 and x.dtype == np.float64
    np.testing.assert_allclose(S.astype(float) @ x, np.ones(80) + 1e-9 * np.arange(80), rtol=1e-7)
    assert bs.cg(S, np.ones(80), dtype="float32").x.dtype == np.float32


def test_a_function_is_asked_once_whether_it_is_complex():
    if "complex128" not in SCALARS:
        pytest.skip("this build has no complex128")
    H = chain(70, "complex128")
    for options in ({}, {"dtype": complex}):
        w, V = bs.eigsh(lambda X: H @ X, 3, n=70, **options)
        np.testing.assert_allclose(w, la.eigvalsh(H.toarray())[:3], rtol=1e-8)
        assert V.dtype == np.complex128
    with pytest.raises(ValueError, match="say dtype="):
        bs.eigsh(lambda X: H @ X, 3, n=70, dtype=float)
    b = random_block((70,), "float64")
    np.testing.assert_allclose(H @ bs.cg(lambda X: H @ X, b).x, b, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float46", int, bool, "uint8", object, "M8[s]"])
def test_types_of_matrices_are_floating_point(tmp_path, dtype):
    """Whole numbers would cut values off."""
    file = tmp_path / "one.mtx"
    file.write_text("%%MatrixMarket matrix array real general\n1 1\n1.5\n")
    makers = {
        "Matrix.astype": lambda: bs.read_matrix_market(file).astype(dtype),
        "generate": lambda: bs.generate("laplace5:3", dtype),
        "read_matrix_market": lambda: bs.read_matrix_market(file, dtype),
    }
    why = "is no type of NumPy" if dtype == "float46" else "is no floating-point type"
    for name, make in makers.items():
        with pytest.raises(bs.Error, match=rf"blockspan\.{name}: dtype=.* {why}"):
            make()


def test_types_are_those_of_this_machine():
    A = bs.generate("laplace5:3", ">f8")
    assert A.dtype == np.float64 and A.astype(">f8") is A



def test_operators_that_know_vectors_only():
    S = chain(50)

    def product(x):
        assert x.ndim == 1
        return S @ x

    def adjoint(x):
        raise AssertionError("A is Hermitian")

    plain = sl.LinearOperator((50, 50), matvec=product, rmatvec=adjoint, dtype=float)

    class Own(sl.LinearOperator):
        def __init__(self):
            super().__init__(np.dtype(float), (50, 50))

        def _matvec(self, x):
            return product(x)

    class Bare:
        shape = (50, 50)

        def matvec(self, x):
            return product(x)

    wanted = la.eigvalsh(S.toarray())[:3]
    adjoint_only = sl.LinearOperator((50, 50), adjoint, rmatvec=product, dtype=float)
    zero = sl.aslinearoperator(sp.csr_array((50, 50)))
    composed = (plain + zero, 1.0 * plain, plain * sl.aslinearoperator(sp.eye_array(50)), plain**1)
    for A in (plain, Own(), Bare(), *composed, adjoint_only.H, adjoint_only.T):
        np.testing.assert_allclose(bs.eigsh(A, 3).eigenvalues, wanted, rtol=1e-8)
        assert bs.cg(A, np.ones((50, 2)), M=A if A is plain else None).status in ("converged",)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (lambda X: None, "returned a NoneType"),
        (lambda X: sp.csr_array(X), "returned a csr_array"),
        (lambda X: X[:, 0], "returned one of"),
        (lambda X: X[:-1], "returned one of"),
    ],
)
def test_what_functions_must_not_return(returned, words):
    with pytest.raises(bs.Error, match=words):
        bs.cg(returned, np.ones(20))


SOLVES = {
    "lobpcg": lambda **options: bs.lobpcg(chain(30), **{"k": 2, "largest": False, **options}),
    "eigsh": lambda **options: bs.eigsh(chain(30), **{"k": 2, **options}),
    "cg": lambda **options: bs.cg(chain(30), np.ones(30), **options),
    "Plan": lambda **options: bs.Plan(bs.matrix(chain(30)), **options),
    "matrix": lambda **options: bs.matrix(chain(30), **options),
    "kernel": lambda columns: bs.Plan(chain(30)).kernel(columns),
    "explain": lambda columns: bs.Plan(chain(30)).explain(columns),
    "chebyshev": lambda **options: bs.precond.chebyshev(chain(30), **options),
    "multigrid": lambda **options: bs.precond.multigrid(chain(30), **options),
    "show_config": lambda **options: bs.show_config(**options),
    "generate": lambda **options: bs.generate(**options),
    "read_matrix_market": lambda **options: bs.read_matrix_market(**options),
}
NO_NUMBERS = ["a", 1.5, [1], float("nan"), 2**40]


@pytest.mark.parametrize(
    ("solve", "name", "value"),
    [
        *(
            (solve, name, value)
            for solve, names in (
                ("lobpcg", ("k", "maxiter", "block", "n")),
                ("eigsh", ("k", "maxiter")),
                ("cg", ("maxiter",)),
                ("Plan", ("columns",)),
                ("matrix", ("columns",)),
                ("kernel", ("columns",)),
                ("explain", ("columns",)),
                ("chebyshev", ("degree",)),
            )
            for name in names
            for value in NO_NUMBERS
        ),
        *(("lobpcg", name, value) for name in ("tol", "time_limit") for value in ("a", 1j, [1])),
        *(("cg", name, value) for name in ("rtol", "atol", "time_limit") for value in ("a", 1j)),
        *(("lobpcg", name, 3) for name in ("callback", "checkpoint", "resume", "criterion")),
        *(("cg", name, 3) for name in ("callback", "method")),
        *(("lobpcg", "largest", value) for value in (None, 2, "SA")),
        *(("lobpcg", "seed", value) for value in (-1, 1.5, 2**64, np.random.default_rng(0))),
        *(("eigsh", "sigma", value) for value in ("0", 1j, np.nan, np.inf, -np.inf)),
        *(("eigsh", "dtype", value) for value in ("nothing", int, "float16", object)),
        *(
            (solve, "columns", width)
            for solve in ("kernel", "explain", "Plan")
            for width in (0, -1)
        ),
        *(("multigrid", name, np.ones((30, 1, 1))) for name in ("near_null", "coordinates")),
        ("multigrid", "near_null", 1.0),
        ("show_config", "backend", "abacus"),
        ("lobpcg", "hermitian_mean", "yes"),
        ("cg", "hermitian_mean", 1),
        ("eigsh", "return_eigenvectors", "no"),
        ("Plan", "tune", 1),
        ("Plan", "algorithm", 3),
        ("generate", "spec", 3),
        ("read_matrix_market", "path", 3),
    ],
)
def test_a_wrong_argument_is_one_sentence(solve, name, value):
    with pytest.raises(bs.Error) as refused:
        SOLVES[solve](**{name: value})
    assert "incompatible function" not in str(refused.value) and "\n" not in str(refused.value)
    assert name in str(refused.value) or name in ("dtype", "k")


def test_none_is_the_default():
    names = (
        "k",
        "tol",
        "maxiter",
        "criterion",
        "path",
        "time_limit",
        "seed",
        "checkpoint",
        "dtype",
    )
    first = bs.lobpcg(chain(30), random_block((30, 2), "float64"), largest=False)
    again = bs.lobpcg(
        chain(30), random_block((30, 2), "float64"), largest=False, **dict.fromkeys(names)
    )
    assert np.array_equal(first.eigenvalues, again.eigenvalues)
    names = ("X0", "rtol", "atol", "maxiter", "method", "time_limit", "M", "dtype")
    assert bs.cg(chain(30), np.ones(30), **dict.fromkeys(names)).info == 0


@pytest.mark.parametrize(
    "sparse", [sp.csr_array(np.eye(30)), bs.matrix(sp.eye_array(30, format="csr"))]
)
def test_sparse_blocks_are_named(sparse):
    S = chain(30)
    for call in (
        lambda: bs.cg(S, sparse),
        lambda: bs.cg(S, np.ones(30), sparse),
        lambda: bs.lobpcg(S, sparse, largest=False),
        lambda: bs.lobpcg(S, k=2, Y=sparse, largest=False),
        lambda: bs.eigsh(S, 2, v0=sparse),
        lambda: bs.sddmm(S, sparse, np.eye(30)),
        lambda: bs.precond.multigrid(S, near_null=sparse),
        lambda: bs.precond.jacobi(S) @ sparse,
    ):
        with pytest.raises(bs.Error, match="sparse"):
            call()


def test_shifts_outside_the_spectrum():
    """Of matrices, functions and pencils, on either side."""
    S, mass = chain(40), sp.diags_array(np.linspace(1, 2, 40)).tocsr()
    for A, M in ((S, None), (S.toarray(), None), (lambda X: S @ X, None), (S, mass)):
        B = None if M is None else M.toarray()
        w = la.eigvalsh(S.toarray(), B)
        for sigma, wanted in ((0, w[:2]), (-3.5, w[:2]), (10, w[-2:]), (w[0] - 1e-9, w[:2])):
            found = bs.eigsh(A, 2, M, sigma=sigma, n=40).eigenvalues
            np.testing.assert_allclose(found, wanted, rtol=1e-8)
        if callable(A):
            with pytest.raises(NotImplementedError, match="inside the spectrum"):
                bs.eigsh(A, 2, M, sigma=w[20] + 1e-3, n=40)
    with pytest.raises(NotImplementedError, match="which='LA' with sigma"):
        bs.eigsh(S, 2, sigma=0, which="LA")
