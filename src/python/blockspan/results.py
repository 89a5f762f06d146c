"""The results of solvers, and the arguments of their callbacks."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from blockspan.arrays import Array
from blockspan.errors import Error
from blockspan.status import Status

_SHOWN = 20  #: lines of a table on either side of those left out


class _Shown:
    """Text representations of a result, for terminals and as a table in notebooks."""

    def _summary(self) -> list[str]:
        raise NotImplementedError

    def _table(self) -> tuple[Sequence[str], list[list[str]]]:
        raise NotImplementedError

    def _lines(self) -> tuple[Sequence[str], list[list[str]]]:
        """The table; long ones without their middle."""
        head, rows = self._table()
        left_out = len(rows) - 2 * _SHOWN
        if left_out > 1:
            rows[_SHOWN:-_SHOWN] = [["..."] + [""] * (len(head) - 1)]
        return head, rows

    def __str__(self) -> str:
        head, rows = self._lines()
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = [
            "  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in (head, *rows)
        ]
        return "\n".join(self._summary() + lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, rows = self._lines()

        def line(tag: str, cells: Sequence[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

        body = "".join(line("td", row) for row in rows)
        words = "<br>".join(html.escape(text) for text in self._summary())
        return f"<p>{words}</p><table>{line('th', head)}{body}</table>"


def _told(result: EigenResult | CgResult, way: str) -> list[str]:
    """A summary of a solve in a few lines."""
    ways = [way] if way else []  # no method solves for no columns
    if result.preconditioner != "none":
        ways.append(result.preconditioner)
    words = (
        f"{result.status} after {result.iterations} iterations ({', '.join(ways)}), "
        f"{result.seconds['total']:.3g} s"
    )
    return [words, *([result.trouble] if result.trouble else []), *result.notes]


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
class EigenResult(_Shown):
    """Eigenpairs, and what is known of them. ``w, V = result`` unpacks."""

    eigenvalues: Array  #: ascending (smallest) or descending (largest)
    eigenvectors: Array  #: n x k, orthonormal in the inner product of B
    status: Status
    pair_status: list[Status]
    backward_errors: Array  #: ||r|| / ((||A|| + |w| ||B||) ||x||), recomputed at the end
    residuals: Array  #: ||r|| = backward error times (norm_a + |w| norm_b), ||x|| as it is
    error_bounds: Array  #: of the eigenvalues, where no pair was missed; may be infinite
    iterations: int
    path: str  #: "iterative", "dense", "iterative, then dense" or "exact" (by factors)
    path_reason: str
    trouble: str  #: what went wrong and where; empty: nothing
    history: list[EigenIteration]
    certificate: Certificate | None
    counters: dict[str, int]
    seconds: dict[str, float]
    norm_a: float = field(default=0.0)  #: the norms in the backward errors
    norm_b: float = field(default=1.0)
    unused_rows: int = 0  #: that are zero in A and in B: left out, vectors are zero there
    orthogonality_loss: float = 0.0  #: max |V^H B V - I|
    checkpoint_fault: str = ""  #: why the last checkpoint could not be written; empty: it was
    preconditioner: str = "none"  #: in words, the last one where the solve changed over
    notes: list[str] = field(default_factory=list)  #: why that one; what else is worth knowing

    def __iter__(self) -> Iterator[Array]:
        return iter((self.eigenvalues, self.eigenvectors))

    def _summary(self) -> list[str]:
        return _told(self, self.path)

    def _table(self) -> tuple[Sequence[str], list[list[str]]]:
        rows = zip(
            self.eigenvalues, self.backward_errors, self.error_bounds, self.pair_status, strict=True
        )
        return ("pair", "eigenvalue", "backward error", "error bound", "status"), [
            [str(j), f"{w:.16g}", f"{backward:.2e}", f"{bound:.2e}", str(status)]
            for j, (w, backward, bound, status) in enumerate(rows)
        ]


def pairs_of(report: dict[str, Any], vectors: Array) -> dict[str, Any]:
    """The fields of EigenResult that every report of eigenpairs has."""
    values = np.array(report["eigenvalues"])
    backward = np.array(report["backward_errors"])
    return {
        "eigenvalues": values,
        "eigenvectors": vectors,
        "status": Status(report["status"]),
        "pair_status": [Status(status) for status in report["pair_status"]],
        "backward_errors": backward,
        "residuals": backward * (report["norm_a"] + np.abs(values) * report["norm_b"]),
        "error_bounds": np.array(report["error_bounds"]),
        "iterations": report["iterations"],
        "counters": report["counters"],
        "seconds": report["seconds"],
        "norm_a": report["norm_a"],
        "norm_b": report["norm_b"],
        "orthogonality_loss": report["orthogonality_loss"],
    }


def no_pairs(wanted: int, trouble: str) -> dict[str, Any]:
    """The input of pairs_of for a solve that was not started."""
    nothing = [math.nan] * wanted
    return {
        "eigenvalues": nothing,
        "backward_errors": nothing,
        "error_bounds": [math.inf] * wanted,
        "status": Status.operator_not_hermitian,
        "pair_status": [Status.not_converged] * wanted,
        "iterations": 0,
        "trouble": trouble,
        "notes": [],
        "counters": {},
        "seconds": {"total": 0.0},
        "norm_a": math.nan,
        "norm_b": math.nan,
        "orthogonality_loss": math.nan,
    }


class ExactProgress(NamedTuple):
    """What a callback sees after each step of block Lanczos."""

    steps: int
    factorizations: int
    shift: float  #: that of the factors at work
    converged: int  #: pairs of the run at that shift
    wanted: int
    found: int  #: pairs of an interval so far
    all: int  #: that it holds; 0: not an interval


class ShiftCount(NamedTuple):
    """Eigenvalues below a shift, by the signs of pivots."""

    asked: float
    shift: float  #: where they were counted
    number: int  #: negative pivots
    rho: float  #: how near rounding came to turning a sign; below 0.1 none can have turned
    null_pivots: int
    static_pivots: int
    trusted: bool


class MissingPairs(NamedTuple):
    """Eigenvalues that are there by the counts, and that were not found."""

    low: float
    high: float
    number: int


@dataclass(eq=False)
class EigenCount:
    """A number of eigenvalues. ``int(result)`` is it."""

    number: int | None  #: None: no place was found where every pivot's sign is certain
    low: ShiftCount  #: the ends, as they were moved
    high: ShiftCount
    trouble: str  #: why there is no number; empty: there is one
    notes: list[str]
    status: Status
    iterations: int = 0

    def __int__(self) -> int:
        if self.number is None:
            raise Error(f"blockspan.count: not counted: {self.trouble}")
        return self.number


@dataclass(eq=False, repr=False)
class ExactResult(EigenResult):
    """Eigenpairs by factors, and what counts say of them. ``w, V = result`` unpacks."""

    proof: str = "none"
    """"proved": none is missing, by counts at both ends of ``interval``; "tied": as many as were
    asked for, of more that lie equally near; "missing"; "uncountable"; "none": not asked for, or not
    converged."""
    interval: tuple[float, float] = (0.0, 0.0)  #: that the proof is about, its ends as moved
    counted: int = 0  #: eigenvalues in it
    found: int = 0  #: pairs in it that were found
    counts: list[ShiftCount] = field(default_factory=list)  #: all, in the order of the work
    missing: list[MissingPairs] = field(default_factory=list)
    next_eigenvalue: float = float("nan")  #: an estimate

    def _summary(self) -> list[str]:
        low, high = self.interval
        said = {
            "proved": f"none is missing: ({low:.7g}, {high:.7g}) holds {self.counted}",
            "tied": f"more lie equally near: ({low:.7g}, {high:.7g}) holds {self.counted}",
        }.get(self.proof)
        return [*super()._summary(), *([said] if said else [])]


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
class CgResult(_Shown):
    """Solutions, and what is known of them. ``x, info = result`` unpacks; info: 0, or the number of
    columns that are not solved."""

    x: Array  #: of the kind of B
    status: Status  #: converged, or that of the first column that is not
    columns: list[CgColumn]
    iterations: int
    method: str
    reason: str  #: why that method ran
    trouble: str
    preconditioner: str  #: in words, the last one where the solve changed over
    notes: list[str]  #: why that one
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

    def _summary(self) -> list[str]:
        return _told(self, self.method)

    def _table(self) -> tuple[Sequence[str], list[list[str]]]:
        return ("column", "residual", "iterations", "status"), [
            [str(j), f"{column.residual:.2e}", str(column.iterations), str(column.status)]
            for j, column in enumerate(self.columns)
        ]
