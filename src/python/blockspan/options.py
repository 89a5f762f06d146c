"""The arguments that solvers have in common."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from blockspan.arguments import flag, integer, real, require_callable
from blockspan.status import NotConverged, NotConvergedWarning, Status


class SolverOptions:
    """Arguments that :func:`lobpcg`, :func:`eigsh` and :func:`cg` share.

    Attributes:
        A: n x n, Hermitian: a :class:`Matrix`, any sparse or dense matrix, a LinearOperator of SciPy,
            or a function that is given a block (n x columns, read-only, valid during the call) and
            returns A times it. Blocks are arrays of NumPy; with a start or right-hand sides, or
            without those A, on a CUDA device they are of torch or CuPy as these, and so are results
            (eigenvalues are NumPy's always).
        M: approximation of the inverse of A, positive definite: words of the programs ("jacobi",
            "block-jacobi:3", "chebyshev:8", "multigrid", on hosts with MUMPS "direct"), one of
            :mod:`blockspan.precond`, or what A may be; None for none. "automatic" is the rule of the
            programs where A is sparse: begin with a polynomial over Jacobi, count, and change over to
            multigrid or factors once these have less work, or at once where the graph shows that they
            will (none for the highest pairs of one matrix, Jacobi for those of a pencil and with
            checkpoints). ``preconditioner`` and ``notes`` of the result tell which and why. Without
            entries, of a function or a dense array, it is none.
        maxiter: iterations; default 10000.
        hermitian_mean: solve for (A + A^H) / 2, and that of the mass. Without it a matrix that
            differs from its adjoint by more than rounding (64 units in the last place of the largest
            entries of scaled rows and columns) is ``operator_not_hermitian``, with the entry in
            ``trouble``.
        dtype: to compute in; default the type that holds all that is given, as NumPy joins types (a
            function of an unknown one is called once with zeros, to see whether it is complex).
        callback: given an :class:`EigenProgress`, a :class:`CgProgress` or an
            :class:`ExactProgress` each iteration; returning False stops.
        time_limit: seconds, the setup of a preconditioner by name included; default none.
        raise_on_failure: raise :class:`NotConverged`, where a status and a NotConvergedWarning tell
            else what has not converged.

    Ctrl-C, or an exception in the callback, ends a solve within an iteration (a dense one within a
    second) and is raised with the best so far in its attribute ``partial``. The same input gives the
    same bits. Raises Error (a ValueError) for bad input, MemoryError where memory is short.
    """

    def __init__(
        self,
        where: str,
        maxiter: int | None,
        hermitian_mean: bool,
        callback: Callable[[Any], object] | None,
        time_limit: float | None,
        raise_on_failure: bool,
    ) -> None:
        self._begin = time.monotonic()
        self.where = where
        require_callable(where, "callback", callback)
        self._callback = callback
        self._limit = real(where, "time_limit", time_limit, math.inf)
        self._raises = flag(where, "raise_on_failure", raise_on_failure)
        self.maxiter = integer(where, "maxiter", maxiter, 10000)
        self.hermitian_mean = flag(where, "hermitian_mean", hermitian_mean)

    def _of_module(self, progress: type[Any]) -> dict[str, Any]:
        """The options of the module, after the setups, which count towards the time limit."""
        limit = self._limit
        if limit > 0:
            limit = max(0.0, limit - (time.monotonic() - self._begin))
        monitor = None if self._callback is None else _monitor(self._callback, progress)
        return {"max_iterations": self.maxiter, "time_limit": limit, "monitor": monitor}

    def _conclude(self, result: Any, raised: BaseException | None) -> None:
        """Raise the exception of a callback or signal handler; else warn unless ``result.ok``."""
        if raised is not None:
            raised.partial = result  # type: ignore[attr-defined]
            raise raised
        if result.status.ok or result.status is Status.stopped_by_monitor:
            return
        message = f"{self.where}: {result.status} after {result.iterations} iterations"
        if result.trouble:
            message += f": {result.trouble}"
        if self._raises:
            raise NotConverged(message, result)
        warnings.warn(message, NotConvergedWarning, 3)


def _monitor(
    callback: Callable[[Any], object], progress: type[Any]
) -> Callable[[dict[str, Any]], bool]:
    """The callback in the module's form: takes a dict, returns whether the solve continues."""

    def monitor(values: dict[str, Any]) -> bool:
        answer = callback(progress(**values))
        return not (isinstance(answer, bool | np.bool_) and not answer)

    return monitor
