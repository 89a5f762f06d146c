# Fails unless LIBRARY defines names that begin with blockspan_mumps_ and no others, and asks other
# libraries for none of MPI.
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE defined
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${NM} -D --undefined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE wanted
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${defined}")
set(own 0)
foreach(line IN LISTS lines)
  if(line MATCHES "^blockspan_mumps_")
    math(EXPR own "${own} + 1")
  else()
    message(FATAL_ERROR "${LIBRARY} exports ${line}")
  endif()
endforeach()
if(NOT own EQUAL 5)
  message(FATAL_ERROR "${LIBRARY} exports ${own} functions of mumps.h instead of 5")
endif()
string(TOLOWER "${wanted}" wanted)
if(wanted MATCHES "(^|\n)(p?mpi_[a-z_]*)")
  message(FATAL_ERROR "${LIBRARY} asks others for ${CMAKE_MATCH_2}")
endif()
