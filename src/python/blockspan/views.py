"""Transposes and adjoints of matrices, without copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing_extensions import Self

Op = Literal["n", "t", "c", "h"]

CONJUGATED: dict[Op, Op] = {"n": "c", "c": "n", "t": "h", "h": "t"}
WORDS: dict[Op, str] = {"n": "", "t": ", transposed", "c": ", conjugated", "h": ", adjoint"}
_TRANSPOSED: dict[Op, Op] = {"n": "t", "t": "n", "c": "h", "h": "c"}


def combined(first: Op, second: Op) -> Op:
    """op of op: "t" then "h" is "c"."""
    result = first
    if second in "th":
        result = _TRANSPOSED[result]
    if second in "ch":
        result = CONJUGATED[result]
    return result


class Viewed:
    """Mixin: transpose and adjoint as views that share all data."""

    shape: tuple[int, int]
    _parent: Self | None = None
    _op: Op = "n"

    def _view(self, op: Op) -> Self:
        parent = self._parent or self
        if op == "n":
            return parent
        view = object.__new__(type(self))
        view.__dict__.update(parent.__dict__)
        view._parent, view._op = parent, op
        if op in "th":
            view.shape = parent.shape[::-1]
        return view

    @property
    def T(self) -> Self:
        """The transpose, without a copy. The first product with it sorts the pattern once."""
        return self._view(_TRANSPOSED[self._op])

    @property
    def H(self) -> Self:
        """The conjugate transpose, without a copy."""
        return self._view(_TRANSPOSED[CONJUGATED[self._op]])
