"""How products with a matrix are done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from blockspan.arguments import flag, path_name, positive, word
from blockspan.arrays import Array, common_kind, kind_of
from blockspan.errors import Error

if TYPE_CHECKING:
    from blockspan.matrix import Matrix


class Plan:
    """How products with a matrix are done: its pattern, inspected once.

    A matrix makes one for itself at its first product. Make another to choose (``algorithm``), to
    measure (``tune``: every kernel is timed with blocks of ``columns`` columns; ``cache``: a file
    that keeps what was found for the next run), or to hold the transpose.

    A: a :class:`Matrix` (of a transposed one: of the matrix itself), or what :func:`matrix` takes.
    columns: the widest block expected; others are served too. Raises Error for an unknown algorithm or a cache that cannot
    be read or written.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = bs.matrix(sp.eye_array(100, format="csr"))
    >>> plan = bs.Plan(A, columns=4)
    >>> bs.spmm(A, np.ones((100, 4)), plan=plan).sum()
    np.float64(400.0)
    """

    def __init__(
        self,
        A: Matrix,
        columns: int = 32,
        algorithm: str = "auto",
        *,
        tune: bool = False,
        cache: str | os.PathLike[str] | None = None,
    ) -> None:
        if cache is not None and not tune:
            raise Error("blockspan.Plan: cache= goes with tune=True")
        if not hasattr(A, "_parent"):
            from blockspan.matrix import matrix

            A = matrix(A)
        where = "blockspan.Plan"
        columns = positive(where, "columns", columns)
        algorithm = word(where, "algorithm", algorithm, "auto")
        file = path_name(where, "cache", cache)
        self._request = columns, algorithm, flag(where, "tune", tune), cache
        self._matrix = A._parent or A
        self._holds_transpose = False
        stream = A._kind.stream()
        self._plan = A._fresh().plan(columns, algorithm, tune, file, stream)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._matrix, self._request, self._holds_transpose)

    @property
    def algorithm(self) -> str:
        """The name of the kernel's variant that was chosen."""
        return self._plan.algorithm  # type: ignore[no-any-return]

    def kernel(self, columns: int) -> str:
        """The label of the kernel for row-major blocks of ``columns`` columns."""
        columns = positive("blockspan.Plan.kernel", "columns", columns)
        return self._plan.kernel(columns)  # type: ignore[no-any-return]

    def explain(self, columns: int) -> str:
        """In words: what was seen in the pattern, what runs at this width and why."""
        columns = positive("blockspan.Plan.explain", "columns", columns)
        return self._plan.explain(columns)  # type: ignore[no-any-return]

    def hold_transpose(self) -> None:
        """Keep a copy of the values in the order of the transpose.

        Products with ``A.T`` and ``A.H`` then cost what those with A do. Takes one number an entry.
        After the values have changed call :meth:`update_values`.
        """
        self._plan.hold_transpose(self._matrix._kind.stream())
        self._holds_transpose = True

    def update_values(self, values: Array | None = None) -> None:
        """Tell the plan that the values of the matrix have changed.

        values: written into the matrix first (into the array that it shares), in the order of its
        entries, of the same length and type; None: they were changed in place.
        """
        if values is not None:
            own = self._matrix._source[2]
            common_kind("blockspan.Plan.update_values", self._matrix, values)
            values = kind_of(values).numbers(values)
            if values.shape != own.shape or values.dtype != own.dtype:
                raise Error(
                    f"blockspan.Plan.update_values: {values.shape} values of {values.dtype}, "
                    f"and the matrix has {own.shape} of {own.dtype}"
                )
            if isinstance(own, np.ndarray) and not own.flags.writeable:
                raise Error("blockspan.Plan.update_values: the values of the matrix are read-only")
            own[:] = values
        if self._holds_transpose:
            self._plan.hold_transpose(self._matrix._kind.stream())


def _unpickled(A: Matrix, request: tuple[Any, ...], holds_transpose: bool) -> Plan:
    columns, algorithm, tune, cache = request
    plan = Plan(A, columns, algorithm, tune=tune, cache=cache)
    if holds_transpose:
        plan.hold_transpose()
    return plan
