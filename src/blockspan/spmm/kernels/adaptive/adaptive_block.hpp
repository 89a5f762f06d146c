#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/kernels/adaptive/adaptive.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/parts/cut_tiles.hpp>
#include <blockspan/spmm/parts/kernel.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// Several columns of X, for devices: a team owns a tile of the plan (cut_row_classes), whose
/// entries it loads to scratch, one a lane, so that a thread only waits for X. A thread computes
/// one row at a time, one vector of columns per lane; rows of more than adaptive_by_warp entries
/// are shared by the threads of a warp, and a row that fills a tile, or a part of one, by the whole
/// team.
///
/// The passes over the columns are around the rows: what neighbouring rows share of X stays in the
/// first-level cache. Rows of X and Y are whole 16-byte vectors.
///
/// Traffic: A once, a row of X for each entry, Y once, three words a tile. The order of a row's sum
/// depends on the tiles and on how many columns there are.
template <class Exec, class Scalar, class Ordinal, class Entries, class Epilogue>
struct AdaptiveBlockKernel {
  static constexpr int width = device_vector_v<Scalar>;
  static constexpr int threads = tuning::adaptive_block_threads;
  static constexpr int depth = tuning::device_depth<1>;
  static constexpr int in_flight = 4;  ///< entries of a lane that are on their way to scratch
  static constexpr int most_rows =
      static_cast<int>(tuning::adaptive_tile_work / tuning::adaptive_row_work);
  static constexpr int most_entries =
      static_cast<int>(tuning::adaptive_tile_work + tuning::adaptive_alone);
  using Policy =
      Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, tuning::adaptive_block_blocks>>;
  using Team = typename Policy::member_type;
  using Element = Vector<Scalar, width>;
  using Tile = typename CutTiles<Scalar, Ordinal>::Tile;
  using Column = std::make_unsigned_t<Ordinal>;
  using VectorSum = Sum<Scalar, width>;

