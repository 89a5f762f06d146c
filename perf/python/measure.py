"""Matrices as each package takes them, and times on a GPU."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import cupy
import cupyx.scipy.sparse as csp
import torch

import blockspan as bs

Row = dict[str, Any]
Work = Callable[[], Any]


class Matrices:
    """One matrix as each package takes it, on the same device arrays (32-bit indices)."""

    def __init__(
        self, parts: list[torch.Tensor], shape: tuple[int, int], columns: int = 32
    ) -> None:
        self.parts, self.shape, self.nnz = parts, shape, len(parts[1])
        self.torch = torch.sparse_csr_tensor(*self.parts, self.shape)
        i, j, v = (cupy.asarray(part) for part in self.parts)
        self.cupy = csp.csr_matrix((v, j, i), shape=self.shape)
        self.ours = bs.matrix(self.torch, columns=columns)

    @classmethod
    def of(cls, spec: str, dtype: str, columns: int = 32) -> Matrices:
        made = bs.generate(spec, "float64")
        indptr, indices, data = made._source
        parts = (indptr, indices, data.astype(dtype))
        return cls([torch.from_numpy(part).cuda() for part in parts], made.shape, columns)


def timed(works: dict[str, Work], *, samples: int, seconds: float = 0.004) -> dict[str, float]:
    """Medians in seconds; each sample is some calls between two events, peers in turns."""
    calls = {}
    for name, work in works.items():
        for _ in range(3):
            work()
        calls[name] = max(1, min(200, math.ceil(seconds / max(_events(work, 2), 1e-7))))
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(samples):
        for name, work in works.items():
            times[name].append(_events(work, calls[name]))
    return {name: statistics.median(own) for name, own in times.items()}


def _events(work: Work, calls: int) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    for _ in range(calls):
        work()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1e3 / calls


def distance(a: Any, b: Any) -> float:
    """Of two results, relative to the largest entry."""
    a, b = (torch.as_tensor(x).double() for x in (a, b))
    return float((a - b).abs().max() / b.abs().max().clamp(min=1e-300))


def joined(times: dict[str, float]) -> Row:
    own = times["blockspan"]
    return {f"{n} ms": 1e3 * t for n, t in times.items()} | {
        f"x {n}": t / own for n, t in times.items() if n != "blockspan"
    }
