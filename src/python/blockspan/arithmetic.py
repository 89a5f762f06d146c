"""What matrices of other packages can do, for a Matrix."""

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

    def __matmul__(self, X: Any) -> Any:
        raise NotImplementedError

    def __rmatmul__(self, X: Any) -> Any:
        """``X @ A`` for a vector or a k x m block; for a sparse X the sparse product."""
        if _is_sparse(X):
            return X.tocsr() @ self.tocsr()
        block = X if hasattr(X, "T") else kind_of(X).array(X)
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
        offsets, indices, values = (root._kind.numpy(part).copy() for part in root._source)
        S = sp.csr_array((values, indices, offsets), shape=root.shape)
        S = S.T if self._op in "th" else S
        return (S.conj() if self._op in "ch" else S).tocsr()

    def toarray(self) -> Array:
        """A dense copy, of NumPy."""
        return self.tocsr().toarray()  # type: ignore[no-any-return]

    def diagonal(self) -> Array:
        """A copy of the diagonal, of NumPy; repeated entries add up."""
        return self.tocsr().diagonal()  # type: ignore[no-any-return]

    def sum(self, axis: int | None = None) -> Any:
        """The sum of all entries, of each column (axis=0) or row (axis=1), of NumPy."""
        return self.tocsr().sum(axis=axis)

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

    def __add__(self, other: Any) -> Matrix:
        """The sum with another Matrix or a sparse matrix, as in ``A + sigma * sp.eye_array(n)``."""
        if not _is_sparse(other):
            return NotImplemented
        return self._made(self.tocsr() + other.tocsr())

    __radd__ = __add__

    def __sub__(self, other: Any) -> Matrix:
        if not _is_sparse(other):
            return NotImplemented
        return self._made(self.tocsr() - other.tocsr())

    def __rsub__(self, other: Any) -> Matrix:
        if not _is_sparse(other):
            return NotImplemented
        return self._made(other.tocsr() - self.tocsr())
