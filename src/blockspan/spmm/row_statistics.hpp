#pragma once

#include <cstdint>

namespace blockspan {

/// The rows of a sparse matrix, as a plan sees them.
struct RowStatistics {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;    ///< stored entries, zeros and duplicates included
  std::int64_t empty_rows = 0;  ///< rows without an entry
  std::int64_t shortest = 0;    ///< entries of the shortest row; 0 if there are no rows
  std::int64_t longest = 0;
  std::int64_t group_work = 0;  ///< rows of a group times its longest row, summed over the groups
  /// Groups whose second row begins and ends one column behind the first, as on grids.
  std::int64_t diagonal_groups = 0;

  static constexpr int group_size = 8;  ///< neighbouring rows that are multiplied in step

  /// Work of groups of rows in step over the nonzeros, >= 1; 1 where neighbours are of equal
  /// length.
  double imbalance() const {
    return nonzeros == 0 ? 1.0 : static_cast<double>(group_work) / static_cast<double>(nonzeros);
  }
  /// Share of the groups.
  double diagonal() const {
    std::int64_t const groups = (rows + group_size - 1) / group_size;
    return groups == 0 ? 0.0 : static_cast<double>(diagonal_groups) / static_cast<double>(groups);
  }
  constexpr double mean() const {
    return rows == 0 ? 0.0 : static_cast<double>(nonzeros) / static_cast<double>(rows);
  }
};

}  // namespace blockspan
