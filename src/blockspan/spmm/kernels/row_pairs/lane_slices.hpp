#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/kernels/row_pairs/row_pairs_choice.hpp>
#include <blockspan/spmm/kernels/rows/direct_lanes.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/layouts/lane_slices.hpp>
#include <blockspan/spmm/parts/kernel.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/schedule.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::products {

/// One column of X, for devices, from a copy of the matrix in slices (layouts/lane_slices.hpp): a
/// lane owns a row, and makes the sums that the lanes of the row would have made, one a part of its
/// entries, in their order: the same bits. Loads of neighbouring lanes are neighbours, in A and,
/// where rows resemble the one before, in X; the next entries are on their way while those before
/// them wait for X.
///
/// Parts: sums of a row, as many as it has lanes without slices (RowPairs). Traffic: the copy once,
/// X as often as its columns have entries (once in cache), Y once (twice where beta is not zero).
template <class Scalar, class Ordinal, int Parts>
struct SliceLanes {
  static constexpr unsigned blocks = tuning::lane_slice_blocks<Parts>;
  static constexpr int depth = tuning::lane_slice_depth<Parts>;

  int const* first;  ///< of slices
  std::int16_t const* distances;
  Scalar const* values;
  Ordinal shift;
  char const* x;            ///< the column
  std::uint32_t row_bytes;  ///< from a row of X to the next

  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const&, RowSegment const& row,
                                                Consume const& consume) const {
    consume(0, Sum<Scalar, 1>{{row.first < row.last ? sum_of(row) : Scalar(0)}}, 0, 0);
  }

 private:
  static constexpr int rows = tuning::lane_slice_rows;

  struct Batch {
    Scalar values[depth];
    Ordinal distances[depth];
  };

  /// The entries from the k-th on; past the end the first one is loaded: no branches between loads.
  KOKKOS_FORCEINLINE_FUNCTION Batch fetch(int begin, unsigned k, unsigned length) const {
    Batch batch;
    BLOCKSPAN_UNROLL
    for (int u = 0; u < depth; ++u) {
      unsigned const at = k + static_cast<unsigned>(u);
      int const place = at < length ? begin + static_cast<int>(at) * rows : begin;
      batch.values[u] = load_once(values + place);
      batch.distances[u] = load_once(distances + place);
    }
    return batch;
  }

  KOKKOS_FORCEINLINE_FUNCTION Scalar sum_of(RowSegment const& segment) const {
    constexpr unsigned round = Parts > depth ? Parts : depth;
    auto const row = static_cast<int>(segment.row());
    auto const length = static_cast<unsigned>(segment.last - segment.first);
    int const begin = load(first + row / rows) + row % rows;
    Ordinal const origin = static_cast<Ordinal>(row) + shift;
    Scalar sums[Parts] = {};
    Batch batch = fetch(begin, 0, length);
    for (unsigned k = 0; k < length; k += round) {
      BLOCKSPAN_UNROLL
      for (unsigned part = 0; part < round; part += depth) {
        if (part > 0 && k + part >= length) break;
        Scalar of_x[depth];
        BLOCKSPAN_UNROLL
        for (int u = 0; u < depth; ++u) of_x[u] = element(origin + batch.distances[u]);
        Batch const next = fetch(begin, k + part + depth, length);
        BLOCKSPAN_UNROLL
        for (int u = 0; u < depth; ++u)
          add_product_if(k + part + static_cast<unsigned>(u) < length, batch.values[u], of_x[u],
                         sums[(part + static_cast<unsigned>(u)) % Parts]);
        batch = next;
      }
    }
    return joined(sums);
  }

  KOKKOS_FORCEINLINE_FUNCTION Scalar element(Ordinal row) const {
    return load(reinterpret_cast<Scalar const*>(
        x + std::uint64_t{static_cast<std::make_unsigned_t<Ordinal>>(row)} * row_bytes));
  }

  /// As RowPairs adds its lanes: both halves, then neighbours.
  static KOKKOS_FORCEINLINE_FUNCTION Scalar joined(Scalar (&sums)[Parts]) {
    constexpr int half = Parts / 2;
    BLOCKSPAN_UNROLL
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
    BLOCKSPAN_UNROLL
    for (int step = 1; step < half; step *= 2) {
      BLOCKSPAN_UNROLL
      for (int i = 0; i < half; i += 2 * step) sums[i] += sums[i + step];
    }
    return sums[0];
  }
};

/// Launches the product from the slices that a call of RowPairs has; false: it has none.
template <class Call>
bool launched_slices(Call const& call) {
  using Scalar = typename Call::Scalar;
  using Ordinal = typename Call::Ordinal;
  if (call.slices == nullptr) return false;
  auto const& slices = *static_cast<LaneSlices<Scalar, typename Call::Exec> const*>(call.slices);
  auto const& pattern = call.prepared.pattern;
  auto const& X = call.product.X;
  SegmentOfThread share{pattern.rows, 1};
  auto const shape = launch_shape(call, 1, share);
  auto const with = [&]<int bits>(std::integral_constant<int, bits>) {
    launch_kernel(call.exec, call.variant().label, shape,
                  WholeRows<SegmentOfThread>{share, pattern.row_offsets},
                  SliceLanes<Scalar, Ordinal, 1 << bits>{
                      slices.first.data(), slices.distances.data(), slices.values.data(),
                      static_cast<Ordinal>(slices.distances.shift),
                      reinterpret_cast<char const*>(X.data), device_row_bytes(X)},
                  make_epilogue<false>(call));
  };
  return [&]<int... bits>(std::integer_sequence<int, bits...>) {
    return ((call.launch.lanes.grid.entry_bits == bits &&
             (with(std::integral_constant<int, bits>()), true)) ||
            ...);
  }
  (std::make_integer_sequence<int, RowPairsChoice::most_lane_bits + 1>());
}

}  // namespace blockspan::products
