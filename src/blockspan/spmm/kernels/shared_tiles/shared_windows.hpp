#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/tensor_tiles.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/kernels/rows/large_teams.hpp>
#include <blockspan/spmm/kernels/shared_tiles/shared_tiles_choice.hpp>
#include <blockspan/spmm/kernels/windows/window_vectors.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/mbarrier.hpp>
#include <blockspan/spmm/prepared/facts.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// Windows of rows that share staged tiles of X, on tensor cores, where rows are so full that a
/// tile is used by every row: a team owns 64 rows and a panel of up to 32 vectors and walks all
/// tiles of X. Producer warps fetch tiles of X, the masks of the rows, and the values. Each
/// consumer warp multiplies two windows of eight rows with one part of every tile: two, because
/// shared memory delivers a row of X at half the rate of tensor cores with one window. The parts of
/// a sum are added in their order.
///
/// Columns of X and rows of windows are on the lanes as in WindowVectors. Rows of a tile are padded
/// so that the four that a quarter of a warp reads are in different banks.
///
/// A place without an entry is a zero, and zero times an infinity of X is NaN. So where a sum is
/// NaN, its warp's rows are multiplied once more, entry by entry.
template <class Scalar, class Ordinal, int Groups>
struct SharedWindows {
  static constexpr int team_rows = tuning::shared_window_rows;
  static constexpr int tile_rows = tuning::shared_window_columns;  ///< bits of a mask
  static constexpr int parts = tuning::shared_window_parts;
  static constexpr int stages = tuning::shared_window_stages<is_complex_v<Scalar>>;
  static constexpr int fetchers = tuning::shared_window_fetchers;
  static constexpr int warp_lanes = tensor::lanes, windows = 2, warp_rows = 8 * windows;
  static constexpr int teams_of_rows = team_rows / warp_rows, warps = teams_of_rows * parts;
  static constexpr int threads = warp_lanes * (warps + fetchers);
  static constexpr int width = int(sizeof(tensor::Pair) / sizeof(Scalar));
  static constexpr int groups = Groups, vectors_of_panel = 8 * groups;
  static constexpr int steps = tile_rows / 4 / parts;  ///< of a warp in a tile
  using Mask = std::uint64_t;
  static_assert(tile_rows == 64 && 4 * steps <= 32 && 32 % (4 * steps) == 0);

  /// Four scalars more than a row of X has, and two more than a row of the tile may have values.
  static constexpr int x_stride = 2 * vectors_of_panel + 4, value_stride = tile_rows + 2;
  struct alignas(128) Scratch {
    double x[stages][tile_rows * x_stride];
    Scalar value[stages][team_rows * value_stride];
    Mask mask[stages][team_rows];
    std::uint64_t full[stages], empty[stages];  ///< mbarriers
  };
  static_assert(sizeof(Scratch) <= tuning::shared_tile_scratch);
  static constexpr int kept = windows * groups * 4;  ///< sums of a lane
  static_assert(warps * warp_lanes * kept <= stages * tile_rows * x_stride);

  int const* row_offsets;  ///< rows + 1
  std::int64_t rows;
  Ordinal const* columns;
  Scalar const* values;
  Mask const* masks;         ///< as in TileMasks
  BlockRef<Scalar const> X;  ///< row-major, a whole number of aligned vectors wide
  int vectors;               ///< in a row of X
  int panels;                ///< teams are numbered panels first

