"""lobpcg, eigsh and cg with the signatures of scipy.sparse.linalg: change one import."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, cast

import numpy as np

import blockspan
from blockspan.arguments import real
from blockspan.arrays import Array
from blockspan.ends import Which
from blockspan.errors import Error
from blockspan.exact import Mode, why_not
from blockspan.operators import OperatorLike, as_matrix
from blockspan.results import EigenIteration, EigenResult
from blockspan.status import NotConvergedWarning, Status

__all__ = ["cg", "eigsh", "lobpcg"]

_REACHED = (Status.converged, Status.attainable_limit)


def lobpcg(
    A: OperatorLike,
    X: Array,
    B: OperatorLike | None = None,
    M: OperatorLike | None = None,
    Y: Array | None = None,
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
    verbosityLevel: int = 0,
    retLambdaHistory: bool = False,
    retResidualNormsHistory: bool = False,
    restartControl: int = 20,
) -> Any:
    """As scipy.sparse.linalg.lobpcg: (w, V), then the histories that were asked for.

    tol bounds norms of residuals, by default sqrt(eps) n; maxiter is 20 by default, and what has
    not converged then is warned of. X is not changed. restartControl has no meaning here. Of a
    dense solve, which small problems get, the histories have one entry.

    >>> import numpy as np, blockspan as bs
    >>> from blockspan.compat.scipy import lobpcg
    >>> X = np.random.default_rng(1).standard_normal((100, 2))
    >>> w, V = lobpcg(bs.generate("laplace5:10x10"), X, largest=False, tol=1e-6)
    >>> w.round(4)
    array([0.162 , 0.3985])
    """
    where = "blockspan.compat.scipy.lobpcg"
    A = as_matrix(A)
    X = np.asarray(X)
    if X.ndim not in (1, 2):
        raise Error(f"{where}: X has the shape {X.shape}; wanted is n x k")
    tol = real(where, "tol", tol, float(np.sqrt(1e-15)) * X.shape[0])
    result = blockspan.lobpcg(
        A,
        X,
        B,
        M,
        Y,
        largest=largest,
        tol=_relative(tol, A, X.dtype),
        criterion="backward",
        maxiter=20 if maxiter is None else maxiter,
    )
    if verbosityLevel > 0:
        print(result)
    answer: list[Any] = [result.eigenvalues, result.eigenvectors]
    if retLambdaHistory:
        answer.append(
            [np.array(line.eigenvalues) for line in result.history] or [result.eigenvalues]
        )
    if retResidualNormsHistory:
        answer.append([_norms(result, line) for line in result.history] or [result.residuals])
    return tuple(answer)


def _norms(result: EigenResult, line: EigenIteration) -> Array:
    """Norms of residuals in an iteration."""
    scales = result.norm_a + np.abs(line.eigenvalues) * result.norm_b
    return np.array(line.backward_errors) * scales


def _relative(tol: float, A: OperatorLike, dtype: np.dtype[Any]) -> float:
    """A bound of residuals as a backward error, where the norm of A is known; else as it is."""
    if isinstance(A, blockspan.Matrix):
        norm = _largest_row_sum(A)
        tol = tol / norm if norm > 0 else tol
    least = 10 * float(np.finfo(dtype if dtype.kind in "fc" else np.float64).eps)
    return min(max(tol, least), 0.1)


def _largest_row_sum(A: blockspan.Matrix) -> float:
    offsets, _, values = A._arrays()
    sums = np.add.reduceat(np.append(np.abs(values), 0), offsets[:-1]) if A.shape[0] else [0]
    return float(np.max(np.where(np.diff(offsets) > 0, sums, 0), initial=0))


def eigsh(
    A: OperatorLike,
    k: int = 6,
    M: OperatorLike | None = None,
    sigma: float | None = None,
    which: str = "LM",
    v0: Array | None = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: OperatorLike | None = None,
    OPinv: OperatorLike | None = None,
    mode: str = "normal",
    rng: Any = None,
) -> Any:
    """As scipy.sparse.linalg.eigsh, by LOBPCG, and with sigma by factors: w ascending and V, or w.

    tol = 0 asks for what the arithmetic allows. sigma (with which="LM") and mode as in
    :func:`blockspan.eigsh`, which makes factors itself: OPinv is not used, but where A is a function
    it may be a preconditioner. NotImplementedError for what needs factors then, for which="SM", and
    another which with sigma. ncv and Minv mean nothing here; rng: a seed, and of anything but a whole
    number (a Generator, say) none is taken. Raises ArpackNoConvergence.

    >>> import blockspan as bs
    >>> from blockspan.compat.scipy import eigsh
    >>> eigsh(bs.generate("laplace5:10x10"), k=1, return_eigenvectors=False).round(4)
    array([7.838])
    """
    if which == "SM" or (sigma is not None and which != "LM"):
        raise NotImplementedError(
            f"blockspan.compat.scipy.eigsh: which='{which}', sigma={sigma}, mode='{mode}': "
            "scipy.sparse.linalg.eigsh"
        )
    by_factors = sigma is not None and _has_factors(A, M)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        result = blockspan.eigsh(
            A,
            k,
            M,
            sigma,
            which="SA" if sigma is not None else cast("Which", which),
            v0=v0,
            tol=tol or (None if by_factors else 1e-12),
            maxiter=10000 if maxiter is None else maxiter,
            preconditioner="automatic" if by_factors or OPinv is None else OPinv,
            mode=cast("Mode", mode),
            seed=int(rng) if isinstance(rng, int | np.integer) else 1,
        )
    if result.status not in _REACHED:
        raise _no_convergence(result)
    return tuple(result) if return_eigenvectors else result.eigenvalues


def _no_convergence(result: EigenResult) -> Exception:
    from scipy.sparse.linalg import ArpackNoConvergence

    done = [status.ok for status in result.pair_status]
    words = f"blockspan: {result.status}, {sum(done)} of {len(done)} pairs converged"
    if result.trouble:
        words += f": {result.trouble}"
    no_convergence: Exception = ArpackNoConvergence(
        words, result.eigenvalues[done], result.eigenvectors[:, done]
    )
    return no_convergence


def _has_factors(*operators: OperatorLike | None) -> bool:
    return not why_not(*(as_matrix(A) for A in operators if A is not None))


def cg(
    A: OperatorLike,
    b: Array,
    x0: Array | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: OperatorLike | None = None,
    callback: Callable[[Array], Any] | None = None,
) -> tuple[Array, int]:
    """As scipy.sparse.linalg.cg: (x, info), info 0 or the number of iterations done in vain.

    b may have several columns; x has its shape. x0: an array, n x 1 for n and the reverse; "Mb" is
    NotImplementedError, and so is callback, for the iterate is not formed in each iteration;
    :func:`blockspan.cg` has one that is given residuals.

    >>> import numpy as np, blockspan as bs
    >>> from blockspan.compat.scipy import cg
    >>> cg(bs.generate("laplace5:10x10"), np.ones(100))[1]
    0
    """
    if callback is not None:
        raise NotImplementedError(
            "blockspan.compat.scipy.cg: callback wants the iterate, which is not formed in each "
            "iteration; blockspan.cg has one that is given residuals"
        )
    where = "blockspan.compat.scipy.cg"
    if isinstance(x0, str):
        raise NotImplementedError(f"{where}: x0='{x0}'; wanted is an array")
    shape = np.shape(b)
    if len(shape) not in (1, 2):
        raise Error(f"{where}: b has the shape {shape}; wanted is n or n x k")
    rows = shape[0]
    if x0 is not None and {shape, np.shape(x0)} == {(rows,), (rows, 1)}:
        x0 = np.reshape(x0, shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        result = blockspan.cg(
            A, b, x0, rtol=rtol, atol=atol, M=M, maxiter=10 * rows if maxiter is None else maxiter
        )
    return result.x, 0 if result.info == 0 else max(result.iterations, 1)
