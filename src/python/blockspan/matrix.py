"""Sparse matrices over the caller's arrays, their products, and plans."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from blockspan import _host
from blockspan._host import Error

if TYPE_CHECKING:
    from typing_extensions import Self

Array = NDArray[Any]
Op = Literal["n", "t", "c", "h"]

_CONJUGATED: dict[Op, Op] = {"n": "c", "c": "n", "t": "h", "h": "t"}
WORDS: dict[Op, str] = {"n": "", "t": ", transposed", "c": ", conjugated", "h": ", adjoint"}
_TRANSPOSED: dict[Op, Op] = {"n": "t", "t": "n", "c": "h", "h": "c"}


class ConversionWarning(UserWarning):
    """A matrix was copied into compressed rows; its later changes are not seen."""


class Viewed:
    """What has a transpose and an adjoint that share all it has."""

    shape: tuple[int, int]
    _parent: Self | None = None
    _op: Op = "n"

    def _view(self, op: Op) -> Self:
        parent = self._parent or self
        if op == "n":
            return parent
        view = object.__new__(type(self))
        view.__dict__.update(parent.__dict__)
        view._parent, view._op = parent, op
        if op in "th":
            view.shape = parent.shape[::-1]
        return view

    @property
    def T(self) -> Self:
        """The transpose, without a copy. The first product with it sorts the pattern once."""
        return self._view(_TRANSPOSED[self._op])

    @property
    def H(self) -> Self:
        """The conjugate transpose, without a copy."""
        return self._view(_TRANSPOSED[_CONJUGATED[self._op]])


class Matrix(Viewed):
    """A sparse matrix in compressed rows, or its transpose or adjoint.

    Made by :func:`matrix`. It shares the memory of what it was made of: values that change there
    change here too (and :meth:`Plan.update_values` tells plans that hold copies).

    Attributes:
        shape: rows and columns.
        dtype: of the values.
        nnz: stored entries.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = bs.matrix(sp.csr_array([[2.0, 1.0], [0.0, 3.0]]))
    >>> A.T @ np.array([1.0, 1.0])
    array([2., 4.])
    """

    # A @ X and X @ A are ours where X is an array of NumPy.
    __array_ufunc__ = None

    def __init__(
        self, data: _host.Matrix, source: tuple[Array, Array, Array], columns: int
    ) -> None:
        self._data = data
        self._source = source
        self._columns = columns
        self._plan: _host.Plan | None = None
        self._with_gradients: Any = None
        self.dtype = np.dtype(data.type)
        self.shape = (data.rows, data.columns)
        self.nnz = data.entries
        m, n = self.shape
        self._rows: dict[str, int] = {"n": m, "c": m, "t": n, "h": n}  # of op(A)

    def conj(self) -> Matrix:
        """The complex conjugate, without a copy."""
        return self._view(_CONJUGATED[self._op])

    def __matmul__(self, X: Array) -> Array:
        """``A @ X`` for a vector or a block of vectors; see :func:`spmm`."""
        return spmm(self, X)

    def __rmatmul__(self, X: Array) -> Array:
        """``X @ A`` for a vector or a k x m block."""
        return spmm(self.T, np.asarray(X).T).T

    def __reduce__(self) -> tuple[Any, ...]:
        root = self._parent or self
        return _unpickled, ((*self._source, root.shape), self._columns, self._op)

    def _host_plan(self) -> _host.Plan:
        root = self._parent or self
        if root._plan is None:
            root._plan = self._data.plan(self._columns, "auto", False, "")
        return root._plan

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<blockspan.Matrix {rows} x {columns}, {self.nnz} entries of {self.dtype}{WORDS[self._op]}>"


class Plan:
    """How products with a matrix are done: its pattern, inspected once.

    A matrix makes one for itself at its first product. Make another to choose (``algorithm``), to
    measure (``tune``: every kernel is timed with blocks of ``columns`` columns; ``cache``: a file
    that keeps what was found for the next run), or to hold the transpose.

    A: a :class:`Matrix` (of a transposed one: of the matrix itself). columns: the widest block
    expected; others are served too. Raises Error for an unknown algorithm or a cache that cannot
    be read or written.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = bs.matrix(sp.eye_array(100, format="csr"))
    >>> plan = bs.Plan(A, columns=4)
    >>> bs.spmm(A, np.ones((100, 4)), plan=plan).sum()
    np.float64(400.0)
    """

    def __init__(
        self,
        A: Matrix,
        columns: int = 32,
        algorithm: str = "auto",
        *,
        tune: bool = False,
        cache: str | None = None,
    ) -> None:
        if cache is not None and not tune:
            raise Error("blockspan.Plan: cache= goes with tune=True")
        self._matrix = A._parent or A
        self._holds_transpose = False
        self._plan = A._data.plan(columns, algorithm, tune, cache or "")

    @property
    def algorithm(self) -> str:
        """The name of the kernel's variant that was chosen."""
        return self._plan.algorithm

    def kernel(self, columns: int) -> str:
        """The label of the kernel for row-major blocks of ``columns`` columns."""
        return self._plan.kernel(columns)

    def explain(self, columns: int) -> str:
        """In words: what was seen in the pattern, what runs at this width and why."""
        return self._plan.explain(columns)

    def hold_transpose(self) -> None:
        """Keep a copy of the values in the order of the transpose.

        Products with ``A.T`` and ``A.H`` then cost what those with A do. Takes one number an entry.
        After the values have changed call :meth:`update_values`.
        """
        self._plan.hold_transpose()
        self._holds_transpose = True

    def update_values(self, values: Array | None = None) -> None:
        """Tell the plan that the values of the matrix have changed.

        values: written into the matrix first (into the array that it shares), in the order of its
        entries, of the same length and type; None: they were changed in place.
        """
        if values is not None:
            own = self._matrix._source[2]
            values = np.asarray(values)
            if values.shape != own.shape or values.dtype != own.dtype:
                raise Error(
                    f"blockspan.Plan.update_values: {values.shape} values of {values.dtype}, "
                    f"and the matrix has {own.shape} of {own.dtype}"
                )
            if not own.flags.writeable:
                raise Error("blockspan.Plan.update_values: the values of the matrix are read-only")
            own[:] = values
        if self._holds_transpose:
            self._plan.hold_transpose()


