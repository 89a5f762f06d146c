#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/tensor_tiles.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/kernels/rows/direct_lanes.hpp>
#include <blockspan/spmm/kernels/windows/window_vectors.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// A window of neighbouring rows, with the tiles first .. last - 1, and one of the passes over
/// them.
struct RowWindow {
  int window;
  int count;
  std::uint32_t first;
  std::uint32_t last;
  int pass;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row() const {
    return std::int64_t{window} * tuning::window_rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return count; }
};

/// A segment is a pass over a window of a plan's RowWindowList. The passes over the windows of a
/// team are neighbouring teams.
struct RowWindows {
  static constexpr bool splits_rows = false;
  using Segment = RowWindow;

  int windows;
  int passes;                       ///< over a window: each makes some of the columns
  int rows;                         ///< of the matrix
  std::uint32_t const* first_tile;  ///< windows + 1

  /// 32 bits: rows are indices of the matrix.
  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_segment(Team const& team,
                                                    Function const& function) const {
    auto const all = static_cast<unsigned>(passes), own = static_cast<unsigned>(team.league_rank());
    unsigned const share = all == 1 ? own : own / all;
    int const window = static_cast<int>(share) * team.team_size() + team.team_rank();
    if (window >= windows) return;
    int const left = rows - window * tuning::window_rows;
    function(Segment{window, left < tuning::window_rows ? left : tuning::window_rows,
                     load(first_tile + window), load(first_tile + window + 1),
                     static_cast<int>(own - share * all)});
  }
};

/// The scalar there, or zero where none is wanted. Not by load(): with words put together the
/// compiler waits for each load before the next (elasticity 44^3 x 3, n = 8: 105 and 82 us).
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION Scalar load_or_zero(bool wanted, Scalar const* address) {
#if defined(__CUDA_ARCH__)
  if constexpr (is_complex_v<Scalar>) {
    using Parts = std::conditional_t<std::is_same_v<real_t<Scalar>, double>, double2, float2>;
    Parts parts{0, 0};
    if (wanted) parts = __ldg(reinterpret_cast<Parts const*>(address));
    return {parts.x, parts.y};
  } else {
    return wanted ? __ldg(address) : Scalar(0);
  }
#else
  return wanted ? *address : Scalar(0);
#endif
}

/// The values of a row from an entry on, as stored in the matrix ...
template <class Scalar>
struct PlainValues {
  Scalar const* next;

  KOKKOS_FORCEINLINE_FUNCTION Scalar value_or_zero(bool wanted, int ahead) const {
    return Scalar(load_or_zero(wanted, next + ahead));
  }
  KOKKOS_FORCEINLINE_FUNCTION void advance(int entries) { next += entries; }
};
template <class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION PlainValues<Scalar> values_from(
    PlainEntries<Scalar, Ordinal> const& entries, int k) {
  return {entries.values + k};
}

/// ... or are looked up.
template <class Scalar>
struct PermutedValues {
  Scalar const* values;
  int const* next;

