"""SLEPc: EPS with its LOBPCG, on the host."""

import numpy
from petsc4py import PETSc
from slepc4py import SLEPc

import peer_petsc
from protocol import Answer


def prepare(problem):
    if problem.task != "eigenpairs":
        raise NotImplementedError("SLEPc finds eigenpairs; the linear solvers are PETSc's")
    A = peer_petsc.matrix(problem)
    version = ".".join(map(str, SLEPc.Sys.getVersion()))
    return lambda: solve(problem, A), {"version": version, "device": "cpu"}, lambda: None


def solve(problem, A):
    eps = SLEPc.EPS().create()
    eps.setOperators(A)
    eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
    eps.setType(SLEPc.EPS.Type.LOBPCG)
    eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
    eps.setDimensions(nev=problem.columns)
    eps.setConvergenceTest(SLEPc.EPS.Conv.NORM)  # relative to ||A||, as the suite's
    eps.setTolerances(tol=problem.tolerance, max_it=problem.max_iterations)
    eps.getST().getKSP().getPC().setType("jacobi")
    eps.setInitialSpace([PETSc.Vec().createWithArray(column.copy()) for column in
                         problem.start().T])
    eps.solve()
    found = min(problem.columns, eps.getConverged())
    values = numpy.full(problem.columns, numpy.nan)
    vectors = numpy.zeros((problem.rows, problem.columns))
    x = A.createVecRight()
    for j in range(found):
        values[j] = eps.getEigenpair(j, x).real
        vectors[:, j] = x.getArray()
    return Answer(vectors, eps.getIterationNumber(), values)
