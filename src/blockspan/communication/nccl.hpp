#pragma once

#include <blockspan/communication/communicator.hpp>

// Component nccl (Blockspan::nccl).

namespace blockspan {

/// Whether no two of `ranks` use the same device. Called by all ranks, after Kokkos::initialize.
bool each_has_a_device(Communicator const& ranks);

/// `ranks` with NCCL as transport of device memory: rows of a halo and partial sums move in stream
/// order, and the host does not wait. The device of a rank is the one that Kokkos was initialized
/// with (by default the rank's number on its node). Called by all ranks, after Kokkos::initialize.
/// NCCL connects in half a second, while the caller goes on; the first exchange waits for it, and
/// throws Error where NCCL failed. Throws Error, on all ranks, where two share a device, which NCCL
/// does not support. One rank: `ranks` unchanged.
///
/// Exchanges run on their own high-priority stream, concurrently with the product, on at most 8
/// multiprocessors.
Communicator nccl_communicator(Communicator const& ranks);

}  // namespace blockspan
