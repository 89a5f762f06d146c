#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/distributed/row_partition.hpp>

namespace blockspan {

/// The rows of one neighbour in a packed list of rows: indices [first, first + count).
struct HaloPart {
  int rank;
  std::int64_t first, count;
};

/// The rows of X that a rank sends and receives, and the ranks it exchanges them with, for products
/// with its rows of a matrix. Set up once; ranks without common rows are not listed.
struct HaloExchange {
  std::vector<std::int64_t> rows;  ///< global indices of the rows of other ranks, ascending
  std::vector<HaloPart> receives;  ///< parts of `rows`, by rank
  std::vector<std::int64_t> sent;  ///< local indices, grouped by neighbour
  std::vector<HaloPart> sends;     ///< parts of `sent`, by rank
};

/// Splits `rows` (global, ascending) by the ranks that own them. No communication. O(rows).
std::vector<HaloPart> parts_by_owner(RowPartition const& partition,
                                     std::span<std::int64_t const> rows);

/// The exchange for `rows`, which are global, ascending and owned by other ranks. Called by all
/// ranks: one count for every pair of ranks, and one message for every pair of neighbours. Memory:
/// O(ranks + rows + rows sent).
HaloExchange make_halo_exchange(Communicator const& ranks, RowPartition const& partition,
                                std::vector<std::int64_t> rows);

/// The rows of a rank, split by the rows of X that they read: [head, tail) is the longest run of
/// rows that read only local rows of X; the rows before and after it read a packed block of X.
struct SplitRows {
  std::int64_t head = 0, tail = 0;
  std::vector<std::int64_t> packed;  ///< global rows, ascending
  std::int64_t lower = 0, own = 0;   ///< of `packed`: rows of lower ranks, then this rank's
  std::vector<int> columns;          ///< of every entry: local index, or index into `packed`
};

/// [head, tail) of SplitRows. O(rows + entries). Throws Error for a column outside the matrix.
std::pair<std::int64_t, std::int64_t> interior_rows(RowPartition const& partition, int rank,
                                                    std::span<std::int64_t const> offsets,
                                                    std::span<std::int64_t const> columns);

/// Splits rows [partition.first(rank), partition.last(rank)) with the given offsets and global
/// columns. O(rows + entries + halo log halo). Throws Error for a column outside the matrix, and if
/// local indices exceed 32 bits.
SplitRows split_rows(RowPartition const& partition, int rank, std::span<std::int64_t const> offsets,
                     std::span<std::int64_t const> columns);

}  // namespace blockspan
