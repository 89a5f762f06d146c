"""Eigenpairs under the names of SciPy's eigsh."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np

from blockspan.arguments import flag, integer, real
from blockspan.arrays import HOST, Array, Kind, common_kind
from blockspan.eigen import as_block, lobpcg, order_of
from blockspan.errors import Error
from blockspan.exact import Mode, Pencil, nearest, why_not
from blockspan.matrix import Matrix
from blockspan.operators import OperatorLike, as_matrix, require_dense
from blockspan.options import SolverOptions
from blockspan.precond import is_automatic
from blockspan.results import EigenResult

Which = Literal["SA", "LA", "LM", "BE"]
WHERE = "blockspan.eigsh"


@overload
def eigsh(
    A: OperatorLike,
    k: int = ...,
    M: OperatorLike | None = ...,
    sigma: float | None = ...,
    which: Which = ...,
    v0: Array | None = ...,
    *,
    return_eigenvectors: Literal[True] = ...,
    tol: float | None = ...,
    maxiter: int | None = ...,
    preconditioner: OperatorLike | None = ...,
    hermitian_mean: bool = ...,
    dtype: Any = ...,
    n: int | None = ...,
    seed: int | None = ...,
    mode: Mode = ...,
    prove: bool = ...,
    raise_on_failure: bool = ...,
) -> EigenResult: ...


@overload
def eigsh(
    A: OperatorLike,
    k: int = ...,
    M: OperatorLike | None = ...,
    sigma: float | None = ...,
    which: Which = ...,
    v0: Array | None = ...,
    *,
    return_eigenvectors: Literal[False],
    tol: float | None = ...,
    maxiter: int | None = ...,
    preconditioner: OperatorLike | None = ...,
    hermitian_mean: bool = ...,
    dtype: Any = ...,
    n: int | None = ...,
    seed: int | None = ...,
    mode: Mode = ...,
    prove: bool = ...,
    raise_on_failure: bool = ...,
) -> Array: ...


def eigsh(
    A: OperatorLike,
    k: int = 6,
    M: OperatorLike | None = None,
    sigma: float | None = None,
    which: Which = "SA",
    v0: Array | None = None,
    *,
    tol: float | None = None,
    maxiter: int | None = None,
    return_eigenvectors: bool = True,
    preconditioner: OperatorLike | None = "automatic",
    hermitian_mean: bool = False,
    dtype: Any = None,
    n: int | None = None,
    seed: int | None = None,
    mode: Mode = "normal",
    prove: bool = True,
    raise_on_failure: bool = False,
) -> EigenResult | Array:
    """k eigenpairs of a Hermitian A, or of A x = w M x, under SciPy's names; ascending.

    A, M (the mass), preconditioner, and the rest: as A, B, M of :func:`lobpcg`. which: "SA" smallest,
    "LA" largest, "LM" largest magnitude, "BE" half of each end (two solves, the second in what is
    M-orthogonal to the first). v0: a start, n or n x m. k may be n.

    sigma: the eigenvalues nearest to it, anywhere in the spectrum, by factors of A - sigma M (which
    "LM" and "SA" alike, M and tol as in :func:`eigs_in`); the result is an :class:`ExactResult` with
    a proof, for one or two factorizations that prove=False saves. mode: "buckling": A positive
    definite, any M (a geometric stiffness), nearest in 1 / w; "cayley": nearest in ratio. Where A is
    a function or on a device, the build is without factors or a preconditioner is given, LOBPCG
    serves a sigma outside the spectrum, and a NotImplementedError says why no other.

    Returns an EigenResult that unpacks to (w, V), or w without return_eigenvectors.

    >>> import blockspan as bs
    >>> w, V = bs.eigsh(bs.generate("laplace5:20x20"), k=2)
    >>> w.round(5)
    array([0.04468, 0.11119])
    """
    sigma = _checked(which, sigma, mode)
    with_vectors = flag("blockspan.eigsh", "return_eigenvectors", return_eigenvectors)
    require_dense("v0", v0)
    A, M = as_matrix(A), None if M is None else as_matrix(M)
    common: dict[str, Any] = {"n": n, "tol": tol, "maxiter": maxiter, "seed": seed, "dtype": dtype}
    common |= {"hermitian_mean": hermitian_mean, "raise_on_failure": raise_on_failure}

    def solve(largest: bool, pairs: int, beside: Array | None = None) -> EigenResult:
        own = None if largest and not is_automatic(preconditioner) else preconditioner
        result = lobpcg(A, v0, M, own, beside, largest=largest, k=pairs, **common)
        return _reversed(result) if largest else result

    if sigma is not None:
        result = _beside(solve, A, M, k, sigma, mode, prove, v0, preconditioner, common)
    elif which in ("SA", "LA"):
        result = solve(which == "LA", k)
    else:
        result = _of_both_ends(solve, A, which, k, v0, n)
    return result if with_vectors else result.eigenvalues


def _beside(
    solve: Any,
    A: OperatorLike,
    M: OperatorLike | None,
    k: int,
    sigma: float,
    mode: Mode,
    prove: bool,
    v0: Array | None,
    preconditioner: OperatorLike | None,
    common: dict[str, Any],
) -> EigenResult:
    """The pairs nearest sigma, by factors where there are any."""
    reason = _without_factors(A, M, preconditioner)
    if reason and mode != "normal":
        raise NotImplementedError(f"{WHERE}: mode='{mode}': {reason}")
    if reason:
        return _nearest(solve, sigma, _side(sigma, A, M), k, reason)
    order_of(A, None if v0 is None else as_block(v0, "v0", HOST), common["n"])
    maxiter, mean, raises = (common[s] for s in ("maxiter", "hermitian_mean", "raise_on_failure"))
    options = SolverOptions(WHERE, maxiter, mean, None, None, raises)
    pencil = Pencil(WHERE, A, M, mode, options.hermitian_mean, common["dtype"])
    tol, seed, proof = common["tol"], common["seed"], flag(WHERE, "prove", prove)
    result = nearest(pencil, sigma, k, tol=tol, seed=seed, prove=proof, options=options)
    options._conclude(result, None)
    return result


def _without_factors(
    A: OperatorLike, M: OperatorLike | None, preconditioner: OperatorLike | None
) -> str:
    """Why sigma is served by LOBPCG; empty: by factors."""
    if not (preconditioner is None or is_automatic(preconditioner)):
        return "that needs factors, and a preconditioner is given instead"
    return why_not(A) or ("" if M is None else why_not(M))


def _checked(which: Which, sigma: float | None, mode: str) -> float | None:
    if which not in ("SA", "LA", "LM", "BE"):
        raise NotImplementedError(f"blockspan.eigsh: which='{which}': scipy.sparse.linalg.eigsh")
    if sigma is None:
        if mode != "normal":
            raise Error(f"blockspan.eigsh: mode='{mode}' needs sigma")
        return None
    number = real("blockspan.eigsh", "sigma", sigma, 0.0)
    if not math.isfinite(number):
        raise Error(f"blockspan.eigsh: sigma = {number} is no finite number")
    if which not in ("SA", "LM"):
        raise NotImplementedError(
            f"blockspan.eigsh: which='{which}' with sigma: scipy.sparse.linalg.eigsh"
        )
    return number


def _nearest(solve: Any, sigma: float, side: bool | None, k: int, reason: str) -> EigenResult:
    found: list[float] = []
    for above in (False, True) if side is None else (side,):
        result: EigenResult = solve(above, k)
        w, bounds = result.eigenvalues, result.error_bounds
        if not (sigma < w[-1] - bounds[-1] if above else sigma > w[0] + bounds[0]):
            return result
        found += [w[0], w[-1]]
    raise NotImplementedError(
        f"blockspan.eigsh: sigma={sigma} is inside the spectrum (it has the eigenvalues "
        f"{min(found)} and {max(found)}): {reason}"
    )


def _of_both_ends(
    solve: Any, A: OperatorLike, which: Which, k: int, v0: Array | None, n: int | None
) -> EigenResult:
    """The highest pairs are searched beside the lowest ones, so that no pair is found twice."""
    kind = common_kind("blockspan.eigsh", A, v0)
    rows = order_of(A, None if v0 is None else as_block(v0, "v0", kind), n)
    k = integer("blockspan.eigsh", "k", k)
    if not 1 <= k <= rows:
        raise Error(f"blockspan.eigsh: {k} pairs of a matrix of {rows} rows")
    low, high = (k, min(k, rows - k)) if which == "LM" else (k // 2, k - k // 2)
    if low == 0 or high == 0:
        result: EigenResult = solve(low == 0, low or high)
        return result
    first = solve(False, low)
    if not np.isfinite(first.eigenvalues).all():  # there are no vectors to search beside
        return _selected(first, np.zeros(k, int))
    joined = _joined(first, solve(True, high, first.eigenvectors), kind)
    if which == "BE":
        return joined
    kept = np.argsort(-np.abs(joined.eigenvalues), kind="stable")[:k]
    return _selected(joined, np.sort(kept))


_PAIRS = ("eigenvalues", "backward_errors", "residuals", "error_bounds")


def _joined(low: EigenResult, high: EigenResult, kind: Kind) -> EigenResult:
    """Two solves as one result: its status is that of the first that did not converge."""
    rows, m = low.eigenvectors.shape
    V = kind.empty((rows, m + high.eigenvectors.shape[1]), kind.dtype(low.eigenvectors))
    V[:, :m], V[:, m:] = low.eigenvectors, high.eigenvectors
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(low, name), getattr(high, name)]) for name in _PAIRS
    }

    def added(name: str) -> dict[str, Any]:
        other = getattr(high, name)
        return {key: value + other[key] for key, value in getattr(low, name).items()}

    joined = replace(
        low,
        **arrays,
        eigenvectors=V,
        status=high.status if low.status.ok else low.status,
        pair_status=low.pair_status + high.pair_status,
        iterations=low.iterations + high.iterations,
        trouble=low.trouble or high.trouble,
        history=low.history + high.history,
        notes=low.notes + high.notes,
        counters=added("counters"),
        seconds=added("seconds"),
        orthogonality_loss=max(low.orthogonality_loss, high.orthogonality_loss),
    )
    return _selected(joined, np.argsort(joined.eigenvalues, kind="stable"))


def _selected(result: EigenResult, pairs: Any) -> EigenResult:
    arrays: dict[str, Any] = {name: getattr(result, name)[pairs] for name in _PAIRS}
    order = [int(j) for j in pairs]
    return replace(
        result,
        **arrays,
        eigenvectors=result.eigenvectors[:, order],
        pair_status=[result.pair_status[j] for j in order],
    )


def _side(sigma: float, A: OperatorLike, M: OperatorLike | None) -> bool | None:
    """Whether sigma is above the mean eigenvalue: then only the largest can be the nearest. None: the
    mean is not known."""
    if M is not None or not isinstance(A, Matrix | np.ndarray) or A.ndim != 2:
        return None
    return bool(sigma * A.shape[0] > np.real(A.trace()))


def _reversed(result: EigenResult) -> EigenResult:
    return _selected(result, np.arange(len(result.eigenvalues))[::-1])
