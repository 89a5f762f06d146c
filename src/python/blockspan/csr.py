"""Sparse matrices of other packages as the three arrays of compressed rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from blockspan.arrays import Array, Kind, common_kind
from blockspan.errors import Error


class ConversionWarning(UserWarning):
    """A matrix was copied into compressed rows; its later changes are not seen."""


def csr_arrays(S: Any) -> tuple[tuple[Array, Array, Array], tuple[int, int], Kind]:
    """(indptr, indices, data) of S as the library takes them, its shape, and of what kind they are.
    Raises Error where it has none."""
    offsets, indices, values, shape = _parts(S)
    kind = common_kind("blockspan.matrix", None, offsets, indices, values)
    offsets, indices, values = kind.array(offsets), kind.array(indices), kind.numbers(values)
    if len(shape) != 2:
        raise Error(f"blockspan.matrix: the shape {tuple(shape)} is not one of a matrix")
    if len(indices) >= 2**31:
        raise Error(f"blockspan.matrix: {len(indices)} entries; this build counts to 2^31 - 1")
    narrow = _as_int32(offsets, "indptr", kind), _as_int32(indices, "indices", kind)
    return (*narrow, values), (int(shape[0]), int(shape[1])), kind


def _parts(S: Any) -> tuple[Array, Array, Array, tuple[int, ...]]:
    if isinstance(S, tuple):
        if len(S) != 4:
            raise Error(
                f"blockspan.matrix: a tuple of {len(S)}; wanted is (indptr, indices, data, shape)"
            )
        offsets, indices, values, shape = S
        return offsets, indices, values, tuple(shape)
    if hasattr(S, "crow_indices") and "sparse_csr" in str(getattr(S, "layout", "")):
        if S.requires_grad:
            raise Error("blockspan.matrix: the tensor requires a gradient: pass S.detach()")
        return S.crow_indices(), S.col_indices(), S.values(), tuple(S.shape)
    if getattr(S, "format", None) == "csr":
        return S.indptr, S.indices, S.data, S.shape
    if hasattr(S, "tocsr"):
        kind = getattr(S, "format", type(S).__name__)
        warnings.warn(
            f"blockspan.matrix: {kind} is copied into compressed rows", ConversionWarning, 4
        )
        return _parts(S.tocsr())
    raise Error(
        f"blockspan.matrix: {type(S).__name__} is no sparse matrix: wanted is one of scipy.sparse, "
        "a CSR tensor of torch, or (indptr, indices, data, shape)"
    )


def _as_int32(indices: Array, name: str, kind: Kind) -> Array:
    dtype = kind.dtype(indices)
    if dtype.kind not in "iu":
        raise Error(f"blockspan.matrix: {name} has the type {dtype}, not an integer")
    if dtype != np.int32 and len(indices):
        low, high = int(indices.min()), int(indices.max())
        if high >= 2**31 or low < -(2**31):
            raise Error(f"blockspan.matrix: {name} has {low} to {high}, beyond 32 bits")
    return kind.cast(indices, np.int32)
