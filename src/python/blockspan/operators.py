"""What solvers take for an operator: matrices, SciPy's LinearOperator, arrays, functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blockspan import _host
from blockspan._host import Error
from blockspan.matrix import Array, Matrix, matrix

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
        return A.dtype
    types = [b.dtype for b in blocks if b is not None]
    own = getattr(A, "dtype", None)
    if own is not None:
        types.append(np.dtype(own))
    joined = np.result_type(*types) if types else np.dtype(np.float64)
    return joined if joined.kind in "fc" else np.dtype(np.float64)


def as_operator(
    A: OperatorLike, rows: int, dtype: np.dtype[Any], name: str, columns: int
) -> _host.Operator:
    """A as an operator of that order and type. Raises Error where it has another."""
    if isinstance(A, _host.Operator):
        return A
    shape = getattr(A, "shape", (rows, rows))
    if tuple(shape) != (rows, rows):
        raise Error(f"blockspan: {name} has the shape {tuple(shape)}; wanted is {rows} x {rows}")
    if isinstance(A, Matrix):
        if A.dtype != dtype:
            raise Error(f"blockspan: {name} has {A.dtype} values, and the solve is in {dtype}")
        if A._op == "n":
            return A._data.as_operator(columns)
    function = _block_function(A)
    if function is None:
        raise Error(
            f"blockspan: {name} is a {type(A).__name__}; wanted is a matrix, a LinearOperator or a "
            "function of a block"
        )
    return _host.function_operator(dtype.name, rows, _checked(function, name, dtype), name)


def _block_function(A: OperatorLike) -> Callable[[Array], Any] | None:
    if hasattr(A, "matmat"):
        return lambda X: A.matmat(X)
    if isinstance(A, np.ndarray | Matrix) or (hasattr(A, "__matmul__") and hasattr(A, "shape")):
        return lambda X: A @ X
    return A if callable(A) else None


def _checked(
    function: Callable[[Array], Any], name: str, dtype: np.dtype[Any]
) -> Callable[[Array, Array], None]:
    def apply(X: Array, Y: Array) -> None:
        result = np.asarray(function(X))
        if result.shape != X.shape:
            raise Error(
                f"blockspan: {name} was given a block of shape {X.shape} and returned one of "
                f"{result.shape}"
            )
        if not np.can_cast(result.dtype, dtype, "same_kind"):
            raise Error(f"blockspan: {name} returned {result.dtype} for a block of {dtype}")
        Y[...] = result

    return apply
