#pragma once

#include <string>

#include <blockspan/communication/communicator.hpp>

#include <mpi.h>

// Component mpi (Blockspan::mpi): the only header that includes mpi.h.

namespace blockspan {

/// The ranks of an MPI communicator, which is duplicated: messages of the caller's never meet those
/// of Blockspan. Rows of a halo go from one device's memory to another's where MPI says that it can
/// (MPIX_Query_cuda_support, MPIX_GPU_query_support) or BLOCKSPAN_GPU_AWARE_MPI of the environment
/// says so (1; 0: it cannot), else by way of the host's. MPI must be initialized, and stay so while
/// a copy is in use; one thread at a time. Messages beyond 1 GiB are cut. A rank that waits longer
/// than BLOCKSPAN_WAIT_SECONDS (of the environment; 600, 0: never) says for whom on stderr. Throws
/// Error where MPI refuses.
Communicator mpi_communicator(MPI_Comm comm);

/// MPI's own, of a Communicator that mpi_communicator made: for libraries that want it. Throws
/// Error for another.
MPI_Comm mpi_comm_of(Communicator const& ranks);

/// MPI for the life of a program: initializes it where a launcher (mpirun, srun) started the
/// program, and finalizes what it has initialized. Without a launcher nothing of MPI runs.
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
