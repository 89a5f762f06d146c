# blockspan_precompile(TARGET <HEADER>...): the target's files share what the compiler makes of these
# headers (about a second and a half a file saved for Kokkos and GoogleTest). Compilers of devices
# read a file several times and know no such thing: their builds also show which file forgot an
# include. CMAKE_DISABLE_PRECOMPILE_HEADERS switches it off.
function(blockspan_precompile target)
  if(Kokkos_ENABLE_CUDA OR Kokkos_ENABLE_HIP OR Kokkos_ENABLE_SYCL)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache asks for it
  endif()
endfunction()
