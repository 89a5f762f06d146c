#pragma once

#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/distributed/row_order.hpp>

// Component metis (Blockspan::metis).

namespace blockspan {

/// The part, one per rank, of each local row, by METIS (Karypis and Kumar 1998,
/// doi:10.1137/S1064827595287997): from the graph of A + A^T, by recursive bisection up to eight
/// parts and k-way beyond, with balanced numbers of entries and few cut edges. The same in every
/// run. Rank 0 temporarily holds the pattern of all rows. Called by all ranks. Throws Error, on all
/// ranks, for more than 2^31 rows or entries and where METIS fails.
std::vector<int> metis_parts(Communicator const& ranks, RowPartition const& from,
                             RowPattern const& pattern);

}  // namespace blockspan
