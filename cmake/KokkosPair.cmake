# Kokkos and Kokkos Kernels, always from the same place. In this order:
#   0  targets of an enclosing project; where it builds a Kokkos alone, Kokkos Kernels of 1, 3 or 4 for that;
#   1  local clones named by FETCHCONTENT_SOURCE_DIR_KOKKOS and FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS,
#      since who names them wants them;
#   2  an installed pair, new enough, with every backend and option asked for;
#   3  the upstream release, unless FETCHCONTENT_FULLY_DISCONNECTED;
#   4  the source package of pygenten on the package index, which carries both.
# Each step says in one line what came of it. What 3 or 4 unpacked stays with the build tree.
set(Blockspan_KOKKOS_LEAST_VERSION 4.5)
set(Blockspan_KOKKOSKERNELS_LEAST_VERSION 4.4)
set(Blockspan_DOWNLOAD_DIR "${PROJECT_BINARY_DIR}/_downloads" CACHE PATH
  "Where downloaded sources are kept; build trees may share it")
mark_as_advanced(Blockspan_DOWNLOAD_DIR)

set_property(GLOBAL PROPERTY Blockspan_KOKKOS_STEPS "")
# One line of the report; the lines are repeated if no step succeeds.
function(blockspan_kokkos_step)
  string(CONCAT line ${ARGV})
  message(STATUS "Blockspan: Kokkos: ${line}")
  set_property(GLOBAL APPEND_STRING PROPERTY Blockspan_KOKKOS_STEPS "\n  - ${line}")
endfunction()

include(KokkosInstalled)
include(KokkosCuda)
include(KokkosRelease)
include(KokkosIndex)
include(KokkosBuild)

# Fetches the sources unless this build tree has them already. Sets `kokkos` and `kernels`.
function(blockspan_fetch_kokkos kokkos kernels)
  set(kokkos_source ${PROJECT_BINARY_DIR}/_deps/kokkos-src)
  set(kernels_source ${PROJECT_BINARY_DIR}/_deps/kokkoskernels-src)
  if(Blockspan_KOKKOS_ORIGIN AND EXISTS ${kokkos_source} AND EXISTS ${kernels_source})
    blockspan_kokkos_step("built from ${Blockspan_KOKKOS_ORIGIN}, unpacked before")
  else()
    blockspan_fetch_kokkos_release(${kokkos_source} ${kernels_source} origin)
    if(NOT origin)
      blockspan_fetch_kokkos_from_index(${kokkos_source} ${kernels_source} origin)
    endif()
    if(NOT origin)
      get_property(steps GLOBAL PROPERTY Blockspan_KOKKOS_STEPS)
      message(FATAL_ERROR "Blockspan: Kokkos was not found and could not be fetched:${steps}\n"
        "Install Kokkos >= ${Blockspan_KOKKOS_LEAST_VERSION} and Kokkos Kernels >= "
        "${Blockspan_KOKKOSKERNELS_LEAST_VERSION}, or set FETCHCONTENT_SOURCE_DIR_KOKKOS and "
        "FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS to their sources.")
    endif()
    set(Blockspan_KOKKOS_ORIGIN "${origin}" CACHE INTERNAL "Where the sources of Kokkos came from")
    blockspan_kokkos_step("built from ${origin}")
  endif()
  set(${kokkos} ${kokkos_source} PARENT_SCOPE)
  set(${kernels} ${kernels_source} PARENT_SCOPE)
endfunction()

set(blockspan_kokkos_is_imported)
if(TARGET Kokkos::kokkos)
  get_target_property(blockspan_kokkos_is_imported Kokkos::kokkos IMPORTED)
endif()
if(TARGET Kokkos::kokkos AND TARGET Kokkos::kokkoskernels)
  blockspan_kokkos_step("the enclosing project's")
elseif(TARGET Kokkos::kokkos AND NOT blockspan_kokkos_is_imported)
  blockspan_kokkos_step("the enclosing project's, without Kokkos Kernels")
  if(FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS)
    blockspan_kokkos_step("Kokkos Kernels built from the clone ${FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS}")
    blockspan_add_kokkos("" ${FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS} CLONE)
  else()
    blockspan_fetch_kokkos(blockspan_kokkos_source blockspan_kernels_source)
    blockspan_add_kokkos("" ${blockspan_kernels_source} UNPACKED)
  endif()
elseif(FETCHCONTENT_SOURCE_DIR_KOKKOS OR FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS)
  if(NOT FETCHCONTENT_SOURCE_DIR_KOKKOS OR NOT FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS)
    message(FATAL_ERROR "Blockspan: FETCHCONTENT_SOURCE_DIR_KOKKOS and "
      "FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS come together: set both or none.")
  endif()
  blockspan_kokkos_step("built from the clones ${FETCHCONTENT_SOURCE_DIR_KOKKOS} and "
    "${FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS}")
  blockspan_build_kokkos(${FETCHCONTENT_SOURCE_DIR_KOKKOS}
    ${FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS} CLONE)
else()
  set(blockspan_installed_kokkos)
  if(NOT Blockspan_KOKKOS_ORIGIN)
    blockspan_find_installed_kokkos(blockspan_installed_kokkos blockspan_installed_kernels)
  endif()
  if(blockspan_installed_kokkos)
    find_package(Kokkos REQUIRED QUIET CONFIG PATHS ${blockspan_installed_kokkos} NO_DEFAULT_PATH)
    find_package(KokkosKernels REQUIRED QUIET CONFIG PATHS ${blockspan_installed_kernels}
      NO_DEFAULT_PATH)
    if(NOT Kokkos_ENABLE_CUDA)
      blockspan_cache_host_compiler()
    endif()
  else()
    blockspan_fetch_kokkos(blockspan_kokkos_source blockspan_kernels_source)
    blockspan_build_kokkos(${blockspan_kokkos_source} ${blockspan_kernels_source} UNPACKED)
  endif()
endif()
