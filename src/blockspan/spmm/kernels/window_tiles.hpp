#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/inner/lane_grid.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/pack_access.hpp>
#include <blockspan/spmm/detail/inner/stage.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/spmm/kernels/window_packs.hpp>
#include <blockspan/spmm/kernels/window_values.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Windows of rows as tiles on tensor cores, for devices: a team thread is a warp, and each row of
/// X is fetched once for a window. In a step the lanes of a row (four neighbours) take four columns
/// of a tile. They read the values where they stand in the matrix: rows are sorted, so the entries
/// of a row meet its tiles in their order, and the bits say how many a tile takes.
///
/// A place without an entry is a zero there, and zero times an infinity of X is NaN. So where a sum
/// of a window is NaN, its rows are multiplied once more, entry by entry.
///
/// Columns: WindowPacks or WindowColumns. X is row-major; for packs aligned, and a whole number of
/// them wide.
template <class Scalar, class Entries, class Offset, class Ordinal, class Columns>
struct WindowTiles {
  static constexpr unsigned blocks = Columns::blocks;
  static constexpr std::size_t thread_scratch_bytes = 0;
  static constexpr int steps = tuning::window_columns / 4, width = Columns::width;

  Entries entries;
  BlockRef<Scalar const> X;  ///< columns of op(A) x n
  bool conjugate_values;
  std::uint32_t row_bytes;      ///< from a row of X to the next
  Offset const* row_offsets;    ///< rows + 1
  Ordinal const* first_column;  ///< these three as in RowWindowList
  std::uint16_t const* distance;
  std::uint16_t const* masks;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION NoStage stage(Team const&) const {
    return {};
  }

  /// consume(column, sum, i, s) for all columns of the pass and the i-th row of the window, once
  /// each, on the lane that has the sum, in its s-th pack.
  template <class Team, class Window, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const& team, NoStage, Window const& window,
                                                Consume const& consume) const {
    int const all = static_cast<int>(X.columns) / width;
    for_each_lane<true>(team, tensor::lanes, [&](int lane) {
      multiply_pass(window, lane, window.pass * Columns::packs, all, consume);
    });
  }

 private:
  /// What a lane knows of a tile: its column in each step, the bits of its row.
  struct Tile {
    Ordinal first_column;
    std::uint64_t distances;
    unsigned bits;

    KOKKOS_FORCEINLINE_FUNCTION Ordinal column(int step) const {
      return first_column + static_cast<Ordinal>(distances >> 16 * step & 0xffffu);
    }
  };
  static_assert(steps * sizeof(std::uint16_t) == sizeof(std::uint64_t));
  static_assert(tuning::window_columns == 16);
  /// The lane's number of each step.
  struct Values {
    Scalar of[steps];
  };

  KOKKOS_FORCEINLINE_FUNCTION Tile load_tile(std::uint32_t tile, int lane) const {
    auto const* const of_steps = reinterpret_cast<std::uint64_t const*>(distance);
    return {load(first_column + tile), load(of_steps + (4 * tile + window_step(lane))),
            load(masks + (tuning::window_rows * tile + window_row(lane)))};
  }

  template <class Window, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_pass(Window const& window, int lane, int first, int all,
                                                 Consume const& consume) const {
    Columns const x(X, row_bytes, first, all, lane);
    typename Columns::Sums sums = {};
    multiply(window, lane, x, sums);
    if (any_in_warp(sums.has_nan())) return multiply_entries(window, lane, first, all, consume);
    auto const finished = x.finish(sums, lane);
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Columns::rows_of_lane; ++i) {
      int const row = Columns::row_of(lane, i);
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Columns::packs_of_lane; ++s) {
        int const pack = first + Columns::pack_of(lane, s);
        if (row < window.rows() && pack < all)
          consume(std::int64_t{pack} * width, finished.of[i][s], row, s);
      }
    }
  }

  template <class Window>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Window const& window, int lane, Columns const& x,
                                            typename Columns::Sums& sums) const {
    if (window.first == window.last) return;
    auto values = values_from(entries, entry_of(window, window_row(lane)));
    Tile tile = load_tile(window.first, lane);
    for (std::uint32_t next = window.first + 1; next <= window.last; ++next) {
      Values const a = load_values(tile.bits, lane, values);
      typename Columns::Fetched b[steps];
      BLOCKSPAN_UNROLL
      for (int step = 0; step < steps; ++step) b[step] = x.fetch(tile.column(step));
      tile = load_tile(next, lane);  // asked for after what is needed first
      // Never: as no_load_passes, but for the compiler as well.
      if (Columns::loads_first && next == 0) return;
      BLOCKSPAN_UNROLL
      for (int step = 0; step < steps; ++step) x.add(a.of[step], b[step], sums);
    }
  }

  /// The first entry of the i-th row; of rows beyond the last, which have none, the end of that.
  template <class Window>
  KOKKOS_FORCEINLINE_FUNCTION Offset entry_of(Window const& window, int i) const {
    return load(row_offsets + window.row() + (i < window.rows() ? i : window.rows()));
  }

  /// Those of a tile; `values` moves on to the next one's. An entry stands behind as many of its
  /// row as there are bits below its own: these are shifted to the upper end of a word.
  template <class RowValues>
  KOKKOS_FORCEINLINE_FUNCTION Values load_values(unsigned bits, int lane, RowValues& values) const {
    using Kokkos::Experimental::popcount_builtin;
    constexpr int unused = 32 - 4 * (steps - 1);
    unsigned const own = bits >> window_step(lane), below = bits << (unused - window_step(lane));
    Values a;
    BLOCKSPAN_UNROLL
    for (int step = 0; step < steps; ++step) {
      bool const wanted = (own & 1u << 4 * step) != 0;
      int const before = popcount_builtin(below << 4 * (steps - 1 - step));
      a.of[step] = conjugated(values.value_or_zero(wanted, before));
    }
    values.advance(popcount_builtin(bits));
    return a;
  }

  KOKKOS_FORCEINLINE_FUNCTION Scalar conjugated(Scalar const& a) const {
    return conjugate_if(conjugate_values, a);
  }

  /// The same sums without a zero in them that the matrix does not have. One lane an element: slow.
  template <class Window, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_entries(Window const& window, int lane, int first,
                                                    int all, Consume const& consume) const {
    PackAccess<Scalar, width, true> const x{X};
    for (int own = 0; own < Columns::rows_of_lane * Columns::packs_of_lane; ++own) {
      int const s = own / Columns::rows_of_lane;
      int const row = Columns::row_of(lane, own % Columns::rows_of_lane);
      int const pack = first + Columns::pack_of(lane, s);
      if (row >= window.rows() || pack >= all) continue;
      Sum<Scalar, width> sum = {};
      Offset const end = entry_of(window, row + 1);
      for (Offset k = entry_of(window, row); k < end; ++k)
        x.add_product(conjugated(entries.value(k)), entries.column(k), pack, sum);
      consume(std::int64_t{pack} * width, sum, row, s);
    }
  }
};

}  // namespace blockspan::detail