def spmm(
    A: Matrix,
    X: Array,
    *,
    out: Array | None = None,
    alpha: complex = 1.0,
    beta: complex = 0.0,
    op: Op = "n",
    plan: Plan | None = None,
) -> Array:
    """Y = alpha op(A) X + beta Y.

    A: m x n. X: n x k (m x k where op transposes), or a vector; any strides; NumPy, or a CPU tensor
    of PyTorch (Y is a tensor then, with a gradient if X has one: ``blockspan.torch``). op: "n" A, "t" its transpose, "c" its
    conjugate, "h" its conjugate transpose (of a real matrix "n", "t", "n", "t"). out: Y, of any
    positive strides, not overlapping X; without it a new array, in column order if X is. beta = 0
    never reads ``out``. The bits do not depend on the number of threads.

    Nothing is copied but an X whose rows are not contiguous (columns not next to each other in
    memory), which the kernels of hosts read faster from a row-major copy, and one with negative
    strides. The GIL is released.

    Raises Error (a ValueError) if shapes or types clash, or out overlaps X: convert with astype
    what has another type than A. Raises MemoryError where memory is short.

    >>> import numpy as np, scipy.sparse as sp, blockspan as bs
    >>> A = bs.matrix(sp.csr_array([[1.0, 2.0]]))
    >>> Y = np.ones((1, 2))
    >>> bs.spmm(A, np.array([[1.0, 2.0], [3.0, 4.0]]), out=Y, beta=-1.0)
    array([[6., 9.]])
    """
    root = A._parent or A
    if A._op != "n":
        op = combined(A._op, op)
    rows = root._rows.get(op)
    if rows is None:
        raise Error(
            f"blockspan.spmm: op='{op}'; there are 'n' (A), 't' (its transpose), 'c' (its "
            "conjugate) and 'h' (its conjugate transpose)"
        )
    if type(X) is not np.ndarray:
        options = {"alpha": alpha, "beta": beta, "op": op, "plan": plan}
        return _other_array(root, X, out, options)
    if X.ndim != 2:
        if X.ndim != 1:
            raise Error(f"blockspan.spmm: X has the shape {X.shape}; wanted is a vector or a block")
        block = None if out is None else out[:, None]
        Y = spmm(root, X[:, None], out=block, alpha=alpha, beta=beta, op=op, plan=plan)
        return Y[:, 0] if out is None else out
    if out is None:
        if beta != 0:
            raise Error(f"blockspan.spmm: beta = {beta}, and there is no out to read")
        order: Literal["C", "F"] = "F" if X.flags.fnc else "C"
        out = np.empty((rows, X.shape[1]), root.dtype, order)
    elif type(out) is not np.ndarray or not out.flags.writeable:
        raise Error(f"blockspan.spmm: out is no NumPy array that can be written ({type(out)})")
    if plan is not None and plan._matrix is not root:
        raise Error("blockspan.spmm: the plan was made for another matrix")
    if X.strides[0] < 0 or X.strides[1] < 0:
        X = X.copy()
    chosen = root._host_plan() if plan is None else plan._plan
    try:
        chosen.multiply(op, alpha, X, beta, out)
    except TypeError:
        raise Error(
            f"blockspan.spmm: alpha = {alpha}, X {X.shape} {X.dtype!r}, beta = {beta}, out "
            f"{out.shape} {out.dtype!r} are not all numbers and arrays of {root.dtype}"
        ) from None
    return out


