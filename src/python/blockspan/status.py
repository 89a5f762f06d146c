"""Why a solve stopped."""

from __future__ import annotations

import enum
from typing import Any


class Status(str, enum.Enum):
    """Why a solve stopped, or the state of one pair or column; equal to its name as a string.

    >>> import blockspan as bs
    >>> bs.Status("converged").ok, bs.Status.max_iterations.ok
    (True, False)
    """

    converged = "converged"
    """Every test asked for holds, verified from the operators themselves."""
    zero_rhs = "zero_rhs"
    """(column) b = 0, so x = 0: success."""
    zero_eigenvalue = "zero_eigenvalue"
    """(pair) Zero as far as the arithmetic can tell: success."""
    attainable_limit = "attainable_limit"
    """As accurate as the arithmetic allows, but above the tolerance: ask for less."""
    max_iterations = "max_iterations"
    """Raise maxiter, or precondition better."""
    time_limit = "time_limit"
    """Raise the time limit."""
    stagnated = "stagnated"
    """Restarts brought nothing: a better preconditioner or a wider block."""
    not_converged = "not_converged"
    """(pair) The solve stopped before this pair converged."""
    operator_not_finite = "operator_not_finite"
    """The operator returned NaN or infinity for finite input."""
    operator_not_hermitian = "operator_not_hermitian"
    """A wrong operator, or not a problem for this solver."""
    mass_not_positive_definite = "mass_not_positive_definite"
    """x^H B x < 0 for some x."""
    mass_singular = "mass_singular"
    """B is singular, and too few eigenvalues are finite: ask for fewer."""
    missing_pairs = "missing_pairs"
    """Counts say that there are more pairs than were found: a wider block."""
    singular_pencil = "singular_pencil"
    """A - s B is singular for every s: A and B have a null vector in common."""
    stopped_by_monitor = "stopped_by_monitor"
    """The callback asked to stop, or Ctrl-C did."""
    out_of_range = "out_of_range"
    """(column) The numbers of the format do not hold the solution: scale A or b."""
    nonfinite_rhs = "nonfinite_rhs"
    """(column) b has NaN or infinity; x is as it was."""
    negative_curvature = "negative_curvature"
    """A is not positive definite: CG does not apply."""
    singular = "singular"
    """A is singular to working precision, and b seems to be outside its range."""
    inconsistent = "inconsistent"
    """b has a part outside the range of a singular A: no x solves A x = b."""
    preconditioner_not_spd = "preconditioner_not_spd"
    """Use another preconditioner, or none."""

    @property
    def ok(self) -> bool:
        """Whether nothing is left to do."""
        return self in (Status.converged, Status.zero_rhs, Status.zero_eigenvalue)

    def __str__(self) -> str:
        return self.value


class NotConvergedWarning(UserWarning):
    """A solve returned its best so far, which is not what was asked for."""


class NotConverged(RuntimeError):
    """The same as an exception (``raise_on_failure=True``).

    Attributes:
        result: the best so far.
    """

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message, result)
        self.result = result

    def __str__(self) -> str:
        return str(self.args[0])
