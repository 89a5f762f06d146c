"""Preconditioners: Hermitian positive definite approximations of the inverse of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockspan.arguments import flag, integer, real
from blockspan.arrays import HOST, Array, Kind, common_kind, kind_of
from blockspan.errors import Error
from blockspan.matrix import Matrix, matrix
from blockspan.operators import OperatorLike, as_matrix, as_operator, require_dense


class Preconditioner:
    """A preconditioner that was made, for any number of solves; ``M @ X`` applies it. Solvers of
    SciPy take it for a LinearOperator.

    Attributes:
        shape, dtype: those of the matrix.
        report: what the setup found, in words (multigrid: its levels); may be empty.
    """

    __array_ufunc__ = None
    ndim = 2

    def __init__(self, operator: Any, kind: Kind = HOST, recipe: tuple[Any, ...] = ()) -> None:
        self._operator = operator
        self._recipe = recipe  # a function and what it was given
        self._kind = kind
        self.shape = (operator.rows, operator.rows)
        self.dtype = np.dtype(operator.type)
        self.report = operator.report

    def __matmul__(self, X: Array) -> Array:
        require_dense("X", X)
        X = kind_of(X).array(X)
        if X.ndim not in (1, 2):
            raise Error(f"blockspan.precond: X has the shape {tuple(X.shape)}, and is no block")
        return self.matmat(X) if X.ndim == 2 else self.matmat(X[:, None])[:, 0]

    def matmat(self, X: Array) -> Array:
        """Y = M X for a block X, n x k; Y is row-major, of the type that holds both."""
        kind = common_kind("blockspan.precond", self, X)
        X = kind.array(X)
        own, given = self.dtype, kind.dtype(X)
        joined = np.result_type(own, given)
        if given.kind == "c" and own.kind != "c":
            Y = kind.empty(X.shape, joined)
            Y.real[...] = self._applied(X.real, kind)
            Y.imag[...] = self._applied(X.imag, kind)
            return Y
        Y = self._applied(X, kind)
        return Y if joined == own else kind.cast(Y, joined)

    def _applied(self, X: Array, kind: Kind) -> Array:
        X = kind.cast(X, self.dtype)
        Y = kind.empty(X.shape, self.dtype)
        self._operator.apply(kind.argument(X), kind.argument(Y), kind.stream())
        return Y

    def matvec(self, x: Array) -> Array:
        """M x for x of n or n x 1."""
        return self @ x

    rmatvec, rmatmat = matvec, matmat  # M is Hermitian

    def __reduce__(self) -> tuple[Any, ...]:
        make, *given = self._recipe
        return make, tuple(given)

    def __repr__(self) -> str:
        return (
            f"<blockspan preconditioner: {self._operator.name}, {self.shape[0]} rows, {self.dtype}>"
        )


def _made(name: str, A: Any, *options: Any) -> Preconditioner:
    plain = matrix(A)
    if plain._op != "n":
        plain = plain.copy()
    kind = plain._kind
    make = getattr(kind.native, name)
    arguments = (kind.argument(x) if hasattr(x, "shape") else x for x in options)
    operator = make(plain._fresh(), *arguments, kind.stream())
    return Preconditioner(operator, kind, (_made, name, plain, *options))


def jacobi(A: Any) -> Preconditioner:
    """Divide by the magnitudes of the diagonal.

    A: a square Matrix, or what :func:`blockspan.matrix` takes. Raises Error if it is not square.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> bs.precond.jacobi(sp.csr_array([[2.0, 1.0], [1.0, 4.0]])) @ np.array([2.0, 4.0])
    array([1., 1.])
    """
    return _made("jacobi", A)


def block_jacobi(A: Any, block_size: int = 0, *, absolute: bool = False) -> Preconditioner:
    """Inverses of diagonal blocks (Concus, Golub and Meurant 1985, doi:10.1137/0906018).

    block_size: rows of a block, 1 to 8; 0: what the pattern shows. absolute: for indefinite
    matrices, take |B|^-1. Raises Error for a block that is not positive definite otherwise.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = sp.csr_array([[2.0, 1.0], [1.0, 2.0]])
    >>> np.allclose(A @ (bs.precond.block_jacobi(A, 2) @ np.array([1.0, 5.0])), [1.0, 5.0])
    True
    """
    where = "blockspan.precond.block_jacobi"
    rows = integer(where, "block_size", block_size, 0)
    return _made("block_jacobi", A, rows, flag(where, "absolute", absolute))


def chebyshev(A: Any, degree: int = 8, *, ratio: float = 100.0) -> Preconditioner:
    """A polynomial of A over Jacobi: ``degree`` - 1 products and no sums over rows.

    (Golub and Varga 1961, doi:10.1007/BF01386013.) ratio: upper over lower end of the interval.
    The defaults are those of the word "chebyshev". Raises Error for indefinite matrices.

    >>> import scipy.sparse as sp, blockspan as bs
    >>> bs.precond.chebyshev(sp.eye_array(50, format="csr"), 4).shape
    (50, 50)
    """
    where = "blockspan.precond.chebyshev"
    products = integer(where, "degree", degree, 8)
    return _made("chebyshev", A, products, real(where, "ratio", ratio, 100.0))


def multigrid(
    A: Any,
    *,
    near_null: Array | None = None,
    coordinates: Array | None = None,
    block_size: int = 0,
    adaptive: int = 0,
) -> Preconditioner:
    """One V cycle of smoothed aggregation (Vanek, Mandel and Brezina 1996, doi:10.1007/BF02238511).

    near_null: n x q vectors that A maps to little (rigid bodies); default the constant.
    coordinates: of nodes, nodes x 2 or 3 (rigid bodies are made of them). block_size: unknowns of a
    node (0: found in the pattern). adaptive: how many near-null vectors to make instead. The setup
    is in double precision. ``report`` tells how good it is. Raises Error for matrices that are
    indefinite or not Hermitian.

    >>> import blockspan as bs
    >>> bs.precond.multigrid(bs.generate("laplace5:40x40")).shape
    (1600, 1600)
    """
    where = "blockspan.precond.multigrid"
    A = matrix(A)
    numbers = integer(where, "block_size", block_size, 0), integer(where, "adaptive", adaptive, 0)
    require_dense("near_null", near_null)
    require_dense("coordinates", coordinates)
    kind = common_kind(where, A, near_null, coordinates)
    vectors = _block("near_null", near_null, kind, A.dtype)
    nodes = _block("coordinates", coordinates, kind, A.dtype)
    return _made("multigrid", A, vectors, nodes, *numbers)


def _block(name: str, X: Array | None, kind: Kind, dtype: Any) -> Array | None:
    """Row-major and, unless that loses information, in the type of the matrix."""
    if X is None:
        return None
    X = kind.array(X)
    if X.ndim not in (1, 2):
        raise Error(
            f"blockspan.precond.multigrid: {name} has the shape {tuple(X.shape)}, and is no block"
        )
    own = kind.dtype(X)
    return kind.cast(X[:, None] if X.ndim == 1 else X, dtype if np.can_cast(own, dtype) else own)


def pyamg(hierarchy: Any, *, degree: int = 2) -> Preconditioner:
    """One V cycle of a hierarchy of pyamg, for all columns of a block at once.

    hierarchy: a MultilevelSolver with R = P^H, of a Hermitian positive (semi-)definite matrix. Its
    matrices and transfers are taken, not its smoothers, which know single vectors: a Chebyshev
    polynomial of ``degree`` smooths before and after, and the coarsest level is solved by a dense
    (pseudo-)inverse. A step is 2 ``degree`` + 2 products a level. Raises Error where R is not P^H,
    the coarsest level is too large for that, or a level is indefinite.

    ``pyamg.smoothed_aggregation_solver(S)`` makes one of a SciPy matrix S; then ``M =
    blockspan.precond.pyamg(hierarchy)`` serves :func:`blockspan.cg` and :func:`blockspan.lobpcg`.
    """
    from blockspan.hierarchy import VCycle

    return _of_cycle(VCycle(hierarchy, degree))


def _of_cycle(cycle: Any) -> Preconditioner:
    return Preconditioner(cycle.operator(), HOST, (_of_cycle, cycle))


AUTOMATIC = "automatic"


def by_words(A: OperatorLike, words: str, *, eigenpairs: bool) -> Preconditioner | None:
    """What words such as "chebyshev:8" ask for, those of the programs; Error for unknown ones."""
    if words == "none":
        return None
    if not isinstance(A, Matrix):
        raise Error(
            f"blockspan: M = '{words}' needs the entries of a sparse A, and A is a {type(A).__name__}: pass "
            "scipy.sparse.csr_array(A), or one of blockspan.precond"
        )
    return _made("preconditioner", A, words, eigenpairs)


def is_automatic(M: OperatorLike) -> bool:
    return isinstance(M, str) and M == AUTOMATIC


def entries_of(M: OperatorLike, A: OperatorLike) -> Any:
    """A as the module's matrix, where M leaves the choice to it; None: it does not, or A is a
    function or dense."""
    return A._fresh() if is_automatic(M) and isinstance(A, Matrix) else None


def in_type(A: OperatorLike, M: OperatorLike, dtype: np.dtype[Any]) -> OperatorLike:
    """A itself, or a copy in that type if its entries are needed."""
    if not (isinstance(A, Matrix) and is_automatic(M)):
        return A
    if A._op != "n":
        A = A.copy()
    return A if A.dtype == dtype else A.astype(dtype)


def as_preconditioner(
    M: OperatorLike,
    A: OperatorLike,
    rows: int,
    dtype: np.dtype[Any],
    kind: Kind,
    *,
    eigenpairs: bool,
) -> Any:
    """M of a solver: None, words, one of this module's, or an operator. "automatic" is the module's
    affair, which is given :func:`entries_of` A then."""
    if isinstance(M, str) and not is_automatic(M):
        M = by_words(A, M, eigenpairs=eigenpairs)
    if M is None or is_automatic(M):
        return None
    if isinstance(M, Preconditioner):
        if M.shape != (rows, rows):
            raise Error(
                f"blockspan: M is {M.shape[0]} x {M.shape[1]}, and the solve {rows} x {rows}"
            )
        if M._kind.on_cuda != kind.on_cuda:
            raise Error(f"blockspan: M is {M._kind.name}, and the blocks are {kind.name}")
        if M.dtype == dtype:
            return M._operator
        return as_operator(M, rows, dtype, "M", 16, kind)
    return as_operator(as_matrix(M), rows, dtype, "M", 16, kind)
