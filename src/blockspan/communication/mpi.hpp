#pragma once

#include <blockspan/communication/communicator.hpp>

#include <mpi.h>

// Component mpi (Blockspan::mpi): the only header that includes mpi.h.

namespace blockspan {

/// The ranks of an MPI communicator, which is duplicated: messages of the caller's never meet those
/// of Blockspan. Rows of a halo go from one device's memory to another's where MPI says that it can
/// (MPIX_Query_cuda_support, MPIX_GPU_query_support) or BLOCKSPAN_GPU_AWARE_MPI of the environment
/// says so (1; 0: it cannot), else by way of the host's. MPI must be initialized, and stay so while
/// a copy is in use; one thread at a time. Messages beyond 1 GiB are cut. A rank that waits longer
/// than BLOCKSPAN_WAIT_SECONDS (environment; default 600, 0: never) reports on stderr which rank it
/// waits for. Throws Error where MPI fails.
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
