#pragma once

#include <algorithm>
#include <cstdint>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/scalar.hpp>

// Tiles of many short rows, or of a part of a long one: their entry of the menu, and when they
// replace other kernels. Kernels: adaptive.hpp (one column), adaptive_block.hpp.

namespace blockspan::products {

/// Defined in adaptive_block.hpp, compiled on its own.
template <class Call>
void launch_adaptive(Call const& call);

struct AdaptiveChoice : tuning::AdaptiveLimits {
  static bool needs(ScalarKind const& scalar, DeviceFacts const& device) {
    return device.lanes_exchange && !scalar.is_sixteen_bit();
  }

  /// Whether a plan that has chosen this kernel cuts tiles; by itself for products of one column.
  static bool cuts_tiles(SpmmVariant const& chosen, bool asked, RowStatistics const& rows,
                         ScalarKind const& scalar, DeviceFacts const& device) {
    if (asked) return chosen.kernel == SpmmKernelId::adaptive;
    return needs(scalar, device) && may_replace(chosen, rows, device);
  }

  /// Lists of segments would be read beside the entries, whole rows wait for long ones, and threads
  /// of short rows load the entries of each row by themselves.
  static bool may_replace(SpmmVariant const& chosen, RowStatistics const& rows,
                          DeviceFacts const& device) {
    if (is_cut(chosen)) return rows.mean() <= most_of_segments;
    bool const whole_rows = chosen.kernel == SpmmKernelId::rows ||
                            chosen.kernel == SpmmKernelId::single_columns ||
                            chosen.lists_groups() || chosen.skips_empty_rows();
    return whole_rows && (has_long_rows(rows) || may_be_scattered(rows, device));
  }
  /// Many short rows that are not those of a grid in its order.
  static bool may_be_scattered(RowStatistics const& rows, DeviceFacts const& device) {
    return rows.diagonal() < tuning::near_diagonal && least_short <= rows.mean() &&
           rows.mean() <= most_short_of_columns && rows.rows >= few_segments(device);
  }

  static bool replaces(SpmmVariant const& chosen, PatternFacts const& A, BlockFacts const& blocks,
                       DeviceFacts const& device) {
    if (A.tiles == 0 || blocks.steps || !needs(blocks.scalar, device) ||
        !may_replace(chosen, A.rows, device))
      return false;
    return blocks.columns == 1 ? pays_for_one(chosen, A)
                               : pays_for_columns(chosen, A.rows, blocks, device);
  }
  static bool pays_for_one(SpmmVariant const& chosen, PatternFacts const& A) {
    return is_cut(chosen) || has_long_rows(A.rows) ||
           (A.rows.mean() <= most_short && A.neighbours.share() >= tuning::least_scattered);
  }

  /// Lists of short segments cost more than balancing gains; where rows are longer but mostly of
  /// equal length, that holds while rows of X are short. Whole rows: where a row of X is four
  /// vectors. Few tiles leave multiprocessors idle.
  static bool pays_for_columns(SpmmVariant const& chosen, RowStatistics const& rows,
                               BlockFacts const& blocks, DeviceFacts const& device) {
    if (!blocks.x.vectors || !blocks.y.vectors || rows.rows < few_segments(device)) return false;
    auto const bytes = blocks.columns * static_cast<std::int64_t>(blocks.scalar.bytes);
    if (chosen.kernel == SpmmKernelId::rows && !has_long_rows(rows))
      return bytes == few_column_bytes;
    if (!is_cut(chosen) || !has_long_rows(rows) || longest_part(rows) > longest_of_columns)
      return false;
    bool const many = rows.rows >= rows_of_columns * few_segments(device);
    return (rows.mean() <= most_of_columns && many) ||
           (rows.mean() <= most_of_even_rows && rows.imbalance() <= most_even &&
            bytes <= few_column_bytes);
  }
  static bool is_cut(SpmmVariant const& chosen) {
    return chosen.kernel == SpmmKernelId::segments ||
           chosen.kernel == SpmmKernelId::segments_sorted;
  }

  /// One vector per lane, enough for a row of X; wider blocks need several passes.
  static Lanes lanes(SegmentStatistics const&, std::int64_t vectors) {
    return {{bits_to_hold(vectors, tuning::adaptive_lane_bits), 0}, 1};
  }

  /// Of a tile (RowClasses). Where rows of similar length would need one round of a team (one row
  /// per thread) and a fraction of a second, the tile is shrunk to one round: half a row less,
  /// since a tile may have one row more or less.
  static std::int64_t tile_work(RowStatistics const& rows) {
    double const of_row = rows.mean() + static_cast<double>(tuning::adaptive_row_work);
    double const rounds = static_cast<double>(tuning::adaptive_tile_work) / of_row / rows_of_round;
    bool const one = rounds > 1 && rounds < 1.5 && !has_long_rows(rows);
    return one ? static_cast<std::int64_t>((rows_of_round - 0.5) * of_row)
               : tuning::adaptive_tile_work;
  }

  /// Entries in a part of a long row: those of a tile of short rows, or more, so that one thread
  /// can add up the parts.
  static std::int64_t longest_part(RowStatistics const& rows) {
    return std::max(least_part, rows.longest / most_parts);
  }

  template <class Call>
  static void launch(Call const& call) {
    launch_adaptive(call);
  }

  static constexpr SpmmVariant row{
      .id = "adaptive",
      .label = "Blockspan::spmm::adaptive",
      .parts =
          "a team has many short rows, whose entries or products are staged in scratch, or a part "
          "of a long one; sums of cut rows added in order by the team that ends last; a launch "
          "for each column where rows of X and Y are not whole vectors",
      .source =
          "Greathouse, Daga 2014, SC, doi:10.1109/SC.2014.68; Daga, Greathouse 2015, HiPC, "
          "doi:10.1109/HiPC.2015.55, without its atomics",
      .needs = "a device whose lanes exchange values",
      .loses = "for one column of uneven rows, and several of short ones",
      .kernel = SpmmKernelId::adaptive,
      .units = SpmmUnits::tiles,
      .vectorized = true,
      .most_columns = 1,
      .is_offered = needs,
      .replaces = replaces,
      .lanes = lanes};
};

}  // namespace blockspan::products
