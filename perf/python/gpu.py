#!/usr/bin/env python3
"""Blockspan beside torch.sparse, CuPy, torch.lobpcg and torch_geometric on a GPU, from Python.

One run, the same arrays, results compared before times are taken, peers measured in turns, medians.
Prints tables and writes them as JSON: perf/python/gpu.py [--quick] [--only products,...] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import cupy
import numpy as np
import torch
from measure import Matrices, Row, Work, joined, distance, timed
from pairs import pairs

import blockspan as bs
import blockspan.torch as bt

QUICK = {
    "laplace7": "laplace7:40",
    "elasticity": "elasticity:14",
    "fixed": "fixed:20000x20000:20",
}
FULL = {
    "laplace7": "laplace7:100",
    "elasticity": "elasticity:40",
    "fixed": "fixed:500000x500000:20",
}


def specs(quick: bool) -> dict[str, str]:
    return {**(QUICK if quick else FULL), "rmat": "rmat:14:16" if quick else "rmat:18:16"}


def products(quick: bool) -> Iterator[Row]:
    for name, spec in specs(quick).items():
        for dtype in ("float64", "float32"):
            A = Matrices.of(spec, dtype)
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
                yield row | joined(times)


def overhead(quick: bool) -> Iterator[Row]:
    """Microseconds of the host for a call, on a matrix that takes the device no time."""
    A = Matrices.of("laplace5:4x4", "float32", 8)
    graph = bt.matrix(A.ours)
    X = torch.rand(16, 8, device="cuda")
    Y, C = torch.empty_like(X), cupy.asarray(X)
    D = cupy.empty_like(C)
    A.ours @ X  # makes its plan
    kind, plan = A.ours._kind, A.ours._plan
    (source, _), target = kind.operand(X), kind.argument(Y)
    works: dict[str, Work] = {
        "the module alone": lambda: plan.multiply("n", 1.0, source, 0.0, target, 0),
        "description of two tensors": lambda: (kind.operand(X), kind.argument(Y)),
        "torch empty": lambda: kind.result(X, source, 16),
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
        A = Matrices.of(spec, "float32")
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
            yield row | joined(timed(works, samples=7 if quick else 11))


def dense_like(quick: bool) -> Iterator[Row]:
    """Matrices of 1 to 30 % nonzeros, in single precision: A X, and 2 A X + Y / 2 written over Y."""
    sizes = [(512, 1024, 64), (1024, 2048, 128), (4096, 4096, 128), (8192, 4096, 256)]
    for rows, inner, k in sizes[:2] if quick else sizes:
        for percent in (1, 5, 10, 30):
            torch.manual_seed(percent)
            D = torch.randn(rows, inner, device="cuda")
            D *= torch.rand(rows, inner, device="cuda") < percent / 100
            S = D.to_sparse_csr()
            indices = [part.int() for part in (S.crow_indices(), S.col_indices())]
            A = Matrices([*indices, S.values()], (rows, inner), k)
            X, Y = torch.randn(inner, k, device="cuda"), torch.randn(rows, k, device="cuda")
            out = torch.empty_like(Y)
            mm: dict[str, Work] = {
                "blockspan": lambda A=A, X=X, out=out: bs.spmm(A.ours, X, out=out),
                "torch": lambda A=A, X=X: torch.sparse.mm(A.torch, X),
                "dense": lambda D=D, X=X, out=out: torch.mm(D, X, out=out),
            }
            ours, peers = Y.clone(), Y.clone()
            addmm: dict[str, Work] = {
                "blockspan": lambda A=A, X=X, Y=ours: bs.spmm(A.ours, X, out=Y, alpha=2, beta=0.5),
                "torch": lambda A=A, X=X, Y=peers: torch.addmm(
                    Y, A.torch, X, alpha=2, beta=0.5, out=Y
                ),
            }
            for call, works in (("mm", mm), ("addmm", addmm)):
                size = {"rows": rows, "inner": inner, "k": k, "percent": percent, "call": call}
                row = size | {"difference": distance(works["blockspan"](), works["torch"]())}
                times = joined(timed(works, samples=9 if quick else 15))
                yield row | {f"{n}, {call}" if n[0] == "x" else n: v for n, v in times.items()}


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
    A = Matrices.of("rmat:14:16" if quick else "rmat:18:16", "float32", 64)
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

    losses = {way: float(trainer(way)[1]()) for way in ways}
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
    } | joined(times)


STUDIES = {
    "overhead": overhead,
    "products": products,
    "gradients": gradients,
    "dense_like": dense_like,
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
