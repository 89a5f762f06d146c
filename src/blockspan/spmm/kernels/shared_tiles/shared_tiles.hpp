#pragma once

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/kernels/rows/large_teams.hpp>
#include <blockspan/spmm/kernels/shared_tiles/shared_tiles_choice.hpp>
#include <blockspan/spmm/kernels/shared_tiles/shared_windows.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/mbarrier.hpp>

namespace blockspan::products {

/// Staged tiles of X for devices with bulk copies, where every row uses a tile: a team owns 64
/// rows and a panel of `Lanes` vectors, and walks all tiles of X. Producer warps only fetch tiles;
/// the others multiply four rows each. A nonzero then costs a read of shared memory in place of one
/// of the second-level cache.
///
/// A warp stages the entries of its rows too, before it multiplies those of the current tile. Rows
/// are sorted, so it finds the end of a tile among the columns that it loaded one tile earlier:
/// nothing is prepared. Every row adds its products in the order of its entries.
template <class Scalar, class Ordinal, int Width, int Lanes>
struct SharedTiles {
  using P = Vector<Scalar, Width>;
  static constexpr int warps = tuning::shared_tile_warps, fetchers = tuning::shared_tile_fetchers;
  static constexpr int warp_lanes = 32, threads = warp_lanes * (warps + fetchers);
  static constexpr int groups = warp_lanes / Lanes;  ///< of lanes, that have a row each
  static constexpr int warp_rows = tuning::shared_tile_warp_rows, own = warp_rows / groups;
  static constexpr int team_rows = warps * warp_rows;
  static constexpr int tile_rows = tuning::shared_tile_rows<Lanes>;
  static constexpr int staged = tuning::shared_tile_entries<Lanes>;  ///< of a row in a tile
  static constexpr int turns = staged / Lanes;
  static_assert(sizeof(P) == 16 && staged % Lanes == 0 && warp_rows % groups == 0);

  /// A row's staged entries, padded by 16 bytes: the rows of a warp are on banks of their own.
  struct alignas(16) Entries {
    Scalar value[staged + 16 / sizeof(Scalar)];
    int column[staged + 4];  ///< counted from the first of the tile
  };
  static_assert(groups == 1 || sizeof(Entries) % 128 != 0);
  /// The team's scratch: two tiles of everything.
  struct alignas(128) Scratch {
    P tile[2][tile_rows * Lanes];
    Entries entries[2][warps][warp_rows];
    std::uint64_t full[2], empty[2];  ///< mbarriers
  };
  static_assert(sizeof(Scratch) <= tuning::shared_tile_scratch);

  int const* row_offsets;  ///< rows + 1
  std::int64_t rows;
  Ordinal const* columns;
  Scalar const* values;
  BlockRef<Scalar const> X;  ///< row-major, a whole number of aligned vectors wide
  int vectors;               ///< in a row of X
  int panels;                ///< teams are numbered panels first
  bool whole;                ///< a tile is contiguous in X, and as wide: one copy fetches it

