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

/// Several columns of X, for devices: a team owns a tile of the plan (cut_row_classes), a thread of
/// it a row at a time, its lanes vectors of columns. The team loads the entries of short rows to
/// scratch, one a lane, so that a thread waits for X alone. A long row, or a part of one, is shared
/// by all threads, which add up their sums in scratch.
///
/// The passes over the columns are around the rows: what neighbouring rows share of X stays in the
/// first-level cache. Rows of X and Y are whole 16-byte vectors.
///
/// Traffic: A once, a row of X for each entry, Y once, three words a tile. The order of a row's sum
/// depends on the tiles and on how many columns there are.
template <class Exec, class Scalar, class Ordinal, class Entries, class Epilogue, int Vectors>
struct AdaptiveBlockKernel {
  static constexpr int width = device_vector_v<Scalar>;
  static constexpr int threads = tuning::adaptive_block_threads;
  static constexpr int depth = tuning::device_depth<Vectors>;
  static constexpr int in_flight = 4;  ///< entries of a lane that are on their way to scratch
  static constexpr int most_rows = static_cast<int>(tuning::adaptive_entries);
  static constexpr int most_entries = most_rows + static_cast<int>(tuning::adaptive_alone);
  using Policy =
      Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, tuning::adaptive_block_blocks>>;
  using Team = typename Policy::member_type;
  using Element = Vector<Scalar, width>;
  using Tile = typename CutTiles<Scalar, Ordinal>::Tile;
  using Column = std::make_unsigned_t<Ordinal>;
  /// Of a lane: of its vectors in this pass.
  struct Sums {
    Sum<Scalar, width> of_vector[Vectors];
  };

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
      multiply_row(team, reinterpret_cast<Sums*>(scratch), tile);
    else
      multiply_rows(team, stage(team, scratch, tile), tile);
  }

  void launch(Exec const& exec, char const* label, std::int64_t count) const {
    if (count == 0) return;
    // short rows leave a larger team without work
    int const size = std::clamp(warp_lanes * grid.lanes(), threads / 2, threads);
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
  static constexpr int scratch_elements = static_cast<int>(
      (std::max(staged_bytes, threads * sizeof(Sums)) + sizeof(Element) - 1) / sizeof(Element));

  KOKKOS_FORCEINLINE_FUNCTION int vectors() const { return static_cast<int>(X.columns / width); }
  KOKKOS_FORCEINLINE_FUNCTION int vectors_of_pass() const { return grid.columns() * Vectors; }

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

  /// Whole rows.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_rows(Team const& team, Stage const& staged,
                                                 Tile const& tile) const {
    for (int first = 0; first < vectors(); first += vectors_of_pass())
      for_each_lane<true>(team, grid.lanes(), [&](int lane) {
        for (int r = team.team_rank(); r < tile.rows; r += team.team_size()) {
          Sums sums{};
          multiply(staged, staged.ends[r], staged.ends[r + 1], 1, first + lane, sums);
          for_each_vector(first + lane, [&](int s, int vector) {
            epilogue(tile.first_row + r, std::int64_t{vector} * width, sums.of_vector[s]);
          });
        }
      });
  }

  /// A row, or a part of one: at most one of its ends is in another tile.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_row(Team const& team, Sums* partial,
                                                Tile const& tile) const {
    Sums* const own = partial + place_in_team();
    int const rank = team.team_rank(), size = team.team_size();
    for (int first = 0; first < vectors(); first += vectors_of_pass()) {
      for_each_lane<true>(team, grid.lanes(), [&](int lane) {
        Sums sums{};
        multiply(Stored{entries, conjugate_values}, tile.begin + rank, tile.end, size, first + lane,
                 sums);
        *own = sums;
      });
      for (int half = size / 2; half > 0; half /= 2) {
        team.team_barrier();
        if (rank < half) add(*own, own[half * grid.lanes()]);
      }
      if (rank == 0)
        for_each_lane<false>(team, grid.lanes(), [&](int lane) {
          for_each_vector(first + lane, [&](int s, int vector) {
            tiles.finish_row(tile, std::int64_t{vector} * width, own->of_vector[s], epilogue);
          });
        });
      team.team_barrier();
    }
  }

  static KOKKOS_FORCEINLINE_FUNCTION void add(Sums& to, Sums const& other) {
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Vectors; ++s) {
      BLOCKSPAN_UNROLL
      for (int j = 0; j < width; ++j) to.of_vector[s].value[j] += other.of_vector[s].value[j];
    }
  }

  /// function(s, vector) for those vectors of a lane that there are; its first one is `first`.
  template <class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_vector(int first, Function const& function) const {
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Vectors; ++s) {
      int const vector = first + s * grid.columns();
      if (vector < vectors()) function(s, vector);
    }
  }

  /// Adds the products of the entries k = begin, begin + stride, ... < end of `own` with a lane's
  /// vectors, the first of which is `first`; `depth` entries have their loads in flight. Past the
  /// end, and past the last vector, one is loaded again. Places are compared unsigned: one and some
  /// strides may be more than an int holds.
  template <class Own>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Own const& own, int begin, int end, int stride,
                                            int first, Sums& sums) const {
    Element const* x[Vectors];
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Vectors; ++s) {
      int const vector = first + s * grid.columns();
      x[s] = reinterpret_cast<Element const*>(X.data) + (vector < vectors() ? vector : 0);
    }
    auto const last = static_cast<unsigned>(end), step = static_cast<unsigned>(stride);
    BLOCKSPAN_ROLLED
    for (auto k = static_cast<unsigned>(begin); k < last; k += depth * step) {
      Scalar a[depth];
      Element b[depth][Vectors];
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u) {
        auto const place = static_cast<int>(k + u * step < last ? k + u * step : k);
        std::uint64_t const at = std::uint64_t{own.column(place)} * row_bytes;
        if constexpr (!Own::at_hand) a[u] = own.value(place);
        BLOCKSPAN_UNROLL
        for (int s = 0; s < Vectors; ++s)
          b[u][s] =
              load(reinterpret_cast<Element const*>(reinterpret_cast<char const*>(x[s]) + at));
      }
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u) {
        BLOCKSPAN_UNROLL
        for (int s = 0; s < Vectors; ++s) {
          BLOCKSPAN_UNROLL
          for (int j = 0; j < width; ++j) keep_live(b[u][s].value[j]);
        }
      }
      scheduling_barrier(k);
      BLOCKSPAN_UNROLL
      for (unsigned u = 0; u < depth; ++u) {
        if (k + u * step >= last) continue;
        if constexpr (Own::at_hand) a[u] = own.value(static_cast<int>(k + u * step));
        BLOCKSPAN_UNROLL
        for (int s = 0; s < Vectors; ++s) {
          BLOCKSPAN_UNROLL
          for (int j = 0; j < width; ++j) sums.of_vector[s].value[j] += a[u] * b[u][s].value[j];
        }
      }
    }
  }
};

template <int Vectors, class Call, class Entries>
void launch_adaptive_block(Call const& call, Entries const& entries) {
  using Scalar = typename Call::Scalar;
  auto const& X = call.product.X;
  auto const epilogue = make_epilogue<true>(call);
  AdaptiveBlockKernel<typename Call::Exec, Scalar, typename Call::Ordinal, Entries,
                      std::remove_const_t<decltype(epilogue)>, Vectors>{
      cut_tiles_of(call),          entries, X, device_row_bytes(X), call.launch.lanes.grid,
      conjugates(call.product.op), epilogue}
      .launch(call.exec, call.variant().label, call.prepared.tiles.tiles);
}

template <class Call>
void launch_adaptive(Call const& call) {
  if constexpr (lanes_exchange_v<typename Call::Exec>)
    with_entries<false, true>(call, [&]<class Entries>(Entries const& entries) {
      if (!call.launch.vectorized) return launch_adaptive_column(call, entries);
      if (call.launch.lanes.vectors_per_lane == 1) return launch_adaptive_block<1>(call, entries);
      launch_adaptive_block<2>(call, entries);
    });
}

}  // namespace blockspan::products