  /// consume(row, column, sum) for all rows and columns of the team, once each.
  template <class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Scratch& scratch, int team, int thread,
                                            Consume const& consume) const {
    if (thread == 0) {
      for (int i = 0; i < stages; ++i) {
        bulk::mbarrier_init(bulk::shared_address(scratch.full + i), warp_lanes * fetchers);
        bulk::mbarrier_init(bulk::shared_address(scratch.empty + i), warps);
      }
      bulk::mbarrier_fence_init();
    }
    bulk::syncthreads();
    int const first_vector = team % panels * vectors_of_panel, block = team / panels;
    auto const tiles = static_cast<int>((X.rows + tile_rows - 1) / tile_rows);
    int const warp = thread / warp_lanes, lane = thread % warp_lanes;
    if (warp >= warps) {
      fetch_all(scratch, tiles, first_vector, block, thread - warp_lanes * warps);
      bulk::syncthreads();
      bulk::syncthreads();
      return;
    }
    Sums sums = {};
    int const part = warp / teams_of_rows, group = warp % teams_of_rows;
    for (int t = 0; t < tiles; ++t) {
      int const at = t % stages;
      bulk::mbarrier_wait_parity(bulk::shared_address(scratch.full + at), t / stages % 2);
      multiply_tile(scratch.x[at] + 4 * steps * part * x_stride,
                    scratch.value[at] + group * warp_rows * value_stride,
                    scratch.mask[at] + group * warp_rows, part, lane, sums);
      bulk::syncwarp();
      if (lane == 0) bulk::mbarrier_arrive(bulk::shared_address(scratch.empty + at));
    }
    bulk::syncthreads();  // before scratch is reused for sums
    double* const of_warps = scratch.x[0] + group * warp_lanes * kept * (parts - 1) + lane;
    if (part > 0) sums.keep(of_warps + (part - 1) * warp_lanes * kept);
    bulk::syncthreads();
    if (part > 0) return;
    for (int p = 1; p < parts; ++p) sums.add(of_warps + (p - 1) * warp_lanes * kept);
    finish(std::int64_t{block} * team_rows + group * warp_rows, first_vector, lane, sums, consume);
  }

 private:
  struct Sums {
    double of[windows][groups][4];

    template <class Function>
    KOKKOS_FORCEINLINE_FUNCTION void for_each(Function const& function) {
      BLOCKSPAN_UNROLL
      for (int i = 0; i < kept; ++i) function(i, of[i / (4 * groups)][i / 4 % groups][i % 4]);
    }
    KOKKOS_FORCEINLINE_FUNCTION void keep(double* to) {
      for_each([&](int i, double const& sum) { to[i * warp_lanes] = sum; });
    }
    KOKKOS_FORCEINLINE_FUNCTION void add(double const* from) {
      for_each([&](int i, double& sum) { sum += from[i * warp_lanes]; });
    }
    KOKKOS_FORCEINLINE_FUNCTION bool has_nan() {
      bool found = false;
      for_each([&](int, double const& sum) { found |= sum != sum; });
      return found;
    }
  };

  /// The producer warps: two threads have a row of A.
  KOKKOS_FORCEINLINE_FUNCTION void fetch_all(Scratch& scratch, int tiles, int first_vector,
                                             int block, int place) const {
    constexpr int all = warp_lanes * fetchers, of_row = all / team_rows;
    constexpr int across = groups == 3 ? 32 : vectors_of_panel, step = all / across;
    static_assert(all % team_rows == 0 && tile_rows % step == 0);
    int const own = place / of_row, share = place % of_row;
    std::int64_t const row = std::int64_t{block} * team_rows + own;
    Scalar const* next = values + load(row_offsets + (row < rows ? row : rows));
    Mask const* mask = masks + std::int64_t{block} * tiles * team_rows + own;
    Mask ahead = tiles > 0 ? load(mask) : 0;
    int const vector = place % across, first_row = place / across;
    int const bytes = first_vector + vector < vectors ? int(sizeof(tensor::Pair)) : 0;
    Scalar const* from =
        X.data + first_row * X.row_stride + (bytes > 0 ? width * (first_vector + vector) : 0);
    std::int64_t left = X.rows - first_row;
    for (int t = 0; t < tiles; ++t) {
      int const at = t % stages;
      if (t >= stages)
        bulk::mbarrier_wait_parity(bulk::shared_address(scratch.empty + at), (t / stages - 1) % 2);
      auto const to = bulk::shared_address(scratch.x[at] + first_row * x_stride + 2 * vector);
      if (vector < vectors_of_panel) {
        BLOCKSPAN_UNROLL
        for (int i = 0; i < tile_rows / step; ++i) {
          bool const inside = left > i * step;
          auto const* const here = inside ? from + i * step * X.row_stride : X.data;
          tensor::copy_pair(to + i * step * x_stride * int(sizeof(double)),
                            reinterpret_cast<double const*>(here), inside ? bytes : 0);
        }
      }
      from += tile_rows * X.row_stride;
      left -= tile_rows;
      int const count = Kokkos::Experimental::popcount_builtin(ahead);
      if (share == 0)
        bulk::cp_async<sizeof(Mask)>(bulk::shared_address(scratch.mask[at] + own), mask);
      mask += team_rows;
      if (t + 1 < tiles) ahead = load(mask);
      Scalar* const values_to = scratch.value[at] + own * value_stride;
      BLOCKSPAN_ROLLED
      for (int k = share; k < count; k += of_row)
        bulk::cp_async<sizeof(Scalar)>(bulk::shared_address(values_to + k), next + k);
      next += count;
      bulk::cp_async_mbarrier_arrive(bulk::shared_address(scratch.full + at));
    }
    bulk::cp_async_wait_all();
  }

  /// The products of a warp's rows with its part of a tile.
  KOKKOS_FORCEINLINE_FUNCTION void multiply_tile(double const* x, Scalar const* value,
                                                 Mask const* mask, int part, int lane,
                                                 Sums& sums) const {
    int const row = lane >> 2, step = lane & 3;
    constexpr int bits = 4 * steps;
    unsigned word[windows];
    Scalar const* of_row[windows];
    BLOCKSPAN_UNROLL
    for (int w = 0; w < windows; ++w) {
      Mask const all = mask[8 * w + row];
      Mask const before = all & ((Mask(1) << (bits * part)) - 1);
      word[w] = static_cast<unsigned>(all >> (bits * part)) >> step;
      unsigned const of_lanes = static_cast<unsigned>(all >> (bits * part)) & ((1u << step) - 1);
      of_row[w] = value + (8 * w + row) * value_stride +
                  Kokkos::Experimental::popcount_builtin(before) +
                  Kokkos::Experimental::popcount_builtin(of_lanes);
    }
    auto const* const vectors_of_x =
        reinterpret_cast<tensor::Pair const*>(x + step * x_stride + 2 * row);
    BLOCKSPAN_UNROLL
    for (int j = 0; j < steps; ++j) {
      tensor::Pair b[groups];
      BLOCKSPAN_UNROLL
      for (int g = 0; g < groups; ++g) b[g] = vectors_of_x[j * 4 * x_stride / 2 + 8 * g];
      Scalar a[windows];
      BLOCKSPAN_UNROLL
      for (int w = 0; w < windows; ++w) {
        // the entries of the row before this one, in the lane's part of the mask
        unsigned const before = word[w] & ((1u << 4 * j) - 1u);
        a[w] = Scalar(0);
        if ((word[w] >> 4 * j & 1u) != 0)
          a[w] = of_row[w][Kokkos::Experimental::popcount_builtin(before)];
      }
      BLOCKSPAN_UNROLL
      for (int w = 0; w < windows; ++w) {
        BLOCKSPAN_UNROLL
        for (int g = 0; g < groups; ++g) add_products(a[w], b[g], sums.of[w][g]);
      }
    }
  }

  template <class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void finish(std::int64_t first_row, int first_vector, int lane,
                                          Sums& sums, Consume const& consume) const {
    bool const again = lanes_with(sums.has_nan()) != 0;
    BLOCKSPAN_UNROLL
    for (int w = 0; w < windows; ++w) {
      BLOCKSPAN_UNROLL
      for (int i = 0; i < 2; ++i) {
        std::int64_t const row = first_row + 8 * w + 2 * (lane & 3) + i;
        BLOCKSPAN_UNROLL
        for (int g = 0; g < groups; ++g) {
          int const vector = first_vector + 8 * g + (lane >> 2);
          if (row >= rows || vector >= vectors) continue;
          consume(row, std::int64_t{vector} * width,
                  again ? entry_by_entry(row, vector) : vector_sum<Scalar>(sums.of[w][g], i));
        }
      }
    }
  }

  /// The same sum without a zero in it that the matrix does not have.
  KOKKOS_FUNCTION Sum<Scalar, width> entry_by_entry(std::int64_t row, int vector) const {
    Sum<Scalar, width> sum = {};
    for (int k = row_offsets[row]; k < row_offsets[row + 1]; ++k) {
      Scalar const* const x = X.data + std::int64_t{columns[k]} * X.row_stride + width * vector;
      for (int j = 0; j < width; ++j) sum.value[j] += values[k] * x[j];
    }
    return sum;
  }
};

