#pragma once

#include <cstdint>

namespace blockspan {

/// Lengths of the rows of a sparse matrix, as a plan sees them.
struct RowStatistics {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;    ///< stored entries, zeros and duplicates included
  std::int64_t empty_rows = 0;  ///< rows without an entry
  std::int64_t shortest = 0;    ///< entries of the shortest row; 0 if there are no rows
  std::int64_t longest = 0;

  double mean() const {
    return rows == 0 ? 0.0 : static_cast<double>(nonzeros) / static_cast<double>(rows);
  }
};

}  // namespace blockspan
