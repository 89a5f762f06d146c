# The quick form of the programs is a test, and the pages of what they wrote two more: made, then
# checked. runs_test.py tests what the suite does when runs end early, results are wrong or slower.
set_property(DIRECTORY APPEND PROPERTY
  TEST_INCLUDE_FILES ${PROJECT_BINARY_DIR}/tests/environment.cmake)
add_test(NAME perf.spmm_shapes COMMAND blockspan-perf-spmm-shapes --quick)
add_test(NAME perf.fit_model COMMAND blockspan-perf-fit-model ${PROJECT_SOURCE_DIR}/tests/spmm)
set(results ${CMAKE_CURRENT_BINARY_DIR}/quick)
find_package(Python3 3.9 COMPONENTS Interpreter)
set(python)
if(Python3_FOUND)
  set(python --python ${Python3_EXECUTABLE})
endif()
add_test(NAME perf.quick COMMAND blockspan-perf --quick --fresh --out ${results} ${python})
set_tests_properties(perf.quick PROPERTIES FIXTURES_SETUP perf_results TIMEOUT 600)
add_test(NAME perf.ranks_plan COMMAND blockspan-perf-ranks-plan --quick --out ${results})
set_tests_properties(perf.ranks_plan PROPERTIES FIXTURES_SETUP perf_results)
if(TARGET blockspan-perf-ranks AND MPIEXEC_EXECUTABLE)
  add_test(NAME perf.ranks COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2
    $<TARGET_FILE:blockspan-perf-ranks> --quick --out ${results})
  # what Open MPI needs in a container with few cores, which others do not read
  set_tests_properties(perf.ranks PROPERTIES FIXTURES_SETUP perf_results TIMEOUT 300 PROCESSORS 2
    ENVIRONMENT "OMP_NUM_THREADS=1;OMP_PROC_BIND=false;OMPI_ALLOW_RUN_AS_ROOT=1;\
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;\
OMPI_MCA_hwloc_base_binding_policy=none;OMPI_MCA_mpi_yield_when_idle=1;\
OMPI_MCA_btl_vader_single_copy_mechanism=none")
endif()
if(Python3_FOUND)
  set(make_pages ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/report.py ${results})
  add_test(NAME perf.report COMMAND ${make_pages})
  add_test(NAME perf.report_check COMMAND ${make_pages} --check)
  set_tests_properties(perf.report PROPERTIES
    FIXTURES_REQUIRED perf_results FIXTURES_SETUP perf_page)
  set_tests_properties(perf.report_check PROPERTIES FIXTURES_REQUIRED "perf_results;perf_page")
  # the pages of committed records are what the records give
  foreach(folder h200 host judged tests)
    add_test(NAME perf.records_check.${folder} COMMAND ${Python3_EXECUTABLE} report.py
      results/${folder} --check WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  endforeach()
  add_test(NAME perf.suite COMMAND ${Python3_EXECUTABLE}
    ${CMAKE_CURRENT_SOURCE_DIR}/tests/runs_test.py $<TARGET_FILE:blockspan-perf>)
  foreach(part pages robustness)
    add_test(NAME perf.${part} COMMAND ${Python3_EXECUTABLE}
      ${CMAKE_CURRENT_SOURCE_DIR}/tests/${part}_test.py)
  endforeach()
endif()
