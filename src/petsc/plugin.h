/* What the files of the two plugins share. Plain C over blockspan.h; nothing here knows C++. */
#ifndef BLOCKSPAN_PLUGIN_H
#define BLOCKSPAN_PLUGIN_H

#include <petscksp.h>

#include <blockspan.h>

#if !defined(PETSC_USE_REAL_DOUBLE)
#error "Blockspan's plugin is for PETSc in double precision (--with-precision=double)"
#endif
#if defined(PETSC_USE_64BIT_INDICES)
#error "Blockspan's plugin is for PETSc with 32-bit indices"
#endif
#if defined(PETSC_USE_COMPLEX)
#define BS_SCALAR BLOCKSPAN_COMPLEX_DOUBLE
#else
#define BS_SCALAR BLOCKSPAN_DOUBLE
#endif
#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif
#if PETSC_VERSION_LT(3, 23, 0)
#define BS_ITEMS PetscOptionItems *PetscOptionsObject
#else
#define BS_ITEMS PetscOptionItems PetscOptionsObject
#endif

/* A call of Blockspan as one of PETSc. */
#define BSCall(...) PetscCall(BSError(__VA_ARGS__))
PETSC_EXTERN PetscErrorCode BSError(blockspan_code code);

/* What is composed with a Mat: it as an operator, as long as its values and pattern are as they were. */
typedef struct {
  blockspan_operator op;
  PetscObjectState state, pattern;
  const PetscInt *ia, *ja; /* which op reads where they are, as */
  const PetscScalar *a;    /* these: they may move while the pattern stays */
  Mat mat;                 /* for callbacks; not referenced */
  PetscErrorCode error; /* of a callback */
  PetscBool entries;    /* its entries are known: not a callback */
} BSMat;
PETSC_EXTERN PetscErrorCode BSMatGet(Mat A, BSMat **m);
PETSC_EXTERN PetscErrorCode BSContextGet(MPI_Comm comm, blockspan_context *context);

/* A matrix of the caller's arrays, on one process or on the ranks of the Mat. */
typedef struct {
  const PetscInt *ia, *ja, *io, *jo, *garray; /* diagonal block, and the rest (NULL: one process) */
  PetscScalar *a, *ao;
} BSArrays;
PETSC_INTERN PetscErrorCode BSArraysGet(Mat A, BSArrays *arrays, PetscBool *known);
PETSC_INTERN PetscErrorCode BSMatrixCreate(Mat A, const BSArrays *arrays, blockspan_operator *op);

/* Entries in columns of rows that have nothing but a diagonal; none: all else is NULL. */
typedef struct {
  PetscScalar *a, *ao; /* values without them */
  PetscInt entries;    /* how many, on all ranks */
  Vec solved;          /* 1 over the diagonal of those rows, else 0 */
  Vec correction, rest;
} BSDirichlet;
PETSC_INTERN PetscErrorCode BSDirichletFind(Mat A, const BSArrays *arrays, BSDirichlet *d);
/* d->correction = the solution of those rows for x, d->rest = x - A correction. */
PETSC_INTERN PetscErrorCode BSDirichletSolve(Mat A, const BSDirichlet *d, Vec x);
PETSC_INTERN PetscErrorCode BSDirichletReset(BSDirichlet *d);

/* The preconditioner of a PC inside Blockspan's solvers. */
typedef struct {
  PC pc;
  Mat X, Y;
  PetscErrorCode error;
  blockspan_operator op;
} BSPrec;
PETSC_EXTERN PetscErrorCode BSPrecFrom(PC pc, Mat A, PetscBool eigenpairs, BSPrec *p,
                                       blockspan_operator *op);
PETSC_EXTERN PetscErrorCode BSPrecReset(BSPrec *p);

/* Vectors of a null space as a block, to be freed by PetscFree; no columns where there are none. */
PETSC_INTERN PetscErrorCode BSVectors(MatNullSpace space, Mat A, PetscScalar **memory,
                                      blockspan_block *block);

PETSC_INTERN PetscErrorCode BSPCCreate(PC pc);
PETSC_INTERN PetscErrorCode BSPCGetOperator(PC pc, PetscBool eigenpairs, blockspan_operator *op);
PETSC_INTERN PetscErrorCode BSKSPCreate(KSP ksp);

PETSC_EXTERN PetscLogEvent BS_Setup, BS_Solve, BS_Product;

#endif
