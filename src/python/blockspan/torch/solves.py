"""Solutions and eigenpairs with gradients."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from blockspan import eigen, linear
from blockspan.arrays import Array, kind_of
from blockspan.errors import Error
from blockspan.matrix import Matrix as HostMatrix
from blockspan.matrix import matrix as host_matrix
from blockspan.torch.ops import as_array
from blockspan.torch.products import Matrix, as_matrix, sddmm, spmm


def cg(A: Matrix, B: Tensor, *, values: Tensor | None = None, **options: Any) -> Tensor:
    """X with A X = B, A Hermitian positive definite, differentiable in B and the values.

    A: n x n, from :func:`blockspan.torch.matrix`. B: n x k or n, of A's type and device. values: in the
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
    A = as_matrix(A)
    if A._op != "n":
        raise Error("blockspan.torch.cg: wanted is a matrix, not a view of one")
    if values is None and A.values.requires_grad:
        values = A.values
    return _Cg.apply(B, values, A, options)


class _Cg(torch.autograd.Function):
    @staticmethod
    def forward(B: Tensor, values: Tensor | None, A: Matrix, options: Any) -> Tensor:
        return torch.as_tensor(linear.cg(_with_values(A, values), _array(B), **options).x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, values, ctx.matrix, ctx.options = inputs
        ctx.save_for_backward(output, values)
        ctx.save_for_forward(output, values)

    @staticmethod
    def backward(ctx: Any, G: Tensor) -> Any:
        X, values = ctx.saved_tensors
        Z = cg(ctx.matrix, G, values=values, **ctx.options)
        of_values = None
        if ctx.needs_input_grad[1]:
            z, x = (t[:, None] if t.ndim == 1 else t for t in (Z, X))
            of_values = -sddmm(ctx.matrix, z, x)
        return Z, of_values, None, None

    @staticmethod
    def jvp(ctx: Any, dB: Tensor | None, dvalues: Tensor | None, *_: Any) -> Tensor:
        X, values = ctx.saved_tensors
        right = torch.zeros_like(X) if dB is None else dB
        if dvalues is not None:
            right = right - spmm(ctx.matrix, X, values=dvalues)
        return cg(ctx.matrix, right, values=values, **ctx.options)

    @staticmethod
    def vmap(
        info: Any, in_dims: Any, B: Tensor, values: Tensor | None, A: Matrix, options: Any
    ) -> tuple[Tensor, int]:
        """One solve for all samples if they share the values."""
        of_B, of_values, *_ = in_dims
        if of_values is None:
            wide = B.movedim(of_B, 1)
            X = _Cg.apply(wide.reshape(wide.shape[0], -1), values, A, options)
            return X.reshape(wide.shape), 1
        assert values is not None
        return (
            torch.stack(
                [
                    _Cg.apply(
                        B if of_B is None else B.select(of_B, i),
                        values.select(of_values, i),
                        A,
                        options,
                    )
                    for i in range(info.batch_size)
                ]
            ),
            0,
        )


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
    A = as_matrix(A)
    if A._op != "n":
        raise Error("blockspan.torch.eigsh: wanted is a matrix, not a view of one")
    if values is None:
        values = A.values
    return _Eigsh.apply(values, A, k, options)  # type: ignore[no-any-return]


class _Eigsh(torch.autograd.Function):
    @staticmethod
    def forward(values: Tensor, A: Matrix, k: int, options: Any) -> Any:
        pairs = eigen.lobpcg(_with_values(A, values), k=k, largest=False, **options)
        V = torch.as_tensor(pairs.eigenvectors).contiguous()
        return torch.as_tensor(pairs.eigenvalues, dtype=V.real.dtype, device=V.device), V

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        values, ctx.matrix, *_ = inputs
        ctx.save_for_backward(*output, values)
        ctx.set_materialize_grads(False)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, of_w: Tensor | None, of_V: Tensor | None) -> Any:
        w, V, values = ctx.saved_tensors
        Z = torch.zeros_like(V) if of_w is None else V * of_w
        if of_V is not None:
            Z = Z - _pseudo_inverses(
                _with_values(ctx.matrix, values), w, V, of_V.resolve_conj().resolve_neg()
            )
        return sddmm(ctx.matrix, Z, V), None, None, None


def _array(tensor: Tensor) -> Array:
    return as_array(tensor.resolve_conj().resolve_neg())


def _with_values(A: Matrix, values: Tensor | None) -> HostMatrix:
    offsets, indices, own = A._base._source
    if values is None or values.data_ptr() == torch.as_tensor(own).data_ptr():
        return A._base
    numbers = _array(values.contiguous())
    return host_matrix((offsets, indices, numbers, A._base.shape), columns=A._base._columns)


def _pseudo_inverses(A: HostMatrix, w: Tensor, V: Tensor, G: Tensor) -> Tensor:
    """(A - w_j)^+ g_j for each column."""
    gaps = w[:, None] - w[None, :]  # w_i - w_j
    gaps.fill_diagonal_(math.inf)
    eps, tiny = torch.finfo(w.dtype).eps, torch.finfo(w.dtype).tiny
    size = max(float(w.abs().max()), tiny)
    nearest = float(gaps.abs().min())
    if nearest <= 100 * eps * size:
        raise Error(
            f"blockspan.torch.eigsh: two eigenvalues are {nearest:.1e} apart, which is rounding for "
            f"values of {size:.1e}: their vectors have no gradient"
        )
    coefficients = V.mH @ G
    within = V @ (coefficients / gaps)
    outside = G - V @ coefficients
    scale = size + 1.0

    def solve(j: int) -> Tensor:
        shift = float(w[j])

        def shifted(block: Array) -> Array:
            X = torch.as_tensor(block) if kind_of(block).on_cuda else torch.tensor(block)
            inside = V.mH @ X
            P = (X - V @ inside).contiguous()
            Y = A @ P - shift * P
            return as_array(Y - V @ (V.mH @ Y) + scale * (V @ inside))

        tol = 10 * eps**0.75
        return torch.as_tensor(linear.cg(shifted, _array(outside[:, j].contiguous()), rtol=tol).x)

    return within + torch.stack([solve(j) for j in range(len(w))], dim=1)
