"""Products of a sparse matrix and a block of vectors, for arrays of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from blockspan.arguments import stream_number
from blockspan.arrays import (
    HOST,
    Array,
    Kind,
    common_kind,
    host_tensors,
    is_followed,
    is_plain,
    kind_of,
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

    A: m x n, or what :func:`matrix` takes. X: n x k (m x k where op transposes), or a vector, of any
    strides, of NumPy, PyTorch or CuPy, where A is. Types of NumPy join as NumPy's do, by a copy;
    tensors have A's. Y is of the same kind, with a gradient if X has one (``blockspan.torch``). op:
    "n" A, "t" its transpose, "c" its conjugate, "h" its conjugate transpose. out: Y, of positive
    strides, not overlapping X; default a new array, in column order if X is. beta = 0 never reads
    it. The bits do not depend on the number of threads; float16 and ``torch.bfloat16`` are summed in
    float32 and rounded once.

    Copied is only an X of negative strides, or, on hosts, one whose rows are not contiguous. The GIL
    is released. On a device the product is queued on ``stream`` (a number, or a stream of torch or
    CuPy; default the caller's current one); from its second call of a kind (op, k, order) on a
    stream it allocates nothing, so that CUDA graphs may record it.

    Raises Error (a ValueError) if shapes or types clash, or out overlaps X, and MemoryError.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = bs.matrix(sp.csr_array([[1.0, 2.0]]))
    >>> bs.spmm(A, np.array([[1.0, 2.0], [3.0, 4.0]]), out=np.ones((1, 2)), beta=-1.0)
    array([[6., 9.]])
    """
    root, op = _factor(A, op)
    if type(X) is np.ndarray:
        kind = HOST
    elif not hasattr(X, "is_cuda") and hasattr(X, "tocsr"):
        return _sparse_product(root, X, out, alpha, beta, op)  # type: ignore[no-any-return]
    else:
        kind, X = _operand(X)
        if kind.has_gradients and is_followed(X):
            return _differentiable(root, X, out, alpha, beta, op, plan, stream)
    if root._kind.on_cuda != kind.on_cuda or not (out is None or type(out) is type(X)):
        common_kind("blockspan.spmm", root, X, out)
    if kind is HOST and X.dtype != root.dtype and plan is None:
        root, X = _joined(root, X)
    return _multiply(root, X, kind, out, alpha, beta, op, plan, stream)


def _multiply(
    A: Matrix,
    X: Array,
    kind: Kind,
    out: Array | None,
    alpha: complex,
    beta: complex,
    op: Op,
    plan: Plan | None,
    stream: Any,
) -> Array:
    """Reading an attribute of a tensor takes 0.1 us: there are as few reads as possible."""
    source, shape = kind.operand(X)
    if len(shape) != 2:
        if len(shape) != 1:
            raise Error(f"blockspan.spmm: X has the shape {tuple(shape)}; wanted is n x k, or n")
        if out is not None and getattr(out, "ndim", None) != 1:
            given = getattr(out, "shape", type(out).__name__)
            raise Error(f"blockspan.spmm: X is a vector, and out is none: {given}")
        block = None if out is None else out[:, None]
        Y = _multiply(A, X[:, None], kind, block, alpha, beta, op, plan, stream)
        return Y[:, 0] if out is None else out
    if out is None:
        if beta != 0:
            raise _nothing_to_read(beta)
        out = kind.result(X, source, A._rows[op])
    target = kind.target("blockspan.spmm", out)
    number = 0
    if kind.on_cuda:
        number = kind.stream() if stream is None else stream_number(stream)
    try:
        _planned(A, plan, number).multiply(op, alpha, source, beta, target, number)
    except TypeError:
        if kind is HOST and not is_plain(X):  # parts of records, bytes of a file
            return _multiply(A, X.copy(), kind, out, alpha, beta, op, plan, stream)
        raise Error(
            f"blockspan.spmm: alpha = {alpha}, X {tuple(X.shape)} {X.dtype!r}, beta = {beta}, out "
            f"{tuple(out.shape)} {out.dtype!r} are not all numbers and aligned arrays of {A.dtype}"
        ) from None
    return out


def _nothing_to_read(beta: complex) -> Error:
    return Error(f"blockspan.spmm: beta = {beta}, and there is no out to read")


def _factor(A: Any, op: Op) -> tuple[Matrix, Op]:
    """The underlying matrix of A, which may be a view, and the view's op."""
    if not hasattr(A, "_parent"):
        from blockspan.matrix import matrix

        A = matrix(A)
    root: Matrix = A._parent or A
    if A._op != "n":
        op = combined(A._op, op)
    if not isinstance(op, str) or op not in root._rows:
        raise Error(
            f"blockspan.spmm: op='{op}'; there are 'n' (A), 't' (its transpose), 'c' (its "
            "conjugate) and 'h' (its conjugate transpose)"
        )
    return root, op


def _operand(X: Any) -> tuple[Kind, Any]:
    """The kind of a block, and the block; blocks of unknown packages become NumPy arrays."""
    kind = kind_of(X)
    if kind is not HOST:
        return kind, X
    if hasattr(X, "is_cuda"):
        return host_tensors(), X
    return HOST, HOST.array(X).view(np.ndarray)


def _joined(A: Matrix, X: Array) -> tuple[Matrix, Array]:
    """Both operands in NumPy's common type; unchanged if there is none."""
    if X.dtype.kind not in "iufcb" or A.dtype.itemsize == 2:
        return A, X
    dtype = np.result_type(A.dtype, X.dtype)
    return A if A.dtype == dtype else A._in_type(dtype), X.astype(dtype, copy=False)


def _sparse_product(A: Matrix, X: Any, out: Any, alpha: complex, beta: complex, op: Op) -> Any:
    if out is not None or beta != 0:
        raise Error("blockspan.spmm: X is a sparse matrix: out= and beta= are for dense blocks")
    return alpha * (A._view(op).tocsr() @ X.tocsr())


def _planned(A: Matrix, plan: Plan | None, stream: int) -> Any:
    if plan is None:
        if not A._data.unchanged:
            A._fresh()
        return A._plan or A._own_plan(stream)
    if getattr(plan, "_matrix", None) is not A:
        raise Error("blockspan.spmm: the plan is no Plan, or was made for another matrix")
    return plan._plan


def _differentiable(
    A: Matrix,
    X: Any,
    out: Any,
    alpha: complex,
    beta: complex,
    op: Op,
    plan: Plan | None,
    stream: Any,
) -> Array:
    if beta != 0 and out is None:
        raise _nothing_to_read(beta)
    if not (out is None and plan is None and stream is None):
        raise Error(
            "blockspan.spmm: X requires a gradient, which out=, plan= and stream= have not: pass "
            "X.detach()"
        )
    from blockspan.torch import products as differentiable

    Y: Array = differentiable.spmm(A, X, op=op)  # type: ignore[arg-type]
    return Y if alpha == 1 else alpha * Y
