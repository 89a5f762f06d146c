#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/distributed/row_partition.hpp>

namespace blockspan {

/// What one neighbour has of a packed list of rows: places [first, first + count).
struct HaloPart {
  int rank;
  std::int64_t first, count;
};

/// Which rows of X a rank sends to whom, and which come from where, so that it can multiply with
/// its rows of a matrix. Made once; empty parts are left out, on both sides.
struct HaloExchange {
  std::vector<std::int64_t> rows;  ///< global, ascending: those of other ranks
  std::vector<HaloPart> receives;  ///< of `rows`, by rank
  std::vector<std::int64_t> sent;  ///< local rows, those of each neighbour together
  std::vector<HaloPart> sends;     ///< of `sent`, by rank
};

/// The parts of `rows` (global, ascending) by the rank that has them. No communication.
std::vector<HaloPart> parts_by_owner(RowPartition const& partition,
                                     std::span<std::int64_t const> rows);

/// The exchange for `rows`, global, ascending and none of this rank's own. All ranks together: one
/// number for every pair of ranks, and one message for every pair of neighbours. Memory:
/// O(ranks + rows + those sent).
HaloExchange make_halo_exchange(Communicator const& ranks, RowPartition const& partition,
                                std::vector<std::int64_t> rows);

/// Rows of a rank cut by what they read: rows [head, tail) are the longest run that reads local
/// rows of X only; those before and after it read `packed`.
struct SplitRows {
  std::int64_t head = 0, tail = 0;
  std::vector<std::int64_t> packed;  ///< global rows, ascending
  std::int64_t lower = 0, own = 0;   ///< of `packed`: rows of lower ranks, then this rank's
  std::vector<int> columns;          ///< of every entry: local, or a place in `packed`
};

/// Splits rows [partition.first(rank), partition.last(rank)), whose offsets and global columns are
/// given. O(entries + boundary log boundary). Throws Error for a column outside the matrix, and
/// where local indices do not fit into 32 bits.
SplitRows split_rows(RowPartition const& partition, int rank, std::span<std::int64_t const> offsets,
                     std::span<std::int64_t const> columns);

}  // namespace blockspan
