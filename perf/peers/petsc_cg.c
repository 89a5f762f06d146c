/* PETSc's conjugate gradients with a preconditioner of its options, hypre's BoomerAMG say, for right-hand
   sides of random numbers one after the other: seconds of the processor, iterations, the largest residual.
     petsc_cg FILE COLUMNS TOLERANCE BLOCK [-pc_type hypre ...]
   FILE: rows and entries (64 bits), offsets and columns (32 bits), values: a symmetric matrix.
   Compile: mpicc -O2 petsc_cg.c $(pkg-config --cflags --libs petsc) -o petsc_cg */
#include <petscksp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void *read_array(FILE *file, size_t count, size_t size) {
  void *data = malloc(count * size + 1);
  if (!data || fread(data, size, count, file) != count) exit(3);
  return data;
}

int main(int argc, char **argv) {
  int64_t sizes[2];
  PetscInt *offsets, *columns, total = 0;
  PetscScalar *values;
  PetscReal worst = 0;
  Mat A;
  Vec b, x, r;
  KSP solver;
  PC pc;
  PetscRandom random;
  FILE *file = argc > 4 ? fopen(argv[1], "rb") : NULL;
  if (!file || fread(sizes, 8, 2, file) != 2) return 3;
  offsets = read_array(file, (size_t)sizes[0] + 1, 4);
  columns = read_array(file, (size_t)sizes[1], 4);
  values = read_array(file, (size_t)sizes[1], 8);

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, (PetscInt)sizes[0], (PetscInt)sizes[0],
                                      offsets, columns, values, &A));
  PetscCall(MatSetBlockSize(A, atoi(argv[4])));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetInterval(random, -1, 1));

  double const begin = now();
  PetscCall(KSPCreate(PETSC_COMM_SELF, &solver));
  PetscCall(KSPSetType(solver, KSPCG));
  PetscCall(KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetOperators(solver, A, A));
  PetscCall(KSPSetTolerances(solver, atof(argv[3]), 0, PETSC_DEFAULT, 6000));
  PetscCall(KSPGetPC(solver, &pc));
  PetscCall(PCSetType(pc, PCHYPRE));
  PetscCall(KSPSetFromOptions(solver));
  PetscCall(KSPSetUp(solver));
  double const made = now();
  double solving = 0;
  for (int j = 0; j < atoi(argv[2]); ++j) {
    PetscInt steps;
    PetscReal left, norm;
    PetscCall(VecSetRandom(b, random));
    double const start = now();
    PetscCall(KSPSolve(solver, b, x));
    solving += now() - start;
    PetscCall(KSPGetIterationNumber(solver, &steps));
    total = steps > total ? steps : total;
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &left));
    PetscCall(VecNorm(b, NORM_2, &norm));
    worst = left / norm > worst ? left / norm : worst;
  }
  printf("{\"setup\": %.6f, \"solve\": %.6f, \"iterations\": %d, \"residual\": %.3e}\n", made - begin,
         solving, (int)total, (double)worst);
  return 0;
}
