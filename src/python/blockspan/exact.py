"""Pairs near a shift, all pairs of an interval, and how many there are, by sparse factors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from blockspan import _host
from blockspan.arguments import flag, integer, real, seed_number, word
from blockspan.arrays import HOST, Array
from blockspan.errors import Error
from blockspan.matrix import Matrix, matrix
from blockspan.operators import OperatorLike, as_matrix, asymmetry_of, mean_of, scalar_type
from blockspan.options import SolverOptions
from blockspan.results import (
    EigenCount,
    ExactProgress,
    ExactResult,
    MissingPairs,
    ShiftCount,
    no_pairs,
    pairs_of,
)
from blockspan.status import Status

Mode = Literal["normal", "buckling", "cayley"]

NOT_HERMITIAN = "; hermitian_mean=True solves for the mean of the matrix and its adjoint"
HOW_TO_GET = "install libmumps-seq-dev, or your system's MUMPS, and build the package anew"


def eigs_in(
    A: OperatorLike,
    a: float,
    b: float,
    M: OperatorLike | None = None,
    *,
    mode: Mode = "normal",
    tol: float | None = None,
    maxiter: int | None = None,
    hermitian_mean: bool = False,
    dtype: Any = None,
    callback: Callable[[ExactProgress], object] | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    raise_on_failure: bool = False,
) -> ExactResult:
    """All eigenpairs with a < w < b of A x = w x, or A x = w M x; ascending.

    A and M: matrices whose entries are known, Hermitian; M positive definite or semidefinite. mode:
    "buckling" takes a positive definite A and any M (a geometric stiffness), and an interval on one
    side of zero. a, b: may be infinite where M is definite; an end that is an eigenvalue is moved
    outward, and ``notes`` says to where. tol: residual of a pair of (A - s M)^-1 M, relative;
    default 1e-11. maxiter: steps of block Lanczos, in all. callback: given an
    :class:`ExactProgress`. The rest: :class:`SolverOptions`.

    Counts at both ends say how many there are: ``proof`` is "proved" where as many were found, and
    the status ``missing_pairs`` says that some were not, with their place in ``missing``. Computed
    in double precision on the host, some ten factorizations a thousand pairs. Raises Error unless
    a < b, and where the build is without factors (:func:`show_config`, "components"). Source:
    Grimes, Lewis and Simon 1994, doi:10.1137/S0895479888151111.

    >>> import blockspan as bs
    >>> result = bs.eigs_in(bs.generate("laplace5:20x20"), 3.9, 4.1)
    >>> len(result.eigenvalues), result.proof
    (24, 'proved')
    """
    where = "blockspan.eigs_in"
    options = SolverOptions(where, maxiter, hermitian_mean, callback, time_limit, raise_on_failure)
    pencil = Pencil(where, A, M, mode, options.hermitian_mean, dtype)
    ends = real(where, "a", a, math.nan), real(where, "b", b, math.nan)
    words = _words(where, tol, seed, options)
    trouble = pencil.asymmetry()
    if trouble:
        result = _refused(pencil, trouble, 0)
        options._conclude(result, None)
        return result
    report = _host.eigenpairs_in(*pencil.matrices, *ends, mode=pencil.mode, **words)
    result = _result(report, pencil.in_type(report["eigenvectors"]))
    options._conclude(result, report["raised"])
    return result


def count(
    A: OperatorLike,
    a: float,
    b: float,
    M: OperatorLike | None = None,
    *,
    mode: Mode = "normal",
    hermitian_mean: bool = False,
    raise_on_failure: bool = False,
) -> EigenCount:
    """How many eigenvalues of A x = w x, or A x = w M x, lie between a and b: no vectors.

    All as :func:`eigs_in`; two factorizations. The number is told only where rounding cannot have
    turned the sign of a pivot: elsewhere it is None, with a NotConvergedWarning. ``int(result)`` is
    the number.

    >>> import blockspan as bs
    >>> bs.count(bs.generate("laplace5:20x20"), 3.9, 4.1).number
    24
    """
    where = "blockspan.count"
    options = SolverOptions(where, None, hermitian_mean, None, None, raise_on_failure)
    pencil = Pencil(where, A, M, mode, options.hermitian_mean, None)
    ends = real(where, "a", a, math.nan), real(where, "b", b, math.nan)
    trouble = pencil.asymmetry()
    if trouble:
        nowhere = ShiftCount(math.nan, math.nan, 0, math.inf, 0, 0, False)
        result = EigenCount(None, nowhere, nowhere, trouble, [], Status.operator_not_hermitian)
    else:
        report = _host.count_eigenvalues(*pencil.matrices, *ends, mode=pencil.mode)
        result = EigenCount(
            report["number"] if report["trusted"] else None,
            ShiftCount(*report["low"]),
            ShiftCount(*report["high"]),
            report["trouble"],
            report["notes"],
            Status.converged if report["trusted"] else Status.not_converged,
        )
    options._conclude(result, None)
    return result


def nearest(
    pencil: Pencil,
    sigma: float,
    k: int,
    *,
    tol: float | None,
    seed: int | None,
    prove: bool,
    options: SolverOptions,
) -> ExactResult:
    """The k pairs nearest sigma, as :func:`eigsh` asks for them."""
    k = integer(pencil.where, "k", k)
    if not 1 <= k <= pencil.rows:
        raise Error(f"{pencil.where}: {k} pairs of a matrix of {pencil.rows} rows")
    words = _words(pencil.where, tol, seed, options)
    trouble = pencil.asymmetry()
    if trouble:
        return _refused(pencil, trouble, k)
    X = np.empty((pencil.rows, k), pencil.double)
    report = _host.eigenpairs_near(
        *pencil.matrices, X, sigma, pairs=k, mode=pencil.mode, count=prove, **words
    )
    result = _result(report, pencil.in_type(X[:, : len(report["eigenvalues"])]))
    if report["raised"] is not None:
        options._conclude(result, report["raised"])
    return result


class Pencil:
    """A and M of a call, as factors take them: entries in double precision, in host memory."""

    def __init__(
        self,
        where: str,
        A: OperatorLike,
        M: OperatorLike | None,
        mode: str,
        hermitian_mean: bool,
        dtype: Any,
    ) -> None:
        self.where = where
        self.mode = word(where, "mode", mode, "normal")
        if self.mode not in ("normal", "buckling", "cayley"):
            raise Error(f"{where}: mode='{mode}'; there are 'normal', 'buckling' and 'cayley'")
        given = [as_matrix(A)] + ([] if M is None else [as_matrix(M)])
        reason = why_not(*given)
        if reason:
            raise Error(f"{where}: {reason}")
        if hermitian_mean:
            given = [mean_of(one) for one in given]
        parts = [_sparse(one) for one in given]
        rows = parts[0].shape[0]
        for name, part in zip(("A", "M"), parts, strict=False):
            if part.shape != (rows, rows):
                raise Error(
                    f"{where}: {name} has the shape {part.shape}; wanted is {rows} x {rows}"
                )
        self.rows = rows
        self.dtype = scalar_type(tuple(parts), (), rows, HOST, dtype)
        self.double = np.dtype(np.complex128 if self.dtype.kind == "c" else np.float64)
        self._parts = parts
        self._kept = [_plain(part, self.double) for part in parts]

    @property
    def matrices(self) -> tuple[Any, Any]:
        """A and M or None, as the module takes them."""
        native = [part._fresh() for part in self._kept]
        return native[0], native[1] if len(native) > 1 else None

    def asymmetry(self) -> str:
        """Why this is no Hermitian problem; empty: it is."""
        for name, part in zip(("A", "M"), self._parts, strict=False):
            words = asymmetry_of(part)
            if words:
                return f"{name} is {words}{NOT_HERMITIAN}"
        return ""

    def in_type(self, X: Array) -> Array:
        """Vectors in the type that the caller computes in."""
        return X if self.dtype == self.double else X.astype(self.dtype)


def why_not(*operators: OperatorLike) -> str:
    """Why there are no factors of A - s M; empty: there may be."""
    config = _host.configuration()
    if "direct" not in config["components"]:
        return f"that needs factors, and this build is without the component direct: {HOW_TO_GET}"
    kind = "complex128" if any(_is_complex(A) for A in operators) else "float64"
    if kind not in config["scalars"]:
        return f"that needs factors of {kind}, which this build is without"
    for A in operators:
        if not isinstance(A, Matrix | np.ndarray) or A.ndim != 2:
            return f"that needs the entries of a matrix, and was given a {type(A).__name__}"
        if isinstance(A, Matrix) and A._kind is not HOST:
            return (
                f"that needs factors, which are made in host memory, and a matrix is {A._kind.name}"
            )
    return ""


def _is_complex(A: OperatorLike) -> bool:
    return getattr(getattr(A, "dtype", None), "kind", "") == "c"


def _sparse(A: Matrix | Array) -> Matrix:
    """The entries of a dense array that are not zero."""
    if isinstance(A, Matrix):
        return A
    if A.dtype.kind not in "fc":
        A = A.astype(np.float64)
    rows, columns = np.nonzero(A)
    offsets = np.searchsorted(rows, np.arange(A.shape[0] + 1)).astype(np.int32)
    return matrix((offsets, columns.astype(np.int32), A[rows, columns], A.shape))


def _plain(A: Matrix, dtype: np.dtype[Any]) -> Matrix:
    """No view, and of that type."""
    return (A if A._op == "n" else matrix(A.copy())).astype(dtype)


def _words(
    where: str, tol: float | None, seed: int | None, options: SolverOptions
) -> dict[str, Any]:
    words = options._of_module(ExactProgress)
    if options._limit > 0:
        words["time_limit"] = max(words["time_limit"], 1e-9)  # a setup took all of it
    return {
        "tolerance": real(where, "tol", tol, 1e-11),
        "seed": seed_number(where, seed),
        **words,
    }


def _result(report: dict[str, Any], vectors: Array) -> ExactResult:
    library = report.get("library")  # where there was a solve
    return ExactResult(
        **pairs_of(report, vectors),
        path="exact",
        path_reason="factors of A - s M" + (f" by {library}" if library else ""),
        trouble=report["trouble"],
        history=[],
        certificate=None,
        proof=report["proof"],
        interval=report["interval"],
        counted=report["counted"],
        found=report["found"],
        counts=[ShiftCount(*at) for at in report["counts"]],
        missing=[MissingPairs(*cell) for cell in report["missing"]],
        notes=report["notes"],
        next_eigenvalue=report["next_eigenvalue"],
    )


def _refused(pencil: Pencil, trouble: str, k: int) -> ExactResult:
    """The result of a solve that was not begun."""
    report = {
        **no_pairs(k, trouble),
        "proof": "none",
        "interval": (math.nan, math.nan),
        "counted": 0,
        "found": 0,
        "counts": [],
        "missing": [],
        "next_eigenvalue": math.nan,
    }
    return _result(report, np.full((pencil.rows, k), math.nan, pencil.dtype))
