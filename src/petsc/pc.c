/* -pc_type blockspan: the preconditioners of blockspan.h under any Krylov method of PETSc.

   -pc_blockspan_type WORDS: multigrid[:DEGREE] (default), chebyshev[:DEGREE[:RATIO]], jacobi,
   block-jacobi[:ROWS], direct. Near-null spaces, block sizes and coordinates of the matrix go to
   multigrid. Columns of Dirichlet rows that were kept are left out (dirichlet.c). */
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

#include "plugin.h"

typedef struct {
  char words[256];
  blockspan_operator op, mended_op;
  Mat mat;                         /* that op was made of, whose entries it reads where they are */
  blockspan_operator source;       /* it as an operator */
  PetscObjectState state, pattern; /* other matrices have the same */
  BSDirichlet kept;
  PetscReal *coordinates;
  PetscInt dimension, nodes;
  PetscBool eigenpairs;
  char fault[512]; /* why there is no op: the matrix is not positive definite */
} PC_Blockspan;

static PetscErrorCode Reset(PC pc) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;

  PetscFunctionBegin;
  BSCall(blockspan_operator_destroy(&d->op));
  BSCall(blockspan_operator_destroy(&d->mended_op));
  PetscCall(BSDirichletReset(&d->kept));
  PetscCall(MatDestroy(&d->mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that is not positive definite fails the preconditioner, as a zero pivot does those of PETSc:
   the solver ends with KSP_DIVERGED_PC_FAILED, and the program goes on. */
static PetscErrorCode FailOrThrow(PC pc, blockspan_code code) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;

  PetscFunctionBegin;
  if (code != BLOCKSPAN_NOT_DEFINITE || pc->erroriffailure) {
    BSCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrncpy(d->fault, blockspan_last_error(), sizeof d->fault));
  PetscCall(PetscInfo(pc, "Blockspan: %s\n", d->fault));
  PetscCall(Reset(pc));
  pc->failedreason = PC_FACTOR_OTHER;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Make(PC pc, blockspan_operator matrix) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;
  blockspan_preconditioner_options o;
  blockspan_block near_null, coordinates;
  MatNullSpace space = NULL;
  PetscScalar *memory = NULL;
  PetscInt size;
  PetscBool levels;
  blockspan_code code;

  PetscFunctionBegin;
  BSCall(blockspan_preconditioner_defaults(&o, sizeof o));
  o.purpose = d->eigenpairs ? BLOCKSPAN_FOR_EIGENPAIRS : BLOCKSPAN_FOR_SYSTEMS;
  PetscCall(PetscStrbeginswith(d->words, "multigrid", &levels));
  if (levels) {
    PetscCall(MatGetBlockSize(pc->pmat, &size));
    if (size > 1 && size <= 16) o.block_size = (int32_t)size;
    PetscCall(MatGetNearNullSpace(pc->pmat, &space));
    PetscCall(BSVectors(space, pc->pmat, &memory, &near_null));
    if (near_null.columns > 0) {
      o.near_null = &near_null;
    } else if (d->coordinates && d->dimension == size && size > 1) {
      coordinates =
          blockspan_by_rows(d->coordinates, d->nodes, d->dimension, d->dimension, BLOCKSPAN_DOUBLE);
      o.coordinates = &coordinates;
    }
  }
  code = blockspan_preconditioner(matrix, d->words, &o, &d->op);
  PetscCall(PetscFree(memory));
  PetscCall(FailOrThrow(pc, code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Blockspan(PC pc) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;
  BSMat *m;
  BSArrays arrays;
  PetscBool known, same;

  PetscFunctionBegin;
  PetscCall(BSMatGet(pc->pmat, &m));
  same = (PetscBool)(d->op && d->mat == pc->pmat && d->source == m->op && d->pattern == m->pattern);
  if (same && d->state == m->state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(m->entries, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type blockspan needs the entries of a matrix of type aij; this one is %s",
             ((PetscObject)pc->pmat)->type_name);
  PetscCall(PetscLogEventBegin(BS_Setup, pc, 0, 0, 0));
  pc->failedreason = PC_NOERROR;
  if (!same || d->kept.a) PetscCall(Reset(pc));
  PetscCall(BSArraysGet(pc->pmat, &arrays, &known));
  PetscCall(BSDirichletFind(pc->pmat, &arrays, &d->kept));
  if (d->op && !d->kept.a) {
    PetscCall(FailOrThrow(pc, blockspan_operator_refresh(d->op, NULL)));
  } else {
    BSCall(blockspan_operator_destroy(&d->op));
    if (d->kept.a) {
      arrays.a = d->kept.a;
      arrays.ao = d->kept.ao;
      PetscCall(BSMatrixCreate(pc->pmat, &arrays, &d->mended_op));
    }
    PetscCall(Make(pc, d->kept.a ? d->mended_op : m->op));
  }
  PetscCall(PetscLogEventEnd(BS_Setup, pc, 0, 0, 0));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  if (!d->mat) PetscCall(PetscObjectReference((PetscObject)pc->pmat));
  d->mat = pc->pmat;
  d->source = m->op;
  d->state = m->state;
  d->pattern = m->pattern;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc sets nothing up where the matrix is as it was, although other words were given, and where a
   preconditioner is to be reused (KSPSetReusePreconditioner). One whose matrix has another pattern by
   now cannot be: the entries have gone elsewhere. It is made anew. */
static PetscErrorCode Ready(PC pc) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;
  PetscObjectState pattern = 0;

  PetscFunctionBegin;
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  if (d->op) PetscCall(MatGetNonzeroState(d->mat, &pattern));
  if (!d->op || pattern != d->pattern) PetscCall(PCSetUp_Blockspan(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL where the preconditioner failed. */
PetscErrorCode BSPCGetOperator(PC pc, PetscBool eigenpairs, blockspan_operator *op) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;

  PetscFunctionBegin;
  if (d->eigenpairs != eigenpairs) PetscCall(Reset(pc));
  d->eigenpairs = eigenpairs;
  PetscCall(PCSetUp(pc));
  PetscCall(Ready(pc));
  *op = d->op;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyVec(PC pc, Vec x, Vec y) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;
  const PetscScalar *from;
  PetscScalar *to;
  PetscInt n;
  blockspan_block X, Y;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  X = blockspan_by_columns((void *)from, n, 1, n, BS_SCALAR);
  Y = blockspan_by_columns(to, n, 1, n, BS_SCALAR);
  BSCall(blockspan_apply_operator(d->op, &X, &Y));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_Blockspan(PC pc, Vec x, Vec y) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;

  PetscFunctionBegin;
  PetscCall(Ready(pc));
  if (pc->failedreason) { /* Krylov methods look for the reason where they meet it */
    PetscCall(VecSet(y, PETSC_INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!d->kept.entries) {
    PetscCall(ApplyVec(pc, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BSDirichletSolve(d->mat, &d->kept, x));
  PetscCall(ApplyVec(pc, d->kept.rest, y));
  PetscCall(VecAXPY(y, 1, d->kept.correction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if !defined(PETSC_USE_COMPLEX)
static PetscErrorCode PCApplyTranspose_Blockspan(PC pc, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(Ready(pc));
  PetscCheck(!((PC_Blockspan *)pc->data)->kept.entries, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type blockspan is not symmetric where columns of Dirichlet rows were kept");
  PetscCall(PCApply_Blockspan(pc, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode PCMatApply_Blockspan(PC pc, Mat x, Mat y) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;
  const PetscScalar *from;
  PetscScalar *to;
  PetscInt leading_x, leading_y, n = x->rmap->n, k = x->cmap->N;
  blockspan_block X, Y;

  PetscFunctionBegin;
  PetscCall(Ready(pc));
  for (PetscInt j = 0; (d->kept.entries || pc->failedreason) && j < k; ++j) {
    Vec from_column, to_column;
    PetscCall(MatDenseGetColumnVecRead(x, j, &from_column));
    PetscCall(MatDenseGetColumnVecWrite(y, j, &to_column));
    PetscCall(PCApply_Blockspan(pc, from_column, to_column));
    PetscCall(MatDenseRestoreColumnVecWrite(y, j, &to_column));
    PetscCall(MatDenseRestoreColumnVecRead(x, j, &from_column));
  }
  if (d->kept.entries || pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDenseGetLDA(x, &leading_x));
  PetscCall(MatDenseGetLDA(y, &leading_y));
  PetscCall(MatDenseGetArrayRead(x, &from));
  PetscCall(MatDenseGetArrayWrite(y, &to));
  X = blockspan_by_columns((void *)from, n, k, leading_x, BS_SCALAR);
  Y = blockspan_by_columns(to, n, k, leading_y, BS_SCALAR);
  BSCall(blockspan_apply_operator(d->op, &X, &Y));
  PetscCall(MatDenseRestoreArrayRead(x, &from));
  PetscCall(MatDenseRestoreArrayWrite(y, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetCoordinates_Blockspan(PC pc, PetscInt dimension, PetscInt nodes,
                                                 PetscReal *coordinates) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;
  size_t const count = (size_t)dimension * (size_t)nodes;

  PetscFunctionBegin;
  PetscCall(PetscFree(d->coordinates));
  PetscCall(PetscMalloc1(count + 1, &d->coordinates));
  PetscCall(PetscArraycpy(d->coordinates, coordinates, count));
  d->dimension = dimension;
  d->nodes = nodes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_Blockspan(PC pc, BS_ITEMS) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;
  char before[sizeof d->words];
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(before, d->words, sizeof before));
  PetscOptionsHeadBegin(PetscOptionsObject, "Blockspan options");
  PetscCall(PetscOptionsString("-pc_blockspan_type",
                               "multigrid[:DEGREE], chebyshev[:DEGREE[:RATIO]], jacobi, "
                               "block-jacobi[:ROWS] or direct",
                               "blockspan.h", d->words, d->words, sizeof d->words, NULL));
  PetscOptionsHeadEnd();
  PetscCall(PetscStrcmp(before, d->words, &same));
  if (!same) PetscCall(Reset(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_Blockspan(PC pc, PetscViewer viewer) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;
  char text[4000] = "not set up";

  PetscFunctionBegin;
  if (pc->failedreason) PetscCall(PetscStrncpy(text, d->fault, sizeof text));
  if (d->op) BSCall(blockspan_operator_describe(d->op, text, sizeof text, NULL));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %s\n", d->words, text));
  if (d->kept.entries)
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  of a copy without %" PetscInt_FMT " entries in columns of rows that hold "
                "nothing but a diagonal (MatZeroRowsColumns would leave none)\n", d->kept.entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_Blockspan(PC pc) { return Reset(pc); }

static PetscErrorCode PCDestroy_Blockspan(PC pc) {
  PC_Blockspan *d = (PC_Blockspan *)pc->data;

  PetscFunctionBegin;
  PetscCall(Reset(pc));
  PetscCall(PetscFree(d->coordinates));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSetCoordinates_C", NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSPCCreate(PC pc) {
  PC_Blockspan *d;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  PetscCall(PetscStrncpy(d->words, "multigrid", sizeof d->words));
  pc->data = d;
  pc->ops->setup = PCSetUp_Blockspan;
  pc->ops->apply = PCApply_Blockspan;
  pc->ops->matapply = PCMatApply_Blockspan;
#if !defined(PETSC_USE_COMPLEX)
  pc->ops->applytranspose = PCApplyTranspose_Blockspan;
#endif
  pc->ops->setfromoptions = PCSetFromOptions_Blockspan;
  pc->ops->view = PCView_Blockspan;
  pc->ops->reset = PCReset_Blockspan;
  pc->ops->destroy = PCDestroy_Blockspan;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSetCoordinates_C",
                                       PCSetCoordinates_Blockspan));
  PetscFunctionReturn(PETSC_SUCCESS);
}
