"""The ten smallest pairs to ||r|| <= 1e-8 ||A|| ||x|| on a GPU, by Blockspan, CuPy and PyTorch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import cupy
import cupyx.scipy.sparse.linalg as csla
import numpy as np
import torch
from measure import Matrices, Row, Work

import blockspan as bs

TOLERANCE = 1e-8
WANTED = 10
NAMED = ("jacobi", "chebyshev:8")


def pairs(quick: bool) -> Iterator[Row]:
    """Each solver from the same random block, once, after a small problem; setup is in the times.
    Peers end at a limit of time. The last row of a matrix has the ratios of those that converged.
    """
    cases = ("laplace7:20", "elasticity:6")
    if not quick:
        cases = ("laplace7:40", "laplace7:100", "elasticity:16", "elasticity:40")
    for way in _ways("laplace7:12", Matrices.of("laplace7:12", "float64", 16), quick).values():
        _outcome(way)  # warms up
    for spec in cases:
        A = Matrices.of(spec, "float64", 16)
        wanted, source = _reference(spec, A)
        times: dict[str, float] = {}
        for name, way in _ways(spec, A, quick).items():
            row = {"matrix": spec, "solver": name} | _outcome(way, A, wanted)
            if row.get("right"):
                package = name.partition(",")[0]
                times[package] = min(row["s"], times.get(package, row["s"]))
            yield row
        ratios = {
            f"x {peer}": times[peer] / times["blockspan"]
            for peer in ("cupy", "torch")
            if peer in times and "blockspan" in times
        }
        yield {"matrix": spec, "values compared with": source} | ratios


def _ways(spec: str, A: Matrices, quick: bool) -> dict[str, Work]:
    torch.manual_seed(1)
    start = torch.rand(A.shape[0], WANTED, device="cuda", dtype=torch.float64) - 0.5
    diagonal = A.cupy.diagonal()
    bound = float(abs(A.cupy).sum(axis=1).max())
    seconds, steps = (5, 300) if quick else (40, 3000)
    inverse = torch.sparse_csr_tensor(
        *(torch.arange(n, device="cuda") for n in (A.shape[0] + 1, A.shape[0])),
        1 / torch.as_tensor(diagonal),
        A.shape,
    )

    def by_cupy() -> Any:
        clock = _Clock(seconds)

        def divide(x: Any) -> Any:  # a vector, one column or many
            clock()
            return (x.T / diagonal).T

        M = csla.LinearOperator(A.shape, matvec=divide, matmat=divide, dtype=np.float64)
        X = cupy.array(start)  # a copy
        options = {"tol": TOLERANCE * bound, "maxiter": steps, "largest": False}
        return csla.lobpcg(A.cupy, X, M=M, **options)

    def by_torch() -> Any:
        options = {"tol": TOLERANCE, "niter": steps, "largest": False, "tracker": _Clock(seconds)}
        return torch.lobpcg(A.torch, X=start.clone(), iK=inverse, **options)

    def by_multigrid() -> Any:
        unknowns = 3 if spec.startswith("elasticity") else 1  # of a node
        M = bs.precond.multigrid(A.ours, block_size=unknowns)
        return _ours(A, start, M, TOLERANCE)

    return {
        **{f"blockspan, {M}": lambda M=M: _ours(A, start, M, TOLERANCE) for M in NAMED},
        "blockspan, multigrid": by_multigrid,
        "cupy, jacobi": by_cupy,
        "torch, jacobi": by_torch,
    }


class _Clock:
    """What peers call each iteration; raises TimeoutError at the end of their time."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._end = seconds, time.perf_counter() + seconds

    def __call__(self, *_: Any) -> None:
        if time.perf_counter() > self._end:
            raise TimeoutError(f"no end after {self._seconds} s")


def _ours(A: Matrices, start: torch.Tensor | None, M: Any, tolerance: float) -> Any:
    options = {"k": WANTED, "largest": False, "criterion": "backward"}
    return bs.lobpcg(A.ours, start, M=M, tol=tolerance, **options)


def _reference(spec: str, A: Matrices) -> tuple[torch.Tensor, str]:
    """The smallest eigenvalues: exact ones of grids, else those of a solve to more digits."""
    name, _, size = spec.partition(":")
    if name != "laplace7":
        values = _ours(A, None, "chebyshev:8", 1e-12).eigenvalues
        return torch.as_tensor(values).cuda(), "blockspan to 1e-12"
    n = int(size)
    line = 4 * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1))) ** 2
    low = line[:WANTED]  # sums of others are larger than ten of these
    sums = low[:, None, None] + low[:, None] + low
    return torch.as_tensor(np.sort(sums, axis=None)[:WANTED]).cuda(), "exact"


def _outcome(way: Work, A: Matrices | None = None, wanted: torch.Tensor | None = None) -> Row:
    torch.cuda.synchronize()
    begin = time.perf_counter()
    try:
        w, V = way()
        torch.cuda.synchronize()
    except Exception as reason:  # noqa: BLE001: a peer that fails is a result
        return {"failed": f"{type(reason).__name__}: {reason}"[:200]}
    row: Row = {"s": time.perf_counter() - begin}
    if A is None:
        return row
    w, V = (torch.as_tensor(x).cuda().double() for x in (w, V))
    bound = float(abs(A.cupy).sum(axis=1).max())
    residual = float(((A.torch @ V - V * w).norm(dim=0) / V.norm(dim=0)).max() / bound)
    off = float(((w.sort().values - wanted).abs() / wanted.abs()).max())
    right = residual <= 1.01 * TOLERANCE and off < 1e-6
    return row | {"residual": residual, "values off by": off, "right": right}
