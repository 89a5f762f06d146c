/* Rows with nothing but a diagonal whose columns were kept (MatZeroRows). With D for these and I for the
   others, A = [A_I, A_ID; 0, D]: D is solved exactly, and what its columns do is taken off the residual of
   I before a copy of A without them is preconditioned. M^-1 A has two blocks then, each symmetric. */
#include <petsc/private/matimpl.h>

#include "plugin.h"

PetscErrorCode BSDirichletReset(BSDirichlet *d) {
  PetscFunctionBegin;
  PetscCall(PetscFree(d->a));
  PetscCall(PetscFree(d->ao));
  PetscCall(VecDestroy(&d->solved));
  PetscCall(VecDestroy(&d->correction));
  PetscCall(VecDestroy(&d->rest));
  d->entries = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* flags[i] = 1 where row i has nothing but a diagonal. */
static PetscErrorCode LonelyRows(Mat A, const BSArrays *r, Vec flags) {
  PetscScalar *flag;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(flags, &flag));
  for (PetscInt i = 0; i < A->rmap->n; ++i) {
    PetscBool lonely = PETSC_TRUE;
    for (PetscInt e = r->ia[i]; e < r->ia[i + 1]; ++e)
      if (r->ja[e] != i && r->a[e] != 0.0) lonely = PETSC_FALSE;
    if (r->io)
      for (PetscInt e = r->io[i]; e < r->io[i + 1]; ++e)
        if (r->ao[e] != 0.0) lonely = PETSC_FALSE;
    flag[i] = lonely ? 1 : 0;
  }
  PetscCall(VecRestoreArrayWrite(flags, &flag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values with zeros in the columns whose flag is set; counts what was not zero. */
static PetscErrorCode WithoutColumns(PetscInt rows, const PetscInt *offsets,
                                     const PetscInt *columns, const PetscScalar *values,
                                     const PetscScalar *flag, PetscBool own, PetscScalar **out,
                                     PetscInt *count) {
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)offsets[rows] + 1, out));
  for (PetscInt i = 0; i < rows; ++i)
    for (PetscInt e = offsets[i]; e < offsets[i + 1]; ++e) {
      PetscBool const drop = (PetscBool)(flag[columns[e]] != 0.0 && !(own && columns[e] == i));
      (*out)[e] = drop ? 0 : values[e];
      if (drop && values[e] != 0.0) ++*count;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSDirichletFind(Mat A, const BSArrays *r, BSDirichlet *d) {
  Vec flags, ghosts = NULL;
  const PetscScalar *flag;
  PetscInt all;

  PetscFunctionBegin;
  d->entries = 0;
  PetscCall(MatCreateVecs(A, NULL, &flags));
  PetscCall(LonelyRows(A, r, flags));
  PetscCall(VecGetArrayRead(flags, &flag));
  PetscCall(WithoutColumns(A->rmap->n, r->ia, r->ja, r->a, flag, PETSC_TRUE, &d->a, &d->entries));
  PetscCall(VecRestoreArrayRead(flags, &flag));
  if (r->io) {
    IS from;
    VecScatter scatter;
    Mat own, rest;
    PetscInt count;
    PetscCall(MatMPIAIJGetSeqAIJ(A, &own, &rest, NULL));
    PetscCall(MatGetSize(rest, NULL, &count));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, count, &ghosts));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, r->garray, PETSC_USE_POINTER, &from));
    PetscCall(VecScatterCreate(flags, from, ghosts, NULL, &scatter));
    PetscCall(VecScatterBegin(scatter, flags, ghosts, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, flags, ghosts, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterDestroy(&scatter));
    PetscCall(ISDestroy(&from));
    PetscCall(VecGetArrayRead(ghosts, &flag));
    PetscCall(WithoutColumns(A->rmap->n, r->io, r->jo, r->ao, flag, PETSC_FALSE, &d->ao, &d->entries));
    PetscCall(VecRestoreArrayRead(ghosts, &flag));
    PetscCall(VecDestroy(&ghosts));
  }
  PetscCallMPI(MPI_Allreduce(&d->entries, &all, 1, MPIU_INT, MPI_SUM,
                             PetscObjectComm((PetscObject)A)));
  d->entries = all;
  if (all) {
    PetscCall(VecDuplicate(flags, &d->correction));
    PetscCall(VecDuplicate(flags, &d->rest));
    PetscCall(MatGetDiagonal(A, d->rest));
    PetscCall(VecPointwiseDivide(flags, flags, d->rest));
    d->solved = flags;
  } else {
    PetscCall(VecDestroy(&flags));
    PetscCall(PetscFree(d->a));
    PetscCall(PetscFree(d->ao));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSDirichletSolve(Mat A, const BSDirichlet *d, Vec x) {
  PetscFunctionBegin;
  PetscCall(VecPointwiseMult(d->correction, x, d->solved));
  PetscCall(MatMult(A, d->correction, d->rest));
  PetscCall(VecAYPX(d->rest, -1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
