/* Solvers of PETSc that are used again: with another matrix, with options that are read anew, after
   KSPReset, with rows that became Dirichlet rows; on ranks without rows, with a parallel matrix on one
   process, for a fixed number of steps, and after another PetscInitialize. Every system is checked by its
   residual. Exits with 0 where all is right.

   argv[1], unless it is an option: the case alone. */
#include <petscksp.h>
#include <string.h>
#if defined(BLOCKSPAN_CALLS) /* the types are registered by a call, not by -dll_append */
#include <blockspan_petsc.h>
#endif

typedef struct {
  Mat A;
  Vec b, x;
} System;

/* The 5-point Laplacian of side x side nodes times `scale`, plus `shift`; `local` rows here. */
static PetscErrorCode Laplacian(MatType type, PetscInt side, PetscInt local, double scale, double shift,
                                Mat *A) {
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, local, local, side * side, side * side));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; ++i) {
    PetscInt const x = i % side, y = i / side;
    PetscCall(MatSetValue(*A, i, i, 4 * scale + shift, INSERT_VALUES));
    if (x > 0) PetscCall(MatSetValue(*A, i, i - 1, -scale, INSERT_VALUES));
    if (x + 1 < side) PetscCall(MatSetValue(*A, i, i + 1, -scale, INSERT_VALUES));
    if (y > 0) PetscCall(MatSetValue(*A, i, i - side, -scale, INSERT_VALUES));
    if (y + 1 < side) PetscCall(MatSetValue(*A, i, i + side, -scale, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode SystemCreate(Mat A, System *s) {
  PetscFunctionBegin;
  s->A = A;
  PetscCall(MatCreateVecs(A, &s->x, &s->b));
  PetscCall(VecSet(s->b, 1));
  PetscFunctionReturn(0);
}

static PetscErrorCode SystemDestroy(System *s) {
  PetscFunctionBegin;
  PetscCall(VecDestroy(&s->x));
  PetscCall(VecDestroy(&s->b));
  PetscCall(MatDestroy(&s->A));
  PetscFunctionReturn(0);
}

static PetscErrorCode SolverCreate(Mat A, KSP *ksp) {
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* Solves, and expects a success in at most so many steps that is true. */
static PetscErrorCode Solve(const char *what, KSP ksp, System *s, PetscInt most) {
  KSPConvergedReason reason;
  PetscInt steps;
  PetscReal r, b;
  Vec R;

  PetscFunctionBegin;
  PetscCall(KSPSolve(ksp, s->b, s->x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &steps));
  PetscCall(VecDuplicate(s->b, &R));
  PetscCall(MatMult(s->A, s->x, R));
  PetscCall(VecAXPY(R, -1, s->b));
  PetscCall(VecNorm(R, NORM_2, &r));
  PetscCall(VecNorm(s->b, NORM_2, &b));
  PetscCall(VecDestroy(&R));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: residual %.1e, reason %d, %d steps\n", what, (double)(r / b),
                        (int)reason, (int)steps));
  PetscCheck(r < 1e-7 * b && reason > 0 && steps <= most, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s", what);
  PetscFunctionReturn(0);
}

/* Each matrix has the states of the one before, and is in other memory; then another size. */
static PetscErrorCode OtherMatrices(void) {
  System s;
  Mat A;
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(Laplacian(MATAIJ, 40, PETSC_DECIDE, 1, 0, &A));
  PetscCall(SystemCreate(A, &s));
  PetscCall(SolverCreate(A, &ksp));
  PetscCall(Solve("a matrix", ksp, &s, 20));
  for (int turn = 0; turn < 3; ++turn) {
    PetscCall(Laplacian(MATAIJ, 40, PETSC_DECIDE, turn + 2, 1000 * turn, &A));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(MatDestroy(&s.A));
    s.A = A;
    PetscCall(Solve("another matrix", ksp, &s, 20));
  }
  PetscCall(SystemDestroy(&s));
  PetscCall(KSPReset(ksp));
  PetscCall(Laplacian(MATAIJ, 23, PETSC_DECIDE, 1, 0, &A));
  PetscCall(SystemCreate(A, &s));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(Solve("another size", ksp, &s, 20));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Programs read options again and again, and may set others in between. */
static PetscErrorCode OptionsAnew(void) {
  System s;
  Mat A;
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, "-pc_blockspan_type", "multigrid"));
  PetscCall(Laplacian(MATAIJ, 40, PETSC_DECIDE, 1, 0, &A));
  PetscCall(SystemCreate(A, &s));
  PetscCall(SolverCreate(A, &ksp));
  PetscCall(Solve("options", ksp, &s, 20));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Solve("the same options", ksp, &s, 20));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_blockspan_type", "chebyshev:20:1000"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Solve("other options", ksp, &s, 20));
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(Solve("after KSPReset", ksp, &s, 20));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_blockspan_type"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Values change so that the matrix is not symmetric any more: MatZeroRows in the course of a program, which
   keeps the pattern; and back. Under PETSc's cg, which our preconditioner lets converge there. */
static PetscErrorCode RowsOfBoundaries(void) {
  System s;
  Mat A, whole;
  KSP ksp;
  PetscInt first, last, rows[40], count = 0;

  PetscFunctionBegin;
  PetscCall(Laplacian(MATAIJ, 40, PETSC_DECIDE, 1, 0, &A));
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &whole));
  PetscCall(SystemCreate(A, &s));
  PetscCall(SolverCreate(A, &ksp));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(Solve("no boundary", ksp, &s, 20));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last && count < 40; ++i)
    if (i % 40 == 17) rows[count++] = i;
  PetscCall(MatZeroRows(A, count, rows, 4, NULL, NULL));
  PetscCall(Solve("a line of a boundary", ksp, &s, 20));
  PetscCall(MatCopy(whole, A, SAME_NONZERO_PATTERN));
  PetscCall(Solve("no boundary again", ksp, &s, 20));
  PetscCall(MatDestroy(&whole));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* A matrix that is turned over in place has other memory, and says no more than that its values changed. */
