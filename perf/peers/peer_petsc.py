"""PETSc: KSP's conjugate gradients, one right-hand side after the other, on the host."""

import numpy
from petsc4py import PETSc

from protocol import Answer


def matrix(problem):
    csr = (problem.offsets.astype(PETSc.IntType), problem.indices.astype(PETSc.IntType),
           problem.values)
    unknowns = 1 if problem.coordinates is None else 3
    return PETSc.Mat().createAIJ((problem.rows, problem.rows), bsize=unknowns, csr=csr)


def version():
    return ".".join(map(str, PETSc.Sys.getVersion()))


def prepare(problem, preconditioner="jacobi"):
    if problem.task != "linear_systems":
        raise NotImplementedError("PETSc solves linear systems; its eigensolvers are SLEPc")
    ksp = PETSc.KSP().create()
    ksp.setOperators(matrix(problem))
    ksp.setType("cg")
    ksp.getPC().setType(preconditioner)
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    ksp.setTolerances(rtol=problem.tolerance, atol=0, max_it=problem.max_iterations)
    ksp.setUp()
    return lambda: solve(problem, ksp), {"version": version(), "device": "cpu"}, lambda: None


def solve(problem, ksp):
    X = numpy.zeros_like(problem.block)
    iterations = 0
    for j in range(problem.columns):
        x = PETSc.Vec().createWithArray(numpy.zeros(problem.rows))
        ksp.solve(PETSc.Vec().createWithArray(problem.block[:, j].copy()), x)
        X[:, j] = x.getArray()
        iterations += ksp.getIterationNumber()
    return Answer(X, iterations)
