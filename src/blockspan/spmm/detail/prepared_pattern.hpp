#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <blockspan/multivector/detail/tensor_tiles.hpp>
#include <blockspan/spmm/detail/bulk_copies.hpp>
#include <blockspan/spmm/detail/column_panels.hpp>
#include <blockspan/spmm/detail/inner/device_shape.hpp>
#include <blockspan/spmm/detail/matrix_ref.hpp>
#include <blockspan/spmm/detail/packs.hpp>
#include <blockspan/spmm/detail/partition/pattern.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

/// Whether the backend has what the variant needs, for scalars with this real type.
template <class Exec, class Real>
constexpr bool is_offered(SpmmVariant const& variant) {
  return !variant.lists_windows() || tensor::available<Exec, Real>;
}

/// What the model expects of a variant.
struct SpmmPrediction {
  SpmmVariant const* variant;
  double microseconds;
  std::int64_t piece;  ///< with rows longer than this cut; 0: it cuts none
};

/// The pieces of a variant that works by rows, cut where they are longer than `piece`.
inline PieceStatistics statistics_of_pieces(RowStatistics const& rows, SpmmVariant const& variant,
                                            std::int64_t pieces, std::int64_t piece) {
  bool const sorted = variant.partition == SpmmPartition::sorted_segments;
  std::int64_t const empty = variant.skips_empty_rows() ? 0 : std::min(rows.empty_rows, pieces);
  std::int64_t const filled = std::max<std::int64_t>(1, pieces - empty);
  double const mean = static_cast<double>(rows.nonzeros) / static_cast<double>(filled);
  double const unevenness = std::max(0.0, rows.imbalance() - 1);
  return {pieces, mean, std::min(rows.longest, piece), unevenness, sorted, empty};
}

/// Groups of rows as pieces: of as many entries as one of their rows has.
inline PieceStatistics statistics_of_groups(RowStatistics const& rows, GroupCount const& count) {
  std::int64_t const filled = std::max<std::int64_t>(1, count.groups - rows.empty_rows);
  double const mean = static_cast<double>(count.fetches) / static_cast<double>(filled);
  double const unevenness = std::max(0.0, rows.imbalance() - 1);
  return {count.groups, mean, rows.longest, unevenness, false, rows.empty_rows};
}

/// The rows of a block row of so many rows stand in as few groups as can be ...
inline std::int64_t groups_of_block(std::int64_t block) {
  return ceil_div(block, std::int64_t{tuning::group_rows});
}

/// ... of about the same size. `entries`: blocks.
template <class Exec, class Offset, class Ordinal>
RowGroupList<Exec, Ordinal> groups_of_blocks(PatternRef<Offset, Ordinal> const& A,
                                             std::int64_t entries) {
  std::int64_t const groups = groups_of_block(A.block);
  return {static_cast<int>(ceil_div(A.block, groups)),
          {A.rows * groups, entries * A.block * groups},
          {}};
}

/// What statistics of blocks say about the matrix's own rows.
inline RowStatistics statistics_of_blocks(RowStatistics rows, std::int64_t block) {
  for (auto* const count :
       {&rows.rows, &rows.columns, &rows.empty_rows, &rows.shortest, &rows.longest})
    *count *= block;
  rows.nonzeros *= block * block;
  rows.group_work *= block * block;
  return rows;
}

/// Which variant runs, with which cuts, and why: decided from the statistics alone, so the same
/// pattern gives the same bits on any number of threads.
struct SpmmChoice {
  SpmmVariant const* variant;
  std::int64_t piece;  ///< rows longer than this are cut; 0: none is
  std::string reason;
  std::string rejected;
  std::vector<SpmmPrediction> predictions;  ///< at the plan's width and scalar; the fastest first
  bool asked = false;                       ///< the variant, by its id: nothing stands in for it
};

/// Devices: whether so many bytes of a row of X are enough for staged tiles.
inline bool has_packs_for_tiles(std::int64_t bytes) {
  return bytes >= std::int64_t{tuning::shared_tile_packs} * tuning::device_pack_bytes;
}

