"""Systems with many right-hand sides by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from blockspan.arguments import real, word
from blockspan.arrays import Array, Kind, common_kind, is_plain
from blockspan.eigen import NOT_HERMITIAN, default_tolerance
from blockspan.errors import Error
from blockspan.operators import (
    OperatorLike,
    as_matrix,
    as_operator,
    asymmetry_of,
    mean_of,
    require_dense,
    scalar_type,
)
from blockspan.options import SolverOptions
from blockspan.precond import as_preconditioner, entries_of, in_type
from blockspan.results import CgColumn, CgIteration, CgProgress, CgResult
from blockspan.status import Status

WHERE = "blockspan.cg"


def cg(
    A: OperatorLike,
    B: Array,
    X0: Array | None = None,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    M: OperatorLike | None = "automatic",
    maxiter: int | None = None,
    method: Literal["auto", "block", "columns"] = "auto",
    hermitian_mean: bool = False,
    dtype: Any = None,
    callback: Callable[[CgProgress], object] | None = None,
    time_limit: float | None = None,
    raise_on_failure: bool = False,
) -> CgResult:
    """Solve A X = B for a Hermitian positive definite A and all right-hand sides together.

    A, M, and options not said here: :class:`SolverOptions`. B: n, or n x k of any strides. X0: start,
    as B, finite; not changed. Column j is solved when ||b_j - A x_j|| <= max(rtol ||b_j||, atol), computed
    from A itself. rtol: default 1e-8, in single precision 1e-5. method: "block" searches one Krylov
    space for all columns (fewer iterations), "columns" one for each.

    Singular consistent systems are solved. A matrix that is not Hermitian is told with the entry, in
    ``trouble``, where a column is not solved. Memory: 4 n x k. Sources: Hestenes and Stiefel 1952,
    doi:10.6028/jres.049.044; O'Leary 1980, doi:10.1016/0024-3795(80)90247-5; Dubrulle 2001, ETNA 12,
    216-233.

    >>> import numpy as np, blockspan as bs
    >>> A = bs.generate("laplace5:30x30")
    >>> x, info = bs.cg(A, np.ones((900, 3)))
    >>> info, bool(abs(A @ x - 1).max() < 1e-6)
    (0, True)
    """
    options = SolverOptions(WHERE, maxiter, hermitian_mean, callback, time_limit, raise_on_failure)
    goal = real(WHERE, "atol", atol, 0.0), word(WHERE, "method", method, "auto")
    A = as_matrix(A)
    if options.hermitian_mean:
        A = mean_of(A)
    M = M if isinstance(M, str) or M is None else as_matrix(M)
    result, raised = _solve(A, M, B, X0, rtol, *goal, dtype, options)
    if not result.status.ok:  # a solution needs no such look: its residual is computed
        words = asymmetry_of(A)
        result.trouble = f"A is {words}{NOT_HERMITIAN}" if words else result.trouble
    options._conclude(result, raised)
    return result


def _solve(
    A: OperatorLike,
    M: OperatorLike | None,
    B: Array,
    X0: Array | None,
    rtol: float | None,
    atol: float,
    method: str,
    dtype: Any,
    options: SolverOptions,
) -> tuple[CgResult, BaseException | None]:
    """The result; raises what the callback or a signal handler has raised."""
    require_dense("B", B)
    require_dense("X0", X0)
    kind = common_kind(WHERE, A, B, X0)
    right, start = _blocks(B, X0, kind)
    rows = right.shape[0]
    shape = tuple(getattr(A, "shape", (rows, rows)))
    if shape != (rows, rows):
        raise Error(f"blockspan.cg: B has {rows} rows, and A the shape {shape}")
    computed = scalar_type((A, M), (right, start), rows, kind, dtype)
    A = in_type(A, M, computed)
    right, x = _in_type(right, start, computed, kind)
    as_columns = (slice(None), None) if right.ndim == 1 else ...
    columns = right.shape[1] if right.ndim == 2 else 1
    report = kind.native.cg(
        as_operator(A, rows, computed, "A", max(columns, 1), kind),
        as_preconditioner(M, A, rows, computed, kind, eigenpairs=False),
        entries_of(M, A),
        kind.argument(right[as_columns]),
        kind.argument(x[as_columns]),
        tolerance=real(WHERE, "rtol", rtol, default_tolerance(computed)),
        absolute_tolerance=atol,
        method=method,
        use_guess=start is not None,
        stream=kind.stream(),
        **options._of_module(CgProgress),
    )
    return _result(report, x), report["raised"]


def _blocks(B: Array, X0: Array | None, kind: Kind) -> tuple[Array, Array | None]:
    right = kind.array(B)
    if right.ndim not in (1, 2):
        raise Error(f"blockspan.cg: B has the shape {tuple(right.shape)}; wanted is n or n x k")
    start = None if X0 is None else kind.array(X0)
    if start is not None and start.shape != right.shape:
        raise Error(f"blockspan.cg: X0 {tuple(start.shape)}, and B {tuple(right.shape)}")
    return right, start


def _in_type(right: Array, start: Array | None, dtype: Any, kind: Kind) -> tuple[Array, Array]:
    """B in the form that the module reads, and X."""
    for name, block in (("B", right), ("X0", start)):
        if block is not None and kind.dtype(block).kind == "c" and dtype.kind != "c":
            raise Error(f"blockspan.cg: {name} is {block.dtype}, and the solve {dtype}")
    if kind.dtype(right) != dtype or not (kind.on_cuda or is_plain(right)):
        right = kind.cast(right, dtype)
    x = kind.empty(right.shape, dtype)
    x[...] = 0 if start is None else start
    return right, x


def _result(report: dict[str, Any], x: Array) -> CgResult:
    return CgResult(
        x=x,
        status=Status(report["status"]),
        columns=[CgColumn(Status(line[0]), *line[1:]) for line in report["columns"]],
        iterations=report["iterations"],
        method=report["method"],
        reason=report["reason"],
        trouble=report["trouble"],
        preconditioner=report["preconditioner"],
        notes=report["notes"],
        null_vectors=report["null_vectors"],
        history=[CgIteration(*line) for line in report["history"]],
        counters=report["counters"],
        seconds=report["seconds"],
    )
