/* Eigensolvers of SLEPc that are used again: with other matrices, options and sizes; on ranks without rows;
   with a deflation space where it cannot be served. Eigenvalues are those of a line, in closed form. Exits
   with 0 where all is right. */
#include <math.h>
#include <slepceps.h>

/* The line with 2 and -1 times `scale`; `local` rows here. */
static PetscErrorCode Line(PetscInt n, PetscInt local, double scale, Mat *A) {
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, local, local, n, n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; ++i) {
    PetscCall(MatSetValue(*A, i, i, 2 * scale, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, -scale, INSERT_VALUES));
    if (i + 1 < n) PetscCall(MatSetValue(*A, i, i + 1, -scale, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static double Eigenvalue(PetscInt n, int j) {
  double const s = sin(j * acos(-1.0) / (2 * ((double)n + 1)));
  return 4 * s * s;
}

static PetscErrorCode Solve(const char *what, EPS eps, PetscInt n, double scale) {
  PetscInt found, steps;

  PetscFunctionBegin;
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetConverged(eps, &found));
  PetscCall(EPSGetIterationNumber(eps, &steps));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %d pairs in %d steps\n", what, (int)found, (int)steps));
  PetscCheck(found >= 3 && steps < 60, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s", what);
  for (int j = 0; j < 3; ++j) {
    PetscScalar value;
    PetscCall(EPSGetEigenvalue(eps, j, &value, NULL));
    PetscCheck(fabs(PetscRealPart(value) / (scale * Eigenvalue(n, j + 1)) - 1) < 1e-6, PETSC_COMM_WORLD,
               PETSC_ERR_PLIB, "%s: %g", what, (double)PetscRealPart(value));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverCreate(Mat A, EPS *eps) {
  PetscFunctionBegin;
  PetscCall(EPSCreate(PETSC_COMM_WORLD, eps));
  PetscCall(EPSSetOperators(*eps, A, NULL));
  PetscCall(EPSSetProblemType(*eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(*eps, EPS_SMALLEST_REAL));
  PetscCall(EPSSetDimensions(*eps, 3, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSetType(*eps, "blockspan"));
  PetscCall(EPSSetFromOptions(*eps));
  PetscFunctionReturn(0);
}

/* Matrices that follow each other have the same states. */
static PetscErrorCode Again(void) {
  Mat A, B;
  EPS eps;

  PetscFunctionBegin;
  PetscCall(Line(1200, PETSC_DECIDE, 1, &A));
  PetscCall(SolverCreate(A, &eps));
  PetscCall(Solve("a matrix", eps, 1200, 1));
  for (int turn = 2; turn < 5; ++turn) {
    PetscCall(Line(1200, PETSC_DECIDE, turn, &B));
    PetscCall(EPSSetOperators(eps, B, NULL));
    PetscCall(MatDestroy(&A));
    A = B;
    PetscCall(Solve("another matrix", eps, 1200, turn));
  }
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(Solve("options anew", eps, 1200, 4));
  PetscCall(MatScale(A, 3));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(Solve("other values", eps, 1200, 12));
  PetscCall(EPSReset(eps));
  PetscCall(MatDestroy(&A));
  PetscCall(Line(1050, PETSC_DECIDE, 1, &A));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(Solve("another size", eps, 1050, 1));
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode AllRowsOnOne(void) {
  PetscMPIInt rank;
  Mat A;
  EPS eps;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(Line(1100, rank == 0 ? 1100 : 0, 1, &A));
  PetscCall(SolverCreate(A, &eps));
  PetscCall(Solve("all rows on rank 0", eps, 1100, 1));
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* By factors no vectors are left out: refused, and not passed over. */
static PetscErrorCode DeflationBesideATarget(void) {
  PetscErrorCode code;
  Mat A;
  Vec x;
  EPS eps;

  PetscFunctionBegin;
  PetscCall(Line(300, PETSC_DECIDE, 1, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecSet(x, 1));
  PetscCall(SolverCreate(A, &eps));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_TARGET_REAL));
  PetscCall(EPSSetTarget(eps, 1));
  PetscCall(EPSSetDeflationSpace(eps, 1, &x));
  PetscCall(PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL));
  code = EPSSolve(eps);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(code == PETSC_ERR_SUP, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "a deflation space passed over");
  PetscCall(EPSDestroy(&eps));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  PetscCall(SlepcInitialize(&argc, &argv, NULL, NULL));
  PetscCall(Again());
  PetscCall(AllRowsOnOne());
  PetscCall(DeflationBesideATarget());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all right\n"));
  PetscCall(SlepcFinalize());
  return 0;
}