/// A pattern ready to multiply.
template <class Exec, class Offset, class Ordinal>
struct PreparedPattern {
  PatternRef<Offset, Ordinal> pattern{};
  Offset const* permutation = nullptr;  ///< of the values; null: none
  RowStatistics statistics;
  std::int64_t reach = 0;  ///< as PatternSummary has it
  SpmmChoice choice{};
  PieceList<Exec, Offset, Ordinal> list;            ///< where the variant lists pieces
  TileList<Exec, Offset, Ordinal> tiles;            ///< where it lists tiles
  RowGroupList<Exec, Ordinal> groups;               ///< where it lists groups, or may stand back
  RowWindowList<Exec, Offset, Ordinal> windows;     ///< where it lists windows
  TileMasks<Exec> masks;                            ///< where windows share tiles of X
  TransposedPattern<Exec, Offset, Ordinal> sorted;  ///< where it needs sorted rows and has none
  DistanceArray<Exec> distances;                    ///< of columns, where they fit; may be empty
  SpmmLanes lanes;                                  ///< asked for

  /// Whether an entry's value stands where its column does.
  bool stands_in_order() const { return permutation == nullptr && pattern.block == 1; }
  /// Whether whole rows are read with their columns in 16 bits, by a walk that serves so many bytes
  /// of a row of X.
  bool reads_distances(std::int64_t bytes) const {
    return distances.extent(0) > 0 && bytes <= tuning::device_narrow_bytes;
  }

  /// Whether windows share tiles of so many bytes of a row of X, if values are double.
  bool windows_share_tiles(std::int64_t bytes) const {
    return masks.extent(0) > 0 && has_packs_for_tiles(bytes);
  }

  /// Devices: how many of so many columns the next product takes.
  std::int64_t panel(SpmmVariant const& variant, std::int64_t columns, std::size_t scalar_bytes,
                     bool packs) const {
    if (runs_on_host_v<Exec> || lanes.any()) return columns;
    return columns_of_panel(variant, statistics, reach, columns, scalar_bytes, packs);
  }

  /// Devices: whether the rows without entries are filled beside the products of the others, by
  /// SparseRowsKernel, and not before them.
  bool fills_beside(SpmmVariant const& variant, bool packs) const {
    return lanes_exchange_v<Exec> && variant.skips_empty_rows() && packs &&
           permutation == nullptr && list.slots == 0 &&
           statistics.longest <= tuning::device_sparse_row;
  }

  /// The rows that were cut.
  CutRowList<Exec, Ordinal> const& cuts() const {
    return choice.variant->lists_tiles() ? static_cast<CutRowList<Exec, Ordinal> const&>(tiles)
                                         : list;
  }

  /// What runs where a variant that was chosen, but does not take all inputs, does not take this
  /// one.
  SpmmVariant const& stand_in() const {
    bool const has_one = choice.variant->lists_windows() || choice.variant->stages_tiles();
    if (!has_one) return *choice.variant;
    bool const grouped = choice.variant->lists_windows() && groups.begin.extent(0) > 0;
    return *find_spmm_variant(grouped ? "row_group" : "warp_per_row_packs");
  }

  /// Hosts: one column by rows, where a plan has groups: a group shares no more than one number of
  /// X then (elasticity 14, one core: 0.50 -> 0.21 ms).
  SpmmVariant const& at_width(SpmmVariant const& variant, std::int64_t columns) const {
    bool const alone = runs_on_host_v<Exec> && columns == 1 && variant.lists_groups() &&
                       pattern.block == 1 && !choice.asked;
    return alone ? *find_spmm_variant("warp_per_row_packs") : variant;
  }

  /// Units of work of a product by the variant chosen, or the one that stands in for it.
  std::int64_t pieces(SpmmVariant const& variant) const {
    if (variant.lists_groups()) return groups.count.groups;
    return variant.lists_pieces() ? list.pieces : pattern.rows;
  }
  PieceStatistics piece_statistics(SpmmVariant const& variant) const {
    if (variant.lists_groups()) return statistics_of_groups(statistics, groups.count);
    if (variant.lists_pieces())
      return statistics_of_pieces(statistics, variant, list.pieces, choice.piece);
    return statistics_of_pieces(statistics, variant, pattern.rows, statistics.longest);
  }
};

