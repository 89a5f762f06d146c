"""Products with derivatives of any order, in reverse and forward mode, and for batches (vmap)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from blockspan.errors import Error
from blockspan.torch.ops import ADJOINT, LIBRARY, PLAIN, SDDMM, SPMM, matrix_of


def product(X: Tensor, values: Tensor | None, *call: Any) -> Tensor:
    """op(A) X; call: (key of the matrix, rows, columns, op)."""
    if torch.compiler.is_compiling():
        _refuse_forward_mode()
        return (SPMM if _wants_gradient(X, values) else PLAIN)(X, values, *call)
    if _wants_gradient(X, values) or in_forward_mode():
        return _Product.apply(X, values, *call)
    return PLAIN(X, values, *call)


def samples(X: Tensor, Y: Tensor, *call: Any) -> Tensor:
    """X Y^H at the entries, or conj(X) Y^T; call: (key of the matrix, entries, conjugate_first)."""
    if torch.compiler.is_compiling():
        _refuse_forward_mode()
    elif _wants_gradient(X, Y) or in_forward_mode():
        return _Samples.apply(X, Y, *call)
    return SDDMM(X, Y, *call)


def _wants_gradient(X: Tensor, other: Tensor | None) -> bool:
    wanted = X.requires_grad or (other is not None and other.requires_grad)
    return bool(wanted and torch.is_grad_enabled())


def in_forward_mode() -> bool:
    """Whether tensors may have tangents at the moment, also through ``torch.func.jvp``."""
    return forward_ad._current_level >= 0  # type: ignore[no-any-return]


def has_tangent(X: Tensor) -> bool:
    return in_forward_mode() and forward_ad.unpack_dual(X).tangent is not None


_in_forward_mode_now = torch.compiler.assume_constant_result(in_forward_mode)


def _refuse_forward_mode() -> None:
    if _in_forward_mode_now():  # torch.compile traces no such rule: the tangent would be zero
        raise Error(
            "blockspan.torch: torch.compile has no forward mode here: leave the compiled part"
        )


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    first, second, *ctx.call = inputs
    ctx.owner = matrix_of(ctx.call[0])  # alive until the backward pass
    wants_first, wants_second, *_ = ctx.needs_input_grad
    ctx.save_for_backward(first if wants_second else None, second if wants_first else None)
    ctx.version = _version(ctx.owner.values)
    if in_forward_mode():
        ctx.save_for_forward(first, second)


def _version(values: Tensor) -> int:
    return 0 if values.is_inference() else values._version


def _product_backward(ctx: Any, G: Tensor) -> tuple[Any, ...]:
    X, values = ctx.saved_tensors
    if ctx.needs_input_grad[0] and values is None and _version(ctx.owner.values) != ctx.version:
        raise Error(
            "blockspan.torch: the values of the matrix were changed in place between the product and "
            "its gradient"
        )
    number, rows, columns, op = ctx.call
    of_x = of_values = None
    if ctx.needs_input_grad[0]:
        of_x = product(G, values, number, rows, columns, ADJOINT[op])
    if ctx.needs_input_grad[1]:
        first, second = (G, X) if op in "nc" else (X, G)
        of_values = samples(first, second, number, ctx.owner.nnz, op in "tc")
    return of_x, of_values, None, None, None, None


def _samples_backward(ctx: Any, g: Tensor) -> tuple[Any, ...]:
    X, Y = ctx.saved_tensors
    number, _, conjugate_first = ctx.call
    call = number, *ctx.owner._base.shape
    of_x = of_y = None
    if ctx.needs_input_grad[0]:
        of_x = product(Y, g, *call, "c" if conjugate_first else "n")
    if ctx.needs_input_grad[1]:
        of_y = product(X, g, *call, "t" if conjugate_first else "h")
    return of_x, of_y, None, None, None


def _tangent(function: Callable[..., Tensor], ctx: Any, *tangents: Tensor | None) -> Tensor:
    """The derivative rule of a bilinear function of two tensors."""
    (first, second), (d_first, d_second, *_) = ctx.saved_tensors, tangents
    parts = []
    if d_first is not None:
        parts.append(function(d_first, second, *ctx.call))
    if d_second is not None:
        parts.append(function(first, d_second, *ctx.call))
    return sum(parts[1:], parts[0])


class _Product(torch.autograd.Function):
    generate_vmap_rule = True
    setup_context = staticmethod(_keep)
    backward = staticmethod(_product_backward)

    @staticmethod
    def forward(X: Tensor, values: Tensor | None, *call: Any) -> Tensor:
        return PLAIN(X, values, *call)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _tangent(product, ctx, *tangents)


class _Samples(torch.autograd.Function):
    generate_vmap_rule = True
    setup_context = staticmethod(_keep)
    backward = staticmethod(_samples_backward)

    @staticmethod
    def forward(X: Tensor, Y: Tensor, *call: Any) -> Tensor:
        return SDDMM(X, Y, *call)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _tangent(samples, ctx, *tangents)


def _batches(info: Any, in_dims: tuple[Any, ...], *tensors: Tensor | None) -> Any:
    """The operands of each sample of the batch."""
    for i in range(info.batch_size):
        yield [
            t if t is None or dim is None else t.select(dim, i)
            for t, dim in zip(tensors, in_dims, strict=False)
        ]


def _batched_product(
    info: Any, in_dims: tuple[Any, ...], X: Tensor, values: Tensor | None, *call: Any
) -> tuple[Tensor, int]:
    """One product with all samples side by side if they share the values."""
    if in_dims[1] is not None:
        return torch.stack([PLAIN(*some, *call) for some in _batches(info, in_dims, X, values)]), 0
    wide = X.movedim(in_dims[0], 1)
    Y = PLAIN(wide.reshape(wide.shape[0], -1), values, *call)
    return Y.reshape(Y.shape[0], wide.shape[1], wide.shape[2]), 1


def _batched_samples(
    info: Any, in_dims: tuple[Any, ...], X: Tensor, Y: Tensor, *call: Any
) -> tuple[Tensor, int]:
    return torch.stack([SDDMM(*some, *call) for some in _batches(info, in_dims, X, Y)]), 0


# where torch.compile has traced the ops
for op, backward in (("spmm", _product_backward), ("sddmm", _samples_backward)):
    torch.library.register_autograd(f"blockspan::{op}", backward, setup_context=_keep, lib=LIBRARY)
torch.library.register_vmap(PLAIN, _batched_product)
torch.library.register_vmap(SDDMM, _batched_samples)
