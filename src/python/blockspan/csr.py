"""The CSR arrays of sparse matrices of other packages."""

from __future__ import annotations

import operator
import warnings
from typing import Any, NamedTuple

import numpy as np

from blockspan.arrays import HOST, Array, Kind, common_kind, is_bfloat16
from blockspan.errors import Error


class ConversionWarning(UserWarning):
    """A matrix was copied; its later changes are not seen."""


class Rows(NamedTuple):
    """CSR arrays in the form that the library accepts."""

    source: tuple[Array, Array, Array]  #: indptr and indices of 32 bits, data
    given: tuple[Array, Array]  #: what indptr and indices were made of, or they themselves
    shape: tuple[int, int]
    kind: Kind
    is_shared: bool  #: who puts the given indices in order does so with the values


def csr_arrays(S: Any) -> Rows:
    """The CSR arrays of S. Raises Error if S is not a sparse matrix."""
    given, columns, values, shape = _parts(S)
    kind = common_kind("blockspan.matrix", None, given, columns, values)
    given, columns, values = (kind.array(given), kind.array(columns), kind.numbers(values))
    if kind is HOST:
        given, columns = (np.asarray(part, _native_order(part)) for part in (given, columns))
    for name, part in (("indptr", given), ("indices", columns), ("data", values)):
        if part.ndim != 1:
            raise Error(
                f"blockspan.matrix: {name} has the shape {tuple(part.shape)}, and is no vector"
            )
    if len(columns) >= 2**31:
        raise Error(f"blockspan.matrix: {len(columns)} entries; this build counts to 2^31 - 1")
    narrow = _as_int32(given, "indptr", kind), _as_int32(columns, "indices", kind)
    numbers = _as_floats(values, kind)
    is_shared = numbers is values and not isinstance(S, tuple)
    if numbers is not values and kind is HOST:  # in the order of now
        given, columns = narrow = narrow[0].copy(), narrow[1].copy()
    return Rows((*narrow, numbers), (given, columns), _shape(shape), kind, is_shared)


def _native_order(part: Array) -> np.dtype[Any]:
    """In native byte order; integers that the module does not support become 64-bit ones."""
    dtype = part.dtype.newbyteorder("=")
    known = dtype.kind not in "iu" or dtype in (np.int32, np.int64, np.uint64)
    return dtype if known else np.dtype(np.int64)


def _shape(shape: Any) -> tuple[int, int]:
    try:
        rows, columns = (operator.index(n) for n in shape)
    except (TypeError, ValueError):
        raise Error(f"blockspan.matrix: the shape {shape!r} is not one of a matrix") from None
    return rows, columns


def _say(what: str) -> None:
    warnings.warn(f"blockspan.matrix: {what}", ConversionWarning, 5)


def _as_floats(values: Any, kind: Kind) -> Any:
    """Integers and booleans as float64."""
    if is_bfloat16(values) or kind.dtype(values).kind not in "iub":
        return values
    _say(f"values of {values.dtype} are copied as float64")
    return kind.cast(values, np.float64)


def _parts(S: Any) -> tuple[Array, Array, Array, Any]:
    if isinstance(S, tuple):
        if len(S) != 4:
            raise Error(
                f"blockspan.matrix: a tuple of {len(S)}; wanted is (indptr, indices, data, shape)"
            )
        offsets, indices, values, shape = S
        return offsets, indices, values, shape
    layout = str(getattr(S, "layout", ""))
    if layout.startswith("torch.sparse"):
        return _parts_of_tensor(S, layout)
    if getattr(S, "format", None) == "csr":
        return S.indptr, S.indices, S.data, S.shape
    if hasattr(S, "tocsr"):
        kind = getattr(S, "format", type(S).__name__)
        _say(f"{kind} is copied into compressed rows")
        return _parts(S.tocsr())
    raise Error(
        f"blockspan.matrix: {type(S).__name__} is no sparse matrix: wanted is one of scipy.sparse or "
        "of torch, or (indptr, indices, data, shape)"
    )


def _parts_of_tensor(S: Any, layout: str) -> tuple[Array, Array, Array, Any]:
    if S.requires_grad:
        raise Error("blockspan.matrix: the tensor requires a gradient: pass S.detach()")
    if layout == "torch.sparse_bsr" and S.ndim == 2 and not S.is_cuda:
        import scipy.sparse as sp

        parts = (S.values(), S.col_indices(), S.crow_indices())
        return _parts(sp.bsr_array(tuple(part.numpy() for part in parts), tuple(S.shape)))
    if layout != "torch.sparse_csr":
        _say(f"{layout} is copied into compressed rows")
        try:
            S = S.to_sparse_csr()
        except RuntimeError:
            raise Error(
                f"blockspan.matrix: a tensor of {layout}, {tuple(S.shape)}: wanted is a matrix of "
                "scalars in sparse_csr, sparse_csc, sparse_coo or, in host memory, sparse_bsr"
            ) from None
    return S.crow_indices(), S.col_indices(), S.values(), tuple(S.shape)


def _as_int32(indices: Array, name: str, kind: Kind) -> Array:
    dtype = kind.dtype(indices)
    if dtype.kind not in "iu" and len(indices):  # an empty list is one of floats
        raise Error(f"blockspan.matrix: {name} has the type {dtype}, not an integer")
    if dtype != np.int32 and len(indices):
        low, high = int(indices.min()), int(indices.max())
        if high >= 2**31 or low < -(2**31):
            raise Error(f"blockspan.matrix: {name} has {low} to {high}, beyond 32 bits")
    return kind.cast(indices, np.int32)


def are_ordered(offsets: Array, indices: Array) -> bool:
    """Whether columns do not decrease within any row: SciPy does not sort such rows."""
    ordered = indices[1:] >= indices[:-1]
    starts = offsets[1:-1]
    ordered[starts[(starts > 0) & (starts < len(indices))] - 1] = True
    return bool(ordered.all())


def mean_with_adjoint(source: tuple[Array, Array, Array], rows: int) -> tuple[Array, Array, Array]:
    """(A + A^H) / 2 of n x n compressed rows; an entry without a mirror becomes two of half its
    value. In host memory; O(entries log entries)."""
    i, j, entries, mirrors = _with_mirrors(source, rows)
    counts = np.bincount(i, minlength=rows)
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return ends, j.astype(np.int32), entries / 2 + mirrors / 2


def _with_mirrors(
    source: tuple[Array, Array, Array], rows: int
) -> tuple[Array, Array, Array, Array]:
    """The positions (i, j) of entries of A or A^H, row by row, with a_ij and conj(a_ji)."""
    offsets, indices, values = source
    own = np.repeat(np.arange(rows), np.diff(offsets))
    i, j = np.concatenate([own, indices]), np.concatenate([indices, own])
    order = np.lexsort((j, i))
    i, j = i[order], j[order]
    first = np.ones(len(i), bool)
    first[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
    starts = np.flatnonzero(first)
    nothing = np.zeros_like(values)
    both = [np.concatenate([values, nothing]), np.concatenate([nothing, np.conj(values)])]
    entries, mirrors = (np.add.reduceat(x[order], starts) if len(starts) else x for x in both)
    return i[starts], j[starts], entries, mirrors