/// Whether an element of Y is a work item where packs do not fit: the lanes of a row would be few.
/// No row may hold up the others.
inline bool runs_by_elements(RowStatistics const& rows, std::int64_t columns) {
  bool const is_short =
      rows.mean() < (columns == 1 ? tuning::device_item_row_one_column : tuning::device_item_row) &&
      static_cast<double>(rows.longest) <= 3 * tuning::device_item_row;
  bool const are_even = columns > 1 && rows.rows >= tuning::device_few_pieces &&
                        rows.imbalance() <= tuning::device_item_imbalance;
  bool const are_few = rows.rows < tuning::device_few_pieces;
  std::int64_t const too_many = !is_short ? tuning::device_item_columns_of_even_rows
                                : are_few ? tuning::device_item_columns_of_few_rows
                                          : tuning::device_item_columns;
  return columns < too_many && (is_short || are_even);
}

/// The variant that runs where whole packs do not fit the one that was chosen.
inline SpmmVariant const& without_packs(SpmmVariant const& chosen, RowStatistics const& rows,
                                        std::int64_t columns) {
  if (!chosen.needs_whole_packs) return chosen;
  bool const by_elements = runs_by_elements(rows, columns);
  return *find_spmm_variant(by_elements ? "thread_per_element" : "warp_per_row");
}

/// Devices: whether a tile of X, staged for all rows of a team at once, serves nearly every row,
/// and the entries can be copied as they stand. `row_bytes`: of X.
template <class Exec>
bool rows_share_tiles(RowStatistics const& rows, std::int64_t row_bytes, std::size_t scalar_bytes) {
  if (!bulk::available<Exec> || scalar_bytes > sizeof(double)) return false;
  double const fill = rows.mean() / static_cast<double>(std::max<std::int64_t>(1, rows.columns));
  return has_packs_for_tiles(row_bytes) && fill >= tuning::shared_tile_least_fill;
}

/// The variant that runs: the one chosen, or what stands in for it. `offered`: the variant chosen
/// takes the scalar, and the product with it. `fit` comes by value: g++ 13 takes the reference
/// returned for one to a temporary argument.
template <class Exec, class Offset, class Ordinal>
SpmmVariant const& variant_that_runs(PreparedPattern<Exec, Offset, Ordinal> const& prepared,
                                     BlockFit fit, bool offered, std::int64_t columns) {
  SpmmVariant const& chosen = *prepared.choice.variant;
  if (offered && fit.serves(chosen)) return prepared.at_width(chosen, columns);
  SpmmVariant const& other = prepared.stand_in();
  return fit.has_packs_for(other) ? other : without_packs(other, prepared.statistics, columns);
}

/// What multiplies a contiguous, aligned block of `columns` columns. Scalars of at least 8 bytes
/// are taken for double precision.
template <class Exec, class Offset, class Ordinal>
SpmmVariant const& variant_at(PreparedPattern<Exec, Offset, Ordinal> const& prepared,
                              std::int64_t columns, std::size_t scalar_bytes) {
  std::int64_t const bytes = columns * static_cast<std::int64_t>(scalar_bytes);
  bool const fits = runs_on_host_v<Exec> || bytes % tuning::device_pack_bytes == 0;
  auto const& choice = prepared.choice;
  bool const has_tiles = choice.asked || !choice.variant->stages_tiles() ||
                         rows_share_tiles<Exec>(prepared.statistics, bytes, scalar_bytes) ||
                         (scalar_bytes >= sizeof(double) && prepared.windows_share_tiles(bytes));
  bool const offered =
      has_tiles && (scalar_bytes >= sizeof(double) || is_offered<Exec, float>(*choice.variant));
  return variant_that_runs(prepared, {fits, fits, true}, offered, columns);
}

}  // namespace blockspan::detail
