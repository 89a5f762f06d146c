# Components: optional parts of the package, each a library beside the core that an embedder links by
# name (Blockspan::NAME). Its option is Blockspan_ENABLE_ and the name in capitals. Whatever links a
# component is compiled with BLOCKSPAN_HAS_ and the same, so that programs know what they can offer.
set(Blockspan_ENABLE_KOKKOS_KERNELS OFF CACHE BOOL
  "Component kokkos_kernels: its product and Gauss-Seidel (minutes a scalar and backend)")
set(Blockspan_ENABLE_CUSPARSE AUTO CACHE STRING
  "Component cusparse: its product. AUTO: with the CUDA backend, ON or OFF")
set(Blockspan_ENABLE_DIRECT AUTO CACHE STRING
  "Component direct: factors by MUMPS (libmumps-seq-dev). AUTO: where it is found, ON or OFF")
set(Blockspan_ENABLE_MPI AUTO CACHE STRING
  "Component mpi: ranks of MPI (libopenmpi-dev). AUTO: where it is found, ON or OFF")
set(Blockspan_ENABLE_NCCL AUTO CACHE STRING
  "Component nccl: device data of ranks (libnccl-dev). AUTO: with the CUDA backend where it is found, ON or OFF")
set(Blockspan_ENABLE_METIS AUTO CACHE STRING
  "Component metis: parts of rows for ranks (libmetis-dev). AUTO: where it is found, ON or OFF")
set(Blockspan_ENABLE_SCOTCH AUTO CACHE STRING
  "Component scotch: the same in parallel (libptscotch-dev). AUTO: where it and MPI are found, ON or OFF")
set_property(CACHE Blockspan_ENABLE_CUSPARSE Blockspan_ENABLE_DIRECT Blockspan_ENABLE_MPI
  Blockspan_ENABLE_NCCL Blockspan_ENABLE_METIS Blockspan_ENABLE_SCOTCH PROPERTY STRINGS AUTO ON OFF)

# Every name that a package may be asked for, whether this build has it or not.
# published is in every build.
set(blockspan_known_components published kokkos_kernels cusparse direct mpi nccl metis scotch)

# blockspan_component(NAME): the library of a component, still without sources.
function(blockspan_component name)
  set(target blockspan_${name})
  string(TOUPPER ${name} capitals)
  add_library(${target})
  add_library(Blockspan::${name} ALIAS ${target})
  target_link_libraries(${target} PUBLIC blockspan)
  target_compile_definitions(${target} INTERFACE BLOCKSPAN_HAS_${capitals} PRIVATE BLOCKSPAN_LIBRARY_UNIT)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  blockspan_warnings(${target})
  set_property(GLOBAL APPEND PROPERTY BLOCKSPAN_COMPONENTS ${name})
endfunction()

# blockspan_leave_out_component(NAME REASON): for an option that is AUTO or ON and cannot be met.
function(blockspan_leave_out_component name reason)
  string(TOUPPER ${name} capitals)
  if(NOT Blockspan_ENABLE_${capitals} STREQUAL "AUTO")
    message(FATAL_ERROR "Blockspan: Blockspan_ENABLE_${capitals}: ${reason}.")
  endif()
  message(STATUS "Blockspan: component ${name}: left out: ${reason}")
endfunction()
