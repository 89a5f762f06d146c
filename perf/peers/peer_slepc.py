"""SLEPc: EPS with its LOBPCG and one application of Jacobi an iteration, on the host."""

import numpy
from petsc4py import PETSc
from slepc4py import SLEPc

import peer_petsc
from protocol import Answer


def prepare(problem, as_it_comes=False):
    """as_it_comes: with the preconditioner that SLEPc takes where nobody chooses, a few steps of
    GMRES."""
    if problem.task != "eigenpairs":
        raise NotImplementedError("SLEPc finds eigenpairs; the linear solvers are PETSc's")
    eps = solver(problem, peer_petsc.matrix(problem), as_it_comes)
    more = {"version": ".".join(map(str, SLEPc.Sys.getVersion())), "device": "cpu"}
    # known only when a solver has been set up
    ksp = eps.getST().getKSP()
    eps.setUp()
    more["method"] = f"lobpcg, {ksp.getType()}, {ksp.getPC().getType()}"
    return lambda: solve(problem, eps), more, lambda: None


def solver(problem, A, as_it_comes):
    eps = SLEPc.EPS().create()
    eps.setOperators(A)
    eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
    eps.setType(SLEPc.EPS.Type.LOBPCG)
    eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
    eps.setDimensions(nev=problem.columns)
    eps.setConvergenceTest(SLEPc.EPS.Conv.NORM)  # relative to ||A||, as the suite's
    eps.setTolerances(tol=problem.tolerance, max_it=problem.max_iterations)
    if not as_it_comes:
        ksp = eps.getST().getKSP()
        ksp.setType("preonly")
        ksp.getPC().setType("jacobi")
    return eps


def solve(problem, eps):
    # taken by a solve, so that each needs it anew
    eps.setInitialSpace([PETSc.Vec().createWithArray(column.copy()) for column in
                         problem.start().T])
    eps.solve()
    found = min(problem.columns, eps.getConverged())
    values = numpy.full(problem.columns, numpy.nan)
    vectors = numpy.zeros((problem.rows, problem.columns))
    x = eps.getOperators()[0].createVecRight()
    for j in range(found):
        values[j] = eps.getEigenpair(j, x).real
        vectors[:, j] = x.getArray()
    return Answer(vectors, eps.getIterationNumber(), values)
