"""Sparse matrix times a block of vectors, LOBPCG and conjugate gradients for many right-hand sides.

On the caller's own arrays (NumPy, SciPy, PyTorch, CuPy), in host memory or on a CUDA device, without
copies.
"""

from __future__ import annotations

import importlib
from typing import Any, Literal

from blockspan.waiting import short_spins

with short_spins():  # the first import of the module loads libgomp
    from blockspan import _host

from blockspan import arrays, precond
from blockspan.arguments import integer
from blockspan.csr import ConversionWarning
from blockspan.eigen import lobpcg
from blockspan.ends import eigsh
from blockspan.errors import Error
from blockspan.exact import count, eigs_in
from blockspan.files import generate, read_matrix_market
from blockspan.linear import cg
from blockspan.matrix import Matrix, matrix
from blockspan.multiply import spmm
from blockspan.options import SolverOptions
from blockspan.plan import Plan
from blockspan.precond import Preconditioner
from blockspan.results import (
    Certificate,
    CgColumn,
    CgIteration,
    CgProgress,
    CgResult,
    EigenCount,
    EigenIteration,
    EigenProgress,
    EigenResult,
    ExactProgress,
    ExactResult,
    MissingPairs,
    ShiftCount,
)
from blockspan.sampled import sddmm
from blockspan.status import NotConverged, NotConvergedWarning, Status

__version__ = "0.2.0"

__all__ = [
    "Certificate",
    "CgColumn",
    "CgIteration",
    "CgProgress",
    "CgResult",
    "ConversionWarning",
    "EigenCount",
    "EigenIteration",
    "EigenProgress",
    "EigenResult",
    "Error",
    "ExactProgress",
    "ExactResult",
    "Matrix",
    "MissingPairs",
    "NotConverged",
    "NotConvergedWarning",
    "Plan",
    "Preconditioner",
    "ShiftCount",
    "SolverOptions",
    "Status",
    "cg",
    "count",
    "eigs_in",
    "eigsh",
    "generate",
    "lobpcg",
    "matrix",
    "precond",
    "read_matrix_market",
    "sddmm",
    "show_config",
    "spmm",
    "threads",
]

arrays.register(_host)


def __getattr__(name: str) -> Any:
    if name in ("cluster", "torch"):  # what they need is imported when they are first used
        return importlib.import_module(f"blockspan.{name}")
    raise AttributeError(f"module 'blockspan' has no attribute '{name}'")


def threads(n: int) -> None:
    """Compute with n threads. Before the first product; default: OMP_NUM_THREADS, or all cores.

    Threads that wait sleep after some 20 microseconds, so that a busy machine costs them no more
    than their share; where another package has loaded OpenMP (libgomp) before this one, they wait
    as that was told: import blockspan first, or set GOMP_SPINCOUNT=1000 before Python starts.
    Raises Error once the library runs with another number.

    >>> import blockspan as bs
    >>> bs.threads(bs.show_config()["threads"])
    """
    _host.set_threads(integer("blockspan.threads", "n", n))


def show_config(backend: Literal["host", "cuda"] = "host") -> dict[str, Any]:
    """What this build is: backend, threads, scalars, version of Kokkos. Starts the library.

    ``stored``: types of 16 bits that products and :func:`sddmm` take beside the scalars.
    ``components``: "direct", where :func:`eigs_in` and what else needs factors has them.

    backend: of which module; Error where the installation has no "cuda".

    >>> import blockspan as bs
    >>> "float64" in bs.show_config()["scalars"]
    True
    """
    if backend not in ("host", "cuda"):
        raise Error(f"blockspan.show_config: backend={backend!r}; there are 'host' and 'cuda'")
    module = arrays.cuda_module("show_config") if backend == "cuda" else _host
    return {"version": __version__, **module.configuration()}
