/* Matrices of PETSc as operators of Blockspan, without copies where they are AIJ. */
/* of PetscContainerSetUserDestroy, whose successor takes another function from 3.23 and one more from 3.25 on */
#define PETSC_SILENCE_DEPRECATION_WARNINGS_3_23_0
#include <petsc/private/matimpl.h>

#include "plugin.h"

PetscErrorCode BSError(blockspan_code code) {
  PetscFunctionBegin;
  PetscCheck(code == BLOCKSPAN_OK, PETSC_COMM_SELF,
             code == BLOCKSPAN_OUT_OF_MEMORY ? PETSC_ERR_MEM
             : code == BLOCKSPAN_NOT_BUILT   ? PETSC_ERR_SUP
                                             : PETSC_ERR_LIB,
             "Blockspan: %s", blockspan_last_error());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- a context for each communicator ---- */

static PetscMPIInt context_key = MPI_KEYVAL_INVALID;

static int ContextDelete(MPI_Comm comm, PetscMPIInt key, void *value, void *extra) {
  blockspan_context context = (blockspan_context)value;
  (void)comm, (void)key, (void)extra;
  return blockspan_context_destroy(&context) == BLOCKSPAN_OK ? MPI_SUCCESS : MPI_ERR_OTHER;
}

PetscErrorCode BSContextGet(MPI_Comm comm, blockspan_context *context) {
  PetscMPIInt found, size;

  PetscFunctionBegin;
  if (context_key == MPI_KEYVAL_INVALID)
    PetscCallMPI(
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ContextDelete, &context_key, NULL));
  PetscCallMPI(MPI_Comm_get_attr(comm, context_key, (void *)context, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  *context = NULL;
  if (size == 1)
    BSCall(blockspan_context_create(NULL, context));
  else
    BSCall(blockspan_context_create_mpi(NULL, &comm, context));
  PetscCallMPI(MPI_Comm_set_attr(comm, context_key, (void *)*context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- matrices ---- */

PetscErrorCode BSArraysGet(Mat A, BSArrays *arrays, PetscBool *known) {
  PetscBool seq, mpi;
  PetscMemType space = PETSC_MEMTYPE_HOST, other = PETSC_MEMTYPE_HOST;
  PetscMPIInt size;
  Mat own, rest;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(arrays, sizeof *arrays));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  *known = (PetscBool)(seq || mpi);
  if (seq)
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &arrays->ia, &arrays->ja, &arrays->a, &space));
  if (mpi) {
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
    PetscCall(MatMPIAIJGetSeqAIJ(A, &own, &rest, &arrays->garray));
    PetscCall(MatSeqAIJGetCSRAndMemType(own, &arrays->ia, &arrays->ja, &arrays->a, &space));
    if (size > 1)
      PetscCall(MatSeqAIJGetCSRAndMemType(rest, &arrays->io, &arrays->jo, &arrays->ao, &other));
  }
  PetscCheck(PetscMemTypeHost(space) && PetscMemTypeHost(other), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Blockspan: matrices in the memory of devices are not taken yet");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first rows of all ranks; freed by the caller. */
static PetscErrorCode CutsGet(Mat A, int64_t **cuts) {
  const PetscInt *ranges;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(MatGetOwnershipRanges(A, &ranges));
  PetscCall(PetscMalloc1((size_t)size + 1, cuts));
  for (PetscMPIInt r = 0; r <= size; ++r) (*cuts)[r] = ranges[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSMatrixCreate(Mat A, const BSArrays *r, blockspan_operator *op) {
  blockspan_context context;
  int64_t *cuts, *columns;
  PetscInt n = A->rmap->n, others;

  PetscFunctionBegin;
  PetscCall(BSContextGet(PetscObjectComm((PetscObject)A), &context));
  if (!r->io) {
    BSCall(blockspan_matrix_csr(context, BS_SCALAR, n, A->cmap->n, r->ia, 32, r->ja, r->a,
                                BLOCKSPAN_HOST, op));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CutsGet(A, &cuts));
  others = r->io[n];
  PetscCall(PetscMalloc1(others, &columns));
  for (PetscInt e = 0; e < others; ++e) columns[e] = r->garray[r->jo[e]];
  BSCall(blockspan_matrix_distributed(context, BS_SCALAR, cuts, r->ia, r->ja, r->a, r->io, columns,
                                      r->ao, op));
  PetscCall(PetscFree(columns));
  PetscCall(PetscFree(cuts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Y = A X of any Mat, column by column. */
static PetscErrorCode ApplyColumns(Mat A, const blockspan_block *X, const blockspan_block *Y) {
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  for (PetscInt j = 0; j < X->columns; ++j) {
    PetscCall(VecPlaceArray(x, (PetscScalar *)X->data + j * X->column_stride));
    PetscCall(VecPlaceArray(y, (PetscScalar *)Y->data + j * Y->column_stride));
    PetscCall(MatMult(A, x, y));
    PetscCall(VecResetArray(x));
    PetscCall(VecResetArray(y));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int ApplyCallback(void *user, const blockspan_block *X, const blockspan_block *Y) {
  BSMat *m = (BSMat *)user;
  m->error = ApplyColumns(m->mat, X, Y);
  return m->error != 0;
}

static PetscErrorCode BSMatDestroy(void *pointer) {
  BSMat *m = (BSMat *)pointer;

  PetscFunctionBegin;
  BSCall(blockspan_operator_destroy(&m->op));
  PetscCall(PetscFree(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compose(Mat A, BSMat **m) {
  PetscContainer box;

  PetscFunctionBegin;
  PetscCall(PetscNew(m));
  (*m)->mat = A;
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)A), &box));
  PetscCall(PetscContainerSetPointer(box, *m));
  PetscCall(PetscContainerSetUserDestroy(box, BSMatDestroy));
  PetscCall(PetscObjectCompose((PetscObject)A, "Blockspan", (PetscObject)box));
  PetscCall(PetscContainerDestroy(&box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSMatGet(Mat A, BSMat **out) {
  PetscContainer box;
  PetscObjectState state, pattern;
  BSArrays arrays;
  BSMat *m = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)A, "Blockspan", (PetscObject *)&box));
  if (box)
    PetscCall(PetscContainerGetPointer(box, (void **)&m));
  else
    PetscCall(Compose(A, &m));
  *out = m;
  /* after composing, which raises the state */
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(MatGetNonzeroState(A, &pattern));
  if (m->op && m->state == state && m->pattern == pattern) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(BS_Setup, A, 0, 0, 0));
  PetscCall(BSArraysGet(A, &arrays, &m->entries));
  if (m->op && m->entries && m->pattern == pattern && m->ia == arrays.ia && m->ja == arrays.ja &&
      m->a == arrays.a) {
    BSCall(blockspan_operator_refresh(m->op, arrays.ao));
  } else {
    BSCall(blockspan_operator_destroy(&m->op));
    if (m->entries) {
      PetscCall(BSMatrixCreate(A, &arrays, &m->op));
    } else {
      blockspan_context context;
      int64_t *cuts;
      PetscMPIInt size;
      PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
      PetscCall(BSContextGet(PetscObjectComm((PetscObject)A), &context));
      PetscCall(CutsGet(A, &cuts));
      BSCall(blockspan_operator_callback(context, BS_SCALAR, size > 1 ? cuts : NULL, A->rmap->n,
                                         ApplyCallback, m, 1, ((PetscObject)A)->type_name, &m->op));
      PetscCall(PetscFree(cuts));
    }
  }
  m->state = state;
  m->pattern = pattern;
  m->ia = arrays.ia;
  m->ja = arrays.ja;
  m->a = arrays.a;
  PetscCall(PetscLogEventEnd(BS_Setup, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSVectors(MatNullSpace space, Mat A, PetscScalar **memory, blockspan_block *block) {
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0, n = A->rmap->n, columns;
  const Vec *vectors = NULL;

  PetscFunctionBegin;
  *memory = NULL;
  if (space) PetscCall(MatNullSpaceGetVecs(space, &constant, &count, &vectors));
  columns = count + (constant ? 1 : 0);
  PetscCall(PetscMalloc1((size_t)n * (size_t)columns + 1, memory));
  for (PetscInt j = 0; j < count; ++j) {
    const PetscScalar *from;
    PetscCall(VecGetArrayRead(vectors[j], &from));
    PetscCall(PetscArraycpy(*memory + (size_t)j * (size_t)n, from, n));
    PetscCall(VecRestoreArrayRead(vectors[j], &from));
  }
  if (constant)
    for (PetscInt i = 0; i < n; ++i) (*memory)[(size_t)count * (size_t)n + (size_t)i] = 1;
  *block = blockspan_by_columns(*memory, n, columns, n, BS_SCALAR);
  PetscFunctionReturn(PETSC_SUCCESS);
}