template <int Groups, class Call>
void launch_shared_windows_of(Call const& call) {
  using Work = SharedWindows<typename Call::Scalar, typename Call::Ordinal, Groups>;
  auto const& pattern = call.prepared.pattern;
  auto const& X = call.product.X;
  int const vectors = static_cast<int>(X.columns / Work::width);
  int const panels = ceil_div(vectors, Work::vectors_of_panel);
  launch_in_large_teams(call, panels * ceil_div(pattern.rows, std::int64_t{Work::team_rows}),
                        Work{pattern.row_offsets, pattern.rows, pattern.column_indices, call.values,
                             call.prepared.masks.data(), X, vectors, panels});
}

/// Panels of about equal width, up to 32 vectors.
template <class Call>
void launch_shared_windows(Call const& call) {
  if constexpr (windows_share_tiles_v<typename Call::Exec> &&
                std::is_same_v<real_t<typename Call::Scalar>, double>)
    switch (shared_window_groups(call.product.X.columns / device_vector_v<typename Call::Scalar>)) {
      case 1:
        return launch_shared_windows_of<1>(call);
      case 2:
        return launch_shared_windows_of<2>(call);
      case 3:
        return launch_shared_windows_of<3>(call);
      default:
        return launch_shared_windows_of<4>(call);
    }
}

}  // namespace blockspan::products
