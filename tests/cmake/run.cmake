# Runs one case: -DCASE=name -DWORK=scratch folder -DSOURCE=Blockspan's sources
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/fakes.cmake)
file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
set(unreachable
  -DBlockspan_KOKKOS_URL=file://${WORK}/absent/kokkos.tar.gz
  -DBlockspan_KOKKOSKERNELS_URL=file://${WORK}/absent/kokkos-kernels.tar.gz)
set(disconnected -DFETCHCONTENT_FULLY_DISCONNECTED=ON)

# configure(RESULT ARGUMENT ...): RESULT is `succeeds` or `fails`. Sets `output`. A command in
# `wrapper` runs the one of cmake.
function(configure expected)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=Kokkos_DIR --unset=Kokkos_ROOT --unset=CMAKE_PREFIX_PATH
      ${wrapper} ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/project -B ${WORK}/build -G Ninja
      -DSOURCE=${SOURCE} -DCMAKE_PREFIX_PATH=${prefix} -DBlockspan_ENABLE_CCACHE=OFF ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")  # CMake wraps errors
  if((result EQUAL 0 AND expected STREQUAL "fails") OR (NOT result EQUAL 0 AND expected STREQUAL "succeeds"))
    message(FATAL_ERROR "the configuration should have been one that ${expected}:\n${text}")
  endif()
  if(text MATCHES "chatter")
    message(FATAL_ERROR "the dependency's messages show:\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

function(expect words)
  string(FIND "${output}" "${words}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "\"${words}\" is missing from:\n${output}")
  endif()
endfunction()

function(expect_origin origin)
  expect("Kokkos::kokkos is ${origin}")
  expect("Kokkos::kokkoskernels is ${origin}")
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/cases.cmake)
if(NOT COMMAND case_${CASE})
  message(FATAL_ERROR "no case ${CASE}")
endif()
cmake_language(CALL case_${CASE})
