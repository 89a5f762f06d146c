"""Products of two blocks at the entries of a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockspan.arguments import stream_number
from blockspan.arrays import (
    HOST,
    Array,
    Kind,
    common_kind,
    host_tensors,
    is_bfloat16,
)
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

    A: m x n, or what :func:`matrix` takes; only the pattern is read. X: m x k, Y: n x k (or two
    vectors), of any strides, where A is; row-major ones are fastest. Types of NumPy join as NumPy's
    do; tensors on devices have A's. Returns one number for each stored entry, in the order of the
    entries of A (for ``A.T`` too: of those of A). out: where they are written, a contiguous vector
    that overlaps neither X nor Y; the values of A are allowed. beta = 0 never reads ``out``.

    The m x n product is never formed: O(nnz k). With G the gradient of ``A @ X``, ``sddmm(A, G, X)``
    is that with respect to the values of A. Bits, float16 and ``torch.bfloat16``, the GIL, streams
    and errors: as :func:`spmm`. Source: see blockspan/spmm/sddmm.hpp.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = bs.matrix(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    >>> bs.sddmm(A, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([1., 2., 4.])
    """
    if not hasattr(A, "_parent"):
        A = matrix(A)
    kind = common_kind("blockspan.sddmm", A, X, Y, out)
    root, X, Y = _blocks(A, X, Y, kind)
    if out is None:
        if beta != 0:
            raise Error(f"blockspan.sddmm: beta = {beta}, and there is no out to read")
        out = kind.empty((root.nnz,), root.dtype)
    target = _target(out, root.nnz, kind)
    # conj(Y) X^T at the entries of A is X Y^H at those of its transpose
    conjugate_first = A._op in "th"
    first, second = (Y, X) if conjugate_first else (X, Y)
    blocks = kind.argument(first), kind.argument(second)
    number = kind.stream() if stream is None else stream_number(stream)
    try:
        root._fresh().sample(*blocks, conjugate_first, alpha, beta, target, number)
    except TypeError:
        raise Error(
            f"blockspan.sddmm: alpha = {alpha}, X {X.dtype!r}, Y {Y.dtype!r}, beta = {beta}, out "
            f"{out.dtype!r} are not all numbers and arrays of {root.dtype}"
        ) from None
    return out


def _blocks(A: Matrix, X: Any, Y: Any, kind: Kind) -> tuple[Matrix, Any, Any]:
    """The matrix and both blocks in one type, in the form that the module reads."""
    root = A._parent or A
    require_dense("X", X)
    require_dense("Y", Y)
    X, Y = kind.numbers(X), kind.numbers(Y)
    if X.ndim == 1 and Y.ndim == 1:
        X, Y = X[:, None], Y[:, None]
    rows, columns = A.shape
    if X.ndim != 2 or X.shape[0] != rows or tuple(Y.shape) != (columns, X.shape[1]):
        raise Error(
            f"blockspan.sddmm: X has the shape {tuple(X.shape)} and Y {tuple(Y.shape)}; wanted are "
            f"{rows} x k and {columns} x k for a matrix of {rows} x {columns}"
        )
    if kind is HOST and not (is_bfloat16(X) or is_bfloat16(Y)):
        root, X, Y = _joined(root, X, Y)
        X, Y = HOST.operand(X)[0], HOST.operand(Y)[0]
    return root, X, Y


def _target(out: Any, entries: int, kind: Kind) -> Any:
    """The array for the values, in the form that the module accepts."""
    given = getattr(out, "shape", type(out).__name__)
    if given != (entries,):
        raise Error(f"blockspan.sddmm: out is no vector of {entries} numbers: {given}")
    if is_bfloat16(out) and not kind.on_cuda:
        kind = host_tensors()
    return kind.target("blockspan.sddmm", out)


def _joined(A: Matrix, X: Array, Y: Array) -> tuple[Matrix, Array, Array]:
    """All operands in NumPy's common type; unchanged if there is none."""
    types = A.dtype, X.dtype, Y.dtype
    if A.dtype == X.dtype == Y.dtype or any(
        t.kind not in "iufcb" or t == np.float16 for t in types
    ):
        return A, X, Y
    dtype = np.result_type(*types)
    root = A if A.dtype == dtype else A._in_type(dtype)
    return root, X.astype(dtype, copy=False), Y.astype(dtype, copy=False)
