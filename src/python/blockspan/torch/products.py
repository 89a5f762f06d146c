"""Sparse matrices for products with derivatives."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch
from torch import Tensor

from blockspan.errors import Error
from blockspan.matrix import Matrix as HostMatrix
from blockspan.matrix import matrix as host_matrix
from blockspan.arrays import kind_of
from blockspan.torch.derivatives import has_tangent, product, samples
from blockspan.torch.ops import MATRICES, READ, as_argument
from blockspan.views import WORDS, Op, Viewed, combined

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
        MATRICES[self._id] = self

    def __matmul__(self, X: Tensor) -> Tensor:
        """``A @ X``; see :func:`spmm`, which is to be written inside ``torch.compile``."""
        return spmm(self, X)

    def __rmatmul__(self, X: Tensor) -> Tensor:
        """``X @ A`` for a vector or a k x m block."""
        Y = spmm(self.T, X.T if X.ndim == 2 else X)
        return Y.T if Y.ndim == 2 else Y

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
        """The pattern with values of another type, and its plan."""
        if dtype == self.values.dtype:
            return self._base._data, self._plan
        if dtype not in self._others:
            if values is None:
                values = self.values.detach().new_empty(self.nnz, dtype=dtype)
            kind = self._base._kind
            pattern = (kind.argument(part) for part in self._base._source[:2])
            given = (kind.argument(part) for part in self._base._given)
            parts = (*pattern, as_argument(values), *given)
            data = kind.native.matrix(*self._base.shape, *parts, kind.stream())
            self._others[dtype] = data, self._new_plan(data)
        return self._others[dtype]

    def _multiply(self, op: str, values: Tensor | None, X: Tensor, Y: Tensor) -> None:
        kind = kind_of(X)
        stream = kind.stream()
        if X.itemsize == 2 and X.stride(1) != 1 and X.shape[1] > 1:
            X = X.contiguous()  # there are no kernels for other blocks of 16 bits but slow ones
        argument = kind.argument if kind.on_cuda else READ
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
        own = values if values.requires_grad or has_tangent(values) else numbers
        return Matrix(base, own, hold=True)
    return from_host(host_matrix(S, columns=columns), hold=True)


def as_matrix(A: Any) -> Matrix:
    """A itself, or the result of :func:`matrix` (cached for a :class:`blockspan.Matrix`)."""
    if isinstance(A, Matrix):
        return A
    if not isinstance(A, HostMatrix):
        return matrix(A)
    if A._with_gradients is None:  # its values may change unseen: no copy of them is held
        A._with_gradients = from_host(A, hold=False)
    return A._with_gradients  # type: ignore[no-any-return]


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
    A = as_matrix(A)
    if values is None and (A.values.requires_grad or has_tangent(A.values)):
        values = A.values
    op = combined(A._op, op) if A._op != "n" else op
    rows, columns = A.shape if A._op in "nc" else A.shape[::-1]
    if X.ndim == 1:
        return product(X[:, None], values, A._id, rows, columns, op)[:, 0]
    return product(X, values, A._id, rows, columns, op)


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
    A = as_matrix(A)
    # conj(Y) X^T at the entries of A is X Y^H at those of its transpose
    if A._op in "th":
        return samples(Y, X, A._id, A.nnz, True)
    return samples(X, Y, A._id, A.nnz, False)
