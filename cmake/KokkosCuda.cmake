# What Kokkos needs with recent CUDA toolkits.

# Kokkos before 4.7.02 with CUDA 12.9 or newer: its mdspan-based View uses [[no_unique_address]], which
# nvcc lays out differently on host and device, so that kernels read wrong pointers (kokkos/mdspan
# PR 434). The legacy View is right.
function(blockspan_needs_legacy_view kokkos_version result)
  set(${result} FALSE PARENT_SCOPE)
  if(kokkos_version VERSION_LESS 4.7.2 AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.9)
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Stops at an installed Kokkos that would compute wrong results.
function(blockspan_check_installed_view config version)
  cmake_path(GET config PARENT_PATH folder)
  if(NOT EXISTS ${folder}/KokkosConfigCommon.cmake)
    return()
  endif()
  file(STRINGS ${folder}/KokkosConfigCommon.cmake devices REGEX "^set\\(Kokkos_DEVICES .*CUDA")
  file(STRINGS ${folder}/KokkosConfigCommon.cmake legacy
    REGEX "^set\\(Kokkos_OPTIONS .*IMPL_VIEW_LEGACY")
  if(NOT devices OR legacy)
    return()
  endif()
  find_package(CUDAToolkit QUIET)
  blockspan_needs_legacy_view(${version} needed)
  if(needed)
    message(FATAL_ERROR "Blockspan: the installed Kokkos ${version} (${folder}) was built without "
      "Kokkos_ENABLE_IMPL_VIEW_LEGACY; before 4.7.02 and with CUDA ${CUDAToolkit_VERSION} its kernels "
      "read wrong pointers. Rebuild it with -DKokkos_ENABLE_IMPL_VIEW_LEGACY=ON, or use 4.7.02.")
  endif()
endfunction()

# CUDA 13 changed two functions that Kokkos up to 4.7.00 calls. `unpacked` sources are patched; a
# user's clone is not ours to change.
function(blockspan_fix_kokkos_for_cuda13 source unpacked)
  set(file ${source}/core/src/Cuda/Kokkos_Cuda_Instance.hpp)
  if(CUDAToolkit_VERSION VERSION_LESS 13 OR NOT EXISTS ${file})
    return()
  endif()
  set(old_graph "cudaGraphAddDependencies(graph, from, to, numDependencies)")
  set(new_graph "cudaGraphAddDependencies(graph, from, to, nullptr, numDependencies)")
  set(old_prefetch "cudaMemPrefetchAsync(devPtr, count, dstDevice, m_stream)")
  string(CONCAT new_prefetch "cudaMemPrefetchAsync(\n        devPtr, count, "
    "cudaMemLocation{cudaMemLocationTypeDevice, dstDevice}, 0, m_stream)")
  file(READ ${file} text)
  string(REPLACE "${old_graph}" "${new_graph}" patched "${text}")
  string(REPLACE "${old_prefetch}" "${new_prefetch}" patched "${patched}")
  if(patched STREQUAL text)
    return()
  endif()
  if(NOT unpacked)
    message(FATAL_ERROR "Blockspan: ${file} calls functions as CUDA 12 declares them, and the toolkit "
      "is ${CUDAToolkit_VERSION}: use Kokkos 4.7.01 or newer.")
  endif()
  file(WRITE ${file} "${patched}")
  blockspan_kokkos_step("two calls in Kokkos_Cuda_Instance.hpp adapted to CUDA "
    "${CUDAToolkit_VERSION}")
endfunction()
