#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/kernels/row_pairs/lane_slices.hpp>
#include <blockspan/spmm/kernels/row_pairs/row_pairs_choice.hpp>
#include <blockspan/spmm/kernels/rows/direct_lanes.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/kernel.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/schedule.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// Two neighbouring rows; the second may be beyond the last, and is empty then.
struct RowPair {
  std::int64_t first_row;
  int count;     ///< rows that there are
  int first[2];  ///< nonzeros of each
  int last[2];

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row() const { return first_row; }
  KOKKOS_FORCEINLINE_FUNCTION RowSegment at(int i) const {
    return {first_row + i, first[i], last[i]};
  }
};

/// A segment is a pair of rows.
struct RowPairs {
  static constexpr bool splits_rows = false;
  using Segment = RowPair;

  SegmentOfThread share;  ///< of the pairs
  std::int64_t rows;
  int const* row_offsets;  ///< rows + 1

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_segment(Team const& team,
                                                    Function const& function) const {
    share.for_each(team, [&](std::int64_t pair) {
      std::int64_t const row = 2 * pair;
      int const count = row + 1 < rows ? 2 : 1;
      int const middle = load(row_offsets + row + 1);
      function(Segment{row,
                       count,
                       {load(row_offsets + row), middle},
                       {middle, load(row_offsets + row + count)}});
    });
  }
};

/// One column of X, for devices: the lanes of a team thread are over the nonzeros of its two rows,
/// and issue loads for both before the first product. The latency of a row's offsets, columns and
/// elements of X, which follow each other, is paid once for two rows. The order of a sum is fixed
/// by the lanes.
template <class Scalar, class Entries>
struct RowPairsInner {
  static constexpr unsigned depth = tuning::row_pairs_depth;
  static constexpr unsigned blocks = tuning::row_pairs_blocks<is_complex_v<Scalar>>;

  Entries entries;
  char const* x;            ///< the column
  std::uint32_t row_bytes;  ///< from a row of X to the next
  bool conjugate_values;
  LaneGrid grid;

  template <class Call>
  static RowPairsInner of(Call const& call, Entries const& entries) {
    auto const& X = call.product.X;
    return {entries, reinterpret_cast<char const*>(X.data), device_row_bytes(X),
            conjugates(call.product.op), call.launch.lanes.grid};
  }

  /// consume(0, sum, i, 0) for the i-th row of the pair, on the lane that has the sum.
  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const& team, RowPair const& pair,
                                                Consume const& consume) const {
    for_each_lane<false>(team, grid.lanes(), [&](int lane) {
      Scalar sums[2] = {};
      multiply(pair, lane, sums);
      add_lanes(pair, lane, sums, consume);
    });
  }

 private:
  /// Each half of the lanes adds up one of the rows; a lane alone has both.
  template <class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void add_lanes(RowPair const& pair, int lane, Scalar const (&sums)[2],
                                             Consume const& consume) const {
    int const lanes = grid.lanes(), half = lanes / 2;
    bool const upper = lane < half || lanes == 1;
    Sum<Scalar, 1> sum{{upper ? sums[0] : sums[1]}};
    if (lanes > 1) sum.value[0] += exchange(upper ? sums[1] : sums[0], half, lanes);
    for (int mask = 1; mask < half; mask *= 2) sum.value[0] += exchange(sum.value[0], mask, lanes);
    if (lane == 0) consume(0, sum, 0, 0);
    if (lane == half && lanes > 1 && pair.count == 2) consume(0, sum, 1, 0);
    if (lanes == 1 && pair.count == 2) consume(0, Sum<Scalar, 1>{{sums[1]}}, 1, 0);
  }

  KOKKOS_FORCEINLINE_FUNCTION Scalar fetch(std::uint32_t row) const {
    return load(reinterpret_cast<Scalar const*>(x + std::uint64_t{row} * row_bytes));
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply(RowPair const& pair, int lane,
                                            Scalar (&sums)[2]) const {
    // unsigned: an index some strides past the last entry may overflow an int
    auto const lanes = static_cast<unsigned>(grid.lanes());
    unsigned const length[2] = {static_cast<unsigned>(pair.last[0] - pair.first[0]),
                                static_cast<unsigned>(pair.last[1] - pair.first[1])};
    unsigned const most = length[0] < length[1] ? length[1] : length[0];
    int const spare = length[0] < length[1] ? pair.first[1] : pair.first[0];
    auto const upper = entries_of(entries, pair.at(0)), lower = entries_of(entries, pair.at(1));
    for (auto begin = static_cast<unsigned>(lane); begin < most; begin += depth * lanes) {
      Scalar a[depth][2], b[depth][2];
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u) {
        BLOCKSPAN_UNROLL
        for (int i = 0; i < 2; ++i) {
          // past the end of a row some entry is loaded, and left out below: no branches between
          // loads
          unsigned const k = begin + u * lanes;
          bool const is_there = k < length[i];
          int const place = is_there ? pair.first[i] + static_cast<int>(k) : spare;
          auto const& own = i == 0 ? upper : lower;
          a[u][i] = conjugate_if(conjugate_values, own.value(place));
          b[u][i] = fetch(is_there ? static_cast<std::uint32_t>(own.column(place)) : 0u);
        }
      }
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u)
        for (int i = 0; i < 2; ++i) {
          keep_live(a[u][i]);
          keep_live(b[u][i]);
        }
      scheduling_barrier(begin);
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u) {
        BLOCKSPAN_UNROLL
        for (int i = 0; i < 2; ++i)
          add_product_if(begin + u * lanes < length[i], a[u][i], b[u][i], sums[i]);
      }
    }
  }
};

template <class Call>
void launch_row_pairs(Call const& call) {
  if constexpr (has_lane_slices_v<typename Call::Exec, typename Call::Scalar>)
    if (launched_slices(call)) return;
  if constexpr (lanes_exchange_v<typename Call::Exec>)
    with_entries<true, true>(call, [&]<class Entries>(Entries const& entries) {
      using Inner = RowPairsInner<typename Call::Scalar, Entries>;
      auto const& pattern = call.prepared.pattern;
      SegmentOfThread share{ceil_div(pattern.rows, std::int64_t{2}), 1};
      auto const shape = launch_shape(call, call.launch.lanes.grid.lanes(), share);
      launch_kernel(call.exec, call.variant().label, shape,
                    RowPairs{share, pattern.rows, pattern.row_offsets}, Inner::of(call, entries),
                    make_epilogue<false>(call));
    });
}

}  // namespace blockspan::products
