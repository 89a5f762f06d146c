"""PRIMME: primme.eigsh by its LOBPCG with Jacobi, on the host."""

import importlib.metadata

import numpy
import primme
import scipy.sparse

from protocol import Answer


def prepare(problem, method="PRIMME_LOBPCG_OrthoBasis"):
    if problem.task != "eigenpairs":
        raise NotImplementedError("PRIMME finds eigenpairs only")
    A = scipy.sparse.csr_matrix((problem.values, problem.indices, problem.offsets),
                                shape=(problem.rows, problem.rows))
    jacobi = scipy.sparse.diags(1 / problem.diagonal())
    more = {"version": importlib.metadata.version("primme"), "device": "cpu",
            "method": method or "chosen by PRIMME"}
    return lambda: solve(problem, A, jacobi, method), more, lambda: None


def solve(problem, A, jacobi, method):
    # its tolerance is relative to ||A||, as the suite's
    values, vectors, stats = primme.eigsh(
        A, k=problem.columns, which="SA", tol=problem.tolerance, OPinv=jacobi,
        v0=numpy.asfortranarray(problem.start()), method=method,
        maxiter=problem.max_iterations, return_stats=True)
    return Answer(vectors, stats["numOuterIterations"], values)
