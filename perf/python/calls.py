"""Microseconds of a call from Python on a host, on a matrix that takes no time: the least of many short
rounds, since other work on the machine only adds to it. PyTorch is measured where it is installed.
"""

from __future__ import annotations

import importlib.util
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import blockspan as bs

Works = dict[str, Callable[[], Any]]


def of_numpy(S: Any, A: bs.Matrix) -> Works:
    X, Y = np.ones((16, 8)), np.empty((16, 8))
    A @ X  # makes its plan
    plan = A._plan
    return {
        "the module alone": lambda: plan.multiply("n", 1.0, X, 0.0, Y, 0),
        "A @ X of NumPy": lambda: A @ X,
        "spmm of NumPy, out=": lambda: bs.spmm(A, X, out=Y),
        "SciPy CSR @ X": lambda: S @ X,
    }


def of_torch(S: Any, A: bs.Matrix) -> Works:
    import torch

    import blockspan.torch as bt

    torch.set_num_threads(1)
    X = torch.ones((16, 8), dtype=torch.float64)
    Y, wanted = torch.empty_like(X), X.clone().requires_grad_()
    graph = bt.matrix(A)
    parts = (torch.from_numpy(part) for part in (S.indptr, S.indices, S.data))
    T = torch.sparse_csr_tensor(*parts, S.shape)
    return {
        "A @ X of torch": lambda: A @ X,
        "spmm of torch, out=": lambda: bs.spmm(A, X, out=Y),
        "blockspan.torch.spmm": lambda: bt.spmm(graph, X),
        "the same, recorded for a gradient": lambda: bt.spmm(graph, wanted),
        "torch.sparse.mm": lambda: torch.sparse.mm(T, X),
    }


def main() -> None:
    bs.threads(1)
    S = sp.random_array((16, 16), density=0.2, format="csr", rng=1)
    A = bs.matrix(S)
    works = of_numpy(S, A)
    if importlib.util.find_spec("torch"):
        works |= of_torch(S, A)
    print("| call | us |\n|---|---|")
    for name, work in works.items():
        print(f"| {name} | {1e6 * min(timeit.repeat(work, number=100, repeat=1000)) / 100:.1f} |")


if __name__ == "__main__":
    main()
