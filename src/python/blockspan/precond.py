"""Preconditioners: Hermitian positive definite approximations of the inverse of a matrix."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from blockspan import _host
from blockspan._host import Error
from blockspan.matrix import Array, Matrix, matrix
from blockspan.operators import OperatorLike, as_matrix, as_operator


class Preconditioner:
    """A preconditioner that was made, for any number of solves; ``M @ X`` applies it.

    Attributes:
        shape, dtype: those of the matrix.
        report: what the setup found, in words (multigrid: its levels); may be empty.
    """

    __array_ufunc__ = None

    def __init__(self, host: _host.Operator) -> None:
        self._host = host
        self.shape = (host.rows, host.rows)
        self.dtype = np.dtype(host.type)
        self.report = host.report

    def __matmul__(self, X: Array) -> Array:
        return self.matmat(X) if np.ndim(X) == 2 else self.matmat(np.asarray(X)[:, None])[:, 0]

    def matmat(self, X: Array) -> Array:
        """Y = M X for a block X, n x k of the same type; Y is row-major."""
        X = np.ascontiguousarray(X)
        Y = np.empty_like(X)
        self._host.apply(X, Y)
        return Y

    def __repr__(self) -> str:
        return f"<blockspan preconditioner: {self._host.name}, {self.shape[0]} rows, {self.dtype}>"


def _plain(A: Any) -> _host.Matrix:
    made = matrix(A)
    if made._op != "n":
        raise Error("blockspan.precond: wanted is a matrix, not a transposed view of one")
    return made._data


def jacobi(A: Any) -> Preconditioner:
    """Divide by the magnitudes of the diagonal.

    A: a square Matrix, or what :func:`blockspan.matrix` takes. Raises Error if it is not square.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> bs.precond.jacobi(sp.csr_array([[2.0, 1.0], [1.0, 4.0]])) @ np.array([2.0, 4.0])
    array([1., 1.])
    """
    return Preconditioner(_host.jacobi(_plain(A)))


def block_jacobi(A: Any, block_size: int = 0, *, absolute: bool = False) -> Preconditioner:
    """Inverses of diagonal blocks (Concus, Golub and Meurant 1985, doi:10.1137/0906018).

    block_size: rows of a block, 1 to 8; 0: what the pattern shows. absolute: for indefinite
    matrices, take |B|^-1. Raises Error for a block that is not positive definite otherwise.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = sp.csr_array([[2.0, 1.0], [1.0, 2.0]])
    >>> np.allclose(A @ (bs.precond.block_jacobi(A, 2) @ np.array([1.0, 5.0])), [1.0, 5.0])
    True
    """
    return Preconditioner(_host.block_jacobi(_plain(A), block_size, absolute))


def chebyshev(A: Any, degree: int = 8, *, ratio: float = 100.0) -> Preconditioner:
    """A polynomial of A over Jacobi: ``degree`` - 1 products and no sums over rows.

    (Golub and Varga 1961, doi:10.1007/BF01386013.) ratio: upper over lower end of the interval; 10
    suits conjugate gradients, 30 (degree 4) to 100 (degree 8) eigenpairs. Raises Error for
    indefinite matrices.

    >>> import scipy.sparse as sp, blockspan as bs
    >>> bs.precond.chebyshev(sp.eye_array(50, format="csr"), 4).shape
    (50, 50)
    """
    return Preconditioner(_host.chebyshev(_plain(A), degree, ratio))


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
    node (0: found in the pattern). adaptive: make so many near-null vectors instead. The setup is in double precision.
    ``report`` tells how good it is. Raises Error for matrices that are indefinite or not Hermitian.

    >>> import blockspan as bs
    >>> bs.precond.multigrid(bs.generate("laplace5:40x40")).shape
    (1600, 1600)
    """
    vectors = None if near_null is None else np.ascontiguousarray(near_null)
    nodes = None if coordinates is None else np.ascontiguousarray(coordinates)
    return Preconditioner(_host.multigrid(_plain(A), vectors, nodes, block_size, adaptive))


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

    return Preconditioner(VCycle(hierarchy, degree).operator())


_SPEC = re.compile(r"(jacobi|multigrid)|(block-jacobi|chebyshev)(?::(\d+))?")


def by_name(A: OperatorLike, spec: str, *, eigenpairs: bool) -> Preconditioner:
    """The preconditioner that a spec such as "chebyshev:8" names; Error for unknown ones."""
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise Error(
            f"blockspan: M = '{spec}'; there are 'jacobi', 'block-jacobi[:ROWS]', "
            "'chebyshev[:DEGREE]' and 'multigrid'"
        )
    if not isinstance(A, Matrix):
        raise Error(f"blockspan: M = '{spec}' needs the entries of A, and A is a function")
    number = int(match[3] or 0)
    if match[1] == "jacobi":
        return jacobi(A)
    if match[1] == "multigrid":
        return multigrid(A)
    if match[2] == "block-jacobi":
        return block_jacobi(A, number, absolute=eigenpairs)
    degree = number or (8 if eigenpairs else 4)
    return chebyshev(A, degree, ratio=10 if not eigenpairs else 30 if degree < 6 else 100)


def as_preconditioner(
    M: OperatorLike, A: OperatorLike, rows: int, dtype: np.dtype[Any], *, eigenpairs: bool
) -> _host.Operator | None:
    """M of a solver: None, a spec, one of this module's, or an operator."""
    if M is None:
        return None
    if isinstance(M, str):
        M = by_name(A, M, eigenpairs=eigenpairs)
    if isinstance(M, Preconditioner):
        if M.shape != (rows, rows) or M.dtype != dtype:
            raise Error(
                f"blockspan: M is {M.shape[0]} x {M.shape[1]} {M.dtype}, and the solve {rows} x "
                f"{rows} {dtype}"
            )
        return M._host
    return as_operator(as_matrix(M), rows, dtype, "M", 16)
