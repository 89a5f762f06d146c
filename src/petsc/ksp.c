/* -ksp_type blockspan: solve_spd of Blockspan, one right-hand side or (KSPMatSolve) all together.

   -ksp_blockspan_method automatic, pseudo_block or block. The norm of convergence tests is that of
   the true residual, of each column. */
#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

#include "plugin.h"

/* ---- preconditioners of PETSc inside Blockspan's solvers ---- */

static PetscErrorCode ApplyBlock(BSPrec *p, const blockspan_block *X, const blockspan_block *Y) {
  PetscInt const k = (PetscInt)X->columns, n = (PetscInt)X->rows;
  PetscInt have = -1;

  PetscFunctionBegin;
  if (p->X) PetscCall(MatGetSize(p->X, NULL, &have));
  if (have != k) {
    MPI_Comm const comm = PetscObjectComm((PetscObject)p->pc);
    PetscCall(MatDestroy(&p->X));
    PetscCall(MatDestroy(&p->Y));
    PetscCall(MatCreateDense(comm, n, PETSC_DECIDE, PETSC_DETERMINE, k, X->data, &p->X));
    PetscCall(MatCreateDense(comm, n, PETSC_DECIDE, PETSC_DETERMINE, k, Y->data, &p->Y));
  }
  PetscCall(MatDensePlaceArray(p->X, (PetscScalar *)X->data));
  PetscCall(MatDensePlaceArray(p->Y, (PetscScalar *)Y->data));
  PetscCall(PetscObjectStateIncrease((PetscObject)p->X));
  PetscCall(PCMatApply(p->pc, p->X, p->Y));
  PetscCall(MatDenseResetArray(p->X));
  PetscCall(MatDenseResetArray(p->Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int ApplyCallback(void *user, const blockspan_block *X, const blockspan_block *Y) {
  BSPrec *p = (BSPrec *)user;
  p->error = ApplyBlock(p, X, Y);
  return p->error != 0;
}

PetscErrorCode BSPrecReset(BSPrec *p) {
  PetscFunctionBegin;
  PetscCall(MatDestroy(&p->X));
  PetscCall(MatDestroy(&p->Y));
  BSCall(blockspan_operator_destroy(&p->op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSPrecFrom(PC pc, Mat A, PetscBool eigenpairs, BSPrec *p, blockspan_operator *op) {
  PetscBool none, ours, jacobi;
  PCJacobiType type = PC_JACOBI_DIAGONAL;
  BSMat *m;

  PetscFunctionBegin;
  *op = NULL;
  p->error = 0;
  PetscCall(BSPrecReset(p));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCNONE, &none));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, "blockspan", &ours));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCJACOBI, &jacobi));
  if (none) PetscFunctionReturn(PETSC_SUCCESS);
  if (ours) {
    PetscCall(BSPCGetOperator(pc, eigenpairs, op));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCSetUp(pc));
  PetscCall(BSMatGet(pc->pmat, &m));
  if (jacobi) PetscCall(PCJacobiGetType(pc, &type));
  if (jacobi && type == PC_JACOBI_DIAGONAL && m->entries) { /* inside the solver's own passes */
    blockspan_preconditioner_options o;
    BSCall(blockspan_preconditioner_defaults(&o, sizeof o));
    o.purpose = BLOCKSPAN_FOR_EIGENPAIRS;
    BSCall(blockspan_preconditioner(m->op, "jacobi", &o, &p->op));
  } else {
    blockspan_context context;
    p->pc = pc;
    PetscCall(BSContextGet(PetscObjectComm((PetscObject)A), &context));
    BSCall(blockspan_operator_callback(context, BS_SCALAR, NULL, A->rmap->n, ApplyCallback, p, 1,
                                       ((PetscObject)pc)->type_name, &p->op));
  }
  *op = p->op;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the solver ---- */

typedef struct {
  PetscInt method, columns;
  PetscReal norm; /* of a single right-hand side */
  BSPrec prec;
  PetscErrorCode error; /* of a monitor */
} KSP_Blockspan;

static KSPConvergedReason ReasonOf(int32_t status, PetscBool absolute) {
  switch (status) {
    case BLOCKSPAN_CONVERGED:
      return absolute ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
    case BLOCKSPAN_ZERO_RHS:
      return KSP_CONVERGED_ATOL;
    case BLOCKSPAN_MAX_ITERATIONS:
    case BLOCKSPAN_TIME_LIMIT:
      return KSP_DIVERGED_ITS;
    case BLOCKSPAN_NEGATIVE_CURVATURE:
      return KSP_DIVERGED_INDEFINITE_MAT;
    case BLOCKSPAN_PRECONDITIONER_NOT_SPD:
      return KSP_DIVERGED_INDEFINITE_PC;
    case BLOCKSPAN_OPERATOR_NOT_HERMITIAN:
      return KSP_DIVERGED_NONSYMMETRIC;
    case BLOCKSPAN_OPERATOR_NOT_FINITE:
    case BLOCKSPAN_NONFINITE_RHS:
    case BLOCKSPAN_OUT_OF_RANGE:
      return KSP_DIVERGED_NANORINF;
    default:
      return KSP_DIVERGED_BREAKDOWN;
  }
}

static int Watch(void *user, const blockspan_progress *p) {
  KSP ksp = (KSP)user;
  KSP_Blockspan *d = (KSP_Blockspan *)ksp->data;
  PetscReal largest = 0;

  for (PetscInt j = 0; j < p->columns; ++j) largest = PetscMax(largest, p->residuals[j]);
  if (d->columns == 1) largest *= d->norm;
  ksp->its = p->iteration;
  ksp->rnorm = largest;
  d->error = KSPLogResidualHistory(ksp, largest);
  if (!d->error) d->error = KSPMonitor(ksp, p->iteration, largest);
  return d->error != 0;
}

/* The reason of the column that is worst off, and the norms of all. */
static void Conclude(KSP ksp, PetscInt k, const int32_t *statuses, const double *residuals,
                     int32_t iterations) {
  KSP_Blockspan *d = (KSP_Blockspan *)ksp->data;
  PetscReal largest = 0;

  for (PetscInt j = 0; j < k; ++j) largest = PetscMax(largest, residuals[j]);
  ksp->its = iterations;
  ksp->rnorm = k == 1 ? largest * d->norm : largest;
  ksp->reason = KSP_CONVERGED_ATOL; /* of no columns */
  for (PetscInt j = 0; j < k && ksp->reason > 0; ++j)
    ksp->reason = ReasonOf(statuses[j], (PetscBool)(largest > ksp->rtol));
}

static PetscErrorCode Run(KSP ksp, const blockspan_block *B, const blockspan_block *X) {
  KSP_Blockspan *d = (KSP_Blockspan *)ksp->data;
  PetscInt const k = (PetscInt)B->columns;
  Mat A;
  BSMat *m;
  MatNullSpace space;
  PetscScalar *memory = NULL;
  blockspan_block null_space;
  blockspan_cg_options o;
  blockspan_summary summary;
  blockspan_code code;
  PCFailedReason failed;
  int32_t *statuses;
  double *residuals;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(BSMatGet(A, &m));
  BSCall(blockspan_cg_defaults(&o, sizeof o));
  o.method = (int32_t)d->method;
  o.tolerance = PetscMax(ksp->rtol, PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON);
  o.absolute_tolerance = ksp->abstol;
  o.max_iterations = (int32_t)ksp->max_it;
  o.use_guess = !ksp->guess_zero;
  PetscCall(BSPrecFrom(ksp->pc, A, PETSC_FALSE, &d->prec, &o.preconditioner));
  PetscCall(PCGetFailedReason(ksp->pc, &failed));
  if (failed) {
    ksp->its = 0;
    ksp->reason = KSP_DIVERGED_PC_FAILED;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetNullSpace(A, &space));
  PetscCall(BSVectors(space, A, &memory, &null_space));
  if (null_space.columns > 0) o.null_space = &null_space;
  d->columns = k;
  d->error = 0;
  m->error = 0;
  if (ksp->numbermonitors || ksp->res_hist) {
    o.monitor = Watch;
    o.monitor_user = ksp;
  }
  PetscCall(PetscMalloc2(k, &statuses, k, &residuals));
  summary.size = sizeof summary;
  PetscCall(PetscLogEventBegin(BS_Solve, ksp, 0, 0, 0));
  code = blockspan_solve_spd(m->op, B, X, &o, residuals, statuses, NULL, &summary);
  PetscCall(PetscLogEventEnd(BS_Solve, ksp, 0, 0, 0));
  PetscCall(d->error); /* of the caller's functions first */
  PetscCall(d->prec.error);
  PetscCall(m->error);
  BSCall(code);
  Conclude(ksp, k, statuses, residuals, summary.iterations);
  PetscCall(PetscInfo(ksp, "Blockspan: %s, %d iterations\n", blockspan_status_name(summary.status),
                      (int)summary.iterations));
  PetscCall(PetscFree2(statuses, residuals));
  PetscCall(PetscFree(memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveVec(KSP ksp, Vec rhs) {
  KSP_Blockspan *d = (KSP_Blockspan *)ksp->data;
  const PetscScalar *b;
  PetscScalar *x;
  PetscInt n;
  blockspan_block B, X;

  PetscFunctionBegin;
  PetscCall(VecNorm(rhs, NORM_2, &d->norm));
  PetscCall(VecGetLocalSize(rhs, &n));
  PetscCall(VecGetArrayRead(rhs, &b));
  PetscCall(VecGetArray(ksp->vec_sol, &x));
  B = blockspan_by_columns((void *)b, n, 1, n, BS_SCALAR);
  X = blockspan_by_columns(x, n, 1, n, BS_SCALAR);
  PetscCall(Run(ksp, &B, &X));
  PetscCall(VecRestoreArrayRead(rhs, &b));
  PetscCall(VecRestoreArray(ksp->vec_sol, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_Blockspan(KSP ksp) {
  Vec rhs;

  PetscFunctionBegin;
  if (!PetscDefined(USE_COMPLEX) || !ksp->transpose_solve) {
    PetscCall(SolveVec(ksp, ksp->vec_rhs));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* A is Hermitian: A^T x = b is A conj(x) = conj(b) */
  PetscCall(VecDuplicate(ksp->vec_rhs, &rhs));
  PetscCall(VecCopy(ksp->vec_rhs, rhs));
  PetscCall(VecConjugate(rhs));
  PetscCall(VecConjugate(ksp->vec_sol));
  PetscCall(SolveVec(ksp, rhs));
  PetscCall(VecConjugate(ksp->vec_sol));
  PetscCall(VecDestroy(&rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPMatSolve_Blockspan(KSP ksp, Mat b, Mat x) {
  const PetscScalar *from;
  PetscScalar *to;
  PetscInt leading_b, leading_x, n = b->rmap->n, k = b->cmap->N;
  blockspan_block B, X;

  PetscFunctionBegin;
  PetscCheck(!PetscDefined(USE_COMPLEX) || !ksp->transpose_solve, PetscObjectComm((PetscObject)ksp),
             PETSC_ERR_SUP, "-ksp_type blockspan solves with transposed complex matrices by KSPSolveTranspose");
  PetscCall(MatDenseGetLDA(b, &leading_b));
  PetscCall(MatDenseGetLDA(x, &leading_x));
  PetscCall(MatDenseGetArrayRead(b, &from));
  PetscCall(MatDenseGetArray(x, &to));
  B = blockspan_by_columns((void *)from, n, k, leading_b, BS_SCALAR);
  X = blockspan_by_columns(to, n, k, leading_x, BS_SCALAR);
  PetscCall(Run(ksp, &B, &X));
  PetscCall(MatDenseRestoreArrayRead(b, &from));
  PetscCall(MatDenseRestoreArray(x, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_Blockspan(KSP ksp) {
  PetscFunctionBegin;
  /* what is given back is the iterate of the least residual, after few steps mostly the start */
  PetscCheck(ksp->converged != KSPConvergedSkip, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "-ksp_type blockspan has no fixed number of steps (-ksp_norm_type none, as smoothers of "
             "PCMG have): take -ksp_type cg there");
  PetscCheck(ksp->converged == KSPConvergedDefault, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "-ksp_type blockspan has a convergence test of its own, for each column");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetFromOptions_Blockspan(KSP ksp, BS_ITEMS) {
  KSP_Blockspan *d = (KSP_Blockspan *)ksp->data;
  const char *const names[] = {"automatic", "pseudo_block", "block"};

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Blockspan options");
  PetscCall(PetscOptionsEList("-ksp_blockspan_method", "how right-hand sides share the work",
                              "blockspan.h", names, 3, names[d->method], &d->method, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPReset_Blockspan(KSP ksp) {
  return BSPrecReset(&((KSP_Blockspan *)ksp->data)->prec);
}

static PetscErrorCode KSPDestroy_Blockspan(KSP ksp) {
  PetscFunctionBegin;
  PetscCall(KSPReset_Blockspan(ksp));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSKSPCreate(KSP ksp) {
  KSP_Blockspan *d;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  ksp->data = d;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup = KSPSetUp_Blockspan;
  ksp->ops->solve = KSPSolve_Blockspan;
  ksp->ops->matsolve = KSPMatSolve_Blockspan;
  ksp->ops->setfromoptions = KSPSetFromOptions_Blockspan;
  ksp->ops->reset = KSPReset_Blockspan;
  ksp->ops->destroy = KSPDestroy_Blockspan;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}
