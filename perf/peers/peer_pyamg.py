"""PyAMG: its smoothed aggregation as it comes, under its conjugate gradients, one right-hand side after
the other, or under SciPy's lobpcg; on the host. Of structures it is given the rigid bodies."""

import numpy
import pyamg
import scipy.sparse
import scipy.sparse.linalg

import arrays
from protocol import Answer


def prepare(problem):
    A = scipy.sparse.csr_matrix((problem.values, problem.indices, problem.offsets),
                                shape=(problem.rows, problem.rows))
    if problem.coordinates is None:
        levels = pyamg.smoothed_aggregation_solver(A)
    else:
        levels = pyamg.smoothed_aggregation_solver(A.tobsr((3, 3)),
                                                   B=rigid_bodies(problem.coordinates))
    more = {"version": pyamg.__version__, "device": "cpu", "method": "smoothed aggregation"}
    if problem.task == "eigenpairs":
        M = levels.aspreconditioner()
        return lambda: arrays.eigenpairs(problem, numpy, scipy.sparse.linalg, A, M), more, lambda: None
    return lambda: solve(problem, levels), more, lambda: None


def rigid_bodies(coordinates):
    """Translations, and rotations about the centroid: 3 nodes x 6."""
    x, y, z = (coordinates - coordinates.mean(axis=0)).T
    B = numpy.zeros((len(x), 3, 6))
    B[:, 0, 0] = B[:, 1, 1] = B[:, 2, 2] = 1
    B[:, 0, 3], B[:, 1, 3] = -y, x
    B[:, 1, 4], B[:, 2, 4] = -z, y
    B[:, 2, 5], B[:, 0, 5] = -x, z
    return B.reshape(-1, 6)


def solve(problem, levels):
    X = numpy.zeros_like(problem.block)
    iterations = 0
    for j in range(problem.columns):
        residuals = []
        X[:, j] = levels.solve(problem.block[:, j].copy(), tol=problem.tolerance, accel="cg",
                               maxiter=problem.max_iterations, residuals=residuals)
        iterations += len(residuals) - 1
    return Answer(X, iterations)
