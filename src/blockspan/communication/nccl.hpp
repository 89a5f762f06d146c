#pragma once

#include <blockspan/communication/communicator.hpp>

// Component nccl (Blockspan::nccl).

namespace blockspan {

/// Whether no two of `ranks` run on the same device. All ranks together, after Kokkos.
bool each_has_a_device(Communicator const& ranks);

/// `ranks`, whose device memory goes by NCCL: rows of a halo and partial sums move in
/// the order of streams, while the host goes on. The device of a rank is the one that Kokkos was
/// initialized with (by default the rank's number on its node). All ranks together, after Kokkos.
/// NCCL connects in half a second, while the caller goes on; the first exchange waits for it, and
/// throws Error where NCCL failed. Throws Error, on all ranks, where two share a device, which NCCL
/// does not support. One rank: `ranks` unchanged.
///
/// Exchanges run on a stream of their own, of high priority, beside the product, on at most 8
/// multiprocessors.
Communicator nccl_communicator(Communicator const& ranks);

}  // namespace blockspan
