/* Systems through PETSc: KSPSolve and KSPMatSolve of a 2-D Laplacian with each type of ours, values
   that change, a transpose, products of seqaijblockspan, the view. Exits with 0 where all is right. */
#include <petscksp.h>
#include <string.h>

/* Where scalars are complex, D^H A D with unknowns turned by 0.1 a column of the grid: it is not symmetric
   then, but Hermitian, with the eigenvalues of A. */
static PetscErrorCode Laplacian(PetscInt side, Mat *A) {
  PetscInt first, last;
#if defined(PETSC_USE_COMPLEX)
  PetscScalar const turn = PetscCMPLX(PetscCosReal(0.1), PetscSinReal(0.1));
#else
  PetscScalar const turn = 1;
#endif

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, side * side, side * side));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; ++i) {
    PetscInt const x = i % side, y = i / side;
    PetscCall(MatSetValue(*A, i, i, 4, INSERT_VALUES));
    if (x > 0) PetscCall(MatSetValue(*A, i, i - 1, -PetscConj(turn), INSERT_VALUES));
    if (x + 1 < side) PetscCall(MatSetValue(*A, i, i + 1, -turn, INSERT_VALUES));
    if (y > 0) PetscCall(MatSetValue(*A, i, i - side, -1, INSERT_VALUES));
    if (y + 1 < side) PetscCall(MatSetValue(*A, i, i + side, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* || A X - B || / || B || of all columns. */
static PetscErrorCode Residual(Mat A, Mat X, Mat B, PetscReal *r) {
  Mat R;
  PetscReal b;

  PetscFunctionBegin;
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  PetscCall(MatAXPY(R, -1, B, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(R, NORM_FROBENIUS, r));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &b));
  *r /= b;
  PetscCall(MatDestroy(&R));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  PetscInt side = 40, columns = 9;
  PetscInt local, seen = 0;
  Mat A, B, X;
  Vec b, x;
  KSP ksp;
  PetscReal r, history[200];
  KSPConvergedReason reason;
  PetscBool ours;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-side", &side, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-columns", &columns, NULL));
  PetscCall(Laplacian(side, &A));
  PetscCall(MatGetLocalSize(A, &local, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, local, PETSC_DECIDE, side * side, columns, NULL, &B));
  PetscCall(MatSetRandom(B, NULL));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));

  for (int turn = 0; turn < 3; ++turn) { /* the second time with other values, the third as it was */
    if (turn == 1) PetscCall(MatScale(A, 3));
    if (turn == 1) PetscCall(MatShift(A, 0.5));
    PetscCall(KSPMatSolve(ksp, B, X));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(Residual(A, X, B, &r));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "block %d: residual %.1e, reason %d\n", turn, (double)r,
                          (int)reason));
    PetscCheck(r < 1e-7 && reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "KSPMatSolve is wrong");
  }
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(KSPSetResidualHistory(ksp, history, 200, PETSC_TRUE));
  for (int turn = 0; turn < 2; ++turn) {
    PetscCall(VecSet(b, 1));
    PetscCall(turn ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetResidualHistory(ksp, NULL, &seen));
    PetscCall(turn ? MatMultTranspose(A, x, b) : MatMult(A, x, b));
    PetscCall(VecShift(b, -1));
    PetscCall(VecNorm(b, NORM_2, &r));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: residual %.1e, reason %d, history of %d\n",
                          turn ? "transpose" : "one", (double)r, (int)reason, (int)seen));
    PetscCheck(r < 1e-6 * side && reason > 0 && seen > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
               turn ? "KSPSolveTranspose is wrong" : "KSPSolve is wrong");
    /* a complex preconditioner has no transpose */
    PetscCall(PetscObjectTypeCompare((PetscObject)ksp, "blockspan", &ours));
    if (PetscDefined(USE_COMPLEX) && !ours) break;
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
