"""Products of a sparse matrix and a block of vectors, for arrays of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from blockspan.arrays import (
    HOST,
    Array,
    Kind,
    Order,
    common_kind,
    host_tensors,
    is_bfloat16,
    is_followed,
    kind_of,
    stream_number,
)
from blockspan.errors import Error
from blockspan.views import Op, combined

if TYPE_CHECKING:
    from blockspan.matrix import Matrix
    from blockspan.plan import Plan


def spmm(
    A: Matrix,
    X: Array,
    *,
    out: Array | None = None,
    alpha: complex = 1.0,
    beta: complex = 0.0,
    op: Op = "n",
    plan: Plan | None = None,
    stream: Any = None,
) -> Array:
    """Y = alpha op(A) X + beta Y.

    A: m x n, or what :func:`matrix` takes. X: n x k (m x k where op transposes), or a vector; any strides; of NumPy, PyTorch or
    CuPy, where A is (in host memory or on the same CUDA device). Types of NumPy join as NumPy's do,
    which copies what has another than both; tensors have A's. Y is of the same kind, with a
    gradient if X has one (``blockspan.torch``). op: "n" A, "t" its transpose, "c" its conjugate, "h"
    its conjugate transpose (of a real matrix "n", "t", "n", "t"). out: Y, of any
    positive strides, not overlapping X; without it a new array, in column order if X is. beta = 0
    never reads ``out``. The bits do not depend on the number of threads.

    float16 and ``torch.bfloat16`` are summed in float32 and rounded once, at the end; a column has
    the same bits in every block. Of bfloat16 Y is row-major.

    Nothing is copied but an X whose rows are not contiguous (columns not next to each other in
    memory), which the kernels of hosts read faster from a row-major copy, and one with negative
    strides. The GIL is released.

    On a device the product is queued on ``stream`` (a number, or a stream of torch or CuPy; default:
    the caller's current one) and not waited for. From its second call of a kind (op, k, order) on a
    stream it allocates nothing, and CUDA graphs may record it: warm up on a stream that is not the
    default one.

    Raises Error (a ValueError) if shapes or types clash, or out overlaps X: convert with astype
    what has another type than A. Raises MemoryError where memory is short.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = bs.matrix(sp.csr_array([[1.0, 2.0]]))
    >>> Y = np.ones((1, 2))
    >>> bs.spmm(A, np.array([[1.0, 2.0], [3.0, 4.0]]), out=Y, beta=-1.0)
    array([[6., 9.]])
    """
    if not hasattr(A, "_parent"):
        A = _matrix_of(A)
    root = A._parent or A
    if A._op != "n":
        op = combined(A._op, op)
    rows = root._rows.get(op) if isinstance(op, str) else None
    if rows is None:
        raise Error(
            f"blockspan.spmm: op='{op}'; there are 'n' (A), 't' (its transpose), 'c' (its "
            "conjugate) and 'h' (its conjugate transpose)"
        )
    if hasattr(X, "tocsr"):
        return _sparse_product(root, X, out, alpha, beta, op)  # type: ignore[no-any-return]
    if type(X) is not np.ndarray:
        kind = kind_of(X)
        multiply = _on_device if kind.on_cuda else _other_array
        return multiply(root, X, kind, out, alpha, beta, op, plan, stream)
    if root._kind is not HOST:
        common_kind("blockspan.spmm", root, X)
    if X.ndim != 2:
        if X.ndim != 1:
            raise _no_block(X.shape)
        block = None if out is None else out[:, None]
        Y = spmm(root, X[:, None], out=block, alpha=alpha, beta=beta, op=op, plan=plan)
        return Y[:, 0] if out is None else out
    if X.dtype != root.dtype and plan is None:
        root, X = _joined(root, X)
    if out is None:
        _require_no_reading(beta)
        order: Order = "F" if X.flags.fnc else "C"
        out = np.empty((rows, X.shape[1]), X.dtype, order)
    elif type(out) is not np.ndarray or not out.flags.writeable:
        raise Error(f"blockspan.spmm: out is no NumPy array that can be written ({type(out)})")
    if X.strides[0] < 0 or X.strides[1] < 0:
        X = X.copy()
    try:
        _planned(root, plan, 0).multiply(op, alpha, X, beta, out, 0)
    except TypeError:
        raise _not_alike(root, alpha, X, beta, out) from None
    return out


def _matrix_of(A: Any) -> Matrix:
    from blockspan.matrix import matrix

    return matrix(A)


def _joined(A: Matrix, X: Array) -> tuple[Matrix, Array]:
    """Both in the type that holds both, as NumPy joins them; as they are where there is none."""
    numbers = X.dtype.kind in "iufcb" and A._kind is HOST
    if not numbers or A.dtype.itemsize == 2:
        return A, X
    dtype = np.result_type(A.dtype, X.dtype)
    return A if A.dtype == dtype else A._in_type(dtype), X.astype(dtype, copy=False)


def _sparse_product(A: Matrix, X: Any, out: Any, alpha: complex, beta: complex, op: Op) -> Any:
    if out is not None or beta != 0:
        raise Error("blockspan.spmm: X is a sparse matrix: out= and beta= are for dense blocks")
    return alpha * (A._view(op).tocsr() @ X.tocsr())


def _not_alike(A: Matrix, alpha: complex, X: Array, beta: complex, out: Array) -> Error:
    return Error(
        f"blockspan.spmm: alpha = {alpha}, X {tuple(X.shape)} {X.dtype!r}, beta = {beta}, out "
        f"{tuple(out.shape)} {out.dtype!r} are not all numbers and aligned arrays of {A.dtype}"
    )


def _no_block(shape: Any) -> Error:
    return Error(f"blockspan.spmm: X has the shape {tuple(shape)}; wanted is a vector or a block")


def _require_no_reading(beta: complex) -> None:
    """Where there is no out."""
    if beta != 0:
        raise Error(f"blockspan.spmm: beta = {beta}, and there is no out to read")


def _planned(A: Matrix, plan: Plan | None, stream: int) -> Any:
    if plan is None:
        if not A._data.unchanged:
            A._fresh()
        return A._plan or A._own_plan(stream)
    if getattr(plan, "_matrix", None) is not A:
        raise Error("blockspan.spmm: the plan is no Plan, or was made for another matrix")
    return plan._plan


def _on_device(
    A: Matrix,
    X: Any,
    kind: Kind,
    out: Any,
    alpha: complex,
    beta: complex,
    op: Op,
    plan: Plan | None,
    stream: Any,
) -> Array:
    """Each look at a tensor takes a tenth of a microsecond: there are as few as can be."""
    if not A._kind.on_cuda or not (out is None or type(out) is type(X) or kind_of(out) is kind):
        common_kind("blockspan.spmm", A, X, out)
    if kind.has_gradients and is_followed(X):
        return _differentiable(A, X, out, alpha, op, plan, stream)
    source = kind.operand(X)
    _, _, shape, strides, *_ = source
    if len(shape) != 2:
        if len(shape) != 1:
            raise _no_block(shape)
        block = None if out is None else out[:, None]
        Y = _on_device(A, X[:, None], kind, block, alpha, beta, op, plan, stream)
        return Y[:, 0] if out is None else out
    if out is None:
        _require_no_reading(beta)
        order: Order = "F" if strides[0] < strides[1] and 1 not in shape else "C"
        out = kind.result(X, A._rows[op], shape[1], order)
    number = kind.stream() if stream is None else stream_number(stream)
    try:
        _planned(A, plan, number).multiply(op, alpha, source, beta, kind.argument(out), number)
    except TypeError:
        raise _not_alike(A, alpha, X, beta, out) from None
    return out  # type: ignore[no-any-return]


def _other_array(
    A: Matrix,
    X: Any,
    kind: Kind,
    out: Any,
    alpha: complex,
    beta: complex,
    op: Op,
    plan: Plan | None,
    stream: Any,
) -> Array:
    """X in host memory that is not exactly an array of NumPy: Y is of its kind."""
    is_tensor = hasattr(X, "is_cuda")
    if is_tensor and is_followed(X):
        return _differentiable(A, X, out, alpha, op, plan, stream)
    options: dict[str, Any] = {"alpha": alpha, "beta": beta, "op": op, "plan": plan}
    if not is_tensor:
        return spmm(A, np.asarray(X).view(np.ndarray), out=out, **options)
    if A.dtype != (X.dtype if is_bfloat16(A) else str(X.dtype).removeprefix("torch.")):
        raise _not_alike(A, alpha, X, beta, X if out is None else out)
    from_numpy, are_read, bfloat16 = host_tensors()
    if X.is_conj() or X.is_neg():
        X = X.resolve_conj().resolve_neg()
    if X.dtype is bfloat16:
        return _of_bfloat16(A, HOST.numbers(X), out, alpha, beta, op, plan)
    if out is None:
        Y = None
        if are_read and alpha == 1 and beta == 0 and plan is None and A.dtype is not bfloat16:
            Y = (A._plan or A._own_plan(0)).product(op, X)
        if Y is None:
            Y = spmm(A, _array_of(X, "X"), **options)
        result: Array = from_numpy(Y)
        return result
    if (
        not are_read
        or X.ndim != 2
        or type(out) is not type(X)
        or out.requires_grad
        or out.is_conj()
    ):
        spmm(A, _array_of(X, "X"), out=_array_of(out, "out"), **options)
        return out  # type: ignore[no-any-return]
    try:
        _planned(A, plan, 0).multiply(op, alpha, X, beta, out, 0)
    except TypeError:
        raise _not_alike(A, alpha, X, beta, out) from None
    return out  # type: ignore[no-any-return]


def _array_of(tensor: Any, name: str) -> Array:
    """The same memory, of NumPy."""
    try:
        return tensor.numpy()  # type: ignore[no-any-return]
    except (AttributeError, RuntimeError, TypeError):
        what = f"{getattr(tensor, 'layout', '')} {getattr(tensor, 'device', '')}".strip()
        raise Error(
            f"blockspan.spmm: {name} is a {type(tensor).__name__} ({what}); wanted is a dense tensor "
            "in host memory without a gradient"
        ) from None


def _of_bfloat16(
    A: Matrix, X: Any, out: Any, alpha: complex, beta: complex, op: Op, plan: Plan | None
) -> Array:
    """Tensors in host memory that are no arrays of NumPy."""
    if X.ndim == 1:
        block = None if out is None else out[:, None]
        Y: Any = _of_bfloat16(A, X[:, None], block, alpha, beta, op, plan)
        return Y[:, 0] if out is None else out  # type: ignore[no-any-return]
    if X.ndim != 2:
        raise _no_block(X.shape)
    if out is None:
        _require_no_reading(beta)
        out = X.new_empty((A._rows[op], X.shape[1]))
    elif type(out) is not type(X) or out.requires_grad:
        raise Error(f"blockspan.spmm: out is no tensor that can be written ({type(out)})")
    try:
        _planned(A, plan, 0).multiply(op, alpha, X, beta, out, 0)
    except TypeError:
        raise _not_alike(A, alpha, X, beta, out) from None
    return out  # type: ignore[no-any-return]


def _differentiable(
    A: Matrix, X: Any, out: Any, alpha: complex, op: Op, plan: Plan | None, stream: Any
) -> Array:
    if not (out is None and plan is None and stream is None):
        raise Error(
            "blockspan.spmm: X requires a gradient, which out=, plan= and stream= have not: pass "
            "X.detach()"
        )
    from blockspan.torch import products as differentiable

    Y: Array = differentiable.spmm(A, X, op=op)  # type: ignore[arg-type]
    return Y if alpha == 1 else alpha * Y
