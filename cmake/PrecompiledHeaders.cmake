# blockspan_precompile(TARGET <HEADER>... | REUSE_FROM OTHER): the target's files share what the compiler
# makes of these headers, or of those of a target that is compiled with the same options (about a second
# and a half a file saved for Kokkos and GoogleTest). Compilers of devices read a file several times and
# know no such thing: their builds also show which file forgot an include.
# CMAKE_DISABLE_PRECOMPILE_HEADERS switches it off.
function(blockspan_precompile target)
  if(Kokkos_ENABLE_CUDA OR Kokkos_ENABLE_HIP OR Kokkos_ENABLE_SYCL)
    return()
  endif()
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache asks for it
  endif()
endfunction()
