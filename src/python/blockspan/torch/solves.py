"""Solutions and eigenpairs with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from blockspan import eigen, linear
from blockspan._host import Error
from blockspan.matrix import Array
from blockspan.matrix import Matrix as HostMatrix
from blockspan.matrix import matrix as host_matrix
from blockspan.torch.products import Matrix, as_array, sddmm


def cg(A: Matrix, B: Tensor, *, values: Tensor | None = None, **options: Any) -> Tensor:
    """X with A X = B, A Hermitian positive definite, differentiable in B and the values.

    A: n x n, from :func:`blockspan.torch.matrix`. B: n x k or n, CPU, of A's type. values: in the
    place of those of A. options: those of :func:`blockspan.cg` (rtol, atol, M, maxiter, method),
    for the backward pass too; what does not converge is a NotConvergedWarning.

    The gradient of B is Z = A^-1 G, one more solve; that of the values -Z X^H at the entries, as if
    each were free: with A(p) Hermitian for all p the chain rule gives that of p. It is as exact as
    the two solves. Differentiable any number of times. Raises Error as :func:`blockspan.cg`.

    >>> import scipy.sparse as sp, torch, blockspan.torch
    >>> A = blockspan.torch.matrix(sp.csr_array([[2.0, 0.0], [0.0, 4.0]]))
    >>> b = torch.ones(2, dtype=torch.float64, requires_grad=True)
    >>> blockspan.torch.cg(A, b).sum().backward()
    >>> b.grad
    tensor([0.5000, 0.2500], dtype=torch.float64)
    """
    if A._op != "n":
        raise Error("blockspan.torch.cg: wanted is a matrix, not a view of one")
    if values is None and A.values.requires_grad:
        values = A.values
    return _Cg.apply(B, values, A, options)


class _Cg(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, B: Tensor, values: Tensor | None, A: Matrix, options: Any) -> Tensor:
        X = torch.from_numpy(linear.cg(_with_values(A, values), _array(B), **options).x)
        ctx.save_for_backward(X, values)
        ctx.matrix, ctx.options = A, options
        return X

    @staticmethod
    def backward(ctx: Any, G: Tensor) -> Any:
        X, values = ctx.saved_tensors
        Z = cg(ctx.matrix, G, values=values, **ctx.options)
        of_values = None
        if ctx.needs_input_grad[1]:
            z, x = (t[:, None] if t.ndim == 1 else t for t in (Z, X))
            of_values = -sddmm(ctx.matrix, z, x)
        return Z, of_values, None, None


def eigsh(
    A: Matrix, k: int = 6, *, values: Tensor | None = None, **options: Any
) -> tuple[Tensor, Tensor]:
    """The k smallest eigenpairs (w, V) of a Hermitian A, differentiable in the values.

    A: n x n, from :func:`blockspan.torch.matrix`. values: in the place of those of A. options:
    those of :func:`blockspan.lobpcg` (M, tol, maxiter, seed, path, ...). w: k, ascending; V: n x k,
    orthonormal. Gradients of the values are as of :func:`cg`.

    That of w_j is v_j v_j^H at the entries. That of v_j, which is determined up to a factor of
    magnitude one (losses must not depend on it), takes one conjugate gradient solve a column, with
    A - w_j on the complement of V. It exists for simple eigenvalues only: an Error where two of the
    k agree to rounding and V has a gradient. Differentiable once. Errors in V are multiplied by 1 /
    gap.

    >>> import scipy.sparse as sp, torch, blockspan.torch
    >>> v = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64, requires_grad=True)
    >>> A = blockspan.torch.matrix((torch.arange(4), torch.arange(3), v, (3, 3)))
    >>> w, V = blockspan.torch.eigsh(A, 2)
    >>> w.sum().backward()
    >>> v.grad.round(decimals=8)
    tensor([1., 1., 0.], dtype=torch.float64)
    """
    if A._op != "n":
        raise Error("blockspan.torch.eigsh: wanted is a matrix, not a view of one")
    if values is None:
        values = A.values
    return _Eigsh.apply(values, A, k, options)  # type: ignore[no-any-return]


class _Eigsh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, A: Matrix, k: int, options: Any) -> Any:
        ctx.host = _with_values(A, values)
        pairs = eigen.lobpcg(ctx.host, k=k, largest=False, **options)
        w = torch.from_numpy(np.ascontiguousarray(pairs.eigenvalues))
        V = torch.from_numpy(np.ascontiguousarray(pairs.eigenvectors))
        ctx.save_for_backward(w, V)
        ctx.matrix = A
        ctx.set_materialize_grads(False)
        return w, V

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, of_w: Tensor | None, of_V: Tensor | None) -> Any:
        w, V = ctx.saved_tensors
        Z = torch.zeros_like(V) if of_w is None else V * of_w
        if of_V is not None:
            Z = Z - torch.from_numpy(
                _pseudo_inverses(ctx.host, as_array(w), as_array(V), _array(of_V))
            )
        return sddmm(ctx.matrix, Z, V), None, None, None


def _array(tensor: Tensor) -> Array:
    return as_array(tensor.resolve_conj().resolve_neg())


def _with_values(A: Matrix, values: Tensor | None) -> HostMatrix:
    offsets, indices, own = A._base._source
    if values is None or values.data_ptr() == own.ctypes.data:
        return A._base
    numbers = _array(values.contiguous())
    return host_matrix((offsets, indices, numbers, A._base.shape), columns=A._base._columns)


def _pseudo_inverses(A: HostMatrix, w: Array, V: Array, G: Array) -> Array:
    """(A - w_j)^+ g_j for each column."""
    gaps = w[:, None] - w[None, :]  # w_i - w_j
    np.fill_diagonal(gaps, np.inf)
    size = float(np.abs(w).max(initial=np.finfo(w.dtype).tiny))
    nearest = float(np.abs(gaps).min(initial=np.inf))
    if nearest <= 100 * np.finfo(w.dtype).eps * size:
        raise Error(
            f"blockspan.torch.eigsh: two eigenvalues are {nearest:.1e} apart, which is rounding for "
            f"values of {size:.1e}: their vectors have no gradient"
        )
    coefficients = V.conj().T @ G
    within = V @ (coefficients / gaps)
    outside = G - V @ coefficients
    scale = size + 1.0

    def solve(j: int) -> Array:
        def shifted(X: Array) -> Array:
            inside = V.conj().T @ X
            P = np.ascontiguousarray(X - V @ inside)
            Y = A @ P - w[j] * P
            return Y - V @ (V.conj().T @ Y) + scale * (V @ inside)  # type: ignore[no-any-return]

        tol = 10 * float(np.finfo(w.dtype).eps) ** 0.75
        return linear.cg(shifted, outside[:, j], rtol=tol).x

    result: Array = within + np.stack([solve(j) for j in range(len(w))], axis=1)
    return result
