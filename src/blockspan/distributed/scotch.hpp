#pragma once

#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/distributed/row_order.hpp>

// Component scotch (Blockspan::scotch), which needs component mpi.

namespace blockspan {

/// The part, one per rank, of each local row, by PT-Scotch (Chevalier and Pellegrini 2008,
/// doi:10.1016/j.parco.2007.12.001), in parallel: with balanced numbers of entries and few cut
/// edges. No rank holds an array of global length. The pattern must be symmetric. `ranks` must be
/// from mpi_communicator, or this process alone. Called by all ranks. Throws Error, on all ranks,
/// if indices exceed those of PT-Scotch, if the pattern is not symmetric and if PT-Scotch fails.
std::vector<int> scotch_parts(Communicator const& ranks, RowPartition const& from,
                              RowPattern const& pattern);

}  // namespace blockspan