def _unpickled(parts: tuple[Any, ...], columns: int, op: Op) -> Matrix:
    return matrix(parts, columns=columns)._view(op)


def _other_array(A: Matrix, X: Any, out: Any, options: dict[str, Any]) -> Array:
    """X that is not exactly an array of NumPy: a tensor of PyTorch gives a tensor."""
    if type(X).__module__.partition(".")[0] != "torch":
        return spmm(A, np.asarray(X).view(np.ndarray), out=out, **options)
    if X.requires_grad:
        return _differentiable(A, X, out, options)
    if X.device.type != "cpu":
        raise Error(f"blockspan.spmm: X is on {X.device}, and this build is for hosts")
    import torch

    array = None if out is None else out.numpy()
    if X.is_conj() or X.is_neg():
        X = X.resolve_conj().resolve_neg()
    Y = spmm(A, X.numpy(), out=array, **options)
    result: Array = torch.from_numpy(Y) if out is None else out
    return result


def _differentiable(A: Matrix, X: Any, out: Any, options: dict[str, Any]) -> Array:
    if out is not None or options["plan"] is not None:
        raise Error(
            "blockspan.spmm: X requires a gradient, which out= and plan= have not: pass X.detach()"
        )
    from blockspan.torch import products as differentiable

    if A._with_gradients is None:  # its values may change unseen: no copy of them is held
        A._with_gradients = differentiable.from_host(A, hold=False)
    Y: Array = differentiable.spmm(A._with_gradients, X, op=options["op"])
    return Y if options["alpha"] == 1 else options["alpha"] * Y


def combined(first: Op, second: Op) -> Op:
    """op of op: "t" then "h" is "c"."""
    result = first
    if second in "th":
        result = _TRANSPOSED[result]
    if second in "ch":
        result = _CONJUGATED[result]
    return result