  /// consume(row, column, sum) for all rows and columns of the team, once each.
  template <class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Scratch& scratch, int team, int thread,
                                            Consume const& consume) const {
    if (thread == 0) {
      for (int i = 0; i < 2; ++i) {
        bulk::mbarrier_init(bulk::shared_address(scratch.full + i),
                            whole ? 1 : warp_lanes * fetchers);
        bulk::mbarrier_init(bulk::shared_address(scratch.empty + i), warps);
      }
      bulk::mbarrier_fence_init();
    }
    bulk::syncthreads();
    int const first_vector = team % panels * Lanes, tiles = static_cast<int>(count_tiles());
    if (thread >= warp_lanes * warps) return fetch_all(scratch, tiles, first_vector, thread);
    Walk walk(*this, scratch, std::int64_t{team / panels} * team_rows, thread);
    walk.multiply_all(tiles);
    walk.consume_all(first_vector, consume);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count_tiles() const {
    return (X.rows + tile_rows - 1) / tile_rows;
  }
  /// Rows of X in a tile.
  KOKKOS_FORCEINLINE_FUNCTION int rows_of(int t) const {
    std::int64_t const left = X.rows - std::int64_t{t} * tile_rows;
    return left < tile_rows ? static_cast<int>(left) : tile_rows;
  }

  /// The producer warps.
  KOKKOS_FORCEINLINE_FUNCTION void fetch_all(Scratch& scratch, int tiles, int first_vector,
                                             int thread) const {
    int const place = thread - warp_lanes * warps;
    if (whole && place > 0) return;
    for (int t = 0; t < tiles; ++t) {
      if (t >= 2)
        bulk::mbarrier_wait_parity(bulk::shared_address(scratch.empty + t % 2), (t / 2 - 1) % 2);
      fetch(scratch.tile[t % 2], bulk::shared_address(scratch.full + t % 2), t, first_vector,
            place);
    }
    bulk::cp_async_wait_all();
  }
  KOKKOS_FORCEINLINE_FUNCTION void fetch(P* tile, std::uint32_t barrier, int t, int first_vector,
                                         int place) const {
    Scalar const* const from =
        X.data + std::int64_t{t} * tile_rows * X.row_stride + std::int64_t{first_vector} * Width;
    int const here = rows_of(t);
    if (whole) {
      int const bytes = here * Lanes * int(sizeof(P));
      bulk::mbarrier_arrive_expect_tx(barrier, bytes);
      bulk::cp_async_bulk(bulk::shared_address(tile), from, bytes, barrier);
      return;
    }
    constexpr int step = warp_lanes * fetchers;
    static_assert(step % Lanes == 0);
    if (first_vector + place % Lanes < vectors) {
      Scalar const* at = from + place / Lanes * X.row_stride + place % Lanes * Width;
      for (int i = place; i < here * Lanes; i += step, at += step / Lanes * X.row_stride)
        bulk::cp_async<sizeof(P)>(bulk::shared_address(tile + i), at);
    }
    bulk::cp_async_mbarrier_arrive(barrier);
  }

  /// A consumer lane. The lanes of a group keep the same count of the group's rows.
  struct Walk {
    SharedTiles const& A;
    Scratch& scratch;
    int const warp, lane, group, of_group;
    std::int64_t const first_row;
    int first[own], last[own];  ///< entries from the current tile on
    int here[own] = {};         ///< of them in the current tile ...
    int behind[own] = {};       ///< ... and in the next one, which is staged
    Ordinal ahead[own][turns];  ///< columns of entries that come then
    Sum<Scalar, Width> sum[own] = {};

    KOKKOS_FORCEINLINE_FUNCTION Walk(SharedTiles const& matrix, Scratch& place,
                                     std::int64_t team_row, int thread)
        : A(matrix),
          scratch(place),
          warp(thread / warp_lanes),
          lane(thread % warp_lanes),
          group(lane / Lanes),
          of_group(lane % Lanes),
          first_row(team_row + std::int64_t{warp} * warp_rows) {
      BLOCKSPAN_UNROLL
      for (int r = 0; r < own; ++r) {
        std::int64_t const row = first_row + r * groups + group;
        first[r] = load(A.row_offsets + (row < A.rows ? row : A.rows));
        last[r] = load(A.row_offsets + (row < A.rows ? row + 1 : A.rows));
      }
      look_ahead();
    }

    KOKKOS_FORCEINLINE_FUNCTION void multiply_all(int tiles) {
      if (tiles > 0) stage(0);
      for (int t = 0; t < tiles; ++t) {
        bulk::cp_async_wait_all();
        bulk::syncwarp();
        BLOCKSPAN_UNROLL
        for (int r = 0; r < own; ++r) {
          first[r] += here[r];
          here[r] = behind[r];
          behind[r] = 0;
        }
        if (t + 1 < tiles) stage(t + 1);
        bulk::mbarrier_wait_parity(bulk::shared_address(scratch.full + t % 2), t / 2 % 2);
        multiply(scratch.tile[t % 2] + of_group, scratch.entries[t % 2][warp],
                 Ordinal(t) * Ordinal(tile_rows));
        bulk::syncwarp();
        if (lane == 0) bulk::mbarrier_arrive(bulk::shared_address(scratch.empty + t % 2));
      }
    }

    template <class Consume>
    KOKKOS_FORCEINLINE_FUNCTION void consume_all(int first_vector, Consume const& consume) const {
      if (first_vector + of_group >= A.vectors) return;
      BLOCKSPAN_UNROLL
      for (int r = 0; r < own; ++r) {
        std::int64_t const row = first_row + r * groups + group;
        if (row < A.rows) consume(row, std::int64_t{first_vector + of_group} * Width, sum[r]);
      }
    }

   private:
    /// Loads the columns of the entries that come next.
    KOKKOS_FORCEINLINE_FUNCTION void look_ahead() {
      BLOCKSPAN_UNROLL
      for (int r = 0; r < own; ++r) {
        int const begin = first[r] + here[r] + behind[r] + of_group;
        BLOCKSPAN_UNROLL
        for (int i = 0; i < turns; ++i) {
          int const k = begin + i * Lanes;
          ahead[r][i] = k < last[r] ? load(A.columns + k) : none;
        }
      }
    }

    /// Begins to stage the entries of tile t, and loads the columns of those that follow.
    KOKKOS_FORCEINLINE_FUNCTION void stage(int t) {
      Ordinal const begin = Ordinal(t) * Ordinal(tile_rows);
      Ordinal const end = begin + Ordinal(A.rows_of(t));
      BLOCKSPAN_UNROLL
      for (int r = 0; r < own; ++r) {
        Entries& to = scratch.entries[t % 2][warp][r * groups + group];
        Scalar const* const from = A.values + (first[r] + here[r] + of_group);
        BLOCKSPAN_UNROLL
        for (int i = 0; i < turns; ++i) {
          int const k = i * Lanes;
          bool const inside = ahead[r][i] < end;
          behind[r] += in_group(lanes_with(inside));
          if (inside) {
            bulk::cp_async<sizeof(Scalar)>(bulk::shared_address(to.value + (k + of_group)),
                                           from + k);
            to.column[k + of_group] = static_cast<int>(ahead[r][i] - begin);
          }
        }
        if (lanes_with(behind[r] == staged) != 0) count_rest(r, end);
      }
      look_ahead();
    }

    /// Counts the entries in the tile beyond those staged.
    KOKKOS_FORCEINLINE_FUNCTION void count_rest(int r, Ordinal end) {
      bool more = behind[r] == staged;
      BLOCKSPAN_ROLLED
      while (lanes_with(more) != 0) {
        int const k = first[r] + here[r] + behind[r] + of_group;
        bool const inside = more && k < last[r] && load(A.columns + k) < end;
        int const found = in_group(lanes_with(inside));
        behind[r] += found;
        more = found == Lanes;
      }
    }
    /// How many lanes of the group are among these.
    KOKKOS_FORCEINLINE_FUNCTION int in_group(unsigned lanes) const {
      constexpr unsigned all = Lanes == warp_lanes ? ~0u : (1u << Lanes % warp_lanes) - 1u;
      return Kokkos::Experimental::popcount_builtin(lanes >> (group * Lanes) & all);
    }

    template <class T, int N>
    struct alignas(16) Run {
      T of[N];
    };

    KOKKOS_FORCEINLINE_FUNCTION void multiply(P const* tile, Entries const* staged_rows,
                                              Ordinal begin) {
      BLOCKSPAN_UNROLL
      for (int r = 0; r < own; ++r) {
        Entries const& entries = staged_rows[r * groups + group];
        int const count = here[r] < staged ? here[r] : staged;
        int k = 0;
        BLOCKSPAN_UNROLL_TWICE
        for (; k + 4 <= count; k += 4) {
          auto const a = *reinterpret_cast<Run<Scalar, 4> const*>(entries.value + k);
          auto const c = *reinterpret_cast<Run<int, 4> const*>(entries.column + k);
          P x[4];
          BLOCKSPAN_UNROLL
          for (int u = 0; u < 4; ++u) x[u] = tile[c.of[u] * Lanes];
          BLOCKSPAN_UNROLL
          for (int u = 0; u < 4; ++u) add(a.of[u], x[u], sum[r]);
        }
        if (k + 2 <= count) {
          P const x = tile[entries.column[k] * Lanes], y = tile[entries.column[k + 1] * Lanes];
          add(entries.value[k], x, sum[r]);
          add(entries.value[k + 1], y, sum[r]);
          k += 2;
        }
        if (k < count) add(entries.value[k], tile[entries.column[k] * Lanes], sum[r]);
        BLOCKSPAN_ROLLED
        for (k = staged; k < here[r]; ++k) {
          int const place = first[r] + k;
          int const row = static_cast<int>(load(A.columns + place) - begin);
          add(load(A.values + place), tile[row * Lanes], sum[r]);
        }
      }
    }
    static KOKKOS_FORCEINLINE_FUNCTION void add(Scalar const& a, P const& x,
                                                Sum<Scalar, Width>& to) {
      BLOCKSPAN_UNROLL
      for (int j = 0; j < Width; ++j) to.value[j] += a * x.value[j];
    }

    static constexpr Ordinal none = std::numeric_limits<Ordinal>::max();
  };
};

template <int Width, int Lanes, class Call>
void launch_shared_tiles_of(Call const& call) {
  using Work = SharedTiles<typename Call::Scalar, typename Call::Ordinal, Width, Lanes>;
  auto const& pattern = call.prepared.pattern;
  auto const& X = call.product.X;
  int const vectors = static_cast<int>(X.columns / Width);
  int const panels = ceil_div(vectors, Lanes);
  bool const whole = vectors == Lanes && X.row_stride == X.columns;
  launch_in_large_teams(call, panels * ceil_div(pattern.rows, std::int64_t{Work::team_rows}),
                        Work{pattern.row_offsets, pattern.rows, pattern.column_indices, call.values,
                             X, vectors, panels, whole});
}

/// Panels as wide as the rows of X, up to 32 vectors.
template <class Call>
void launch_shared_tiles(Call const& call) {
  using Scalar = typename Call::Scalar;
  constexpr int width = device_vector_v<Scalar>;
  if constexpr (bulk::available<typename Call::Exec> && width > 1 &&
                sizeof(Scalar) <= sizeof(double)) {
    std::int64_t const vectors = call.product.X.columns / width;
    if (vectors <= 8)
      launch_shared_tiles_of<width, 8>(call);
    else if (vectors <= 16)
      launch_shared_tiles_of<width, 16>(call);
    else
      launch_shared_tiles_of<width, 32>(call);
  }
}

}  // namespace blockspan::products
