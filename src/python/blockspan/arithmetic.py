"""The arithmetic of sparse matrices (SciPy's interface) for Matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from blockspan.arrays import Array, kind_of
from blockspan.errors import Error
from blockspan.views import Viewed

if TYPE_CHECKING:
    from blockspan.matrix import Matrix


def _is_sparse(other: Any) -> bool:
    return hasattr(other, "tocsr")


class Arithmetic(Viewed):
    """Products on either side, scaling, sums and parts. Results that are matrices are copies, in
    host memory, and need SciPy; values of 16 bits have products alone."""

    dtype: Any
    nnz: int
    ndim = 2

    # A @ X, X @ A and c * A are ours where X and c are of NumPy.
    __array_ufunc__ = None

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy functions would treat A as a scalar object: unsupported ones raise."""
        name = function.__name__
        if function is np.dot:
            first, second = args
            return first @ second
        if name in ("sum", "trace", "diagonal", "transpose"):
            return getattr(args[0], name)(*args[1:], **kwargs)
        if name in ("shape", "ndim"):
            return getattr(args[0], name)
        if name in ("iscomplexobj", "isrealobj"):
            return (self.dtype.kind == "c") == (name == "iscomplexobj")
        return NotImplemented

    def __matmul__(self, X: Any) -> Any:
        raise NotImplementedError

    def __rmatmul__(self, X: Any) -> Any:
        """``X @ A`` for a vector or a k x m block; for a sparse X the sparse product."""
        if _is_sparse(X):
            return X.tocsr() @ self.tocsr()
        block = X if hasattr(X, "ndim") else kind_of(X).array(X)
        Y = self.T @ (block.T if block.ndim == 2 else block)
        return Y.T if Y.ndim == 2 else Y

    def dot(self, X: Any) -> Any:
        """``A @ X``, or c A for a number c."""
        return self * X if np.isscalar(X) else self @ X

    def matvec(self, x: Array) -> Array:
        """A x for x of n or n x 1."""
        return self._of_vector(self, x)

    def rmatvec(self, x: Array) -> Array:
        """A^H x for x of m or m x 1."""
        return self._of_vector(self.H, x)

    def matmat(self, X: Array) -> Array:
        """A X for a block X, n x k."""
        return self @ X  # type: ignore[no-any-return]

    def rmatmat(self, X: Array) -> Array:
        """A^H X for a block X, m x k."""
        return self.H @ X  # type: ignore[no-any-return]

    @staticmethod
    def _of_vector(A: Any, x: Array) -> Array:
        x = x if hasattr(x, "shape") else np.asarray(x)
        columns = A.shape[1]
        if tuple(x.shape) not in ((columns,), (columns, 1)):
            raise Error(
                f"blockspan: a vector of shape {tuple(x.shape)} for a matrix of "
                f"{A.shape[0]} x {columns}"
            )
        return A @ x  # type: ignore[no-any-return]

    def transpose(self) -> Any:
        """The transpose, without a copy."""
        return self.T

    def conjugate(self) -> Any:
        """The complex conjugate, without a copy."""
        return self.conj()  # type: ignore[attr-defined]

    def tocsr(self) -> Any:
        """A copy as ``scipy.sparse.csr_array``."""
        import scipy.sparse as sp

        root: Any = self._parent or self
        offsets, indices, values = (root._kind.numpy(part).copy() for part in root._arrays())
        S = sp.csr_array((values, indices, offsets), shape=root.shape)
        S = S.T if self._op in "th" else S
        return (S.conj() if self._op in "ch" else S).tocsr()

    def toarray(self) -> Array:
        """A dense copy, of NumPy."""
        return self.tocsr().toarray()  # type: ignore[no-any-return]

    def diagonal(self, k: int = 0) -> Array:
        """A copy of the diagonal, or the k-th above it, of NumPy; repeated entries add up."""
        return self.tocsr().diagonal(k)  # type: ignore[no-any-return]

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return self.diagonal().sum()

    def sum(self, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of all entries, of each column (axis=0) or row (axis=1), of NumPy."""
        return self.tocsr().sum(axis=axis, dtype=dtype, out=out)

    def copy(self) -> Matrix:
        """A matrix that shares no memory with this one."""
        return self._made(self.tocsr())

    def _made(self, S: Any) -> Matrix:
        from blockspan.matrix import matrix

        S = S.tocsr()
        S.sum_duplicates()
        root: Any = self._parent or self
        return matrix(S, columns=root._columns)

    def __mul__(self, factor: Any) -> Matrix:
        """c A for a number c."""
        if not np.isscalar(factor) and getattr(factor, "ndim", None) != 0:
            return NotImplemented
        return self._made(self.tocsr() * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Matrix:
        if not np.isscalar(divisor) and getattr(divisor, "ndim", None) != 0:
            return NotImplemented
        return self._made(self.tocsr() / divisor)

    def __neg__(self) -> Matrix:
        return self._made(-self.tocsr())

    def __add__(self, other: Any) -> Any:
        """The sum with another Matrix or a sparse matrix, as in ``A + sigma * sp.eye_array(n)``; with
        a dense array of the same shape a dense one."""
        if _is_sparse(other):
            return self._made(self.tocsr() + other.tocsr())
        if np.isscalar(other) and other == 0:  # where sum() starts
            return self._made(self.tocsr())
        if not isinstance(other, np.ndarray):
            return NotImplemented
        if other.shape != self.shape:
            raise Error(f"blockspan: a matrix of {self.shape} and an array of {other.shape}")
        return self.toarray() + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other if self._has_sum_with(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other if self._has_sum_with(other) else NotImplemented

    @staticmethod
    def _has_sum_with(other: Any) -> bool:
        return _is_sparse(other) or isinstance(other, np.ndarray)