def matrix(S: Any, *, columns: int = 16) -> Matrix:
    """S as a matrix for products and solvers, without a copy where it can be.

    S: a CSR matrix or array of SciPy, a CSR tensor of PyTorch on the CPU, or a tuple
    ``(indptr, indices, data, shape)``. Entries of a row may be unsorted and repeat (repeated ones
    add up). columns: the widest block expected (others are served too).

    Values are shared, and so are 32-bit indices; 64-bit indices (the default of PyTorch) are
    copied as 32-bit ones. Any other sparse format is converted to CSR, which copies, and is said
    by a ConversionWarning.

    Raises Error (a ValueError) where the arrays are no CSR matrix (with the row and the entry), for
    2^31 entries and more, and for values that are not float32, float64, complex64 or complex128
    or that this build leaves out (:func:`show_config`).

    >>> import scipy.sparse as sp, blockspan as bs
    >>> bs.matrix(sp.csr_array([[1.0, 0.0], [0.0, 2.0]]))
    <blockspan.Matrix 2 x 2, 2 entries of float64>
    """
    if isinstance(S, Matrix):
        return S
    offsets, indices, values, shape = _csr_arrays(S)
    if len(shape) != 2:
        raise Error(f"blockspan.matrix: the shape {tuple(shape)} is not one of a matrix")
    if len(indices) >= 2**31:
        raise Error(f"blockspan.matrix: {len(indices)} entries; this build counts to 2^31 - 1")
    source = (_as_int32(offsets, "indptr"), _as_int32(indices, "indices"), values)
    try:
        data = _host.matrix(int(shape[0]), int(shape[1]), *source)
    except TypeError:
        raise Error(
            f"blockspan.matrix: data has the type {values.dtype!r}; wanted are float32, float64, "
            "complex64 or complex128 of this machine's byte order"
        ) from None
    return Matrix(data, source, columns)


def _csr_arrays(S: Any) -> tuple[Array, Array, Array, tuple[int, ...]]:
    if isinstance(S, tuple):
        if len(S) != 4:
            raise Error(
                f"blockspan.matrix: a tuple of {len(S)}; wanted is (indptr, indices, data, shape)"
            )
        offsets, indices, values, shape = S
        return np.asarray(offsets), np.asarray(indices), np.asarray(values), tuple(shape)
    if hasattr(S, "crow_indices") and "sparse_csr" in str(getattr(S, "layout", "")):
        if S.requires_grad:
            raise Error("blockspan.matrix: the tensor requires a gradient: pass S.detach()")
        if S.device.type != "cpu":
            raise Error(
                f"blockspan.matrix: the tensor is on {S.device}, and this build is for hosts"
            )
        parts = (S.crow_indices(), S.col_indices(), S.values())
        offsets, indices, values = (np.asarray(part) for part in parts)
        return offsets, indices, values, tuple(S.shape)
    if getattr(S, "format", None) == "csr":
        return S.indptr, S.indices, S.data, S.shape
    if hasattr(S, "tocsr"):
        kind = getattr(S, "format", type(S).__name__)
        warnings.warn(
            f"blockspan.matrix: {kind} is copied into compressed rows", ConversionWarning, 3
        )
        return _csr_arrays(S.tocsr())
    raise Error(
        f"blockspan.matrix: {type(S).__name__} is no sparse matrix: wanted is one of scipy.sparse, "
        "a CSR tensor of torch, or (indptr, indices, data, shape)"
    )


def _as_int32(indices: Array, name: str) -> Array:
    if indices.dtype == np.int32:
        return np.ascontiguousarray(indices)
    if indices.dtype.kind not in "iu":
        raise Error(f"blockspan.matrix: {name} has the type {indices.dtype}, not an integer")
    if indices.size and (indices.max() >= 2**31 or indices.min() < -(2**31)):
        raise Error(
            f"blockspan.matrix: {name} has {indices.min()} to {indices.max()}, beyond 32 bits"
        )
    return indices.astype(np.int32)
