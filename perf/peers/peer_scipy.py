"""SciPy: scipy.sparse.linalg.lobpcg and cg, on the host."""

import numpy
import scipy
import scipy.sparse
import scipy.sparse.linalg

import arrays


def prepare(problem):
    solve = arrays.prepare(problem, numpy, scipy.sparse, scipy.sparse.linalg)
    return solve, {"version": scipy.__version__, "device": "cpu"}, lambda: None
