#pragma once

#include <algorithm>
#include <cstdint>

#include <blockspan/spmm/detail/inner/lane_grid.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

/// How a device kernel lays its lanes over a piece.
struct DeviceShape {
  LaneGrid grid;
  int packs_per_lane = 1;  ///< 1 or 2
};

/// Bits of the smallest power of two that is at least `count`, at most `most`.
inline int bits_to_hold(std::int64_t count, int most) {
  int bits = 0;
  while (bits < most && (std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

/// Lanes over the nonzeros, as bits.
inline int entry_lane_bits(std::int64_t packs, int column_bits, double mean_piece,
                           std::int64_t pieces) {
  bool const few = pieces < tuning::device_few_pieces;
  double const least = few          ? tuning::device_entries_few_pieces
                       : packs == 1 ? tuning::device_entries_one_pack
                                    : tuning::device_entries_more_packs;
  int limit = tuning::device_shared_lane_bits;
  if (few) limit = packs == 1 ? tuning::device_lane_bits : tuning::device_few_pieces_lane_bits;
  // threads that fill the device, whatever it takes
  if (pieces << tuning::device_few_pieces_lane_bits <= tuning::device_threads_wanted)
    limit = tuning::device_lane_bits;
  int bits = 0;
  for (double each = mean_piece / 2; column_bits + bits < limit && each >= least; each /= 2) ++bits;
  return bits;
}

/// The model of the lanes: just enough for the packs of a row of X, fewer for short rows, two packs
/// a lane where there are many; then lanes over the nonzeros as long as each of them has enough to
/// do. Few pieces take one pack a lane: their threads are what is missing. `mean_piece`: nonzeros
/// of a piece that is not empty. `two_packs`: whether such a kernel exists for the input;
/// `lanes_exchange`: whether lanes can exchange numbers.
inline DeviceShape device_shape(bool lanes_exchange, std::int64_t packs, double mean_piece,
                                std::int64_t pieces, bool two_packs, SpmmLanes const& asked) {
  bool const is_short = mean_piece < tuning::device_short_row;
  std::int64_t const many = is_short ? tuning::device_two_packs_short : tuning::device_two_packs;
  bool const wants_two = packs >= many && pieces >= tuning::device_few_pieces;
  DeviceShape shape;
  if (two_packs && (asked.packs == 2 || (asked.packs == 0 && wants_two))) shape.packs_per_lane = 2;
  std::int64_t wanted = ceil_div(packs, std::int64_t{shape.packs_per_lane});
  if (is_short && packs > 2)
    wanted = std::max<std::int64_t>(2 * shape.packs_per_lane, ceil_div(wanted, std::int64_t{2}));
  if (asked.columns > 0) wanted = asked.columns;
  shape.grid.column_bits = bits_to_hold(wanted, tuning::device_lane_bits);
  if (!lanes_exchange || shape.packs_per_lane == 2) return shape;
  int const room = tuning::device_lane_bits - shape.grid.column_bits;
  shape.grid.entry_bits =
      asked.entries > 0
          ? bits_to_hold(asked.entries, room)
          : std::min(room, entry_lane_bits(packs, shape.grid.column_bits, mean_piece, pieces));
  return shape;
}

}  // namespace blockspan::detail
