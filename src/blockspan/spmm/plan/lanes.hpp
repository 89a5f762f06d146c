#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan/facts.hpp>
#include <blockspan/spmm/plan/launch.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

/// The pieces that the threads of a kernel multiply, as far as the lanes depend on them.
struct PieceStatistics {
  std::int64_t pieces;
  double mean;             ///< nonzeros of a piece that is not empty
  std::int64_t longest;    ///< nonzeros
  double unevenness;       ///< what groups of neighbouring rows in step walk too much, relatively
  bool sorted;             ///< neighbours in a warp are of about the same length
  std::int64_t empty = 0;  ///< pieces without a nonzero

  /// Those for whose sake a shape is chosen: sorted, the empty ones are warps of their own.
  PieceStatistics worth_lanes() const {
    auto filled = *this;
    if (sorted) filled.pieces -= empty;
    return filled;
  }
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

/// Microseconds of a product that depend on the shape: the loads that wait for each other until the
/// longest piece is done; what every warp costs, however short its pieces; and the threads of a
/// warp that wait for the one with the longest piece.
inline double shape_time(Lanes const& shape, PieceStatistics const& of, std::int64_t packs) {
  bool const shallow = shape.packs_per_lane >= 2 && !shape.deep;
  int const depth = shallow ? tuning::device_depth<2> : tuning::device_depth<1>;
  auto const batch = static_cast<double>(shape.grid.entries() * depth);
  auto const passes = static_cast<double>(shape.passes(packs));
  double const in_turn = shape.spread ? 1 : passes;
  int const threads = (1 << tuning::device_lane_bits) / shape.grid.lanes();  // of a warp
  double const warps = static_cast<double>(of.pieces) / threads * passes;
  double const neighbours =
      of.sorted ? 0.0
                : std::min(of.unevenness, 3.0) * (threads - 1) / (RowStatistics::group_size - 1);
  return tuning::model_wait * std::ceil(static_cast<double>(of.longest) / batch) * in_turn +
         warps * (tuning::model_warp +
                  tuning::model_uneven * std::max(1.0, of.mean / batch) * neighbours);
}

/// Lanes over the nonzeros that all have enough to do, as bits.
inline int entry_lane_bits(std::int64_t packs, bool single, int column_bits, double mean_piece) {
  double const least = packs > 1 ? tuning::device_entries_more_packs
                       : single  ? tuning::device_entries_one_column
                                 : tuning::device_entries_one_pack;
  int bits = 0;
  for (double each = mean_piece / 2;
       column_bits + bits < tuning::device_shared_lane_bits && each >= least; each /= 2)
    ++bits;
  return bits;
}

/// Lanes for so many packs a lane: just enough for the packs of a row of X, fewer for short rows.
inline int column_lane_bits(std::int64_t packs, int packs_per_lane, bool is_short) {
  std::int64_t wanted = ceil_div(packs, std::int64_t{packs_per_lane});
  if (is_short && packs > 2)
    wanted = std::max<std::int64_t>(packs_per_lane > 1 ? 4 : 2, ceil_div(wanted, std::int64_t{2}));
  return bits_to_hold(wanted, tuning::device_lane_bits);
}

/// The shape that keeps all lanes busy: two packs a lane where there are many, or three where that
/// leaves fewer lanes idle (`most_packs`: as many as there is a kernel for, with this input); else
/// one, and lanes over the nonzeros as long as each of them has enough to do.
inline Lanes busy_shape(bool lanes_exchange, std::int64_t packs, PieceStatistics const& of,
                        int most_packs, SpmmLanes const& asked) {
  bool const is_short = of.mean < tuning::device_short_row;
  std::int64_t const many = is_short ? tuning::device_two_packs_short : tuning::device_two_packs;
  bool const is_long = of.mean >= tuning::device_deep_row;
  bool const are_many = of.pieces >= tuning::device_few_pieces ||
                        (is_long && of.pieces * packs >= tuning::device_many_packs);
  auto const with = [&](int packs_per_lane) {
    return Lanes{{column_lane_bits(packs, packs_per_lane, is_short), 0}, packs_per_lane};
  };
  Lanes shape = with(1);
  if (most_packs >= 2 && (asked.packs == 2 || (asked.packs == 0 && packs >= many && are_many))) {
    shape = with(2);
    shape.deep = is_long;
    Lanes const three = with(3);
    bool const suits = of.unevenness <= tuning::device_three_packs_uneven ||
                       three.grid.column_bits >= tuning::device_three_packs_bits;
    if (most_packs >= 3 && asked.packs == 0 && asked.columns == 0 && suits &&
        three.room(packs) < shape.room(packs))
      shape = three;
  }
  if (asked.columns > 0)
    shape.grid.column_bits = bits_to_hold(asked.columns, tuning::device_lane_bits);
  if (!lanes_exchange || shape.packs_per_lane > 1) return shape;
  int const room = tuning::device_lane_bits - shape.grid.column_bits;
  if (asked.entries > 0) {
    shape.grid.entry_bits = bits_to_hold(asked.entries, room);
  } else {
    bool const single = most_packs == 1;  // or a kernel without a choice of packs
    shape.grid.entry_bits =
        std::min(room, entry_lane_bits(packs, single, shape.grid.column_bits, of.mean));
  }
  return shape;
}

/// The fastest shape that the model knows of with passes side by side, if faster than `best`.
inline Lanes spread_shape(Lanes best, std::int64_t packs, PieceStatistics const& of) {
  double least = tuning::device_spread_gain * shape_time(best, of, packs);
  auto const consider = [&](Lanes const& shape) {
    if (shape.passes(packs) == 1) return;
    if (double const time = shape_time(shape, of, packs); time < least) {
      best = shape;
      least = time;
    }
  };
  for (int columns = tuning::device_spread_least_bits; columns <= tuning::device_lane_bits;
       ++columns) {
    consider({{columns, 0}, 2, true, true});
    for (int entries = 0; columns + entries <= tuning::device_lane_bits; ++entries)
      consider({{columns, entries}, 1, false, true});
  }
  return best;
}

/// The shape for `packs` packs (or single columns) in a row of X: the busy one, or, where pieces
/// are few or uneven, the wider one that the model expects to be faster. Nonzero members of `asked`
/// decide. `lanes_exchange`: whether lanes can exchange numbers; `may_spread`: whether pieces are
/// whole rows, of which each pass may be a piece of its own.
inline Lanes choose_lanes(bool lanes_exchange, std::int64_t packs, PieceStatistics const& of,
                          int most_packs, SpmmLanes const& asked, bool may_spread = false) {
  Lanes best = busy_shape(lanes_exchange, packs, of, most_packs, asked);
  if (asked.any() || !lanes_exchange ||
      (of.pieces >= tuning::device_few_pieces && of.unevenness <= tuning::device_uneven))
    return best;
  int const lanes = best.grid.lanes();
  auto const filled = of.worth_lanes();
  double least = shape_time(best, filled, packs);
  Lanes wider{{bits_to_hold(packs, tuning::device_lane_bits), 0}, 1};
  for (; wider.grid.column_bits + wider.grid.entry_bits <= tuning::device_lane_bits;
       ++wider.grid.entry_bits) {
    double const time = shape_time(wider, filled, packs);
    if (wider.grid.lanes() <= lanes || time >= least) continue;
    best = wider;
    least = time;
  }
  bool const few = of.pieces * packs < tuning::device_spread_packs &&
                   of.unevenness <= tuning::device_spread_uneven;
  return may_spread && few ? spread_shape(best, packs, filled) : best;
}

/// The same for single columns of a row-major block, where a lane may own up to `most` of them.
inline Lanes columns_of_lane(Lanes shape, std::int64_t columns, int most, PieceStatistics const& of,
                             SpmmLanes const& asked) {
  bool const is_short = of.mean < tuning::device_short_row;
  std::int64_t const least =
      is_short ? tuning::device_pair_columns_short : tuning::device_pair_columns;
  bool const are_many =
      of.pieces >= tuning::device_few_pieces ||
      (of.mean >= tuning::device_deep_row && of.pieces * columns >= tuning::device_many_packs);
  auto const& [few, most_of_few] = tuning::device_four_columns_of_even_rows;
  bool const are_even = of.unevenness <= tuning::device_even_imbalance - 1;
  bool const many = most > 2 && (columns >= tuning::device_four_columns ||
                                 (are_even && columns >= few && columns <= most_of_few));
  bool const wanted =
      (many || columns >= least) && are_many && shape.grid.entry_bits == 0 && !asked.any();
  if (asked.packs == 2 && shape.grid.entry_bits == 0) shape.packs_per_lane = 2;
  if (!wanted) return shape;
  if (many) {
    Lanes best{{column_lane_bits(columns, 4, false), 0}, 4};
    auto const consider = [&](int each, int least_bits) {
      Lanes const other{{column_lane_bits(columns, each, false), 0}, each};
      if (other.grid.column_bits >= least_bits && other.room(columns) < best.room(columns))
        best = other;
    };
    consider(3, 0);
    consider(5, tuning::device_five_columns_bits);
    return best;
  }
  int const bits = is_short ? tuning::device_pair_lane_bits_short : tuning::device_pair_lane_bits;
  return {{bits_to_hold(ceil_div(columns, std::int64_t{2}), bits), 0}, 2};
}

}  // namespace blockspan::detail
