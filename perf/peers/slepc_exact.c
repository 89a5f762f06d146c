/* SLEPc for the study `exact`: pairs near a shift by Krylov-Schur, or all of an interval by slicing,
   with factors by MUMPS. Prints CPU seconds and eigenvalues as JSON.
     slepc_exact MATRIX TOLERANCE near SIGMA PAIRS | interval A B
   MATRIX: n and the number of entries (64 bits), then row offsets, columns (32 bits) and values, as
   exact_beside_peers.py writes it. */
#include <slepceps.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static Mat read_matrix(char const* path) {
  FILE* const file = fopen(path, "rb");
  int64_t sizes[2];
  if (file == NULL || fread(sizes, sizeof sizes, 1, file) != 1) exit(2);
  PetscInt* const rows = malloc((size_t)(sizes[0] + 1) * sizeof *rows);
  PetscInt* const columns = malloc((size_t)sizes[1] * sizeof *columns);
  double* const values = malloc((size_t)sizes[1] * sizeof *values);
  size_t const n = (size_t)sizes[0] + 1, entries = (size_t)sizes[1];
  if (fread(rows, sizeof *rows, n, file) != n || fread(columns, sizeof *columns, entries, file) != entries ||
      fread(values, sizeof *values, entries, file) != entries)
    exit(2);
  fclose(file);
  Mat A;
  MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, (PetscInt)sizes[0], (PetscInt)sizes[0], rows, columns,
                            values, &A);
  MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE);
  return A;
}

int main(int argc, char** argv) {
  int none = 1;
  char** no_arguments = argv;
  if (argc != 6) return 2;
  SlepcInitialize(&none, &no_arguments, NULL, NULL);
  Mat const A = read_matrix(argv[1]);
  int const near = strcmp(argv[3], "near") == 0;
  clock_t const begin = clock();
  EPS eps;
  ST st;
  KSP ksp;
  PC pc;
  EPSCreate(PETSC_COMM_SELF, &eps);
  EPSSetOperators(eps, A, NULL);
  EPSSetProblemType(eps, EPS_HEP);
  EPSSetType(eps, EPSKRYLOVSCHUR);
  EPSSetTolerances(eps, atof(argv[2]), 1000);
  EPSGetST(eps, &st);
  STSetType(st, STSINVERT);
  STGetKSP(st, &ksp);
  if (near) {
    EPSSetWhichEigenpairs(eps, EPS_TARGET_MAGNITUDE);
    EPSSetTarget(eps, atof(argv[4]));
    EPSSetDimensions(eps, atoi(argv[5]), PETSC_DEFAULT, PETSC_DEFAULT);
  } else {
    EPSSetWhichEigenpairs(eps, EPS_ALL);
    EPSSetInterval(eps, atof(argv[4]), atof(argv[5]));
    EPSKrylovSchurGetKSP(eps, &ksp);
  }
  KSPSetType(ksp, KSPPREONLY);
  KSPGetPC(ksp, &pc);
  PCSetType(pc, PCCHOLESKY);
  PCFactorSetMatSolverType(pc, MATSOLVERMUMPS);
  if (!near) PetscOptionsInsertString(NULL, "-mat_mumps_icntl_13 1 -mat_mumps_icntl_24 1");
  EPSSetFromOptions(eps);
  EPSSolve(eps);
  double const seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  PetscInt found = 0;
  EPSGetConverged(eps, &found);
  printf("{\"cpu\": %.4f, \"values\": [", seconds);
  for (PetscInt j = 0; j < found; ++j) {
    PetscScalar value;
    EPSGetEigenvalue(eps, j, &value, NULL);
    printf("%s%.17g", j ? ", " : "", (double)value);
  }
  printf("]}\n");
  return SlepcFinalize();
}
