"""hypre: BoomerAMG as PETSc calls it where nobody chooses, under PETSc's conjugate gradients, one
right-hand side after the other, on the host. Of structures it knows the unknowns of a node."""

from petsc4py import PETSc

import peer_petsc


def prepare(problem):
    try:
        solve, more, synchronize = peer_petsc.prepare(problem, "hypre")
    except PETSc.Error as error:
        raise NotImplementedError(f"this PETSc is without hypre (error {error.ierr})") from error
    return solve, dict(more, method="BoomerAMG"), synchronize
