#pragma once

#include <cstdint>

#include <blockspan/spmm/detail/partition/pattern.hpp>
#include <blockspan/spmm/variants.hpp>

namespace blockspan::detail {

/// Cuts the pattern into tiles without regard to where rows begin: of at most `work` entries
/// (equal_entries), or of at most `work` rows and entries together (merge_path; Merrill, Garland
/// 2016). `entries`: as `summarize` counts them. O(tiles log rows).
template <class Exec, class Ordinal>
TileList<Exec, Ordinal> cut_equal_tiles(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                        std::int64_t entries, SpmmPartition partition,
                                        std::int64_t work);

/// Tiles for whole teams (row_classes): rows of at most `stream` entries together, up to
/// 2 * stream entries and `stream` rows a tile; longer rows a tile each; rows of more than
/// `longest` entries in the fewest equal parts of at most that. O(rows + tiles).
template <class Exec, class Ordinal>
TileList<Exec, Ordinal> cut_row_classes(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                        std::int64_t stream, std::int64_t longest);

}  // namespace blockspan::detail
