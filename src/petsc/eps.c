/* -eps_type blockspan: LOBPCG of Blockspan for the smallest or largest eigenvalues of symmetric
   problems; exact pairs by sparse factors for those nearest a target (-eps_target) or zero
   (-eps_smallest_magnitude), and for all of an interval (-eps_all -eps_interval).

   -eps_blockspan_path automatic, iterative or dense; -eps_blockspan_criterion digits, backward or
   relative. -st_pc_type is the preconditioner: blockspan, or any of PETSc's. */
#include <slepc/private/epsimpl.h>

#include "blockspan_petsc.h"
#include "plugin.h"

typedef struct {
  PetscInt path, criterion; /* -1: as the problem and -eps_conv_... say */
  BSPrec prec;
  PetscErrorCode error; /* of a monitor */
} EPS_Blockspan;

static PetscErrorCode EPSSetDefaultST_Blockspan(EPS eps) {
  KSP ksp;

  PetscFunctionBegin;
  if (!((PetscObject)eps->st)->type_name) PetscCall(STSetType(eps->st, STPRECOND));
  PetscCall(STPrecondSetKSPHasMat(eps->st, PETSC_TRUE)); /* else the PC has a Pmat and no Amat */
  PetscCall(STGetKSP(eps->st, &ksp));
  if (!((PetscObject)ksp)->type_name) PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool ByFactors(EPS eps) {
  return (PetscBool)(eps->which == EPS_TARGET_MAGNITUDE || eps->which == EPS_TARGET_REAL ||
                     eps->which == EPS_SMALLEST_MAGNITUDE || eps->which == EPS_ALL);
}

static PetscErrorCode EPSSetUpSort_Blockspan(EPS eps) {
  PetscFunctionBegin;
  eps->sc->map = NULL;
  eps->sc->mapobj = NULL;
  eps->sc->rg = NULL;
  eps->sc->comparisonctx = NULL;
  eps->sc->comparison = SlepcCompareSmallestReal;
  if (eps->which == EPS_LARGEST_REAL) eps->sc->comparison = SlepcCompareLargestReal;
  if (eps->which == EPS_SMALLEST_MAGNITUDE) eps->sc->comparison = SlepcCompareSmallestMagnitude;
  if (eps->which == EPS_TARGET_MAGNITUDE || eps->which == EPS_TARGET_REAL) {
    eps->sc->comparison = SlepcCompareTargetMagnitude;
    eps->sc->comparisonctx = &eps->target;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrices as operators; b is NULL where there is one matrix. */
static PetscErrorCode Operators(EPS eps, Mat *A, BSMat **a, BSMat **b) {
  PetscInt matrices;
  Mat B;

  PetscFunctionBegin;
  *b = NULL;
  PetscCall(STGetNumMatrices(eps->st, &matrices));
  PetscCall(STGetMatrix(eps->st, 0, A));
  PetscCall(BSMatGet(*A, a));
  if (matrices > 1) {
    PetscCall(STGetMatrix(eps->st, 1, &B));
    PetscCall(BSMatGet(B, b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SLEPc's intervals have their ends, Blockspan's have not. */
static double Below(double end) { return nextafter(end, -INFINITY); }
static double Above(double end) { return nextafter(end, INFINITY); }

/* As many columns as there are eigenvalues in the interval. */
static PetscErrorCode Count(EPS eps) {
  Mat A;
  BSMat *a, *b;
  int64_t number;
  int32_t trusted;

  PetscFunctionBegin;
  PetscCheck(eps->inta < eps->intb, PetscObjectComm((PetscObject)eps), PETSC_ERR_ARG_WRONG,
             "-eps_type blockspan needs an interval (-eps_interval a,b) for all eigenvalues");
  PetscCall(Operators(eps, &A, &a, &b));
  BSCall(blockspan_count_eigenvalues(a->op, b ? b->op : NULL, Below(eps->inta), Above(eps->intb),
                                     NULL, &number, &trusted));
  PetscCall(PetscInfo(eps, "Blockspan: %d eigenvalues in the interval, a count that %s\n",
                      (int)number, trusted ? "is proved" : "rounding may have changed"));
  eps->nev = eps->ncv = PetscMax(1, (PetscInt)number);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EPSSetUp_Blockspan(EPS eps) {
  MPI_Comm const comm = PetscObjectComm((PetscObject)eps);

  PetscFunctionBegin;
  EPSCheckHermitianDefinite(eps);
  if (!eps->which) eps->which = EPS_SMALLEST_REAL;
  PetscCheck(eps->which == EPS_SMALLEST_REAL || eps->which == EPS_LARGEST_REAL || ByFactors(eps),
             comm, PETSC_ERR_SUP,
             "-eps_type blockspan finds the smallest or largest real eigenvalues, those nearest a "
             "target or zero, or all of an interval");
  PetscCheck(!ByFactors(eps) || eps->nds == 0, comm, PETSC_ERR_SUP,
             "-eps_type blockspan takes no deflation space where pairs are found by sparse factors");
  PetscCheck(eps->conv == EPS_CONV_REL || eps->conv == EPS_CONV_NORM, comm, PETSC_ERR_SUP,
             "-eps_type blockspan has -eps_conv_rel and -eps_conv_norm only");
  EPSCheckUnsupported(eps, EPS_FEATURE_ARBITRARY | EPS_FEATURE_REGION | EPS_FEATURE_EXTRACTION |
                               EPS_FEATURE_STOPPING | EPS_FEATURE_TWOSIDED);
  EPSCheckIgnored(eps, EPS_FEATURE_BALANCE);
  if (eps->which == EPS_ALL) PetscCall(Count(eps));
  /* not set: PETSC_DEFAULT and nev 1; from 3.22 PETSC_DETERMINE, another negative number, and nev 0 */
  if (eps->nev < 1) eps->nev = 1;
  if (eps->ncv < 0)
    eps->ncv = PetscMin(eps->n, (eps->nev + PetscMax(4, eps->nev / 4) + 3) / 4 * 4);
  PetscCheck(eps->ncv >= eps->nev, comm, PETSC_ERR_USER_INPUT, "ncv is less than nev");
  if (eps->mpd < 0) eps->mpd = eps->ncv;
  if (eps->max_it < 0) eps->max_it = 10000;
  PetscCall(EPSAllocateSolution(eps, 0));
  PetscCall(EPS_SetInnerProduct(eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int Watch(void *user, const blockspan_progress *p) {
  EPS eps = (EPS)user;
  EPS_Blockspan *d = (EPS_Blockspan *)eps->data;
  PetscInt const k = PetscMin(p->columns, eps->ncv);

  for (PetscInt j = 0; j < k; ++j) {
    eps->eigr[j] = p->values[j];
    eps->eigi[j] = 0;
    eps->errest[j] = p->residuals[j];
  }
  eps->its = p->iteration;
  eps->nconv = p->converged;
  d->error = EPSMonitor(eps, eps->its, eps->nconv, eps->eigr, eps->eigi, eps->errest, k);
  return d->error != 0;
}

/* Columns first, first + 1, ... of the basis, out of it or into it. */
static PetscErrorCode Columns(EPS eps, PetscInt first, PetscInt count, PetscScalar *memory,
                              PetscBool into) {
  PetscFunctionBegin;
  for (PetscInt j = 0; j < count; ++j) {
    PetscScalar *column, *ours = memory + (size_t)j * (size_t)eps->nloc;
    Vec v;
    PetscCall(BVGetColumn(eps->V, first + j, &v));
    PetscCall(VecGetArray(v, &column));
    if (into)
      PetscCall(PetscArraycpy(column, ours, eps->nloc));
    else
      PetscCall(PetscArraycpy(ours, column, eps->nloc));
    PetscCall(VecRestoreArray(v, &column));
    PetscCall(BVRestoreColumn(eps->V, first + j, &v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Options(EPS eps, Mat A, blockspan_lobpcg_options *o) {
  EPS_Blockspan *d = (EPS_Blockspan *)eps->data;
  PetscBool precond;
  PCFailedReason failed;
  KSP ksp;
  PC pc;

  PetscFunctionBegin;
  BSCall(blockspan_lobpcg_defaults(o, sizeof *o));
  o->wanted = (int32_t)eps->nev;
  o->which = eps->which == EPS_LARGEST_REAL ? BLOCKSPAN_LARGEST : BLOCKSPAN_SMALLEST;
  o->criterion = eps->conv == EPS_CONV_REL ? BLOCKSPAN_RELATIVE : BLOCKSPAN_BACKWARD;
  if (d->criterion >= 0) o->criterion = (int32_t)d->criterion;
  /* the dense path calls no monitor, and does not know how strong a preconditioner is */
  o->path = eps->n > 1000 ? BLOCKSPAN_PATH_ITERATIVE : BLOCKSPAN_PATH_AUTOMATIC;
  if (d->path >= 0) o->path = (int32_t)d->path;
  o->tolerance = eps->tol < 0 ? SLEPC_DEFAULT_TOL : eps->tol;
  o->max_iterations = (int32_t)eps->max_it;
  o->guess_columns = (int32_t)PetscMin(eps->nini, eps->ncv);
  o->widest_block = (int32_t)eps->ncv;
  if (eps->numbermonitors) {
    o->monitor = Watch;
    o->monitor_user = eps;
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)eps->st, STPRECOND, &precond));
  if (precond && eps->which == EPS_SMALLEST_REAL) {
    PetscCall(STGetKSP(eps->st, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(BSPrecFrom(pc, A, PETSC_TRUE, &d->prec, &o->preconditioner));
    PetscCall(PCGetFailedReason(pc, &failed));
    PetscCheck(!failed, PetscObjectComm((PetscObject)eps), PETSC_ERR_NOT_CONVERGED,
               "the preconditioner failed (-st_pc_type): %s; -st_pc_type jacobi needs less",
               PCFailedReasons[failed]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Exact(EPS eps, BSMat *a, BSMat *b, const blockspan_block *X, double *values,
                            double *errors, int32_t *statuses, int64_t *found,
                            blockspan_summary *summary) {
  blockspan_operator const mass = b ? b->op : NULL;
  double const target = eps->which == EPS_SMALLEST_MAGNITUDE ? 0 : PetscRealPart(eps->target);
  blockspan_exact_options o;

  PetscFunctionBegin;
  BSCall(blockspan_exact_defaults(&o, sizeof o));
  o.pairs = (int32_t)eps->nev;
  if (eps->which == EPS_ALL)
    BSCall(blockspan_eigenpairs_in(a->op, mass, Below(eps->inta), Above(eps->intb), X, &o, found,
                                   values, errors, statuses, summary));
  else
    BSCall(blockspan_eigenpairs_near(a->op, mass, target, X, &o, found, values, errors, statuses,
                                     summary));
  *found = PetscMin(*found, X->columns);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Conclude(EPS eps, PetscInt pairs, const double *values, const double *errors,
                               const int32_t *statuses, const blockspan_summary *summary) {
  PetscBool done;

  PetscFunctionBegin;
  eps->its = summary->iterations;
  eps->nconv = 0;
  for (PetscInt j = 0; j < pairs; ++j) {
    done = (PetscBool)(statuses[j] == BLOCKSPAN_CONVERGED ||
                       statuses[j] == BLOCKSPAN_ZERO_EIGENVALUE);
    eps->eigr[j] = values[j];
    eps->eigi[j] = 0;
    eps->errest[j] = errors[j];
    if (done && eps->nconv == j) ++eps->nconv;
  }
  /* by factors: fewer than wanted are all there are, and of enough some may be missing between */
  done = (PetscBool)(eps->nconv >= eps->nev);
  if (ByFactors(eps)) done = (PetscBool)(eps->nconv == pairs && summary->status == BLOCKSPAN_CONVERGED);
  eps->reason = done                                           ? EPS_CONVERGED_TOL
                : summary->status == BLOCKSPAN_MAX_ITERATIONS ? EPS_DIVERGED_ITS
                                                              : EPS_DIVERGED_BREAKDOWN;
  PetscCall(PetscInfo(eps, "Blockspan: %s, %d iterations\n",
                      blockspan_status_name(summary->status), (int)summary->iterations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EPSSolve_Blockspan(EPS eps) {
  EPS_Blockspan *d = (EPS_Blockspan *)eps->data;
  PetscInt const n = eps->nloc, k = eps->ncv;
  Mat A;
  BSMat *a, *b;
  blockspan_lobpcg_options o;
  blockspan_summary summary = {sizeof summary, 0, 0, 0, 0, 0, 0};
  blockspan_block X, constraints;
  blockspan_code code = BLOCKSPAN_OK;
  PetscScalar *x, *c;
  double *values, *errors;
  int32_t *statuses;
  int64_t found = eps->nev;

  PetscFunctionBegin;
  PetscCall(Operators(eps, &A, &a, &b));
  PetscCall(PetscMalloc2((size_t)n * (size_t)k + 1, &x, (size_t)n * (size_t)eps->nds + 1, &c));
  PetscCall(PetscMalloc3(k, &values, k, &errors, k, &statuses));
  X = blockspan_by_columns(x, n, k, n, BS_SCALAR);
  d->error = a->error = 0;
  PetscCall(PetscLogEventBegin(BS_Solve, eps, 0, 0, 0));
  if (ByFactors(eps)) {
    PetscCall(Exact(eps, a, b, &X, values, errors, statuses, &found, &summary));
    for (size_t i = (size_t)n * (size_t)found; i < (size_t)n * (size_t)k; ++i) x[i] = 0;
  } else {
    PetscCall(Options(eps, A, &o));
    PetscCall(Columns(eps, 0, o.guess_columns, x, PETSC_FALSE));
    if (eps->nds > 0) {
      PetscCall(Columns(eps, -eps->nds, eps->nds, c, PETSC_FALSE));
      constraints = blockspan_by_columns(c, n, eps->nds, n, BS_SCALAR);
      o.constraints = &constraints;
    }
    code = blockspan_lobpcg(a->op, b ? b->op : NULL, &X, &o, values, errors, statuses, &summary);
  }
  PetscCall(PetscLogEventEnd(BS_Solve, eps, 0, 0, 0));
  PetscCall(d->error); /* of the caller's functions first */
  PetscCall(d->prec.error);
  PetscCall(a->error);
  BSCall(code);
  PetscCall(Conclude(eps, (PetscInt)found, values, errors, statuses, &summary));
  PetscCall(Columns(eps, 0, k, x, PETSC_TRUE));
  PetscCall(PetscFree3(values, errors, statuses));
  PetscCall(PetscFree2(x, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EPSSetFromOptions_Blockspan(EPS eps, BS_ITEMS) {
  EPS_Blockspan *d = (EPS_Blockspan *)eps->data;
  const char *const criteria[] = {"digits", "backward", "relative"};
  const char *const paths[] = {"automatic", "iterative", "dense"};
  PetscInt chosen = 0;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Blockspan options");
  PetscCall(PetscOptionsEList("-eps_blockspan_criterion", "when a pair counts", "blockspan.h",
                              criteria, 3, criteria[0], &chosen, &set));
  if (set) d->criterion = chosen;
  PetscCall(PetscOptionsEList("-eps_blockspan_path", "how pairs are found", "blockspan.h", paths, 3,
                              paths[1], &chosen, &set));
  if (set) d->path = chosen;
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EPSReset_Blockspan(EPS eps) {
  return BSPrecReset(&((EPS_Blockspan *)eps->data)->prec);
}

static PetscErrorCode EPSDestroy_Blockspan(EPS eps) {
  PetscFunctionBegin;
  PetscCall(EPSReset_Blockspan(eps));
  PetscCall(PetscFree(eps->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EPSCreate_Blockspan(EPS eps) {
  EPS_Blockspan *d;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  d->path = d->criterion = -1;
  eps->data = d;
  eps->categ = EPS_CATEGORY_PRECOND;
  eps->ops->solve = EPSSolve_Blockspan;
  eps->ops->setup = EPSSetUp_Blockspan;
  eps->ops->setupsort = EPSSetUpSort_Blockspan;
  eps->ops->setfromoptions = EPSSetFromOptions_Blockspan;
  eps->ops->reset = EPSReset_Blockspan;
  eps->ops->destroy = EPSDestroy_Blockspan;
  eps->ops->setdefaultst = EPSSetDefaultST_Blockspan;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool done = PETSC_FALSE;

static PetscErrorCode Finalize(void) {
  done = PETSC_FALSE;
  return PETSC_SUCCESS;
}

PetscErrorCode BlockspanRegisterSLEPc(void) {
  PetscFunctionBegin;
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BlockspanRegisterPETSc());
  PetscCall(PetscRegisterFinalize(Finalize)); /* as BlockspanRegisterPETSc does */
  done = PETSC_TRUE;
  PetscCall(EPSRegister("blockspan", EPSCreate_Blockspan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_blockspan_slepc(void) {
  return BlockspanRegisterSLEPc();
}
