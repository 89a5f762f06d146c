"""The ops ``blockspan::spmm``, ``blockspan::spmm_without_gradient`` and ``blockspan::sddmm``.

:mod:`blockspan.torch.derivatives` calls them, and says what their derivatives are.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from blockspan.arrays import Array, host_tensors, is_bfloat16, kind_of
from blockspan.errors import Error

if TYPE_CHECKING:
    from blockspan.torch.products import Matrix

ADJOINT: dict[str, str] = {"n": "h", "t": "c", "c": "t", "h": "n"}
MATRICES: weakref.WeakValueDictionary[int, Matrix] = weakref.WeakValueDictionary()


def as_array(tensor: Tensor) -> Array:
    """The same memory as a NumPy array on hosts. The conjugate bit is already resolved."""
    plain = tensor.detach() if tensor.requires_grad else tensor
    if is_bfloat16(plain) and not plain.is_cuda:
        raise Error(
            "blockspan.torch: a tensor of torch.bfloat16, which products and sddmm alone take (in host "
            "memory from PyTorch 2.10 on)"
        )
    return plain if plain.is_cuda else plain.numpy()  # type: ignore[no-any-return]


def as_argument(tensor: Tensor) -> Any:
    """A tensor in the form that the module accepts."""
    if tensor.is_cuda:
        return kind_of(tensor).argument(tensor)
    return READ(tensor)


def _itself(tensor: Tensor) -> Any:
    return tensor


READ = _itself if host_tensors().are_read else as_array


def matrix_of(number: int) -> Matrix:
    found = MATRICES.get(number)
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
    A = matrix_of(number)
    inner = columns if op in "nc" else rows
    dtype = A.values.dtype if values is None else values.dtype
    if (
        A._base.shape != (rows, columns)
        or op not in ADJOINT
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


def _sddmm_fake(X: Tensor, Y: Tensor, number: int, entries: int, conjugate_first: bool) -> Tensor:
    A = matrix_of(number)
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
    data = matrix_of(number)._with_type(None, X.dtype)[0]
    blocks = as_argument(X), as_argument(Y)
    data.sample(*blocks, conjugate_first, 1.0, 0.0, as_argument(values), kind_of(X).stream())
    return values


def _register() -> torch.library.Library:
    library = torch.library.Library("blockspan", "DEF")
    product = "(Tensor X, Tensor? values, int matrix, int rows, int columns, str op) -> Tensor"
    samples = "(Tensor X, Tensor Y, int matrix, int entries, bool conjugate_first) -> Tensor"
    for name, schema, real, fake in (
        ("spmm", product, _spmm_real, _spmm_fake),
        ("spmm_without_gradient", product, _spmm_real, _spmm_fake),
        ("sddmm", samples, _sddmm_real, _sddmm_fake),
    ):
        library.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
        for key in ("CPU", "CUDA"):
            library.impl(name, real, key)
        torch.library.register_fake(f"blockspan::{name}", fake, lib=library)
    return library


LIBRARY = _register()
SPMM = torch.ops.blockspan.spmm.default
PLAIN = torch.ops.blockspan.spmm_without_gradient.default
SDDMM = torch.ops.blockspan.sddmm.default
