#pragma once

#include <string_view>

#include <blockspan/spmm/row_statistics.hpp>

// Rules of the literature that choose a kernel by the rows alone, to compare a plan's choice with.
// They return an id; nothing in the library follows them.

namespace blockspan {

/// Nonzeros a row, on average, below which the merge-based product is taken.
inline constexpr double row_split_threshold = 9.35;

/// "merge" where a row has fewer than 9.35 nonzeros on average, else "row_split" (Yang, Buluc,
/// Owens 2018, Euro-Par, doi:10.1007/978-3-319-96983-1_48). A matrix without rows has a mean of
/// zero.
constexpr std::string_view row_split_or_merge(RowStatistics const& rows) {
  return rows.mean() < row_split_threshold ? "merge" : "row_split";
}

}  // namespace blockspan
