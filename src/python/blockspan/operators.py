"""What solvers take for an operator: matrices, SciPy's LinearOperator, arrays, functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blockspan.arguments import float_type
from blockspan.arrays import HOST, Array, Kind, is_bfloat16, kind_of
from blockspan.errors import Error
from blockspan.matrix import Matrix, matrix

OperatorLike = Any
"""A Matrix, a sparse matrix, a LinearOperator of SciPy (or anything with ``matmat``, ``matvec`` or
``@``), a dense array, or a function of a block that returns a block."""


def is_sparse(A: OperatorLike) -> bool:
    return hasattr(A, "tocsr") or str(getattr(A, "layout", "")).startswith("torch.sparse")


def as_matrix(A: OperatorLike) -> OperatorLike:
    """Sparse matrices as a Matrix, dense tensors in host memory as arrays; all else as it is."""
    if is_sparse(A) or isinstance(A, tuple):
        return matrix(A)
    if isinstance(A, np.ndarray) or getattr(A, "is_cuda", None) is False:
        return HOST.array(A).view(np.ndarray)  # matrices of NumPy have products of their own
    return A


def mean_of(A: OperatorLike) -> OperatorLike:
    """The mean of a matrix and its adjoint. Raises Error where A has no entries."""
    if isinstance(A, Matrix):
        return A.hermitian_mean()
    if isinstance(A, np.ndarray):
        return (A + A.conj().T) / 2
    raise Error(
        f"blockspan: hermitian_mean needs the entries of a matrix, and was given a {type(A).__name__}"
    )


def asymmetry_of(A: OperatorLike) -> str:
    """The entry that differs most from its mirror, in words; empty: none does by more than rounding
    of the entry or in the sums that have made it, or A has no entries that are known."""
    shape: Any = getattr(A, "shape", ())
    if len(shape) != 2 or shape[0] != shape[1]:
        return ""  # who makes an operator of it says so
    if isinstance(A, Matrix):
        return A.asymmetry() if A.dtype.itemsize > 2 else ""
    if not isinstance(A, np.ndarray) or A.dtype == np.float16 or _equals_adjoint(A):
        return ""
    n = len(A)
    columns = np.tile(np.arange(n, dtype=np.int32), n)
    entries = A if A.dtype.kind in "fc" else A.astype(np.float64)
    parts = np.arange(n + 1) * n, columns, np.ascontiguousarray(entries).ravel()
    return matrix((*parts, A.shape)).asymmetry()


def _equals_adjoint(A: Array) -> bool:
    """By blocks, which stay in the cache; without a copy."""
    step = 256
    return all(
        np.array_equal(A[i : i + step, : i + step], A[: i + step, i : i + step].conj().T)
        for i in range(0, len(A), step)
    )


def require_dense(name: str, X: Any) -> None:
    if isinstance(X, Matrix) or is_sparse(X):
        raise Error(f"blockspan: {name} is a sparse matrix; wanted is a dense block: toarray()")


def require_operator(A: OperatorLike, name: str) -> None:
    if _block_function(A) is None:
        raise Error(
            f"blockspan: {name} is a {type(A).__name__}; wanted is a matrix, a LinearOperator or a "
            "function of a block"
        )


def scalar_type(
    operators: tuple[OperatorLike, ...],
    blocks: tuple[Array | None, ...],
    rows: int,
    kind: Kind,
    dtype: Any = None,
) -> np.dtype[Any]:
    """The type to compute in: the one that holds all operators and blocks, as NumPy joins types.

    The first operator counts, and what others have of its precision and being complex. A function
    whose type nobody says is asked with a block of zeros."""
    if dtype is not None:
        return float_type("blockspan", dtype)
    types = [kind_of(b).dtype(b) for b in blocks if b is not None]
    for A in operators:
        own = _own_type(A)
        if own is not None:
            types.append(own)
    if _is_untyped(operators[0]) and not any(t.kind == "c" for t in types):
        known = [t for t in types if t.kind == "f"]
        types.append(_answered_type(operators[0], rows, np.result_type(*known, np.float32), kind))
    joined: np.dtype[Any] = np.result_type(*types) if types else np.dtype(np.float64)
    return joined.newbyteorder("=") if joined.kind in "fc" else np.dtype(np.float64)


def _own_type(A: OperatorLike) -> np.dtype[Any] | None:
    own = getattr(A, "dtype", None)
    if A is None or isinstance(A, str) or own is None:
        return None
    if is_bfloat16(own) or own == np.float16:
        raise Error(
            f"blockspan: the matrix has values of {own}, which products and sddmm alone take"
        )
    return kind_of(A).dtype(A) if hasattr(A, "is_cuda") else np.dtype(own)


def _is_untyped(A: OperatorLike) -> bool:
    return getattr(A, "dtype", None) is None and _block_function(A) is not None


def _answered_type(
    A: OperatorLike, rows: int, at_least: np.dtype[Any], kind: Kind
) -> np.dtype[Any]:
    """Of what a function returns for real numbers."""
    real = np.dtype(np.float64) if at_least == np.float32 else at_least
    function = _block_function(A)
    assert function is not None
    X = kind.empty((rows, 1), real)
    X[...] = 0
    if isinstance(X, np.ndarray):
        X.flags.writeable = False
    answer = function(X)
    if answer is None or is_sparse(answer):
        return real  # the solve tells
    answers = kind_of(answer)
    try:
        dtype = answers.dtype(answers.array(answer))
    except Error:
        return real
    return dtype if dtype.kind == "c" else real


def as_operator(
    A: OperatorLike, rows: int, dtype: np.dtype[Any], name: str, columns: int, kind: Kind
) -> Any:
    """A as an operator of that order and type, for blocks of that kind. Raises Error where it has
    another order, or is complex and the type is not."""
    if isinstance(A, kind.native.Operator):
        return A
    shape = getattr(A, "shape", (rows, rows))
    if tuple(shape) != (rows, rows):
        raise Error(f"blockspan: {name} has the shape {tuple(shape)}; wanted is {rows} x {rows}")
    if isinstance(A, Matrix):
        if A._kind.on_cuda != kind.on_cuda:
            raise Error(f"blockspan: {name} is {A._kind.name}, and the blocks are {kind.name}")
        if A.dtype != dtype:
            A = A.astype(dtype)
        if A._op == "n":
            return A._fresh().as_operator(columns, kind.stream())
    require_operator(A, name)
    function = _block_function(A)
    assert function is not None
    checked = _checked(function, name, dtype, kind)
    return kind.native.function_operator(dtype.name, rows, checked, name)


def _block_function(A: OperatorLike) -> Callable[[Array], Any] | None:
    if isinstance(A, np.ndarray | Matrix):
        return lambda X: A @ X
    if hasattr(A, "matvec") and not _knows_blocks(A):
        return lambda X: np.stack([np.ravel(A.matvec(X[:, j])) for j in range(X.shape[1])], axis=1)
    if hasattr(A, "matmat"):
        return lambda X: A.matmat(X)
    if hasattr(A, "__matmul__") and hasattr(A, "shape"):
        return lambda X: A @ X
    return A if callable(A) else None


def _knows_blocks(A: OperatorLike) -> bool:
    """Whether ``matmat`` is the operator's own: that of SciPy hands ``matvec`` n x 1 blocks, where
    its documentation promises vectors too."""
    if not hasattr(A, "matmat"):
        return False
    if "_CustomLinearOperator__matmat_impl" in getattr(A, "__dict__", {}):
        return A._CustomLinearOperator__matmat_impl is not None
    own = getattr(type(A), "_matmat", None)
    if own is None or own.__module__ != "scipy.sparse.linalg._interface":
        return True
    if type(A).__name__ in ("_AdjointLinearOperator", "_TransposedLinearOperator"):
        return False  # what they ask of their part is not known here
    # sums, products, multiples and powers
    parts = [part for part in getattr(A, "args", ()) if hasattr(part, "matvec")]
    return str(own.__qualname__) != "LinearOperator._matmat" and all(map(_knows_blocks, parts))


def _checked(
    function: Callable[[Array], Any], name: str, dtype: np.dtype[Any], kind: Kind
) -> Callable[[Any, Any], None]:
    def apply(lent_X: Any, lent_Y: Any) -> None:
        X = kind.lent(lent_X)
        result = function(X)
        if result is None or is_sparse(result):
            raise Error(f"blockspan: {name} returned a {type(result).__name__}, and no dense block")
        if kind_of(result) is not kind:
            raise Error(f"blockspan: {name} was given a block {kind.name}, and returned another")
        result = kind.array(result)
        if result.shape != X.shape:
            raise Error(
                f"blockspan: {name} was given a block of shape {tuple(X.shape)} and returned one of "
                f"{tuple(result.shape)}"
            )
        if not np.can_cast(kind.dtype(result), dtype, "same_kind"):
            raise Error(
                f"blockspan: {name} returned {result.dtype} for a block of {dtype}: say dtype="
            )
        kind.lent(lent_Y)[...] = result

    return apply
