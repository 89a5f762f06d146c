# blockspan_mpirun: how tests start ranks, without their number (MPIEXEC_NUMPROC_FLAG).
set(blockspan_mpirun ${MPIEXEC_EXECUTABLE})
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version
  OUTPUT_VARIABLE version ERROR_VARIABLE version)
if(version MATCHES "Open MPI|OpenRTE")
  # several ranks on a core and root in containers; waiting ranks leave the core to others
  list(APPEND blockspan_mpirun --allow-run-as-root --oversubscribe --bind-to none
    --mca mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none)
endif()
