/* What -dll_append finds; and -mat_seqaij_type seqaijblockspan: products with dense matrices by
   Blockspan, of any program's AIJ matrix. */
#include <petsc/private/matimpl.h>
#include <petsc/private/kspimpl.h>

#include "blockspan_petsc.h"
#include "plugin.h"

PetscLogEvent BS_Setup, BS_Solve, BS_Product;

static PetscErrorCode Multiply(int32_t op, Mat A, Mat B, Mat C) {
  BSMat *m;
  const PetscScalar *b;
  PetscScalar *c;
  PetscInt leading_b, leading_c;
  blockspan_block X, Y;

  PetscFunctionBegin;
  PetscCall(BSMatGet(A, &m));
  PetscCall(MatDenseGetLDA(B, &leading_b));
  PetscCall(MatDenseGetLDA(C, &leading_c));
  PetscCall(MatDenseGetArrayRead(B, &b));
  PetscCall(MatDenseGetArrayWrite(C, &c));
  X = blockspan_by_columns((void *)b, B->rmap->n, B->cmap->n, leading_b, BS_SCALAR);
  Y = blockspan_by_columns(c, C->rmap->n, C->cmap->n, leading_c, BS_SCALAR);
  PetscCall(PetscLogEventBegin(BS_Product, A, B, C, 0));
  BSCall(blockspan_multiply(m->op, op, NULL, &X, NULL, &Y));
  PetscCall(PetscLogEventEnd(BS_Product, A, B, C, 0));
  PetscCall(MatDenseRestoreArrayRead(B, &b));
  PetscCall(MatDenseRestoreArrayWrite(C, &c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NumericAB(Mat A, Mat B, Mat C) {
  return Multiply(BLOCKSPAN_OP_NONE, A, B, C);
}

static PetscErrorCode NumericAtB(Mat A, Mat B, Mat C) {
  return Multiply(BLOCKSPAN_OP_TRANSPOSE, A, B, C);
}

static PetscErrorCode Numeric(Mat C) {
  return Multiply(C->product->type == MATPRODUCT_AtB ? BLOCKSPAN_OP_TRANSPOSE : BLOCKSPAN_OP_NONE,
                  C->product->A, C->product->B, C);
}

static PetscErrorCode Symbolic(Mat C) {
  PetscBool const turned = (PetscBool)(C->product->type == MATPRODUCT_AtB);
  Mat A = C->product->A, B = C->product->B;

  PetscFunctionBegin;
  PetscCall(MatSetSizes(C, turned ? A->cmap->n : A->rmap->n, B->cmap->n,
                        turned ? A->cmap->N : A->rmap->N, B->cmap->N));
  PetscCall(MatSetType(C, ((PetscObject)B)->type_name));
  PetscCall(MatSetUp(C));
  C->ops->productnumeric = Numeric;
  /* products of three matrices call these of their parts */
  if (turned)
    C->ops->transposematmultnumeric = NumericAtB;
  else
    C->ops->matmultnumeric = NumericAB;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As with a plain aij matrix: what PETSc composes with the second matrix for it. */
static PetscErrorCode Plain(Mat C, const char *name) {
  PetscErrorCode (*function)(Mat) = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)C->product->B, name, &function));
  if (function) PetscCall((*function)(C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OfSparseAndDense(Mat C) {
  PetscFunctionBegin;
  if (C->product->type == MATPRODUCT_AB || C->product->type == MATPRODUCT_AtB)
    C->ops->productsymbolic = Symbolic;
  else
    PetscCall(Plain(C, "MatProductSetFromOptions_seqaij_seqdense_C"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OfDenseAndSparse(Mat C) {
  return Plain(C, "MatProductSetFromOptions_seqdense_seqaij_C");
}

static PetscErrorCode Convert(Mat A, MatType type, MatReuse reuse, Mat *out) {
  Mat B = *out;

  PetscFunctionBegin;
  (void)type;
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(PetscObjectChangeTypeName((PetscObject)B, "seqaijblockspan"));
  PetscCall(PetscObjectComposeFunction((PetscObject)B,
                                       "MatProductSetFromOptions_seqaijblockspan_seqdense_C",
                                       OfSparseAndDense));
  PetscCall(PetscObjectComposeFunction((PetscObject)B,
                                       "MatProductSetFromOptions_seqdense_seqaijblockspan_C",
                                       OfDenseAndSparse));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatConvert_seqaij_seqaijblockspan_C",
                                       Convert));
  *out = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat A) {
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(Convert(A, "seqaijblockspan", MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The structs of PETSc's private headers are those of one minor version. */
static PetscErrorCode CheckVersion(void) {
  PetscInt major, minor;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, NULL, NULL));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF,
             PETSC_ERR_SUP, "Blockspan's plugin was built for PETSc %d.%d, this is %d.%d",
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, (int)major, (int)minor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool done = PETSC_FALSE;

/* PETSc forgets its types where it ends, and may be started again. */
static PetscErrorCode Finalize(void) {
  done = PETSC_FALSE;
  return PETSC_SUCCESS;
}

PetscErrorCode BlockspanRegisterPETSc(void) {
  PetscClassId id;

  PetscFunctionBegin;
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckVersion());
  PetscCall(PetscRegisterFinalize(Finalize));
  done = PETSC_TRUE;
  PetscCall(PetscClassIdRegister("Blockspan", &id));
  PetscCall(PetscLogEventRegister("BlockspanSetUp", id, &BS_Setup));
  PetscCall(PetscLogEventRegister("BlockspanSolve", id, &BS_Solve));
  PetscCall(PetscLogEventRegister("BlockspanProduct", id, &BS_Product));
  PetscCall(PCRegister("blockspan", BSPCCreate));
  PetscCall(KSPRegister("blockspan", BSKSPCreate));
  PetscCall(MatRegister("seqaijblockspan", Create));
  PetscCall(MatSeqAIJRegister("seqaijblockspan", Convert));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_blockspan_petsc(void) {
  return BlockspanRegisterPETSc();
}
