#!/usr/bin/env python3
"""What perf/robustness.py asks of an app, by the Python package: perf/robustness.py --app perf/python/eig.py ...

Residuals are recomputed with SciPy and NumPy, by the definitions of blockspan-eig's report.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

import blockspan as bs


def arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("matrix")
    words.add_argument("--operator", default="matrix", choices=["matrix", "laplacian", "adjacency"])
    words.add_argument("--mass")
    words.add_argument("--pairs", type=int, required=True)
    words.add_argument("--which", default="smallest", choices=["smallest", "largest"])
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--tolerance", type=float, default=1e-8)
    words.add_argument("--block", type=int, default=0)
    words.add_argument("--preconditioner", default="jacobi")
    words.add_argument("--backend", choices=["auto"], default="auto")
    words.add_argument("--report", required=True)
    words.add_argument("--quiet", action="store_true")
    return words.parse_args()


def read(source: str) -> Any:
    A = sp.csr_array(scipy.io.mmread(source))
    return A if A.dtype.kind in "fc" else A.astype(float)


def graph_of(A: Any, operator: str) -> Any:
    """Undirected, without weights and loops."""
    pattern = sp.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    edges = sp.csr_array(((pattern + pattern.T) > 0).astype(float))
    edges.setdiag(0)
    edges.eliminate_zeros()
    return edges if operator == "adjacency" else sp.csr_array(sp.csgraph.laplacian(edges))


def report(given: argparse.Namespace) -> dict[str, Any]:
    A = read(given.matrix)
    if given.operator != "matrix":
        A = graph_of(A, given.operator)
    B = read(given.mass) if given.mass else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.NotConvergedWarning)
        found = bs.lobpcg(
            A,
            B=B,
            M=given.preconditioner,
            k=given.pairs,
            largest=given.which == "largest",
            tol=given.tolerance,
            block=given.block,
            seed=given.seed,
        )
    w, V = found
    BV = V if B is None else B @ V
    norm_a = float(abs(A).sum(axis=1).max())
    norm_b = 1.0 if B is None else float(abs(B).sum(axis=1).max())
    length = np.linalg.norm(A @ V - BV * w, axis=0)
    backward = length / ((norm_a + abs(w) * norm_b) * np.linalg.norm(V, axis=0))
    with np.errstate(divide="ignore"):
        relative = length / (abs(w) * np.linalg.norm(BV, axis=0))
    config = bs.show_config()
    return {
        "versions": {"blockspan": config["version"], "kokkos": config["kokkos"]},
        "backend": config["backend"],
        "device": {"name": None, "threads": config["threads"]},
        "converged": bool(found.status == "converged"),
        "path": found.path,
        "iterations": found.iterations,
        "eigenvalues": w.tolist(),
        "residuals": backward.tolist(),
        "relative_residuals": [r if np.isfinite(r) else None for r in relative.tolist()],
        "norms": {"A": norm_a, "M": norm_b},
        "seconds": {"solve": found.seconds["total"]},
    }


def main() -> int:
    given = arguments()
    result = report(given)
    with open(given.report, "w") as file:
        json.dump(result, file)
    return 0 if result["converged"] else 1


if __name__ == "__main__":
    sys.exit(main())
