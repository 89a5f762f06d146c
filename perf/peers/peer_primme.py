"""PRIMME: primme.eigsh by its LOBPCG, on the host."""

import numpy
import primme
import scipy.sparse

from protocol import Answer


def prepare(problem):
    if problem.task != "eigenpairs":
        raise NotImplementedError("PRIMME finds eigenpairs only")
    A = scipy.sparse.csr_matrix((problem.values, problem.indices, problem.offsets),
                                shape=(problem.rows, problem.rows))
    jacobi = scipy.sparse.diags(1 / problem.diagonal())
    version = getattr(primme, "__version__", None)
    return lambda: solve(problem, A, jacobi), {"version": version, "device": "cpu"}, lambda: None


def solve(problem, A, jacobi):
    # its tolerance is relative to ||A||, as the suite's
    values, vectors, stats = primme.eigsh(
        A, k=problem.columns, which="SA", tol=problem.tolerance, OPinv=jacobi,
        v0=numpy.asfortranarray(problem.start()), method="PRIMME_LOBPCG_OrthoBasis",
        maxiter=problem.max_iterations, return_stats=True)
    return Answer(vectors, stats["numOuterIterations"], values)
