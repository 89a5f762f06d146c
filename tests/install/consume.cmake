# Builds and runs consumer/; HOW is find_package or add_subdirectory. Kokkos is the one in PREFIX, or,
# where Blockspan itself found an installed one, that.
file(REMOVE_RECURSE ${WORK})
set(arguments -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_PREFIX_PATH=${PREFIX})
if(KOKKOS_DIR)
  list(APPEND arguments -DKokkos_DIR=${KOKKOS_DIR} -DKokkosKernels_DIR=${KERNELS_DIR})
endif()
if(CCACHE)
  set(ENV{CCACHE_SLOPPINESS} pch_defines,time_macros)
  list(APPEND arguments -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE})
endif()
if(HOW STREQUAL "find_package")
  list(APPEND arguments -DCOMPONENTS=${COMPONENTS})
endif()
if(HOW STREQUAL "add_subdirectory")
  # Within a project that builds a Kokkos of its own, where the sources of one are there.
  if(EXISTS ${BLOCKSPAN_BUILD}/_deps/kokkos-src)
    list(APPEND arguments -DKOKKOS_SOURCE_DIR=${BLOCKSPAN_BUILD}/_deps/kokkos-src
      -DFETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS=${BLOCKSPAN_BUILD}/_deps/kokkoskernels-src)
  endif()
  # Quick to compile: one scalar, not optimised; the type of the build is the parent's, and it has none.
  list(REMOVE_ITEM arguments -DCMAKE_BUILD_TYPE=Release)
  list(APPEND arguments -DBLOCKSPAN_SOURCE_DIR=${BLOCKSPAN_SOURCE} -DBlockspan_SCALARS=double
    --no-warn-unused-cli -DFETCHCONTENT_FULLY_DISCONNECTED=ON)
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK} ${arguments}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK} --target consumer COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/consumer COMMAND_ERROR_IS_FATAL ANY)
