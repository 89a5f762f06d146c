# Finds MUMPS' sequential build as static libraries (Debian: libmumps-seq-dev), double precision:
# MUMPS_FOUND, MUMPS_INCLUDE_DIR, MUMPS_LIBRARIES. Static, because what is made of them must keep
# their stand-ins of MPI to itself. The Fortran runtime is found without a Fortran compiler.
find_path(MUMPS_INCLUDE_DIR dmumps_c.h PATH_SUFFIXES mumps mumps_seq)
find_library(MUMPS_DOUBLE_LIBRARY libdmumps_seq.a)
find_library(MUMPS_COMMON_LIBRARY libmumps_common_seq.a)
find_library(MUMPS_MPISEQ_LIBRARY NAMES libmpiseq_seq.a libmpiseq.a)
find_library(MUMPS_PORD_LIBRARY NAMES libpord_seq.a)
find_library(MUMPS_FORTRAN_LIBRARY NAMES gfortran libgfortran.so.5
  PATHS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
mark_as_advanced(MUMPS_INCLUDE_DIR MUMPS_DOUBLE_LIBRARY MUMPS_COMMON_LIBRARY MUMPS_MPISEQ_LIBRARY
  MUMPS_PORD_LIBRARY MUMPS_FORTRAN_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MUMPS REQUIRED_VARS MUMPS_DOUBLE_LIBRARY MUMPS_COMMON_LIBRARY
  MUMPS_MPISEQ_LIBRARY MUMPS_PORD_LIBRARY MUMPS_FORTRAN_LIBRARY MUMPS_INCLUDE_DIR)
if(MUMPS_FOUND)
  set(MUMPS_LIBRARIES ${MUMPS_DOUBLE_LIBRARY} ${MUMPS_COMMON_LIBRARY} ${MUMPS_MPISEQ_LIBRARY}
    ${MUMPS_PORD_LIBRARY} ${MUMPS_FORTRAN_LIBRARY})
endif()
