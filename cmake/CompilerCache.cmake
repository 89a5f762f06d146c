# ccache, where there is one. Host builds take it as the compiler launcher. Kokkos' CUDA builds have a
# launcher of their own and stop at a second one, so there ccache goes between it and nvcc_wrapper.
option(Blockspan_ENABLE_CCACHE "Compile through ccache when it is installed" ${PROJECT_IS_TOP_LEVEL})
if(Blockspan_ENABLE_CCACHE)
  find_program(Blockspan_CCACHE ccache)
  mark_as_advanced(Blockspan_CCACHE)
endif()

# To be called where Kokkos is known to be without CUDA and before its targets are made.
macro(blockspan_cache_host_compiler)
  if(Blockspan_ENABLE_CCACHE AND Blockspan_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # the sloppiness is what its manual asks for where headers are precompiled
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${Blockspan_CCACHE})
  endif()
endmacro()

# Writes the script that runs the given nvcc_wrapper through ccache; `result` is its path.
function(blockspan_write_cached_nvcc nvcc_wrapper result)
  set(script ${PROJECT_BINARY_DIR}/nvcc_wrapper_ccache)
  file(CONFIGURE OUTPUT ${script} @ONLY CONTENT
    "#!/bin/sh
export NVCC_WRAPPER_DEFAULT_COMPILER=\"\${NVCC_WRAPPER_DEFAULT_COMPILER:-@CMAKE_CXX_COMPILER@}\"
exec \"@Blockspan_CCACHE@\" \"@nvcc_wrapper@\" \"$@\"
")
  file(CHMOD ${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
  set(${result} ${script} PARENT_SCOPE)
endfunction()

# An installed Kokkos with CUDA has set its launcher for every compilation: put ccache into it.
function(blockspan_cache_nvcc)
  if(NOT Kokkos_ENABLE_CUDA OR NOT Blockspan_ENABLE_CCACHE OR NOT Blockspan_CCACHE)
    return()
  endif()
  get_property(launch GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
  if(launch MATCHES "ccache" OR NOT launch MATCHES "^([^ ]+) ([^ ]+/nvcc_wrapper) (.+)$")
    return()
  endif()
  blockspan_write_cached_nvcc(${CMAKE_MATCH_2} script)
  string(REGEX REPLACE "^([^ ]+) ([^ ]+/nvcc_wrapper) (.+)$" "\\1 ${script} \\3" launch "${launch}")
  set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE "${launch}")
endfunction()
