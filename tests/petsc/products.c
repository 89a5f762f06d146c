/* What PETSc does with a plain aij matrix it does with one of type seqaijblockspan: products with dense
   matrices on either side, of three matrices, with values that change, and what is made of a matrix. Each
   result is compared with that of plain types. Exits with 0 where all is right. */
#include <petscmat.h>

enum { order = 60, columns = 7 };

typedef struct {
  Mat S, B; /* sparse, dense */
} Input;
typedef PetscErrorCode (*Operation)(Input in, Mat *C);

static PetscErrorCode InputCreate(MatType type, Input *in) {
  PetscRandom random;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random)); /* the same values for every type */
  PetscCall(MatCreate(PETSC_COMM_SELF, &in->S));
  PetscCall(MatSetSizes(in->S, order, order, order, order));
  PetscCall(MatSetType(in->S, type));
  PetscCall(MatSetUp(in->S));
  for (PetscInt i = 0; i < order; ++i) {
    PetscCall(MatSetValue(in->S, i, i, 10, ADD_VALUES));
    for (PetscInt t = 0; t < 5; ++t) {
      PetscScalar value;
      PetscReal place;
      PetscCall(PetscRandomGetValue(random, &value));
      PetscCall(PetscRandomGetValueReal(random, &place));
      PetscCall(MatSetValue(in->S, i, (PetscInt)(place * order) % order, value, ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(in->S, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(in->S, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, order, columns, NULL, &in->B));
  PetscCall(MatSetRandom(in->B, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(0);
}

static PetscErrorCode SparseDense(Input in, Mat *C) {
  return MatMatMult(in.S, in.B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C);
}

static PetscErrorCode TransposeDense(Input in, Mat *C) {
  return MatTransposeMatMult(in.S, in.B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C);
}

static PetscErrorCode SparseDenseTranspose(Input in, Mat *C) {
  Mat T;

  PetscFunctionBegin;
  PetscCall(MatTranspose(in.B, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatMatTransposeMult(in.S, T, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(0);
}

static PetscErrorCode DenseSparse(Input in, Mat *C) {
  Mat T;

  PetscFunctionBegin;
  PetscCall(MatTranspose(in.B, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatMatMult(T, in.S, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(0);
}

static PetscErrorCode Projected(Input in, Mat *C) {
  return MatPtAP(in.S, in.B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C);
}

static PetscErrorCode OfThree(Input in, Mat *C) {
  return MatMatMatMult(in.S, in.S, in.B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C);
}

static PetscErrorCode SparseSparse(Input in, Mat *C) {
  return MatMatMult(in.S, in.S, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C);
}

/* Products after the values changed, and after the pattern did. */
static PetscErrorCode Again(Input in, Mat *C) {
  const PetscInt rows[] = {1, 2, 3};

  PetscFunctionBegin;
  PetscCall(SparseDense(in, C));
  PetscCall(MatScale(in.S, 3));
  PetscCall(MatMatMult(in.S, in.B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C));
  PetscCall(MatZeroRows(in.S, 3, rows, 7, NULL, NULL));
  PetscCall(MatMatMult(in.S, in.B, MAT_REUSE_MATRIX, PETSC_DEFAULT, C));
  PetscFunctionReturn(0);
}

static PetscErrorCode Copy(Input in, Mat *C) { return MatDuplicate(in.S, MAT_COPY_VALUES, C); }

static PetscErrorCode Transposed(Input in, Mat *C) {
  return MatTranspose(in.S, MAT_INITIAL_MATRIX, C);
}

static PetscErrorCode Converted(Input in, Mat *C) {
  PetscFunctionBegin;
  PetscCall(Copy(in, C));
  PetscCall(MatConvert(*C, MATSEQAIJ, MAT_INPLACE_MATRIX, C));
  PetscFunctionReturn(0);
}

static PetscErrorCode Factored(Input in, Mat *C) {
  Mat F;
  IS rows, to;
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(MatGetOrdering(in.S, MATORDERINGND, &rows, &to));
  PetscCall(MatGetFactor(in.S, MATSOLVERPETSC, MAT_FACTOR_LU, &F));
  PetscCall(MatLUFactorSymbolic(F, in.S, rows, to, &info));
  PetscCall(MatLUFactorNumeric(F, in.S, &info));
  PetscCall(MatDuplicate(in.B, MAT_DO_NOT_COPY_VALUES, C));
  PetscCall(MatMatSolve(F, in.B, *C));
  PetscCall(MatDestroy(&F));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&to));
  PetscFunctionReturn(0);
}

/* ||C - D|| / ||D|| in the Frobenius norm. */
static PetscErrorCode Difference(Mat C, Mat D, PetscReal *difference) {
  Mat c, d;
  PetscReal size;

  PetscFunctionBegin;
  PetscCall(MatConvert(C, MATDENSE, MAT_INITIAL_MATRIX, &c));
  PetscCall(MatConvert(D, MATDENSE, MAT_INITIAL_MATRIX, &d));
  PetscCall(MatNorm(d, NORM_FROBENIUS, &size));
  PetscCall(MatAXPY(c, -1, d, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(c, NORM_FROBENIUS, difference));
  *difference /= size;
  PetscCall(MatDestroy(&c));
  PetscCall(MatDestroy(&d));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  const struct {
    const char *name;
    Operation run;
  } operations[] = {{"S B", SparseDense}, {"S^T B", TransposeDense}, {"S (B^T)^T", SparseDenseTranspose},
                    {"B^T S", DenseSparse}, {"B^T S B", Projected}, {"S S B", OfThree},
                    {"S S", SparseSparse}, {"S B again", Again}, {"copy", Copy},
                    {"transpose", Transposed}, {"convert", Converted}, {"factor", Factored}};
  PetscBool right = PETSC_TRUE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    Input ours, plain;
    Mat C, D;
    PetscReal difference;
    PetscCall(InputCreate("seqaijblockspan", &ours));
    PetscCall(InputCreate(MATSEQAIJ, &plain));
    PetscCall(operations[i].run(ours, &C));
    PetscCall(operations[i].run(plain, &D));
    PetscCall(Difference(C, D, &difference));
    if (!(difference < 1e-14)) right = PETSC_FALSE;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %g\n", operations[i].name, (double)difference));
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&D));
    PetscCall(MatDestroy(&ours.S));
    PetscCall(MatDestroy(&ours.B));
    PetscCall(MatDestroy(&plain.S));
    PetscCall(MatDestroy(&plain.B));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, right ? "all right\n" : "not all right\n"));
  PetscCall(PetscFinalize());
  return right ? 0 : 1;
}
