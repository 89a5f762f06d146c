#pragma once

#include <blockspan/communication/communicator.hpp>

#include <mpi.h>

// Component mpi (Blockspan::mpi): the only header that includes mpi.h.

namespace blockspan {

/// The ranks of an MPI communicator, which is duplicated: the caller's messages never match those
/// of Blockspan. Rows of a halo are sent from device memory to device memory where MPI reports that
/// it can (MPIX_Query_cuda_support, MPIX_GPU_query_support) or the environment variable
/// BLOCKSPAN_GPU_AWARE_MPI says so (1; 0: it cannot), else staged through the host. MPI must be
/// initialized, and stay so while a copy is in use; one thread at a time. Messages beyond 1 GiB are
/// split. A rank that waits longer than BLOCKSPAN_WAIT_SECONDS (environment; default 600, 0: never)
/// reports on stderr which rank it waits for. Throws Error where MPI fails, before MPI_Init, after
/// MPI_Finalize, and for MPI_COMM_NULL or an intercommunicator.
Communicator mpi_communicator(MPI_Comm comm);

/// The MPI communicator of a Communicator from mpi_communicator, for other libraries. Throws Error
/// for any other Communicator.
MPI_Comm mpi_comm_of(Communicator const& ranks);

/// MPI for the lifetime of a program: initializes it if a launcher (mpirun, srun) started the
/// program, and finalizes it again. Without a launcher MPI is not touched.
class MpiScope {
 public:
  MpiScope(int& argc, char**& argv);
  ~MpiScope();
  MpiScope(MpiScope const&) = delete;
  MpiScope& operator=(MpiScope const&) = delete;

  /// All ranks, or this process alone.
  Communicator const& world() const { return world_; }

 private:
  bool owns_ = false;
  Communicator world_;
};

}  // namespace blockspan