static PetscErrorCode OtherMemory(void) {
  System s;
  Mat A;
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(Laplacian(MATAIJ, 40, PETSC_DECIDE, 1, 0, &A));
  PetscCall(SystemCreate(A, &s));
  PetscCall(SolverCreate(A, &ksp));
  PetscCall(Solve("before", ksp, &s, 20));
  for (int turn = 0; turn < 2; ++turn) {
    PetscCall(MatTranspose(s.A, MAT_INPLACE_MATRIX, &s.A));
    PetscCall(MatScale(s.A, 3));
    PetscCall(Solve("turned over in place", ksp, &s, 20));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* Numbers that are none in what was freed last. */
static PetscErrorCode SpoilFreedMemory(void) {
  enum { pieces = 200, bytes = 20000 };
  void *memory[pieces];

  PetscFunctionBegin;
  for (int i = 0; i < pieces; ++i) {
    memory[i] = malloc(bytes);
    if (memory[i]) memset(memory[i], 0xff, bytes);
  }
  for (int i = 0; i < pieces; ++i) free(memory[i]);
  PetscFunctionReturn(0);
}

/* Preconditioners that are to be reused although the matrix they were made of is gone, or has another pattern:
   polynomials read its entries where these are. */
static PetscErrorCode Reused(void) {
  System s;
  Mat A;
  KSP ksp;
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, "-pc_blockspan_type", "chebyshev:20:1000"));
  PetscCall(Laplacian(MATAIJ, 40, PETSC_DECIDE, 1, 0, &A));
  PetscCall(SystemCreate(A, &s));
  PetscCall(SolverCreate(A, &ksp));
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  PetscCall(Solve("the first", ksp, &s, 20));
  PetscCall(Laplacian(MATAIJ, 40, PETSC_DECIDE, 1, 0.01, &A));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(MatDestroy(&s.A));
  s.A = A;
  PetscCall(SpoilFreedMemory());
  PetscCall(Solve("its preconditioner", ksp, &s, 20));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (int turn = 0; turn < 2; ++turn) {
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt i = first; i < last; ++i)
      if (i % 40 != (i + 7 + turn) % 40) PetscCall(MatSetValue(A, i, 1599 - i, -1e-3, ADD_VALUES));
    for (PetscInt i = first; i < last; ++i) PetscCall(MatSetValue(A, i, i, 1e-2, ADD_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(SpoilFreedMemory());
    PetscCall(Solve("another pattern", ksp, &s, 20));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_blockspan_type"));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* A parallel type, on however many processes; all rows on rank 0 where there are several. */
static PetscErrorCode Spread(void) {
  PetscMPIInt rank, ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  for (int alone = 0; alone < 2; ++alone) {
    PetscInt const all = 30 * 30;
    System s;
    Mat A, B, X;
    KSP ksp;
    KSPConvergedReason reason;
    PetscCall(Laplacian(MATMPIAIJ, 30, alone ? (rank == 0 ? all : 0) : PETSC_DECIDE, 1, 0, &A));
    PetscCall(SystemCreate(A, &s));
    PetscCall(SolverCreate(A, &ksp));
    PetscCall(Solve(alone ? "all rows on rank 0" : "a parallel matrix", ksp, &s, 20));
    PetscCall(MatScale(A, 2));
    PetscCall(Solve("with other values", ksp, &s, 20));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, alone ? (rank == 0 ? all : 0) : PETSC_DECIDE, PETSC_DECIDE,
                             all, 5, NULL, &B));
    PetscCall(MatSetRandom(B, NULL));
    PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
    PetscCall(KSPMatSolve(ksp, B, X));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "KSPMatSolve: %d", (int)reason);
    PetscCall(MatDestroy(&X));
    PetscCall(MatDestroy(&B));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(SystemDestroy(&s));
  }
  PetscFunctionReturn(0);
}

