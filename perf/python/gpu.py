#!/usr/bin/env python3
"""Blockspan beside torch.sparse, CuPy, torch.lobpcg and torch_geometric on a GPU, from Python.

One run, the same arrays, results compared before times are taken, peers measured in turns, medians.
Prints tables and writes them as JSON: perf/python/gpu.py [--quick] [--only products,...] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import cupy
import cupyx.scipy.sparse as csp
import cupyx.scipy.sparse.linalg as csla
import numpy as np
import torch

import blockspan as bs
import blockspan.torch as bt

Row = dict[str, Any]
Work = Callable[[], Any]

QUICK = {
    "laplace7": "laplace7:40",
    "elasticity": "elasticity:14",
    "uniform": "uniform:20000x20000:20",
}
FULL = {
    "laplace7": "laplace7:100",
    "elasticity": "elasticity:40",
    "uniform": "uniform:500000x500000:20",
}


def specs(quick: bool) -> dict[str, str]:
    return {**(QUICK if quick else FULL), "rmat": "rmat:14:16" if quick else "rmat:18:16"}


class Matrices:
    """One matrix as each package takes it, on the same device arrays."""

    def __init__(self, spec: str, dtype: str, columns: int = 32) -> None:
        made = bs.generate(spec, "float64")
        indptr, indices, data = made._source
        self.shape, self.nnz = made.shape, made.nnz
        self.parts = [
            torch.from_numpy(part).cuda() for part in (indptr, indices, data.astype(dtype))
        ]
        self.torch = torch.sparse_csr_tensor(*self.parts, self.shape)
        i, j, v = (cupy.asarray(part) for part in self.parts)
        self.cupy = csp.csr_matrix((v, j, i), shape=self.shape)
        self.ours = bs.matrix(self.torch, columns=columns)


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


def products(quick: bool) -> Iterator[Row]:
    for name, spec in specs(quick).items():
        for dtype in ("float64", "float32"):
            A = Matrices(spec, dtype)
            for k in (8, 32, 64):
                X = torch.rand(A.shape[1], k, device="cuda", dtype=getattr(torch, dtype)) - 0.5
                C = cupy.asarray(X)
                Y = torch.empty(A.shape[0], k, device="cuda", dtype=X.dtype)
                works: dict[str, Work] = {
                    "blockspan": lambda A=A, X=X, Y=Y: bs.spmm(A.ours, X, out=Y),
                    "torch": lambda A=A, X=X: torch.sparse.mm(A.torch, X),
                    "cupy": lambda A=A, C=C: A.cupy @ C,
                }
                wanted = works["torch"]()
                worst = max(distance(works[n](), wanted) for n in ("blockspan", "cupy"))
                row = {"matrix": spec, "nnz": A.nnz, "type": dtype, "k": k, "difference": worst}
                if worst > (1e-3 if dtype == "float32" else 1e-11):
                    row["wrong"] = True
                times = timed(works, samples=9 if quick else 15)
                yield row | _beside(times)


def _beside(times: dict[str, float]) -> Row:
    own = times["blockspan"]
    return {f"{n} ms": 1e3 * t for n, t in times.items()} | {
        f"x {n}": t / own for n, t in times.items() if n != "blockspan"
    }


def overhead(quick: bool) -> Iterator[Row]:
    """Microseconds of the host for a call, on a matrix that takes the device no time."""
    A = Matrices("laplace5:4x4", "float32", 8)
    graph = bt.matrix(A.ours)
    X = torch.rand(16, 8, device="cuda")
    Y, C = torch.empty_like(X), cupy.asarray(X)
    D = cupy.empty_like(C)
    works: dict[str, Work] = {
        "spmm of torch, out=": lambda: bs.spmm(A.ours, X, out=Y),
        "A @ X of torch": lambda: A.ours @ X,
        "op blockspan::spmm": lambda: bt.spmm(graph, X),
        "spmm of cupy, out=": lambda: bs.spmm(A.ours, C, out=D),
        "A @ X of cupy": lambda: A.ours @ C,
        "torch.sparse.mm": lambda: torch.sparse.mm(A.torch, X),
        "cupy A @ X": lambda: A.cupy @ C,
        "torch dense mm": lambda: torch.mm(X.T, X),
    }
    for name, work in works.items():
        rounds = []
        for _ in range(3 if quick else 9):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(300):
                work()
            rounds.append((time.perf_counter() - start) / 300)
            torch.cuda.synchronize()
        yield {"call": name, "us": 1e6 * statistics.median(rounds)}


def gradients(quick: bool) -> Iterator[Row]:
    for name, spec in specs(quick).items():
        A = Matrices(spec, "float32")
        graph = bt.matrix(A.ours)
        for k in (8, 32, 64):
            X = (torch.rand(A.shape[1], k, device="cuda") - 0.5).requires_grad_()
            G = torch.rand(A.shape[0], k, device="cuda") - 0.5
            works: dict[str, Work] = {
                "blockspan": lambda X=X, G=G, m=graph: torch.autograd.grad(bt.spmm(m, X), X, G)[0],
                "torch": lambda X=X, G=G, m=A.torch: torch.autograd.grad(
                    torch.sparse.mm(m, X), X, G
                )[0],
            }
            row = {
                "matrix": spec,
                "k": k,
                "difference": distance(works["blockspan"](), works["torch"]()),
            }
            yield row | _beside(timed(works, samples=7 if quick else 11))


class Network(torch.nn.Module):
    def __init__(self, product: Callable[[torch.Tensor], torch.Tensor], sizes: list[int]) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.product = product
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(a, b, device="cuda") for a, b in zip(sizes, sizes[1:], strict=False)
        )

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return self.product(self.layers[1](torch.relu(self.product(self.layers[0](X)))))


def training(quick: bool) -> Iterator[Row]:
    """A step of a two-layer graph network: the same dense layers and optimizer, only products differ."""
    A = Matrices("rmat:14:16" if quick else "rmat:18:16", "float32", 64)
    lengths = A.parts[0].diff().clamp(min=1)
    values = (1 / lengths).repeat_interleave(A.parts[0].diff().long()).float()
    S = torch.sparse_csr_tensor(A.parts[0], A.parts[1], values, A.shape)
    graph = bt.matrix(S, columns=64)
    X, target = torch.rand(A.shape[0], 64, device="cuda"), torch.arange(A.shape[0]).cuda() % 16
    ways: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "blockspan": lambda H: bt.spmm(graph, H),
        "torch": lambda H: torch.sparse.mm(S, H),
    }
    try:
        from torch_geometric.utils import scatter

        columns, rows = A.parts[1].long(), torch.arange(A.shape[0], device="cuda")
        rows = rows.repeat_interleave(A.parts[0].diff().long())
        ways["geometric"] = lambda H: scatter(  # as its layers do with a list of edges
            values[:, None] * H[columns], rows, dim=0, dim_size=A.shape[0], reduce="sum"
        )
    except ImportError:
        print("torch_geometric is not installed: left out")

    def trainer(way: str) -> tuple[Network, Work]:
        network = Network(ways[way], [64, 64, 16])
        optimizer = torch.optim.Adam(network.parameters(), lr=0.01, fused=True)

        def step() -> torch.Tensor:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(X), target)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return network, step

    losses = {way: [float(trainer(way)[1]()) for _ in range(1)][0] for way in ways}
    bits = set()
    for _ in range(20):
        network, step = trainer("blockspan")
        for _ in range(3):
            step()
        bits.add(tuple(float(p.detach().double().sum()) for p in network.parameters()))
    times = timed({way: trainer(way)[1] for way in ways}, samples=7 if quick else 15)
    yield {
        "edges": A.nnz,
        "difference": max(abs(x - losses["torch"]) for x in losses.values()),
        "results of 20 runs": len(bits),
    } | _beside(times)


def pairs(quick: bool) -> Iterator[Row]:
    """10 smallest pairs to ||r|| <= 1e-8 ||A|| ||x||; each solver from the same random block, once,
    after a small problem."""
    cases = ("laplace7:20", "elasticity:6") if quick else ("laplace7:40", "elasticity:16")
    for spec in ("laplace7:8", *cases):
        A = Matrices(spec, "float64", 16)
        bound = float(abs(A.cupy).sum(axis=1).max())
        start = torch.rand(A.shape[0], 10, device="cuda", dtype=torch.float64) - 0.5
        limit = 300 if quick else 1000
        diagonal = A.cupy.diagonal()
        jacobi = csla.LinearOperator(
            A.shape, matvec=lambda x, d=diagonal: x / d, matmat=lambda x, d=diagonal: x / d[:, None]
        )
        inverse = torch.sparse_csr_tensor(
            *(torch.arange(n, device="cuda") for n in (A.shape[0] + 1, A.shape[0])),
            1 / torch.as_tensor(diagonal),
            A.shape,
        )
        ways: dict[str, Work] = {
            "blockspan, no M": lambda: _ours(A, start, None),
            "blockspan, jacobi": lambda: _ours(A, start, "jacobi"),
            "blockspan, chebyshev:8": lambda: _ours(A, start, "chebyshev:8"),
            "cupyx lobpcg, jacobi": lambda: csla.lobpcg(
                A.cupy,
                cupy.asarray(start),
                M=jacobi,
                tol=1e-8 * bound,
                maxiter=limit,
                largest=False,
            ),
            "torch.lobpcg, jacobi": lambda: torch.lobpcg(
                A.torch, X=start.clone(), iK=inverse, tol=1e-8, niter=limit, largest=False
            ),
        }
        reference = None
        for name, way in ways.items():
            row: Row = {"matrix": spec, "solver": name}
            try:
                seconds, (w, V) = _wall(way)
            except Exception as reason:  # noqa: BLE001: a peer that fails is a result
                yield row | {"failed": f"{type(reason).__name__}: {reason}"[:200]}
                continue
            w, V = (torch.as_tensor(x).cuda().double() for x in (w, V))
            R = (A.torch @ V - V * w).norm(dim=0) / V.norm(dim=0) / bound
            if reference is None:
                reference = w.sort().values
            off = float(((w.sort().values - reference).abs() / reference.abs()).max())
            yield row | {"s": seconds, "residual": float(R.max()), "values off by": off}


def _ours(A: Matrices, start: torch.Tensor, M: str | None) -> Any:
    return bs.lobpcg(A.ours, start, M=M, k=10, largest=False, tol=1e-8, criterion="backward")


def _wall(way: Work) -> tuple[float, Any]:
    torch.cuda.synchronize()
    begin = time.perf_counter()
    result = way()
    torch.cuda.synchronize()
    return time.perf_counter() - begin, result


STUDIES = {
    "overhead": overhead,
    "products": products,
    "gradients": gradients,
    "training": training,
    "pairs": pairs,
}


def summary(rows: list[Row]) -> Row:
    """Geometric means of the columns of ratios."""
    names = sorted({name for row in rows for name in row if name.startswith("x ")})
    ratios = {name: [row[name] for row in rows if name in row] for name in names}
    return {
        name: {"geometric mean": statistics.geometric_mean(own), "least": min(own)}
        for name, own in ratios.items()
    }


def shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small matrices")
    parser.add_argument("--only", default=",".join(STUDIES), help=f"of {', '.join(STUDIES)}")
    parser.add_argument("--out", default="python_gpu.json")
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    record: dict[str, Any] = {
        "commit": options.commit,
        "device": torch.cuda.get_device_name(),
        "versions": {"torch": torch.__version__, "cupy": cupy.__version__, "numpy": np.__version__},
        "build": bs.show_config("cuda"),
        "studies": {},
    }
    for name in options.only.split(","):
        rows: list[Row] = []
        print(f"\n{name}", flush=True)
        try:
            for row in STUDIES[name](options.quick):
                if not rows or rows[-1].keys() != row.keys():
                    print("  " + " | ".join(row))
                rows.append(row)
                print("  " + " | ".join(map(shown, row.values())), flush=True)
        except Exception:  # noqa: BLE001: the other studies go on
            traceback.print_exc()
            record["studies"].setdefault("failed", []).append(name)
        record["studies"][name] = {"rows": rows, "summary": summary(rows)}
        for ratio, own in summary(rows).items():
            print(
                f"  {ratio}: geometric mean {own['geometric mean']:.2f}, least {own['least']:.2f}"
            )
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1, default=str)


if __name__ == "__main__":
    main()
