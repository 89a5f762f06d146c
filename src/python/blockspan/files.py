"""Matrices from files and from specs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from blockspan import _host
from blockspan.arguments import float_type, path_name
from blockspan.errors import Error
from blockspan.matrix import Matrix, matrix


def generate(spec: str, dtype: Any = np.float64) -> Matrix:
    """The matrix of a spec, NAME:SIZE[:NUMBER]...[:OPTION]...

    "laplace7:100" is the 7-point Laplacian of 100^3 points, "elasticity:20" an elastic body,
    "rmat:16:16" a random graph; a wrong name lists them all. dtype: real or complex, of NumPy.
    Raises Error for a bad spec or type.

    >>> import blockspan as bs
    >>> bs.generate("laplace5:10x20").shape
    (200, 200)
    """
    if not isinstance(spec, str):
        raise Error(f"blockspan.generate: spec = {spec!r} is no string")
    return matrix(_host.generate(spec, float_type("blockspan.generate", dtype).name))


def read_matrix_market(path: str | os.PathLike[str], dtype: Any = None) -> Matrix:
    """The matrix of a Matrix Market file, plain or gzip; symmetric storage is expanded.

    dtype: default float64, complex128 for complex files. Raises Error with file, line and column
    where the file is bad.

    >>> import blockspan as bs, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".mtx") as file:
    ...     n = file.write("%%MatrixMarket matrix coordinate real symmetric\\n2 2 2\\n1 1 3\\n2 1 4\\n")
    ...     file.flush()
    ...     A = bs.read_matrix_market(file.name)
    >>> A.nnz
    3
    """
    where = "blockspan.read_matrix_market"
    name = "" if dtype is None else float_type(where, dtype).name
    file = path_name(where, "path", path)
    if not file:
        raise Error(f"{where}: path = {path!r} is no name of a file")
    return matrix(_host.read_matrix_market(file, name))
