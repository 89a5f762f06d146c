"""Eigenpairs of Hermitian matrices and pencils by LOBPCG."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from blockspan.arguments import (
    flag,
    integer,
    path_name,
    real,
    seed_number,
    word,
)
from blockspan.arrays import Array, Kind, common_kind
from blockspan.errors import Error
from blockspan.operators import (
    OperatorLike,
    as_matrix,
    as_operator,
    asymmetry_of,
    mean_of,
    require_dense,
    require_operator,
    scalar_type,
)
from blockspan.options import SolverOptions
from blockspan.precond import as_preconditioner, entries_of, in_type
from blockspan.results import (
    Certificate,
    EigenIteration,
    EigenProgress,
    EigenResult,
    no_pairs,
    pairs_of,
)
from blockspan.status import Status

Path = str | os.PathLike[str]

WHERE = "blockspan.lobpcg"
NOT_HERMITIAN = "; hermitian_mean=True solves for the mean of the matrix and its adjoint"


def lobpcg(
    A: OperatorLike,
    X: Array | None = None,
    B: OperatorLike | None = None,
    M: OperatorLike | None = "automatic",
    Y: Array | None = None,
    *,
    largest: bool,
    k: int | None = None,
    n: int | None = None,
    tol: float | None = None,
    maxiter: int | None = None,
    criterion: Literal["digits", "backward", "relative"] = "digits",
    path: Literal["automatic", "iterative", "dense"] = "automatic",
    block: int = 0,
    certify: bool = False,
    hermitian_mean: bool = False,
    dtype: Any = None,
    callback: Callable[[EigenProgress], object] | None = None,
    time_limit: float | None = None,
    checkpoint: Path | None = None,
    resume: Path | None = None,
    seed: int | None = None,
    raise_on_failure: bool = False,
) -> EigenResult:
    """The k smallest or largest eigenpairs of A x = w x, or A x = w B x, A and B Hermitian.

    A, M, and options not said here: :class:`SolverOptions`. X: n x m start, finite, m >= k, not
    changed; columns that are missing start random. B: mass, positive definite (what A may be). Y: n x c
    vectors that the eigenvectors are B-orthogonal to. largest must be said: SciPy's default is the
    largest pairs, and mostly the smallest are wanted. k: default the columns of X. n: the order,
    where A is a function and there is no X. tol: default 1e-8, in single precision 1e-5. criterion:
    "backward": ||r|| <= tol (||A|| + |w| ||B||) ||x||; "digits": that, and four digits of w are
    certain; "relative": ||r|| <= tol |w| ||B x||. path: "automatic" solves small problems densely,
    and finds smallest pairs by factors where these are less work (a tol of 1e-11, 40 pairs, a
    diagonal over eight decades; hosts, without callback); "iterative" does neither.
    block: columns iterated together, 0 for all at once. certify: fill in ``certificate``.
    checkpoint, resume: files of the state of a solve (of an iteration: path="dense", and too few rows
    to iterate, are no ways to resume). seed: default 1.

    Memory: some 6 m columns, 9 m with B. Sources: Knyazev 2001, doi:10.1137/S1064827500366124;
    Duersch, Shao, Yang and Gu 2018, arXiv:1704.07458.

    >>> import blockspan as bs
    >>> w, V = bs.lobpcg(bs.generate("laplace5:30x30"), k=3, largest=False)
    >>> w.round(6)
    array([0.020523, 0.051201, 0.051201])
    """
    options = SolverOptions(WHERE, maxiter, hermitian_mean, callback, time_limit, raise_on_failure)
    words = _words(block, largest, criterion, path, seed, certify, checkpoint, resume)
    problem = _Problem(A, B, M, X, Y, k, n, options.hermitian_mean, dtype)
    tolerance = real(WHERE, "tol", tol, default_tolerance(problem.dtype))
    report, vectors = problem.solve(options, tolerance, words)
    result = _result(report, vectors)
    if result.checkpoint_fault:
        warnings.warn(f"blockspan.lobpcg: {result.checkpoint_fault}", RuntimeWarning, 2)
    options._conclude(result, report["raised"])
    return result


def _words(
    block: Any,
    largest: Any,
    criterion: Any,
    path: Any,
    seed: Any,
    certify: Any,
    checkpoint: Any,
    resume: Any,
) -> dict[str, Any]:
    """The options that only :func:`lobpcg` has, in the form that the module accepts."""
    return {
        "block": integer(WHERE, "block", block, 0),
        "largest": flag(WHERE, "largest", largest),
        "criterion": word(WHERE, "criterion", criterion, "digits"),
        "path": word(WHERE, "path", path, "automatic"),
        "seed": seed_number(WHERE, seed),
        "certify": flag(WHERE, "certify", certify),
        "checkpoint": path_name(WHERE, "checkpoint", checkpoint),
        "resume": path_name(WHERE, "resume", resume),
    }


class _Problem:
    """The checked arguments of a call of :func:`lobpcg`."""

    def __init__(
        self,
        A: OperatorLike,
        B: OperatorLike | None,
        M: OperatorLike | None,
        X: Array | None,
        Y: Array | None,
        k: int | None,
        n: int | None,
        hermitian_mean: bool,
        dtype: Any,
    ) -> None:
        self.A, self.B = as_matrix(A), None if B is None else as_matrix(B)
        self.M = M if isinstance(M, str) or M is None else as_matrix(M)
        if hermitian_mean:
            self.A, self.B = (mean_of(self.A), None if self.B is None else mean_of(self.B))
        require_dense("X", X)
        require_dense("Y", Y)
        self.kind = kind = common_kind("blockspan.lobpcg", self.A, X, Y)
        self.X = None if X is None else as_block(X, "X", kind)
        self.Y = None if Y is None else as_block(Y, "Y", kind)
        self.rows = order_of(self.A, self.X, n)
        self.wanted = self._wanted(k)
        self.dtype = scalar_type((self.A, self.B, self.M), (self.X, self.Y), self.rows, kind, dtype)
        self.A, self.B = in_type(self.A, self.M, self.dtype), in_type(self.B, self.M, self.dtype)

    def _wanted(self, k: int | None) -> int:
        if k is None:
            if self.X is None:
                raise Error("blockspan.lobpcg: how many pairs? Give k= or X")
            k = int(self.X.shape[1])
        k = integer("blockspan.lobpcg", "k", k)
        if not 1 <= k <= self.rows:
            raise Error(f"blockspan.lobpcg: {k} pairs of a matrix of {self.rows} rows")
        return k

    def start(self, block: int) -> tuple[Array, int]:
        """A row-major block with guard columns, and how many of its columns are initial vectors."""
        with_guards = (self.wanted + max(4, self.wanted // 4) + 3) // 4 * 4  # lobpcg_block_size
        given = 0 if self.X is None else self.X.shape[1]
        columns = min(self.rows, max(given, self.wanted if block else with_guards))
        start = self.kind.empty((self.rows, columns), self.dtype)
        start[...] = 0  # what a solve leaves as it is may be the start of the next
        guess = min(given, columns)
        if self.X is not None:
            self._require_real("X", self.X)
            start[:, :guess] = self.X[:, :guess]
        return start, guess

    def constraints(self) -> Any:
        if self.Y is None:
            return None
        if self.Y.shape[0] != self.rows:
            raise Error(
                f"blockspan.lobpcg: Y has the shape {tuple(self.Y.shape)}, and A {self.rows} rows"
            )
        self._require_real("Y", self.Y)
        self._constraints = self.kind.cast(self.Y, self.dtype)  # alive during the call
        return self.kind.argument(self._constraints)

    def _require_real(self, name: str, X: Array) -> None:
        if self.kind.dtype(X).kind == "c" and self.dtype.kind != "c":
            raise Error(f"blockspan.lobpcg: {name} is {X.dtype}, and the solve {self.dtype}")

    def solve(
        self, options: SolverOptions, tolerance: float, words: dict[str, Any]
    ) -> tuple[dict[str, Any], Array]:
        """What the module reports, and the wanted vectors. A problem that is not Hermitian, as far
        as entries are known, is not begun."""
        start, guess = self.start(words["block"])
        wanted = start[:, : self.wanted]
        asymmetry = self._asymmetry()
        if asymmetry:
            wanted[...] = math.nan
            return _refused(self.wanted, asymmetry), wanted
        report = self.kind.native.lobpcg(
            *self._operators(start.shape[1]),
            self.kind.argument(start),
            self.constraints(),
            wanted=self.wanted,
            tolerance=tolerance,
            guess_columns=guess,
            stream=self.kind.stream(),
            **words,
            **options._of_module(EigenProgress),
        )
        return report, wanted[:, : len(report["eigenvalues"])]

    def _operators(self, columns: int) -> tuple[Any, ...]:
        """A, B, M and the entries of A and B in the form that the module accepts."""
        rows, dtype, kind = self.rows, self.dtype, self.kind
        return (
            as_operator(self.A, rows, dtype, "A", columns, kind),
            None if self.B is None else as_operator(self.B, rows, dtype, "B", columns, kind),
            as_preconditioner(self.M, self.A, rows, dtype, kind, eigenpairs=True),
            entries_of(self.M, self.A),
            entries_of(self.M, self.B),
        )

    def _asymmetry(self) -> str:
        """Why the problem is not Hermitian; empty if it is, as far as entries are known."""
        for name, operator in (("A", self.A), ("B", self.B)):
            words = asymmetry_of(operator)
            if words:
                return f"{name} is {words}{NOT_HERMITIAN}"
        return ""


def default_tolerance(dtype: np.dtype[Any]) -> float:
    return 1e-8 if np.finfo(dtype).eps < 1e-10 else 1e-5


def as_block(X: Array, name: str, kind: Kind) -> Array:
    X = kind.array(X)
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2:
        raise Error(f"blockspan.lobpcg: {name} has the shape {tuple(X.shape)}, and is no block")
    return X


def order_of(A: OperatorLike, X: Array | None, n: int | None) -> int:
    shape = getattr(A, "shape", None)
    rows = n = None if n is None else integer("blockspan.lobpcg", "n", n)
    if shape is not None:
        if len(shape) != 2 or shape[0] != shape[1]:
            raise Error(f"blockspan.lobpcg: A has the shape {tuple(shape)} and must be square")
        rows = int(shape[0])
    elif X is not None:
        rows = int(X.shape[0])
    if shape is None:
        require_operator(A, "A")
    if rows is None:
        raise Error("blockspan.lobpcg: A is a function: say its order, n= or by X")
    if n is not None and n != rows:
        raise Error(f"blockspan.lobpcg: n = {n}, and {'A' if shape else 'X'} has {rows} rows")
    if X is not None and X.shape[0] != rows:
        raise Error(f"blockspan.lobpcg: X has the shape {tuple(X.shape)}, and A has {rows} rows")
    return rows


def _refused(wanted: int, trouble: str) -> dict[str, Any]:
    """The report of a solve that was not started."""
    return {
        **no_pairs(wanted, trouble),
        "path": "none",
        "path_reason": "the problem is not Hermitian",
        "preconditioner": "none",
        "history": [],
        "unused_rows": 0,
        "checkpoint_fault": "",
        "raised": None,
    }


def _trouble(report: dict[str, Any]) -> str:
    """The trouble in words; never empty, even if only the status is known (of a callable)."""
    words: str = report["trouble"]
    if words or report["status"] != Status.operator_not_hermitian:
        return words
    words = "A or B does not act as a Hermitian matrix to rounding"
    if report["path"].endswith("dense"):
        words += "; one that is not exact, with a solve inside, may pass with path='iterative'"
    return words


def _result(report: dict[str, Any], vectors: Array) -> EigenResult:
    certificate = report.get("certificate")
    return EigenResult(
        **pairs_of(report, vectors),
        path=report["path"],
        path_reason=report["path_reason"],
        preconditioner=report["preconditioner"],
        notes=report["notes"],
        trouble=_trouble(report),
        history=[EigenIteration(*line) for line in report["history"]],
        certificate=(
            None
            if certificate is None
            else Certificate(np.array(certificate[0]), np.array(certificate[1]), *certificate[2:])
        ),
        unused_rows=report["unused_rows"],
        checkpoint_fault=report["checkpoint_fault"],
    )
