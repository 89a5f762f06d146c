"""Products of two blocks at the entries of a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockspan.arrays import HOST, Array, common_kind, is_bfloat16, stream_number
from blockspan.errors import Error
from blockspan.matrix import Matrix, matrix
from blockspan.operators import require_dense


def sddmm(
    A: Matrix,
    X: Array,
    Y: Array,
    *,
    out: Array | None = None,
    alpha: complex = 1.0,
    beta: complex = 0.0,
    stream: Any = None,
) -> Array:
    """values = alpha X Y^H + beta values, at the stored entries of A only.

    A: m x n, or what :func:`matrix` takes; only the pattern is read. X: m x k, Y: n x k
    (or two vectors), of any strides, where A is; row-major ones are fastest. Types of NumPy join as
    NumPy's do; tensors on devices have A's. Returns one number for each stored entry, in
    the order of the entries of A (for ``A.T`` too: of those of A). out: where they are written, a
    contiguous vector that overlaps neither X nor Y; the values of A are allowed. beta = 0 never
    reads ``out``.

    The m x n product is never formed: O(nnz k). With G the gradient of ``A @ X``, ``sddmm(A, G,
    X)`` is that with respect to the values of A. The bits do not depend on the number of threads;
    the GIL is released. On a device it is queued on ``stream``, as :func:`blockspan.spmm`. Raises Error (a ValueError) if shapes or types clash. Source: see
    blockspan/spmm/sddmm.hpp. float16 and ``torch.bfloat16`` are summed in float32 and rounded once.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = bs.matrix(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    >>> bs.sddmm(A, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([1., 2., 4.])
    """
    if not hasattr(A, "_parent"):
        A = matrix(A)
    root = A._parent or A
    kind = common_kind("blockspan.sddmm", A, X, Y, out)
    require_dense("X", X)
    require_dense("Y", Y)
    X, Y = kind.numbers(X), kind.numbers(Y)
    if X.ndim == 1 and Y.ndim == 1:
        X, Y = X[:, None], Y[:, None]
    if kind is HOST and not (is_bfloat16(X) or is_bfloat16(Y)):
        root, X, Y = _joined(root, X, Y)
    rows, columns = A.shape
    if X.ndim != 2 or X.shape[0] != rows or Y.shape != (columns, X.shape[1]):
        raise Error(
            f"blockspan.sddmm: X has the shape {tuple(X.shape)} and Y {tuple(Y.shape)}; wanted are {rows} x k and "
            f"{columns} x k for a matrix of {rows} x {columns}"
        )
    if out is None:
        if beta != 0:
            raise Error(f"blockspan.sddmm: beta = {beta}, and there is no out to read")
        out = kind.empty((root.nnz,), root.dtype)
    elif (
        kind is HOST
        and not is_bfloat16(X)
        and (type(out) is not np.ndarray or not out.flags.writeable)
    ) or out.shape != (root.nnz,):
        raise Error(f"blockspan.sddmm: out is no vector of {root.nnz} numbers that can be written")
    first, second = (_ascending(block) if kind is HOST else block for block in (X, Y))
    # conj(Y) X^T at the entries of A is X Y^H at those of its transpose
    conjugate_first = A._op in "th"
    if conjugate_first:
        first, second = second, first
    try:
        root._fresh().sample(
            kind.argument(first),
            kind.argument(second),
            conjugate_first,
            alpha,
            beta,
            kind.argument(out),
            kind.stream() if stream is None else stream_number(stream),
        )
    except TypeError:
        raise Error(
            f"blockspan.sddmm: alpha = {alpha}, X {X.dtype!r}, Y {Y.dtype!r}, beta = {beta}, out "
            f"{out.dtype!r} are not all numbers and arrays of {root.dtype}"
        ) from None
    return out


def _joined(A: Matrix, X: Array, Y: Array) -> tuple[Matrix, Array, Array]:
    """All in the type that holds all, as NumPy joins them; as they are where there is none."""
    types = A.dtype, X.dtype, Y.dtype
    if A.dtype == X.dtype == Y.dtype or any(t.kind not in "iufcb" or t == np.float16 for t in types):
        return A, X, Y
    dtype = np.result_type(*types)
    root = A if A.dtype == dtype else A._in_type(dtype)
    return root, X.astype(dtype, copy=False), Y.astype(dtype, copy=False)


def _ascending(X: Array) -> Array:
    negative = isinstance(X, np.ndarray) and min(X.strides) < 0  # tensors have none
    return X.copy() if negative else X