  CutTiles<Scalar, Ordinal> tiles;
  Entries entries;
  BlockRef<Scalar const> X;
  std::uint32_t row_bytes;  ///< from a row of X to the next
  LaneGrid grid;
  bool conjugate_values;
  Epilogue epilogue;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto* const scratch = team_array<Element>(team, scratch_elements);
    Tile const tile = tiles.tile_at(team.league_rank());
    if (tile.rows <= 1)
      multiply_row(team, reinterpret_cast<VectorSum*>(scratch), tile);
    else
      multiply_rows(team, stage(team, scratch, tile), tile);
  }

  void launch(Exec const& exec, char const* label, std::int64_t count) const {
    if (count == 0) return;
    // short rows leave a larger team without work
    int const size = grid.lanes() > tuning::adaptive_few_lanes ? threads : threads / 2;
    Policy policy(exec, static_cast<int>(count), size / grid.lanes(), grid.lanes());
    policy.set_scratch_size(
        0, Kokkos::PerTeam(static_cast<int>(scratch_for(scratch_elements * sizeof(Element)))));
    Kokkos::parallel_for(label, policy, *this);
  }

 private:
  /// The entries of a tile, in scratch.
  struct Stage {
    Scalar* values;
    Column* columns;
    std::uint16_t* ends;                   ///< rows + 1: where a row begins, and ends
    static constexpr bool at_hand = true;  ///< read when it is needed

    KOKKOS_FORCEINLINE_FUNCTION Column column(int k) const { return columns[k]; }
    KOKKOS_FORCEINLINE_FUNCTION Scalar value(int k) const { return values[k]; }
    KOKKOS_FORCEINLINE_FUNCTION bool is_for_warp(int row) const {
      return ends[row + 1] - ends[row] > tuning::adaptive_by_warp;
    }
  };
  /// The entries of the matrix.
  struct Stored {
    Entries const& entries;
    bool conjugate_values;
    static constexpr bool at_hand = false;

    KOKKOS_FORCEINLINE_FUNCTION Column column(int k) const {
      return static_cast<Column>(entries.column(k));
    }
    KOKKOS_FORCEINLINE_FUNCTION Scalar value(int k) const {
      return conjugate_if(conjugate_values, entries.value(k));
    }
  };
  static constexpr std::size_t staged_bytes =
      most_entries * (sizeof(Scalar) + sizeof(Column)) + (most_rows + 1) * sizeof(std::uint16_t);
  static constexpr int scratch_elements =
      static_cast<int>((std::max(staged_bytes, threads * sizeof(VectorSum)) + sizeof(Element) - 1) /
                       sizeof(Element));

  KOKKOS_FORCEINLINE_FUNCTION int vectors() const { return static_cast<int>(X.columns / width); }

  KOKKOS_FORCEINLINE_FUNCTION Stage stage(Team const& team, Element* scratch,
                                          Tile const& tile) const {
    auto* const values = reinterpret_cast<Scalar*>(scratch);
    auto* const columns = reinterpret_cast<Column*>(values + most_entries);
    Stage const staged{values, columns, reinterpret_cast<std::uint16_t*>(columns + most_entries)};
    Stored const stored{entries, conjugate_values};
    int const place = place_in_team(), step = team.team_size() * grid.lanes();
    BLOCKSPAN_ROLLED
    for (int k = place; k < tile.end - tile.begin; k += in_flight * step) {
      Column columns_of[in_flight];
      Scalar values_of[in_flight];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < in_flight; ++u) {
        int const at = tile.begin + (k + u * step < tile.end - tile.begin ? k + u * step : k);
        columns_of[u] = stored.column(at);
        values_of[u] = stored.value(at);
      }
      BLOCKSPAN_UNROLL
      for (int u = 0; u < in_flight; ++u) {
        if (k + u * step >= tile.end - tile.begin) continue;
        staged.columns[k + u * step] = columns_of[u];
        staged.values[k + u * step] = values_of[u];
      }
    }
    for (int r = place; r <= tile.rows; r += step)
      staged.ends[r] =
          static_cast<std::uint16_t>(load(tiles.row_offsets + tile.first_row + r) - tile.begin);
    team.team_barrier();
    return staged;
  }

  /// Whole rows. Those of warps first: they are the longest.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_rows(Team const& team, Stage const& staged,
                                                 Tile const& tile) const {
    for (int first = 0; first < vectors(); first += grid.columns()) {
      multiply_rows_by_warps(team, staged, tile, first);
      for_each_lane<true>(team, grid.lanes(), [&](int lane) {
        for (int r = team.team_rank(); r < tile.rows; r += team.team_size()) {
          if (staged.is_for_warp(r)) continue;
          VectorSum const sum =
              multiply(staged, staged.ends[r], staged.ends[r + 1], 1, first + lane);
          if (first + lane < vectors()) write(tile, r, first + lane, sum);
        }
      });
    }
  }

  /// Rows go round-robin to the warps; the threads of a warp reduce by a butterfly.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_rows_by_warps(Team const& team, Stage const& staged,
                                                          Tile const& tile, int first) const {
    int const place = place_in_team(), of_warp = place % warp_lanes;
    int const warps = team.team_size() * grid.lanes() / warp_lanes;
    int const vector = first + of_warp % grid.lanes(), thread = of_warp / grid.lanes();
    int turn = place / warp_lanes;
    for (int from = 0; from < tile.rows; from += warp_lanes) {
      int const row = from + of_warp;
      unsigned left = lanes_with(row < tile.rows && staged.is_for_warp(row));
      for (; left != 0; left &= left - 1, --turn) {
        if (turn % warps != 0) continue;
        int const r = from + nth_bit(left, 0);
        VectorSum sum = multiply(staged, staged.ends[r] + thread, staged.ends[r + 1],
                                 warp_lanes / grid.lanes(), vector);
        for (int mask = grid.lanes(); mask < warp_lanes; mask *= 2) {
          BLOCKSPAN_UNROLL
          for (int j = 0; j < width; ++j) sum.value[j] += exchange(sum.value[j], mask, warp_lanes);
        }
        if (thread == 0 && vector < vectors()) write(tile, r, vector, sum);
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void write(Tile const& tile, int row, int vector,
                                         VectorSum const& sum) const {
    epilogue(tile.first_row + row, std::int64_t{vector} * width, sum);
  }

  /// A row, or a part of one that continues in at most one neighbouring tile.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_row(Team const& team, VectorSum* partial,
                                                Tile const& tile) const {
    VectorSum* const own = partial + place_in_team();
    int const rank = team.team_rank(), size = team.team_size();
    for (int first = 0; first < vectors(); first += grid.columns()) {
      for_each_lane<true>(team, grid.lanes(), [&](int lane) {
        *own = multiply(Stored{entries, conjugate_values}, tile.begin + rank, tile.end, size,
                        first + lane);
      });
      for (int half = size / 2; half > 0; half /= 2) {
        team.team_barrier();
        if (rank >= half) continue;
        BLOCKSPAN_UNROLL
        for (int j = 0; j < width; ++j) own->value[j] += own[half * grid.lanes()].value[j];
      }
      if (rank == 0)
        for_each_lane<false>(team, grid.lanes(), [&](int lane) {
          if (first + lane < vectors())
            tiles.finish_row(tile, std::int64_t{first + lane} * width, *own, epilogue);
        });
      team.team_barrier();
    }
  }

  /// The products of the entries k = begin, begin + stride, ... < end of `own` with a vector of X,
  /// added up; `depth` entries have their loads in flight. Past the end, and past the last vector,
  /// one is loaded again. Indices are compared as unsigned: index plus stride may overflow an int.
  template <class Own>
  KOKKOS_FORCEINLINE_FUNCTION VectorSum multiply(Own const& own, int begin, int end, int stride,
                                                 int vector) const {
    auto const* const x = reinterpret_cast<char const*>(reinterpret_cast<Element const*>(X.data) +
                                                        (vector < vectors() ? vector : 0));
    auto const last = static_cast<unsigned>(end), step = static_cast<unsigned>(stride);
    VectorSum sum{};
    BLOCKSPAN_ROLLED
    for (auto k = static_cast<unsigned>(begin); k < last; k += depth * step) {
      Scalar a[depth];
      Element b[depth];
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u) {
        auto const place = static_cast<int>(k + u * step < last ? k + u * step : k);
        if constexpr (!Own::at_hand) a[u] = own.value(place);
        b[u] = load(
            reinterpret_cast<Element const*>(x + std::uint64_t{own.column(place)} * row_bytes));
      }
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u) {
        BLOCKSPAN_UNROLL
        for (int j = 0; j < width; ++j) keep_live(b[u].value[j]);
      }
      scheduling_barrier(k);
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u) {
        if (k + u * step >= last) continue;
        if constexpr (Own::at_hand) a[u] = own.value(static_cast<int>(k + u * step));
        BLOCKSPAN_UNROLL
        for (int j = 0; j < width; ++j) sum.value[j] += a[u] * b[u].value[j];
      }
    }
    return sum;
  }
};

template <class Call, class Entries>
void launch_adaptive_block(Call const& call, Entries const& entries) {
  using Scalar = typename Call::Scalar;
  auto const& X = call.product.X;
  auto const epilogue = make_epilogue<true>(call);
  AdaptiveBlockKernel<typename Call::Exec, Scalar, typename Call::Ordinal, Entries,
                      std::remove_const_t<decltype(epilogue)>>{
      cut_tiles_of(call),          entries, X, device_row_bytes(X), call.launch.lanes.grid,
      conjugates(call.product.op), epilogue}
      .launch(call.exec, call.variant().label, call.prepared.tiles.tiles);
}

template <class Call>
void launch_adaptive(Call const& call) {
  if constexpr (lanes_exchange_v<typename Call::Exec>)
    with_entries<false, true>(call, [&]<class Entries>(Entries const& entries) {
      if (call.launch.vectorized)
        launch_adaptive_block(call, entries);
      else
        launch_adaptive_column(call, entries);
    });
}

}  // namespace blockspan::products
