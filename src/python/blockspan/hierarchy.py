"""V cycles on blocks of vectors for hierarchies built by other packages."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from blockspan import _host, precond
from blockspan.arrays import Array
from blockspan.errors import Error
from blockspan.matrix import Matrix, matrix

MOST_COARSE_ROWS = 5000


class _Level:
    """The smoother and the transfers of a level, by products with all columns at once."""

    def __init__(self, level: Any, dtype: np.dtype[Any], degree: int, number: int) -> None:
        self.A = _csr(level.A, dtype)
        self.P = _csr(level.P, dtype)
        R, P = sp.csr_array(level.R), sp.csr_array(level.P)
        difference = abs(R - P.conj().T)
        if difference.nnz and difference.max() > 1e-12 * abs(P).max():
            raise Error(
                f"blockspan.precond.pyamg: the restriction of level {number} is not the adjoint of "
                "its prolongation: such a cycle is not Hermitian"
            )
        self.R = _csr(R, dtype)
        self.smoother = precond.chebyshev(self.A, degree, ratio=4)


class VCycle:
    def __init__(self, hierarchy: Any, degree: int) -> None:
        levels = hierarchy.levels
        coarsest = levels[-1].A
        kind = np.dtype(levels[0].A.dtype)
        self.dtype = kind if kind.kind in "fc" else np.dtype(np.float64)
        if coarsest.shape[0] > MOST_COARSE_ROWS:
            raise Error(
                f"blockspan.precond.pyamg: the coarsest level has {coarsest.shape[0]} rows, and is "
                f"solved as a dense matrix of at most {MOST_COARSE_ROWS}: ask for more levels"
            )
        self.levels = [_Level(x, self.dtype, degree, i) for i, x in enumerate(levels[:-1])]
        dense = coarsest.toarray().astype(self.dtype)
        self.inverse = np.linalg.pinv((dense + dense.conj().T) / 2, hermitian=True)
        self.rows = levels[0].A.shape[0]

    def __call__(self, B: Array, Y: Array) -> None:
        Y[...] = self._cycle(0, B)

    def _cycle(self, depth: int, B: Array) -> Array:
        if depth == len(self.levels):
            coarse: Array = self.inverse @ B
            return coarse
        level = self.levels[depth]
        X = level.smoother.matmat(B)
        residual = B - level.A @ X
        X += level.P @ self._cycle(depth + 1, level.R @ residual)
        X += level.smoother.matmat(B - level.A @ X)
        return X

    def operator(self) -> Any:
        name = f"V cycle of {len(self.levels) + 1} levels"
        return _host.function_operator(self.dtype.name, self.rows, self, name)


def _csr(S: Any, dtype: np.dtype[Any]) -> Matrix:
    return matrix(sp.csr_array(S, dtype=dtype))
