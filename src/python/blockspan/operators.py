"""What solvers take for an operator: matrices, SciPy's LinearOperator, arrays, functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blockspan.arrays import Array, Kind, is_bfloat16, kind_of
from blockspan.errors import Error
from blockspan.matrix import Matrix, matrix

OperatorLike = Any
"""A Matrix, a sparse matrix, a LinearOperator of SciPy (or anything with ``matmat`` or ``@``), a
dense array, or a function of a block that returns a block."""


def is_sparse(A: OperatorLike) -> bool:
    return hasattr(A, "tocsr") or hasattr(A, "crow_indices")


def as_matrix(A: OperatorLike) -> OperatorLike:
    """Sparse matrices as a Matrix; all else as it is."""
    return matrix(A) if is_sparse(A) or isinstance(A, tuple) else A


def scalar_type(A: OperatorLike, *blocks: Array | None) -> np.dtype[Any]:
    """The type to compute in: a matrix's own, else the one that holds operator and blocks."""
    if isinstance(A, Matrix):
        if A.dtype == np.float16 or is_bfloat16(A.dtype):
            raise Error(
                f"blockspan: the matrix has values of {A.dtype}, which products and sddmm alone take"
            )
        return A.dtype  # type: ignore[no-any-return]
    types: list[np.dtype[Any]] = [kind_of(b).dtype(b) for b in blocks if b is not None]
    own = getattr(A, "dtype", None)
    if own is not None:
        types.append(kind_of(A).dtype(A) if hasattr(A, "is_cuda") else np.dtype(own))
    joined = np.result_type(*types) if types else np.dtype(np.float64)
    return joined if joined.kind in "fc" else np.dtype(np.float64)


def as_operator(
    A: OperatorLike, rows: int, dtype: np.dtype[Any], name: str, columns: int, kind: Kind
) -> Any:
    """A as an operator of that order and type, for blocks of that kind. Raises Error where it has
    another."""
    if isinstance(A, kind.native.Operator):
        return A
    shape = getattr(A, "shape", (rows, rows))
    if tuple(shape) != (rows, rows):
        raise Error(f"blockspan: {name} has the shape {tuple(shape)}; wanted is {rows} x {rows}")
    if isinstance(A, Matrix):
        if A.dtype != dtype:
            raise Error(f"blockspan: {name} has {A.dtype} values, and the solve is in {dtype}")
        if A._kind.on_cuda != kind.on_cuda:
            raise Error(f"blockspan: {name} is {A._kind.name}, and the blocks are {kind.name}")
        if A._op == "n":
            return A._data.as_operator(columns, kind.stream())
    function = _block_function(A)
    if function is None:
        raise Error(
            f"blockspan: {name} is a {type(A).__name__}; wanted is a matrix, a LinearOperator or a "
            "function of a block"
        )
    checked = _checked(function, name, dtype, kind)
    return kind.native.function_operator(dtype.name, rows, checked, name)


def _block_function(A: OperatorLike) -> Callable[[Array], Any] | None:
    if hasattr(A, "matmat"):
        return lambda X: A.matmat(X)
    if isinstance(A, np.ndarray | Matrix) or (hasattr(A, "__matmul__") and hasattr(A, "shape")):
        return lambda X: A @ X
    return A if callable(A) else None


def _checked(
    function: Callable[[Array], Any], name: str, dtype: np.dtype[Any], kind: Kind
) -> Callable[[Any, Any], None]:
    def apply(lent_X: Any, lent_Y: Any) -> None:
        X = kind.lent(lent_X)
        result = function(X)
        if kind_of(result) is not kind:
            raise Error(f"blockspan: {name} was given a block {kind.name}, and returned another")
        result = kind.array(result)
        if result.shape != X.shape:
            raise Error(
                f"blockspan: {name} was given a block of shape {tuple(X.shape)} and returned one of "
                f"{tuple(result.shape)}"
            )
        if not np.can_cast(kind.dtype(result), dtype, "same_kind"):
            raise Error(f"blockspan: {name} returned {result.dtype} for a block of {dtype}")
        kind.lent(lent_Y)[...] = result

    return apply
