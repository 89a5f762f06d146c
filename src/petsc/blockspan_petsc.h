/* Blockspan's types in PETSc and SLEPc. -dll_append registers them in any program; programs that call
   call these instead, after PetscInitialize (SlepcInitialize). Once is enough, more do no harm. */
#ifndef BLOCKSPAN_PETSC_H
#define BLOCKSPAN_PETSC_H

#include <petscsys.h>

/* -pc_type blockspan, -ksp_type blockspan, -mat_seqaij_type seqaijblockspan */
PETSC_EXTERN PetscErrorCode BlockspanRegisterPETSc(void);
/* these, and -eps_type blockspan; in libblockspan_slepc.so */
PETSC_EXTERN PetscErrorCode BlockspanRegisterSLEPc(void);

#endif
