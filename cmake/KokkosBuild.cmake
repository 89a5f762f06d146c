# Adds Kokkos and Kokkos Kernels from their sources to this build. Their options are the presets' or
# the user's Kokkos_*; they are installed along with Blockspan. They come in as system includes, and
# neither their configuration nor their compilation says anything but errors.

# The version that a source tree of Kokkos states, or "" (newer ones state it in project()).
function(blockspan_kokkos_source_version source result)
  file(STRINGS ${source}/CMakeLists.txt lines REGEX "set\\(Kokkos_VERSION_(MAJOR|MINOR|PATCH) [0-9]+\\)")
  string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
  list(JOIN numbers "." version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# What Kokkos needs before it is configured with CUDA.
function(blockspan_prepare_kokkos_cuda source unpacked)
  find_package(CUDAToolkit QUIET)
  blockspan_fix_kokkos_for_cuda13(${source} ${unpacked})
  blockspan_kokkos_source_version(${source} version)
  if(version)
    blockspan_needs_legacy_view(${version} needed)
    if(needed AND NOT Kokkos_ENABLE_IMPL_VIEW_LEGACY)
      set(Kokkos_ENABLE_IMPL_VIEW_LEGACY ON CACHE BOOL "Use the View of before mdspan" FORCE)
      blockspan_kokkos_step("legacy View, which Kokkos ${version} needs with CUDA "
        "${CUDAToolkit_VERSION}")
    endif()
  endif()
  if(Blockspan_ENABLE_CCACHE AND Blockspan_CCACHE AND EXISTS ${source}/bin/nvcc_wrapper)
    blockspan_write_cached_nvcc(${source}/bin/nvcc_wrapper script)
    set(Kokkos_NVCC_WRAPPER ${script} CACHE FILEPATH "The compiler that Kokkos launches")
  endif()
endfunction()

# The smallest Kokkos Kernels that serves: the sparse component, compiled where it is used.
function(blockspan_set_kernels_options)
  set(KokkosKernels_ENABLE_ALL_COMPONENTS OFF CACHE BOOL "")
  set(KokkosKernels_ENABLE_COMPONENT_SPARSE ON CACHE BOOL "")
  set(KokkosKernels_ADD_DEFAULT_ETI OFF CACHE BOOL "")
  if(Kokkos_ENABLE_CUDA)
    set(KokkosKernels_ENABLE_TPL_CUSPARSE ON CACHE BOOL "")
    set(KokkosKernels_ENABLE_TPL_CUBLAS ON CACHE BOOL "")
  endif()
endfunction()

# `kind`: CLONE, a user's folder, or UNPACKED, a folder of this build tree.
macro(blockspan_build_kokkos kokkos_source kernels_source kind)
  if(NOT Kokkos_ENABLE_CUDA)
    blockspan_cache_host_compiler()
  endif()
  blockspan_add_kokkos(${kokkos_source} ${kernels_source} ${kind})
endmacro()

# A function, so that nothing set here for Kokkos reaches Blockspan's own targets. No `kokkos_source`: Kokkos is
# there.
function(blockspan_add_kokkos kokkos_source kernels_source kind)
  if(kokkos_source AND Kokkos_ENABLE_CUDA)
    string(COMPARE EQUAL ${kind} UNPACKED unpacked)
    blockspan_prepare_kokkos_cuda(${kokkos_source} ${unpacked})
  endif()
  blockspan_set_kernels_options()
  set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
  set_property(GLOBAL PROPERTY CTEST_TARGETS_ADDED 1)  # Kokkos includes CTest: no dashboard targets
  get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
  add_compile_options(-w)
  # Headers take most of the time of its files, which nothing changes here: one unit a library.
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
  if(kokkos_source)
    add_subdirectory(${kokkos_source} ${PROJECT_BINARY_DIR}/_deps/kokkos-build SYSTEM)
  endif()
  add_subdirectory(${kernels_source} ${PROJECT_BINARY_DIR}/_deps/kokkoskernels-build SYSTEM)
  set_property(DIRECTORY PROPERTY COMPILE_OPTIONS "${options}")
endfunction()
