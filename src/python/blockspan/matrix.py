"""Sparse matrices over the caller's arrays, and their products."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockspan.arguments import float_type, positive
from blockspan.arithmetic import Arithmetic
from blockspan.arrays import HOST, Array, is_bfloat16, type_named
from blockspan.csr import Rows, are_ordered, csr_arrays, mean_with_adjoint
from blockspan.errors import Error
from blockspan.multiply import spmm
from blockspan.views import CONJUGATED, WORDS, Op


class Matrix(Arithmetic):
    """A sparse matrix in compressed rows, or its transpose or adjoint.

    Made by :func:`matrix`. It shares the memory of what it was made of: values that change there
    change here too (and :meth:`Plan.update_values` tells plans that hold copies). Solvers of SciPy
    take it for a LinearOperator.

    Attributes:
        shape: rows and columns.
        dtype: of the values; ``torch.bfloat16`` where they are that.
        nnz: stored entries.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = bs.matrix(sp.csr_array([[2.0, 1.0], [0.0, 3.0]]))
    >>> A.T @ np.array([1.0, 1.0])
    array([2., 4.])
    """

    def __init__(self, rows: Rows, columns: int) -> None:
        data = _native(rows)
        self._kind = rows.kind  # of its arrays
        self._data = data
        self._source = rows.source
        self._given = rows.given
        self._is_shared = rows.is_shared
        self._columns = columns
        self._plan: Any = None
        self._host_plan: Any = None  #: the same, in host memory
        self._with_gradients: Any = None
        self._others: dict[Any, Matrix] = {}  #: the same in other types, of the values then
        self.dtype: Any = type_named(data.type)
        self.shape = (data.rows, data.columns)
        self.nnz = data.entries
        m, n = self.shape
        self._rows: dict[str, int] = {"n": m, "c": m, "t": n, "h": n}  # of op(A)

    def conj(self) -> Matrix:
        """The complex conjugate, without a copy."""
        return self._view(CONJUGATED[self._op])

    def __matmul__(self, X: Array) -> Array:
        """``A @ X`` for a vector or a block of vectors; see :func:`spmm`."""
        plan = (self._parent or self)._host_plan
        if plan is not None and type(X) is np.ndarray:
            Y: Array | None = plan.product(self._op, X)
            if Y is not None:
                return Y
        return spmm(self, X)

    def astype(self, dtype: Any) -> Matrix:
        """The same pattern with a copy of the values in another type; itself where it has that.
        Raises Error for types that are no floating-point ones of NumPy, and for complex values in a
        real type."""
        root = self._parent or self
        if root.dtype == dtype:
            return self
        dtype = float_type("blockspan.Matrix.astype", dtype)
        if root.dtype == dtype:
            return self
        if is_bfloat16(root.dtype):
            raise Error(f"blockspan.Matrix.astype: not for values of {root.dtype}")
        offsets, indices, values = root._arrays()
        if dtype.kind != "c" and root.dtype.kind == "c":
            raise Error(f"blockspan.Matrix.astype: {root.dtype} values are no {dtype}")
        if root._kind is HOST and not are_ordered(offsets, indices):
            offsets, indices = offsets.copy(), indices.copy()
        parts = (offsets, indices, root._kind.cast(values, dtype), root.shape)
        return matrix(parts, columns=self._columns)._view(self._op)

    def hermitian_mean(self) -> Matrix:
        """(A + A^H) / 2, a copy: what :func:`lobpcg` and :func:`cg` take for a matrix that is
        Hermitian but for errors. An entry without a mirror becomes two of half its value. Raises
        Error for a matrix that is not square, or on a device.

        >>> import scipy.sparse as sp, blockspan as bs
        >>> bs.matrix(sp.csr_array([[1.0, 2.0], [0.0, 1.0]])).hermitian_mean().toarray()
        array([[1., 1.],
               [1., 1.]])
        """
        root = self._parent or self
        n, columns = root.shape
        if n != columns:
            raise Error(f"blockspan.Matrix.hermitian_mean: {n} x {columns} is not square")
        if root._kind is not HOST:
            raise Error(f"blockspan.Matrix.hermitian_mean: the matrix is {root._kind.name}")
        mean = mean_with_adjoint(root._arrays(), n)
        return matrix((*mean, (n, n)), columns=self._columns)._view(self._op)

    def asymmetry(self) -> str:
        """The entry that differs most from its mirror, in words; empty where A is Hermitian to
        rounding, of entries or in the sums that have made them (:class:`SolverOptions`). Costs one
        pass over the entries where it is Hermitian to the bit. Raises Error where A is not square.
        """
        root = self._parent or self
        if root.dtype.itemsize == 2:
            raise Error(f"blockspan.Matrix.asymmetry: not for values of {root.dtype}")
        return root._fresh().asymmetry(root._kind.stream())  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        root = self._parent or self
        return _unpickled, ((*root._arrays(), root.shape), self._columns, self._op)

    def _fresh(self) -> Any:
        """The matrix in the module, made anew where the rows were put in order in place since: SciPy
        does so whenever it is asked something. Raises Error where entries were taken out."""
        root = self._parent or self
        if not root._data.unchanged:
            root._data.check_end()
            if not root._is_shared:
                raise Error(
                    "blockspan: rows of the index arrays that the matrix shares were put in order in "
                    "place, and its values not with them: call blockspan.matrix again"
                )
            root._source, root._given, *_ = rows = csr_arrays(
                (*root._given, root._source[2], root.shape)
            )
            root._data = _native(rows)
            root._plan = root._host_plan = root._with_gradients = None
            root._others.clear()
        return root._data

    def _arrays(self) -> tuple[Array, Array, Array]:
        """indptr, indices and data as they are now."""
        self._fresh()
        return (self._parent or self)._source

    def _in_type(self, dtype: Any) -> Matrix:
        """A itself, not a view, with the values of now in another type, for a product."""
        self._fresh()
        other = self._others.get(dtype)
        if other is None:
            other = self._others[dtype] = self.astype(dtype)
        else:
            other._source[2][...] = self._source[2]
        return other

    def _own_plan(self, stream: int) -> Any:
        root = self._parent or self
        if root._plan is None:
            root._plan = root._fresh().plan(self._columns, "auto", False, "", stream)
            root._host_plan = root._plan if root._kind is HOST else None
        return root._plan

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<blockspan.Matrix {rows} x {columns}, {self.nnz} entries of {self.dtype}{WORDS[self._op]}>"


def _unpickled(parts: tuple[Any, ...], columns: int, op: Op) -> Matrix:
    return matrix(parts, columns=columns)._view(op)


def matrix(S: Any, *, columns: int = 16) -> Matrix:
    """S as a matrix for products and solvers, without a copy where it can be.

    S: a CSR matrix or array of SciPy or CuPy, a CSR tensor of PyTorch, or a tuple ``(indptr,
    indices, data, shape)``; in host memory, or on a CUDA device, where its products are then.
    Entries of a row may be unsorted and repeat (repeated ones add up). columns: the widest block
    expected (others are served too).

    Values are shared, and so are 32-bit indices; 64-bit indices (the default of PyTorch) are
    copied as 32-bit ones. What is copied whole is said by a ConversionWarning: other sparse formats,
    and values that are whole numbers or booleans (as float64). In host memory changes in place are
    seen: rows that were put in order, as SciPy does whenever it is asked something, are read anew;
    where entries were taken out (``eliminate_zeros``, ``sum_duplicates``), and from plans and
    preconditioners that were made before, comes an Error.

    Raises Error (a ValueError) where the arrays are no CSR matrix (with the row and the entry), for
    2^31 entries and more, and for values that are not float32, float64, complex64, complex128 or, for
    products and :func:`sddmm` alone, float16 or ``torch.bfloat16``, or that this build leaves out
    (:func:`show_config`).

    >>> import scipy.sparse as sp, blockspan as bs
    >>> bs.matrix(sp.csr_array([[1.0, 0.0], [0.0, 2.0]]))
    <blockspan.Matrix 2 x 2, 2 entries of float64>
    """
    if isinstance(S, Matrix):
        return S
    return Matrix(csr_arrays(S), positive("blockspan.matrix", "columns", columns))


def _native(rows: Rows) -> Any:
    kind = rows.kind
    parts = (kind.argument(part) for part in (*rows.source, *rows.given))
    try:
        return kind.native.matrix(*rows.shape, *parts, kind.stream())
    except TypeError:
        raise Error(
            f"blockspan.matrix: data has the type {rows.source[2].dtype!r}; wanted are float16, float32, "
            "float64, complex64 or complex128 of this machine's byte order, aligned, or whole numbers"
        ) from None