  KOKKOS_FORCEINLINE_FUNCTION Scalar value_or_zero(bool wanted, int ahead) const {
    return wanted ? load(values + load(next + ahead)) : Scalar(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION void advance(int entries) { next += entries; }
};
template <class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION PermutedValues<Scalar> values_from(
    PermutedEntries<Scalar, Ordinal> const& entries, int k) {
  return {entries.values, entries.permutation + k};
}

/// Windows of rows as tiles on tensor cores, for devices: a team thread is a warp, and each row of
/// X is fetched once for a window. In a step the lanes of a row (four neighbours) have four columns
/// of a tile. They read the values from the matrix: rows are sorted, so the entries
/// of a row meet its tiles in their order, and the bits say how many belong to a tile.
///
/// A place without an entry is a zero there, and zero times an infinity of X is NaN. So where a sum
/// of a window is NaN, its rows are multiplied once more, entry by entry.
///
/// Columns: WindowVectors or WindowColumns. X is row-major; for vectors aligned, and a whole number
/// of them wide.
template <class Scalar, class Entries, class Ordinal, class Columns>
struct WindowTiles {
  static constexpr unsigned blocks = Columns::blocks;
  static constexpr int steps = tuning::window_columns / 4, width = Columns::width;

  Entries entries;
  BlockRef<Scalar const> X;  ///< columns of op(A) x n
  bool conjugate_values;
  std::uint32_t row_bytes;      ///< from a row of X to the next
  int const* row_offsets;       ///< rows + 1
  Ordinal const* first_column;  ///< these three as in RowWindowList
  std::uint16_t const* distance;
  std::uint16_t const* masks;

  /// consume(column, sum, i, s) for all columns of the pass and the i-th row of the window, once
  /// each, on the lane that has the sum, in its s-th vector.
  template <class Team, class Window, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const& team, Window const& window,
                                                Consume const& consume) const {
    int const all = static_cast<int>(X.columns) / width;
    for_each_lane<true>(team, tensor::lanes, [&](int lane) {
      multiply_pass(window, lane, window.pass * Columns::vectors, all, consume);
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
  /// The lane's scalar of each step.
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
      for (int s = 0; s < Columns::vectors_of_lane; ++s) {
        int const vector = first + Columns::vector_of(lane, s);
        if (row < window.rows() && vector < all)
          consume(std::int64_t{vector} * width, finished.of[i][s], row, s);
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
      tile = load_tile(next, lane);  // loaded after what is needed first
      // Never: as scheduling_barrier, but for the compiler as well.
      if (Columns::loads_first && next == 0) return;
      BLOCKSPAN_UNROLL
      for (int step = 0; step < steps; ++step) x.add(a.of[step], b[step], sums);
    }
  }

  /// The first entry of the i-th row; of rows beyond the last, which have none, the end of that.
  template <class Window>
  KOKKOS_FORCEINLINE_FUNCTION int entry_of(Window const& window, int i) const {
    return load(row_offsets + window.row() + (i < window.rows() ? i : window.rows()));
  }

  /// Those of a tile; `values` moves on to the next one's. The index of an entry in its row's part
  /// of the tile is the count of bits below its own: these are shifted to the upper end of a word.
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
    using V = Vector<Scalar, width>;
    for (int own = 0; own < Columns::rows_of_lane * Columns::vectors_of_lane; ++own) {
      int const s = own / Columns::rows_of_lane;
      int const row = Columns::row_of(lane, own % Columns::rows_of_lane);
      int const vector = first + Columns::vector_of(lane, s);
      if (row >= window.rows() || vector >= all) continue;
      Sum<Scalar, width> sum = {};
      int const end = entry_of(window, row + 1);
      for (int k = entry_of(window, row); k < end; ++k) {
        Scalar const a = conjugated(entries.value(k));
        auto const x = load(
            reinterpret_cast<V const*>(X.data + std::int64_t{entries.column(k)} * X.row_stride +
                                       std::int64_t{vector} * width));
        for (int j = 0; j < width; ++j) sum.value[j] += a * x.value[j];
      }
      consume(std::int64_t{vector} * width, sum, row, s);
    }
  }
};

/// Groups of vectors in a pass: a pass costs about as much as a group of columns, whatever its
/// width.
inline int groups_of_pass(std::int64_t vectors, int most) {
  auto const groups = ceil_div(vectors, std::int64_t{8});
  auto const cost = [&](int each) { return ceil_div(groups, std::int64_t{each}) * (1 + each); };
  int best = 1;
  for (int each = 2; each <= most; each *= 2)
    if (cost(each) < cost(best)) best = each;
  return best;
}

template <class Columns, class Call, class Entries, class Epilogue>
void launch_window_columns(Call const& call, Entries const& entries, char const* label,
                           Epilogue const& epilogue) {
  auto const& [op, alpha, X, beta, Y] = call.product;
  auto const& pattern = call.prepared.pattern;
  auto const& list = call.prepared.windows;
  auto const windows = static_cast<int>(list.count.windows);
  auto const passes =
      static_cast<int>(ceil_div(X.columns, std::int64_t{Columns::vectors} * Columns::width));
  SegmentOfThread share{list.count.windows, 1};
  auto shape = launch_shape(call, tensor::lanes, share);
  shape.teams *= passes;
  using Inner = WindowTiles<typename Call::Scalar, Entries, typename Call::Ordinal, Columns>;
  Inner const inner{entries,
                    X,
                    conjugates(op),
                    device_row_bytes(X),
                    pattern.row_offsets,
                    list.first_column.data(),
                    list.distance.data(),
                    list.masks.data()};
  launch_kernel(call.exec, label, shape,
                RowWindows{windows, passes, static_cast<int>(pattern.rows), list.first_tile.data()},
                inner, epilogue);
}

/// What passes over windows have kernels for: one width; any count of vectors, eight single
/// columns; any count of both.
enum class PassWidths { one, vectors, all };

/// Single columns where vectors do not fit.
template <PassWidths Widths, class Call, class Entries, class Epilogue>
void launch_windows_with(Call const& call, Entries const& entries, char const* label,
                         Epilogue const& epilogue) {
  using Scalar = typename Call::Scalar;
  constexpr bool several = Widths != PassWidths::one;
  std::int64_t const columns = call.product.X.columns;
  auto const launch = [&]<class Columns>() {
    launch_window_columns<Columns>(call, entries, label, epilogue);
  };
  if constexpr (is_complex_v<Scalar>) {  // a complex scalar is a vector
    // four groups of complex columns: sums and values need more registers than there are
    if constexpr (several)
      if (groups_of_pass(columns, 2) == 2)
        return launch.template operator()<WindowVectors<Scalar, 2>>();
    launch.template operator()<WindowVectors<Scalar, 1>>();
  } else {
    if (!call.launch.vectorized) {
      if constexpr (Widths == PassWidths::vectors) {
        return launch.template operator()<WindowColumns<1, 1>>();
      } else {
        if constexpr (several) {
          if (columns <= 8) return launch.template operator()<WindowColumns<1, 1>>();
          if (columns > 32) return launch.template operator()<WindowColumns<8, 1>>();
          if (columns > 16) return launch.template operator()<WindowColumns<4, 1>>();
        }
        return launch.template operator()<WindowColumns<2, 1>>();
      }
    }
    if constexpr (several) {
      if (columns <= 8) return launch.template operator()<WindowColumns<1, 2>>();
      int const groups = groups_of_pass(columns / device_vector_v<Scalar>, 4);
      if (groups == 4) return launch.template operator()<WindowVectors<Scalar, 4>>();
      if (groups == 2) return launch.template operator()<WindowVectors<Scalar, 2>>();
    }
    launch.template operator()<WindowColumns<2, 2>>();
  }
}

template <class Call>
void launch_windows(Call const& call) {
  if constexpr (tensor::available<typename Call::Exec, real_t<typename Call::Scalar>>) {
    auto const launch = [&]<PassWidths Widths>(auto const& entries) {
      launch_windows_with<Widths>(call, entries, call.variant().label,
                                  make_epilogue<true, true>(call));
    };
    if (call.prepared.permutation != nullptr)
      return launch.template operator()<PassWidths::one>(permuted_entries(call));
    with_entries<false, false>(
        call, [&](auto const& entries) { launch.template operator()<PassWidths::all>(entries); });
  }
}

}  // namespace blockspan::products
