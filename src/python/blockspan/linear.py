"""Systems with many right-hand sides by conjugate gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from blockspan.arrays import Array, common_kind
from blockspan.eigen import default_tolerance
from blockspan.errors import Error
from blockspan.operators import OperatorLike, as_matrix, as_operator, scalar_type
from blockspan.precond import as_preconditioner
from blockspan.status import Status, conclude, monitor_of


class CgProgress(NamedTuple):
    """What a callback sees after each iteration."""

    iteration: int
    converged: int  #: columns at their goal by the recurrence
    columns: int
    residuals: list[float]  #: ||r_j|| / ||b_j|| by the recurrence


class CgIteration(NamedTuple):
    """One line of the history."""

    iteration: int
    directions: int  #: columns multiplied
    residuals: list[float]


class CgColumn(NamedTuple):
    """What became of one right-hand side."""

    status: Status
    iterations: int
    residual: float  #: ||b - A x|| / ||b||, from A, b and x themselves
    backward_error: float


@dataclass(eq=False, repr=False)
class CgResult:
    """Solutions, and what is known of them. ``x, info = result`` unpacks; info: 0, or the number of
    columns that are not solved."""

    x: Array  #: of the kind of B
    status: Status  #: converged, or that of the first column that is not
    columns: list[CgColumn]
    iterations: int
    method: str
    reason: str  #: why that method ran
    trouble: str
    null_vectors: int  #: that A maps to zero, as far as found
    history: list[CgIteration]
    counters: dict[str, int]
    seconds: dict[str, float]

    @property
    def info(self) -> int:
        return sum(not column.status.ok for column in self.columns)

    @property
    def residuals(self) -> Array:
        return np.array([column.residual for column in self.columns])

    def __iter__(self) -> Iterator[Any]:
        return iter((self.x, self.info))

    def __str__(self) -> str:
        lines = [
            f"{self.status} after {self.iterations} iterations ({self.method}), "
            f"{self.seconds['total']:.3g} s"
        ]
        if self.trouble:
            lines.append(self.trouble)
        lines.append(f"{'column':>7} {'residual':>10} {'iterations':>11}  status")
        for j, column in enumerate(self.columns):
            lines.append(f"{j:7d} {column.residual:10.2e} {column.iterations:11d}  {column.status}")
        return "\n".join(lines)


def cg(
    A: OperatorLike,
    B: Array,
    X0: Array | None = None,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    M: OperatorLike | None = None,
    maxiter: int = 10000,
    method: Literal["auto", "block", "columns"] = "auto",
    callback: Callable[[CgProgress], object] | None = None,
    time_limit: float = math.inf,
    raise_on_failure: bool = False,
) -> CgResult:
    """Solve A X = B for a Hermitian positive definite A and all right-hand sides together.

    A: n x n, as in :func:`lobpcg`. B: n, or n x k of any strides. X0: start, as B; not changed. M:
    approximation of the inverse, as in :func:`lobpcg`. Column j is solved when ||b_j - A x_j|| <=
    max(rtol ||b_j||, atol), computed from A itself. rtol: default 1e-8, in single precision 1e-5.
    method: "block" searches one Krylov space for all columns (fewer iterations), "columns" one for
    each. callback: given a :class:`CgProgress` each iteration; returning False stops.

    Ctrl-C, failures and errors: as in :func:`lobpcg`. Singular consistent systems are solved.
    Memory: 4 n x k. Sources: Hestenes and Stiefel 1952, doi:10.6028/jres.049.044; O'Leary 1980,
    doi:10.1016/0024-3795(80)90247-5; Dubrulle 2001, ETNA 12, 216-233.

    >>> import numpy as np, blockspan as bs
    >>> A = bs.generate("laplace5:30x30")
    >>> x, info = bs.cg(A, np.ones((900, 3)), M="chebyshev:4")
    >>> info, bool(abs(A @ x - 1).max() < 1e-6)
    (0, True)
    """
    A = as_matrix(A)
    kind = common_kind("blockspan.cg", A, B, X0)
    right = kind.array(B)
    if right.ndim not in (1, 2):
        raise Error(f"blockspan.cg: B has the shape {tuple(right.shape)}; wanted is n or n x k")
    rows = right.shape[0]
    start = None if X0 is None else kind.array(X0)
    if start is not None and start.shape != right.shape:
        raise Error(f"blockspan.cg: X0 {tuple(start.shape)}, and B {tuple(right.shape)}")
    dtype = scalar_type(A, right, start)
    for name, block in (("B", right), ("X0", start)):
        if block is not None and kind.dtype(block).kind == "c" and dtype.kind != "c":
            raise Error(f"blockspan.cg: {name} is {block.dtype}, and A {dtype}")
    if kind.dtype(right) != dtype:
        right = kind.cast(right, dtype)
    x = kind.empty(right.shape, dtype)
    x[...] = 0 if start is None else start
    as_block = (slice(None), None) if right.ndim == 1 else ...
    columns = right.shape[1] if right.ndim == 2 else 1
    report = kind.native.cg(
        as_operator(A, rows, dtype, "A", max(columns, 1), kind),
        as_preconditioner(M, A, rows, dtype, kind, eigenpairs=False),
        kind.argument(right[as_block]),
        kind.argument(x[as_block]),
        tolerance=default_tolerance(dtype) if rtol is None else rtol,
        absolute_tolerance=atol,
        use_guess=start is not None,
        max_iterations=maxiter,
        method=method,
        time_limit=time_limit,
        monitor=monitor_of(callback, CgProgress),
        stream=kind.stream(),
    )
    result = CgResult(
        x=x,
        status=Status(report["status"]),
        columns=[CgColumn(Status(line[0]), *line[1:]) for line in report["columns"]],
        iterations=report["iterations"],
        method=report["method"],
        reason=report["reason"],
        trouble=report["trouble"],
        null_vectors=report["null_vectors"],
        history=[CgIteration(*line) for line in report["history"]],
        counters=report["counters"],
        seconds=report["seconds"],
    )
    conclude("cg", result, report["raised"], raise_on_failure)
    return result
