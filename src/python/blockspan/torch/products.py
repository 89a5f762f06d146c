"""The ops ``blockspan::spmm``, ``blockspan::spmm_without_gradient`` and ``blockspan::sddmm``."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from blockspan.arrays import Array, host_tensors, is_bfloat16, kind_of
from blockspan.errors import Error
from blockspan.matrix import Matrix as HostMatrix
from blockspan.matrix import matrix as host_matrix
from blockspan.views import WORDS, Op, Viewed, combined

_ADJOINT: dict[str, str] = {"n": "h", "t": "c", "c": "t", "h": "n"}
_MATRICES: weakref.WeakValueDictionary[int, Matrix] = weakref.WeakValueDictionary()
_IDS = itertools.count(1)


class Matrix(Viewed):
    """A sparse matrix for differentiable products, or its transpose or adjoint (:func:`matrix`).

    Attributes:
        shape: rows and columns.
        values: tensor of the stored entries, in the order of the rows; it gets a gradient if it
            requires one.
        nnz: their number.
    """

    def __init__(self, base: HostMatrix, values: Tensor, *, hold: bool) -> None:
        self.shape = base.shape
        self.nnz = base.nnz
        self.values = values
        self._base = base
        self._hold = hold
        self._held = -1  # version of the values that the plan has in the order of the transpose
        self._plan = self._new_plan(base._data)
        self._others: dict[torch.dtype, tuple[Any, Any]] = {}
        self._id = next(_IDS)
        _MATRICES[self._id] = self

    def __matmul__(self, X: Tensor) -> Tensor:
        """``A @ X``; see :func:`spmm`, which is to be written inside ``torch.compile``."""
        return spmm(self, X)

    def update_values(self) -> None:
        """Say that ``values`` changed where PyTorch does not see it (through NumPy, or ``.data``)."""
        (self._parent or self)._held = -1

    def __reduce__(self) -> tuple[Any, ...]:
        offsets, indices, _ = self._base._source
        parts = (torch.as_tensor(offsets), torch.as_tensor(indices), self.values)
        return _unpickled, ((*parts, self._base.shape), self._base._columns, self._op)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (
            f"<blockspan.torch.Matrix {rows} x {columns}, {self.nnz} entries of "
            f"{self.values.dtype}{WORDS[self._op]}>"
        )

    def _new_plan(self, data: Any) -> Any:
        return data.plan(self._base._columns, "auto", False, "", self._base._kind.stream())

    def _with_type(self, values: Tensor | None, dtype: torch.dtype) -> tuple[Any, Any]:
        """The pattern as a matrix of another type, and its plan."""
        if dtype == self.values.dtype:
            return self._base._data, self._plan
        if dtype not in self._others:
            if values is None:
                values = self.values.detach().new_empty(self.nnz, dtype=dtype)
            kind = self._base._kind
            pattern = (kind.argument(part) for part in self._base._source[:2])
            given = (kind.argument(part) for part in self._base._given)
            parts = (*pattern, _argument(values), *given)
            data = kind.native.matrix(*self._base.shape, *parts, kind.stream())
            self._others[dtype] = data, self._new_plan(data)
        return self._others[dtype]

    def _multiply(self, op: str, values: Tensor | None, X: Tensor, Y: Tensor) -> None:
        kind = kind_of(X)
        stream = kind.stream()
        if X.itemsize == 2 and X.stride(1) != 1 and X.shape[1] > 1:
            X = X.contiguous()  # there are no kernels for other blocks of 16 bits but slow ones
        argument = kind.argument if kind.on_cuda else _READ
        if values is not None:
            values = values.contiguous()
            plan = self._with_type(values, values.dtype)[1]
            plan.multiply_with(argument(values), op, argument(X), argument(Y), stream)
            return
        if self._hold and op in "th":
            version = 0 if self.values.is_inference() else self.values._version
            if self._held != version:
                self._plan.hold_transpose(stream)
                self._held = version
        self._plan.multiply(op, 1.0, argument(X), 0.0, argument(Y), stream)


def matrix(S: Any, *, columns: int = 16) -> Matrix:
    """S for differentiable products, without a copy of its values.

    S: ``(crow, col, values, shape)`` of tensors, where ``values`` may require a gradient; or what
    :func:`blockspan.matrix` takes. columns: the widest block expected (others are served too).

    Values that require no gradient are taken for constant: the first product with the transpose
    keeps a copy of them in its order, made anew where PyTorch has seen them change (else:
    :meth:`Matrix.update_values`). Raises Error as :func:`blockspan.matrix` does.

    >>> import torch, blockspan.torch
    >>> v = torch.tensor([2.0, 1.0, 3.0], dtype=torch.float64, requires_grad=True)
    >>> A = blockspan.torch.matrix((torch.tensor([0, 2, 3]), torch.tensor([0, 1, 1]), v, (2, 2)))
    >>> (A @ torch.ones(2, dtype=torch.float64)).sum().backward()
    >>> v.grad
    tensor([1., 1., 1.], dtype=torch.float64)
    """
    if isinstance(S, Matrix):
        return S
    if isinstance(S, HostMatrix):
        return from_host(S, hold=True)
    if isinstance(S, tuple) and len(S) == 4 and isinstance(S[2], Tensor):
        offsets, indices, values, shape = S
        numbers = values.detach().resolve_conj().resolve_neg().contiguous()
        base = host_matrix((offsets, indices, numbers, shape), columns=columns)
        return Matrix(base, values if values.requires_grad else numbers, hold=True)
    return from_host(host_matrix(S, columns=columns), hold=True)


def from_host(A: HostMatrix, *, hold: bool) -> Matrix:
    root = A._parent or A
    values = root._source[2]
    if isinstance(values, np.ndarray) and not values.flags.writeable:
        values = values.copy()
        root = host_matrix((*root._source[:2], values, root.shape), columns=root._columns)
    return Matrix(root, torch.as_tensor(values), hold=hold)._view(A._op)


def _unpickled(parts: tuple[Any, ...], columns: int, op: Op) -> Matrix:
    return matrix(parts, columns=columns)._view(op)


def spmm(A: Matrix, X: Tensor, *, values: Tensor | None = None, op: Op = "n") -> Tensor:
    """Y = op(A) X, differentiable in X and in the values.

    A: m x n, from :func:`matrix`. X: n x k (m x k where op transposes) or a vector, on A's device, any
    strides. values: in the place of those of A, one for each entry, of the type of X; the pattern
    stays. op: "n" A, "t" its transpose, "c" its conjugate, "h" its conjugate transpose. Y:
    row-major, of the type of X. float16 and bfloat16 are summed in float32 and rounded once, here and
    in the gradients; there is no autocast: X and the values have one type.

    Gradients: of X op(A)^H G, a product; of the values that of :func:`sddmm` (O(nnz k), never m x
    n). Deterministic. Raises Error (a ValueError) with the shapes and types where they clash.
    Transposed products with values that change read them through a permutation; those of constant
    ones a copy in their order (:func:`matrix`).

    >>> import scipy.sparse as sp, torch, blockspan.torch
    >>> A = blockspan.torch.matrix(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    >>> X = torch.ones(2, 1, dtype=torch.float64, requires_grad=True)
    >>> blockspan.torch.spmm(A, X).sum().backward()
    >>> X.grad.flatten()
    tensor([1., 5.], dtype=torch.float64)
    """
    if values is None and A.values.requires_grad:
        values = A.values
    op = combined(A._op, op) if A._op != "n" else op
    rows, columns = A.shape if A._op in "nc" else A.shape[::-1]
    if X.ndim == 1:
        return _product(X[:, None], values, A._id, rows, columns, op)[:, 0]
    return _product(X, values, A._id, rows, columns, op)


def _product(X: Tensor, values: Tensor | None, *call: Any) -> Tensor:
    """By the op that has a gradient, or, in less time, by the one that has none."""
    wanted = X.requires_grad or (values is not None and values.requires_grad)
    return (_SPMM if wanted and torch.is_grad_enabled() else _PLAIN)(X, values, *call)


def sddmm(A: Matrix, X: Tensor, Y: Tensor) -> Tensor:
    """X Y^H at the stored entries of A, differentiable in X and Y.

    A: m x n, of which only the pattern matters. X: m x k, Y: n x k, of one type, any strides.
    Returns a number for each entry, in the order of the entries of A (for ``A.T``: of A). Raises
    Error (a ValueError) with the shapes and types where they clash. See
    :func:`blockspan.sddmm`.

    >>> import scipy.sparse as sp, torch, blockspan.torch
    >>> A = blockspan.torch.matrix(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    >>> X, Y = torch.tensor([[1.0], [2.0]]).double(), torch.tensor([[3.0], [4.0]]).double()
    >>> blockspan.torch.sddmm(A, X, Y)
    tensor([3., 4., 8.], dtype=torch.float64)
    """
    # conj(Y) X^T at the entries of A is X Y^H at those of its transpose
    if A._op in "th":
        return _SDDMM(Y, X, A._id, A.nnz, True)
    return _SDDMM(X, Y, A._id, A.nnz, False)


def as_array(tensor: Tensor) -> Array:
    """The same memory, of NumPy on hosts. Ops are given tensors that are conjugated already."""
    plain = tensor.detach() if tensor.requires_grad else tensor
    if is_bfloat16(plain) and not plain.is_cuda:
        raise Error(
            "blockspan.torch: a tensor of torch.bfloat16, which products and sddmm alone take (in host "
            "memory from PyTorch 2.10 on)"
        )
    return plain if plain.is_cuda else plain.numpy()  # type: ignore[no-any-return]


def _argument(tensor: Tensor) -> Any:
    """A tensor as the module takes it."""
    if tensor.is_cuda:
        return kind_of(tensor).argument(tensor)
    return _READ(tensor)


def _itself(tensor: Tensor) -> Any:
    return tensor


_READ = _itself if host_tensors()[1] else as_array


def _matrix_of(number: int) -> Matrix:
    found = _MATRICES.get(number)
    if found is None:
        raise Error(f"blockspan.torch: the matrix with the number {number} is gone: keep it alive")
    return found


def _words(tensors: Sequence[Tensor | None]) -> str:
    return ", ".join(
        "-" if t is None else f"{tuple(t.shape)} {t.dtype} {t.device.type}" for t in tensors
    )


def _elsewhere(tensor: Tensor, A: Matrix) -> bool:
    return bool(tensor.is_cuda != A.values.is_cuda and tensor.device.type != "meta")


def _check_spmm(
    X: Tensor, values: Tensor | None, number: int, rows: int, columns: int, op: str
) -> Matrix:
    A = _matrix_of(number)
    inner = columns if op in "nc" else rows
    dtype = A.values.dtype if values is None else values.dtype
    if (
        A._base.shape != (rows, columns)
        or op not in _ADJOINT
        or X.ndim != 2
        or X.shape[0] != inner
        or X.dtype != dtype
        or (values is not None and tuple(values.shape) != (A.nnz,))
        or _elsewhere(X, A)
        or (values is not None and _elsewhere(values, A))
    ):
        raise Error(
            f"blockspan.torch.spmm: X, values: {_words((X, values))}; wanted for op '{op}' are "
            f"{inner} x k and {A.nnz} values of one type (matrix {rows} x {columns} {dtype} "
            f"{A.values.device.type})"
        )
    return A


def _spmm_fake(
    X: Tensor, values: Tensor | None, number: int, rows: int, columns: int, op: str
) -> Tensor:
    _check_spmm(X, values, number, rows, columns, op)
    return X.new_empty((rows if op in "nc" else columns, X.shape[1]))


def _spmm_real(
    X: Tensor, values: Tensor | None, number: int, rows: int, columns: int, op: str
) -> Tensor:
    A = _check_spmm(X, values, number, rows, columns, op)
    Y = X.new_empty((rows if op in "nc" else columns, X.shape[1]))
    A._multiply(op, values, X, Y)
    return Y


def _keep_for_spmm(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    X, values, *ctx.call = inputs
    ctx.owner = _matrix_of(ctx.call[0])  # alive until the backward pass
    wants_x, wants_values, *_ = ctx.needs_input_grad
    ctx.save_for_backward(X if wants_values else None, values if wants_x else None)


def _spmm_backward(ctx: Any, G: Tensor) -> tuple[Any, ...]:
    X, values = ctx.saved_tensors
    number, rows, columns, op = ctx.call
    of_x = of_values = None
    if ctx.needs_input_grad[0]:
        of_x = _product(G, values, number, rows, columns, _ADJOINT[op])
    if ctx.needs_input_grad[1]:
        first, second = (G, X) if op in "nc" else (X, G)
        of_values = _SDDMM(first, second, number, ctx.owner.nnz, op in "tc")
    return of_x, of_values, None, None, None, None


def _sddmm_fake(X: Tensor, Y: Tensor, number: int, entries: int, conjugate_first: bool) -> Tensor:
    A = _matrix_of(number)
    rows, columns = A._base.shape
    if (
        entries != A.nnz
        or X.ndim != 2
        or Y.ndim != 2
        or X.shape[0] != rows
        or Y.shape[0] != columns
        or X.shape[1] != Y.shape[1]
        or X.dtype != Y.dtype
        or _elsewhere(X, A)
        or _elsewhere(Y, A)
    ):
        raise Error(
            f"blockspan.torch.sddmm: the blocks are {_words((X, Y))}; wanted are {rows} x k and "
            f"{columns} x k of one type ({A.values.device.type})"
        )
    return X.new_empty((entries,))


def _sddmm_real(X: Tensor, Y: Tensor, number: int, entries: int, conjugate_first: bool) -> Tensor:
    values = _sddmm_fake(X, Y, number, entries, conjugate_first)
    data = _matrix_of(number)._with_type(None, X.dtype)[0]
    blocks = _argument(X), _argument(Y)
    data.sample(*blocks, conjugate_first, 1.0, 0.0, _argument(values), kind_of(X).stream())
    return values


def _keep_for_sddmm(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    X, Y, number, _, ctx.conjugate_first = inputs
    ctx.owner = _matrix_of(number)
    wants_x, wants_y, *_ = ctx.needs_input_grad
    ctx.save_for_backward(X if wants_y else None, Y if wants_x else None)


def _sddmm_backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    X, Y = ctx.saved_tensors
    call = ctx.owner._id, *ctx.owner._base.shape
    of_x = of_y = None
    if ctx.needs_input_grad[0]:
        of_x = _product(Y, g, *call, "c" if ctx.conjugate_first else "n")
    if ctx.needs_input_grad[1]:
        of_y = _product(X, g, *call, "t" if ctx.conjugate_first else "h")
    return of_x, of_y, None, None, None


def _register() -> torch.library.Library:
    library = torch.library.Library("blockspan", "DEF")
    product = "(Tensor X, Tensor? values, int matrix, int rows, int columns, str op) -> Tensor"
    samples = "(Tensor X, Tensor Y, int matrix, int entries, bool conjugate_first) -> Tensor"
    for name, schema, real, fake, gradient in (
        ("spmm", product, _spmm_real, _spmm_fake, (_spmm_backward, _keep_for_spmm)),
        ("spmm_without_gradient", product, _spmm_real, _spmm_fake, None),
        ("sddmm", samples, _sddmm_real, _sddmm_fake, (_sddmm_backward, _keep_for_sddmm)),
    ):
        library.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
        for key in ("CPU", "CUDA"):
            library.impl(name, real, key)
        op = f"blockspan::{name}"
        torch.library.register_fake(op, fake, lib=library)
        if gradient is not None:
            backward, keep = gradient
            torch.library.register_autograd(op, backward, setup_context=keep, lib=library)
    return library


_LIBRARY = _register()
_SPMM = torch.ops.blockspan.spmm.default
_PLAIN = torch.ops.blockspan.spmm_without_gradient.default
_SDDMM = torch.ops.blockspan.sddmm.default
