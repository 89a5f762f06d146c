#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/kernels/adaptive/adaptive_choice.hpp>
#include <blockspan/spmm/kernels/rows/direct_lanes.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/parts/cut_tiles.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/kernel.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// One column of X, for devices: a team owns a tile of the plan (cut_row_classes). For a tile of
/// short rows the products go to scratch, one entry per thread, and one or several lanes then sum
/// each row; for a single long row, or a part of one, all threads reduce their entries. Independent
/// loads are issued first: a team has one tile and waits for memory three times.
///
/// Traffic: A once, an element of X for each entry, Y once, three words a tile. The order of a
/// row's sum depends on the tiles alone.
template <class Exec, class Scalar, class Ordinal, class Entries, class Epilogue>
struct AdaptiveKernel {
  static constexpr int threads = tuning::adaptive_threads, depth = tuning::adaptive_depth;
  static constexpr int capacity =
      static_cast<int>(tuning::adaptive_tile_work + tuning::adaptive_alone);
  static constexpr int warps = threads / warp_lanes;
  using Policy =
      Kokkos::TeamPolicy<Exec,
                         Kokkos::LaunchBounds<threads, tuning::adaptive_blocks<sizeof(Scalar)>>>;
  using Team = typename Policy::member_type;

  CutTiles<Scalar, Ordinal> tiles;
  Entries entries;
  char const* x;            ///< the column
  std::uint32_t row_bytes;  ///< from a row of X to the next
  bool conjugate_values;
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto* const products = team_array<Scalar>(team, capacity);
    Tile const tile = tiles.tile_at(team.league_rank());
    if (tile.rows <= 1)
      multiply_row(team, products, tile);
    else
      multiply_rows(team, products, tile);
  }

  void launch(Exec const& exec, char const* label, std::int64_t count) const {
    if (count == 0) return;
    Policy policy(exec, static_cast<int>(count), threads, 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch_for(
                                   static_cast<std::size_t>(capacity) * sizeof(Scalar)))));
    Kokkos::parallel_for(label, policy, *this);
  }

 private:
  using Tile = typename CutTiles<Scalar, Ordinal>::Tile;

  /// A row, or a part of one that continues in at most one neighbouring tile.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_row(Team const& team, Scalar* partial,
                                                Tile const& tile) const {
    int const rank = team.team_rank();
    Sum<Scalar, 1> sum{};
    for_each_product(tile.begin + rank, tile.end,
                     [&](int, Scalar const& a, Scalar const& b) { sum.value[0] += a * b; });
    for (int mask = 1; mask < warp_lanes; mask *= 2)
      sum.value[0] += exchange(sum.value[0], mask, warp_lanes);
    if (rank % warp_lanes == 0) partial[rank / warp_lanes] = sum.value[0];
    team.team_barrier();
    if (rank > 0) return;
    for (int i = 1; i < warps; ++i) sum.value[0] += partial[i];
    tiles.finish_row(tile, 0, sum, epilogue);
  }

  /// Whole rows.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_rows(Team const& team, Scalar* products,
                                                 Tile const& tile) const {
    int const rank = team.team_rank();
    int lanes = warp_lanes;  // of a row
    while (lanes > 1 && tile.rows * lanes > threads) lanes /= 2;
    int const items = tile.rows * lanes, own = rank & (lanes - 1);
    // loaded before they are needed
    std::int64_t row = tile.first_row + (rank < items ? rank : items - 1) / lanes;
    int first = load(tiles.row_offsets + row), last = load(tiles.row_offsets + row + 1);
    for_each_product(tile.begin + rank, tile.end, [&](int k, Scalar const& a, Scalar const& b) {
      products[k - tile.begin] = a * b;
    });
    team.team_barrier();
    for (int item = rank; item < items; item += threads) {
      if (item > rank) {
        row = tile.first_row + item / lanes;
        first = load(tiles.row_offsets + row);
        last = load(tiles.row_offsets + row + 1);
      }
      Sum<Scalar, 1> sum{{sum_of(products, first - tile.begin + own, last - tile.begin, lanes)}};
      for (int mask = 1; mask < lanes; mask *= 2)
        sum.value[0] += exchange(sum.value[0], mask, lanes);
      if (own == 0) epilogue(row, 0, sum);
    }
  }

  /// Of the values first, first + stride, ... < last, in this order; several reads at a time.
  static KOKKOS_FORCEINLINE_FUNCTION Scalar sum_of(Scalar const* values, int first, int last,
                                                   int stride) {
    constexpr int in_flight = 4;
    Scalar sum(0);
    int k = first;
    BLOCKSPAN_ROLLED
    for (; k + (in_flight - 1) * stride < last; k += in_flight * stride) {
      Scalar some[in_flight];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < in_flight; ++u) some[u] = values[k + u * stride];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < in_flight; ++u) sum += some[u];
    }
    BLOCKSPAN_ROLLED
    for (; k < last; k += stride) sum += values[k];
    return sum;
  }

  /// use(k, value, element of X) for the entries k = first, first + threads, ... < end: the loads
  /// of several are in flight together; past the end one is loaded again, without a branch. Indices
  /// are compared as unsigned: index plus stride may overflow an int.
  template <class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_product(int first, int end, Use const& use) const {
    auto const last = static_cast<unsigned>(end);
    BLOCKSPAN_ROLLED
    for (auto k = static_cast<unsigned>(first); k < last; k += depth * threads) {
      Scalar a[depth], b[depth];
      std::make_unsigned_t<Ordinal> rows[depth];
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u) {
        auto const place = static_cast<int>(k + u * threads < last ? k + u * threads : k);
        rows[u] = static_cast<std::make_unsigned_t<Ordinal>>(entries.column(place));
        a[u] = conjugate_if(conjugate_values, entries.value(place));
      }
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u)
        b[u] = load(reinterpret_cast<Scalar const*>(x + std::uint64_t{rows[u]} * row_bytes));
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u)
        if (k + u * threads < last) use(static_cast<int>(k + u * threads), a[u], b[u]);
    }
  }
};

/// The tiles of the plan, with room for the sums of cut rows.
template <class Call>
CutTiles<typename Call::Scalar, typename Call::Ordinal> cut_tiles_of(Call const& call) {
  auto const& list = call.prepared.tiles;
  return {carry_of(list, call.product.Y.columns, call.carry),
          {},
          call.prepared.pattern.row_offsets,
          list.row.data(),
          list.entry.data(),
          list.slot.data()};
}

/// One column.
template <class Call, class Entries>
void launch_adaptive_column(Call const& call, Entries const& entries) {
  using Scalar = typename Call::Scalar;
  auto const& X = call.product.X;
  auto const epilogue = make_epilogue<false>(call);
  AdaptiveKernel<typename Call::Exec, Scalar, typename Call::Ordinal, Entries,
                 std::remove_const_t<decltype(epilogue)>>{cut_tiles_of(call),
                                                          entries,
                                                          reinterpret_cast<char const*>(X.data),
                                                          device_row_bytes(X),
                                                          conjugates(call.product.op),
                                                          epilogue}
      .launch(call.exec, call.variant().label, call.prepared.tiles.tiles);
}

}  // namespace blockspan::products
