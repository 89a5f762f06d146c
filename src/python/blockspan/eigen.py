"""Eigenpairs of Hermitian matrices and pencils by LOBPCG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from blockspan.arrays import Array, Kind, common_kind
from blockspan.errors import Error
from blockspan.matrix import Matrix
from blockspan.operators import OperatorLike, as_matrix, as_operator, scalar_type
from blockspan.precond import as_preconditioner
from blockspan.status import Status, conclude, monitor_of


class EigenProgress(NamedTuple):
    """What a callback sees after each iteration."""

    iteration: int
    converged: int  #: wanted pairs that pass the test now
    wanted: int
    active: int  #: columns that got a new direction
    eigenvalues: list[float]  #: Ritz values, all columns of the block
    backward_errors: list[float]


class EigenIteration(NamedTuple):
    """One line of the history, of the wanted pairs."""

    iteration: int
    active: int
    eigenvalues: list[float]
    backward_errors: list[float]


class Certificate(NamedTuple):
    """What is certain of the eigenvalues, rounding errors included.

    ``|lambda - w[j]| <= radius[j]`` for at least one eigenvalue lambda; ``gap_radius``: for the
    j-th one, where no pair was missed.
    """

    radius: Array
    gap_radius: Array
    orthogonality_loss: float
    rigorous: bool


@dataclass(eq=False, repr=False)
class EigenResult:
    """Eigenpairs, and what is known of them. ``w, V = result`` unpacks."""

    eigenvalues: Array  #: ascending (smallest) or descending (largest)
    eigenvectors: Array  #: n x k, orthonormal in the inner product of B
    status: Status
    pair_status: list[Status]
    backward_errors: Array  #: ||r|| / ((||A|| + |w| ||B||) ||x||), recomputed at the end
    residuals: Array  #: ||r|| = backward error times (norm_a + |w| norm_b), ||x|| as it is
    error_bounds: Array  #: of the eigenvalues, where no pair was missed; may be infinite
    iterations: int
    path: str  #: "iterative", "dense" or "iterative, then dense"
    path_reason: str
    trouble: str  #: what went wrong and where; empty: nothing
    history: list[EigenIteration]
    certificate: Certificate | None
    counters: dict[str, int]
    seconds: dict[str, float]
    norm_a: float = field(default=0.0)  #: the norms in the backward errors
    norm_b: float = field(default=1.0)

    def __iter__(self) -> Iterator[Array]:
        return iter((self.eigenvalues, self.eigenvectors))

    def __str__(self) -> str:
        lines = [
            f"{self.status} after {self.iterations} iterations ({self.path}), "
            f"{self.seconds['total']:.3g} s"
        ]
        if self.trouble:
            lines.append(self.trouble)
        lines.append(
            f"{'pair':>5} {'eigenvalue':>24} {'backward error':>15} {'error bound':>12}  status"
        )
        rows = zip(
            self.eigenvalues, self.backward_errors, self.error_bounds, self.pair_status, strict=True
        )
        for j, (w, backward, bound, status) in enumerate(rows):
            lines.append(f"{j:5d} {w:24.16g} {backward:15.2e} {bound:12.2e}  {status}")
        return "\n".join(lines)


def lobpcg(
    A: OperatorLike,
    X: Array | None = None,
    B: OperatorLike | None = None,
    M: OperatorLike | None = None,
    Y: Array | None = None,
    *,
    largest: bool,
    k: int | None = None,
    n: int | None = None,
    tol: float | None = None,
    maxiter: int = 10000,
    criterion: Literal["digits", "backward", "relative"] = "digits",
    path: Literal["automatic", "iterative", "dense"] = "automatic",
    block: int = 0,
    certify: bool = False,
    callback: Callable[[EigenProgress], object] | None = None,
    time_limit: float = math.inf,
    checkpoint: str | None = None,
    resume: str | None = None,
    seed: int = 1,
    raise_on_failure: bool = False,
) -> EigenResult:
    """The k smallest or largest eigenpairs of A x = w x, or A x = w B x, A and B Hermitian.

    A: n x n: a :class:`Matrix`, any sparse or dense matrix, a LinearOperator of SciPy, or a
    function that is given a block (n x columns, read-only, valid during the call) and returns A
    times it. Blocks are arrays of NumPy; with X, or without it A, on a CUDA device they are of torch
    or CuPy as that one, and so are the eigenvectors (eigenvalues are NumPy's always). X: n x m start, m >= k, not changed; columns that are missing start random. B: mass,
    positive definite (what A may be). M: approximation of the inverse of A, positive definite: a
    name ("jacobi", "block-jacobi:3", "chebyshev:8", "multigrid"), one of :mod:`blockspan.precond`,
    or what A may be. Y: n x c vectors that the eigenvectors are B-orthogonal to.

    largest must be said: SciPy's default is the largest pairs, and mostly the smallest are wanted.
    k: default the columns of X. n: the order, where A is a function and there is no X. tol: default
    1e-8, in single precision 1e-5. criterion: "backward": ||r|| <= tol (||A|| + |w| ||B||) ||x||;
    "digits": that, and four digits of w are certain; "relative": ||r|| <= tol |w| ||B x||. path:
    "automatic" solves small problems densely. block: columns iterated together, 0 for all at once.
    certify: fill in ``certificate``. callback: given an :class:`EigenProgress` each iteration;
    returning False stops. time_limit: seconds. checkpoint, resume: files of the state of a solve.

    Ctrl-C, or an exception in the callback, ends the solve within an iteration and is raised with
    the best so far in its attribute ``partial``. What does not converge is a status and a
    NotConvergedWarning (an exception :class:`NotConverged` with raise_on_failure).

    Raises Error (a ValueError) for bad input, MemoryError where memory is short. Memory: some 6 m
    columns, 9 m with B. The same input gives the same bits. Sources: Knyazev 2001,
    doi:10.1137/S1064827500366124; Duersch, Shao, Yang and Gu 2018, arXiv:1704.07458.

    >>> import blockspan as bs
    >>> w, V = bs.lobpcg(bs.generate("laplace5:30x30"), k=3, largest=False, M="jacobi")
    >>> w.round(6)
    array([0.020523, 0.051201, 0.051201])
    """
    A, B = as_matrix(A), None if B is None else as_matrix(B)
    kind = common_kind("blockspan.lobpcg", A, X, Y)
    X = None if X is None else _block(X, "X", kind)
    Y = None if Y is None else _block(Y, "Y", kind)
    rows = _order(A, X, n)
    wanted = _wanted(k, X, rows)
    dtype = scalar_type(A, X, Y)
    start, guess = _start(X, rows, wanted, block, dtype, kind)
    if Y is not None:
        if Y.shape[0] != rows:
            raise Error(f"blockspan.lobpcg: Y has the shape {tuple(Y.shape)}, and A {rows} rows")
        _require_real("Y", Y, dtype, kind)
        Y = kind.cast(Y, dtype)
    columns = start.shape[1]
    report = kind.native.lobpcg(
        as_operator(A, rows, dtype, "A", columns, kind),
        None if B is None else as_operator(B, rows, dtype, "B", columns, kind),
        as_preconditioner(M, A, rows, dtype, kind, eigenpairs=True),
        kind.argument(start),
        None if Y is None else kind.argument(Y),
        wanted=wanted,
        block=block,
        largest=largest,
        tolerance=default_tolerance(dtype) if tol is None else tol,
        criterion=criterion,
        path=path,
        max_iterations=maxiter,
        guess_columns=guess,
        seed=seed,
        certify=certify,
        time_limit=time_limit,
        checkpoint=checkpoint or "",
        resume=resume or "",
        monitor=monitor_of(callback, EigenProgress),
        stream=kind.stream(),
    )
    result = _result(report, start[:, :wanted])
    conclude("lobpcg", result, report["raised"], raise_on_failure)
    return result


def default_tolerance(dtype: np.dtype[Any]) -> float:
    return 1e-8 if np.finfo(dtype).eps < 1e-10 else 1e-5


def _block(X: Array, name: str, kind: Kind) -> Array:
    X = kind.array(X)
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2:
        raise Error(f"blockspan.lobpcg: {name} has the shape {tuple(X.shape)}, and is no block")
    return X


def _require_real(name: str, X: Array, dtype: np.dtype[Any], kind: Kind) -> None:
    if kind.dtype(X).kind == "c" and dtype.kind != "c":
        raise Error(f"blockspan.lobpcg: {name} is {X.dtype}, and A {dtype}")


def _order(A: OperatorLike, X: Array | None, n: int | None) -> int:
    shape = getattr(A, "shape", None)
    if shape is not None:
        if len(shape) != 2 or shape[0] != shape[1]:
            raise Error(f"blockspan.lobpcg: A has the shape {tuple(shape)} and must be square")
        n = int(shape[0])
    elif X is not None:
        n = X.shape[0]
    if n is None:
        raise Error("blockspan.lobpcg: A is a function: say its order, n= or by X")
    if X is not None and X.shape[0] != n:
        raise Error(f"blockspan.lobpcg: X has the shape {tuple(X.shape)}, and A has {n} rows")
    return n


def _wanted(k: int | None, X: Array | None, rows: int) -> int:
    if k is None:
        if X is None:
            raise Error("blockspan.lobpcg: how many pairs? Give k= or X")
        k = X.shape[1]
    if not 1 <= k <= rows:
        raise Error(f"blockspan.lobpcg: {k} pairs of a matrix of {rows} rows")
    return k


def _start(
    X: Array | None, rows: int, wanted: int, block: int, dtype: np.dtype[Any], kind: Kind
) -> tuple[Array, int]:
    """A block with guards, row-major, and how many of its columns are a start."""
    with_guards = (wanted + max(4, wanted // 4) + 3) // 4 * 4  # as lobpcg_block_size
    given = 0 if X is None else X.shape[1]
    columns = min(rows, max(given, wanted if block else with_guards))
    start = kind.empty((rows, columns), dtype)
    guess = min(given, columns)
    if X is not None:
        _require_real("X", X, dtype, kind)
        start[:, :guess] = X[:, :guess]
    return start, guess


def _result(report: dict[str, Any], vectors: Array) -> EigenResult:
    values = np.array(report["eigenvalues"])
    backward = np.array(report["backward_errors"])
    certificate = report.get("certificate")
    return EigenResult(
        eigenvalues=values,
        eigenvectors=vectors,
        status=Status(report["status"]),
        pair_status=[Status(status) for status in report["pair_status"]],
        backward_errors=backward,
        residuals=backward * (report["norm_a"] + np.abs(values) * report["norm_b"]),
        error_bounds=np.array(report["error_bounds"]),
        iterations=report["iterations"],
        path=report["path"],
        path_reason=report["path_reason"],
        trouble=report["trouble"],
        history=[EigenIteration(*line) for line in report["history"]],
        certificate=(
            None
            if certificate is None
            else Certificate(np.array(certificate[0]), np.array(certificate[1]), *certificate[2:])
        ),
        counters=report["counters"],
        seconds=report["seconds"],
        norm_a=report["norm_a"],
        norm_b=report["norm_b"],
    )


def eigsh(
    A: OperatorLike,
    k: int = 6,
    M: OperatorLike | None = None,
    sigma: float | None = None,
    which: Literal["SA", "LA", "LM", "BE"] = "SA",
    v0: Array | None = None,
    *,
    tol: float | None = None,
    maxiter: int = 10000,
    return_eigenvectors: bool = True,
    preconditioner: OperatorLike | None = None,
    n: int | None = None,
    seed: int = 1,
    raise_on_failure: bool = False,
) -> Any:
    """k eigenpairs of a Hermitian A, or of A x = w M x, under SciPy's names; ascending.

    A, M (the mass), preconditioner, n, tol, maxiter, seed: as A, B and M of :func:`lobpcg`. which:
    "SA" smallest, "LA" largest, "LM" largest magnitude and "BE" half of each end (two solves).
    sigma: the eigenvalues nearest to it, where none is below it, or none of a matrix (no function,
    no M) above it; inside the spectrum that needs factors of A - sigma M: NotImplementedError. v0:
    a start, n or n x m.

    Returns an EigenResult that unpacks to (w, V), or w without return_eigenvectors; of two solves
    the pair (w, V).

    >>> import blockspan as bs
    >>> w, V = bs.eigsh(bs.generate("laplace5:20x20"), k=2)
    >>> w.round(5)
    array([0.04468, 0.11119])
    """
    if which not in ("SA", "LA", "LM", "BE"):
        raise NotImplementedError(f"blockspan.eigsh: which='{which}': scipy.sparse.linalg.eigsh")
    A, M = as_matrix(A), None if M is None else as_matrix(M)

    def solve(largest: bool, pairs: int) -> EigenResult:
        result = lobpcg(
            A,
            v0,
            M,
            None if largest else preconditioner,
            largest=largest,
            k=pairs,
            n=n,
            tol=tol,
            maxiter=maxiter,
            seed=seed,
            raise_on_failure=raise_on_failure,
        )
        return _reversed(result) if largest else result

    if sigma is not None:
        above = _is_above_the_mean(sigma, A, M)
        result = solve(above, k)
        w, bounds = result.eigenvalues, result.error_bounds
        if sigma < w[-1] - bounds[-1] if above else sigma > w[0] + bounds[0]:
            raise NotImplementedError(
                f"blockspan.eigsh: sigma={sigma} is inside the spectrum (it has the eigenvalues "
                f"{w[0]} and {w[-1]}): scipy.sparse.linalg.eigsh"
            )
    elif which == "SA":
        result = solve(False, k)
    elif which == "LA":
        result = solve(True, k)
    else:
        kind = common_kind("blockspan.eigsh", A, v0)
        rows = _order(A, None if v0 is None else _block(v0, "v0", kind), n)
        low, high = (k, min(k, rows - k)) if which == "LM" else (k // 2, k - k // 2)
        ends = [solve(largest, pairs) for largest, pairs in ((False, low), (True, high)) if pairs]
        w = np.concatenate([end.eigenvalues for end in ends])
        V = kind.empty((rows, len(w)), kind.dtype(ends[0].eigenvectors))
        V[:, :low], V[:, len(w) - high :] = ends[0].eigenvectors, ends[-1].eigenvectors
        order = np.argsort(w, kind="stable")
        if which == "LM":
            order = np.argsort(-np.abs(w), kind="stable")[:k]
            order = order[np.argsort(w[order], kind="stable")]
        return (w[order], V[:, order.tolist()]) if return_eigenvectors else w[order]
    return result if return_eigenvectors else result.eigenvalues


def _is_above_the_mean(sigma: float, A: OperatorLike, M: OperatorLike | None) -> bool:
    """Whether sigma is above the mean eigenvalue: then only the largest can be the nearest."""
    if M is not None or not isinstance(A, Matrix):
        return False
    offsets, indices, values = (A._kind.numpy(part) for part in A._source)
    rows = np.repeat(np.arange(A.shape[0]), np.diff(offsets))
    return bool(sigma * A.shape[0] > values[indices == rows].real.sum())


def _reversed(result: EigenResult) -> EigenResult:
    fields = dict(result.__dict__)
    for name in ("eigenvalues", "backward_errors", "residuals", "error_bounds", "pair_status"):
        fields[name] = fields[name][::-1]
    V = result.eigenvectors
    backwards = list(range(V.shape[1]))[::-1]
    fields["eigenvectors"] = V[:, ::-1] if isinstance(V, np.ndarray) else V[:, backwards]
    return EigenResult(**fields)
