#pragma once

#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/distributed/row_order.hpp>

// Component scotch (Blockspan::scotch), which needs component mpi.

namespace blockspan {

/// The part, one for each rank, of each of this rank's rows, by PT-Scotch (Chevalier and Pellegrini
/// 2008, doi:10.1016/j.parco.2007.12.001), in parallel: with about equal numbers of entries and few
/// cut edges. No rank holds an array of global length. The pattern must be symmetric. `ranks` must
/// be those of mpi_communicator, or this process alone. All ranks together. Throws Error, on all
/// ranks, where indices do not fit PT-Scotch's, where the pattern is not symmetric and where
/// PT-Scotch fails.
std::vector<int> scotch_parts(Communicator const& ranks, RowPartition const& from,
                              RowPattern const& pattern);

}  // namespace blockspan