/* So many steps and no test, as smoothers are asked for: -ksp_type blockspan, which gives back the iterate of
   the least residual, refuses that. */
static PetscErrorCode FixedSteps(void) {
  System s;
  Mat A;
  KSP ksp;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscErrorCode code;
  PetscBool ours;

  PetscFunctionBegin;
  PetscCall(Laplacian(MATAIJ, 40, PETSC_DECIDE, 1, 0, &A));
  PetscCall(SystemCreate(A, &s));
  PetscCall(SolverCreate(A, &ksp));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 2));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, "blockspan", &ours));
  PetscCall(PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL));
  code = KSPSolve(ksp, s.b, s.x);
  PetscCall(PetscPopErrorHandler());
  if (!ours) PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(ours ? code == PETSC_ERR_SUP : !code && reason == KSP_CONVERGED_ITS, PETSC_COMM_WORLD,
             PETSC_ERR_PLIB, "two steps: error %d, reason %d", (int)code, (int)reason);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(0);
}

/* A matrix that loses its definiteness, as a Hessian may, and has it again. */
static PetscErrorCode Indefinite(void) {
  const char *const words[] = {"multigrid", "chebyshev", "jacobi"};
  System s;
  Mat A;
  KSP ksp;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  for (int i = 0; i < 3; ++i) {
    PetscCall(PetscOptionsSetValue(NULL, "-pc_blockspan_type", words[i]));
    PetscCall(Laplacian(MATAIJ, 20, PETSC_DECIDE, 1, 0, &A));
    PetscCall(SystemCreate(A, &s));
    PetscCall(SolverCreate(A, &ksp));
    PetscCall(Solve("definite", ksp, &s, 100));
    PetscCall(MatScale(A, -1));
    PetscCall(KSPSolve(ksp, s.b, s.x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason == KSP_DIVERGED_PC_FAILED, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: reason %d", words[i],
               (int)reason);
    PetscCall(MatScale(A, -1));
    PetscCall(KSPSetOperators(ksp, A, A)); /* without it PETSc's cg goes by the reason of before */
    PetscCall(Solve("definite again", ksp, &s, 100));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(SystemDestroy(&s));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-pc_blockspan_type"));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  PetscErrorCode (*const cases[])(void) = {OtherMatrices, OptionsAnew, RowsOfBoundaries,
                                           OtherMemory,   Reused,      Spread,
                                           FixedSteps,    Indefinite};
  int const count = (int)(sizeof cases / sizeof *cases);
  int const chosen = argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : -1;

  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1; /* so that PETSc can be started twice */
  for (int turn = 0; turn < 2; ++turn) {
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
#if defined(BLOCKSPAN_CALLS)
    PetscCall(BlockspanRegisterPETSc());
#endif
    for (int i = 0; i < count; ++i)
      if (chosen < 0 || i == chosen) PetscCall(cases[i]());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, turn == 0 ? "once\n" : "all right\n"));
    PetscCall(PetscFinalize());
  }
  return MPI_Finalize() != MPI_SUCCESS;
}
