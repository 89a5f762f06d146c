#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::products {

/// Windows that an estimate looks at, and columns of a window up to which it counts.
inline constexpr std::int64_t window_samples = 1024;
inline constexpr int window_sample_columns = 1024;

/// Assigns ascending columns of a window to tiles: at most window_columns to each, none
/// farther from the first than 16 bits say.
template <class Ordinal>
struct TileFill {
  int columns = 0;  ///< in the current tile
  Ordinal first = 0;

  /// Whether this column begins a tile.
  KOKKOS_FORCEINLINE_FUNCTION bool begins_with(Ordinal column) {
    constexpr Ordinal farthest = Kokkos::Experimental::finite_max_v<std::uint16_t>;
    bool const begins =
        columns == 0 || columns == tuning::window_columns || column - first > farthest;
    columns = begins ? 1 : columns + 1;
    first = begins ? column : first;
    return begins;
  }
};

/// The sorted rows of a window, merged.
template <class Ordinal>
struct WindowMerge {
  static constexpr int window_rows = tuning::window_rows;
  PatternRef<int, Ordinal> A;

  /// visit(column, rows that have it, as bits) for all columns of a window in ascending order,
  /// until it returns false.
  template <class Take>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_column(std::int64_t window, Take const& take) const {
    constexpr Ordinal none = Kokkos::Experimental::finite_max_v<Ordinal>;
    int at[window_rows], end[window_rows];
    Ordinal head[window_rows];
    BLOCKSPAN_UNROLL
    for (int i = 0; i < window_rows; ++i) {
      std::int64_t const row = window * window_rows + i;
      at[i] = A.row_offsets[row < A.rows ? row : A.rows];
      end[i] = A.row_offsets[row < A.rows ? row + 1 : A.rows];
      head[i] = at[i] < end[i] ? A.column_indices[at[i]] : none;
    }
    for (;;) {
      Ordinal least = none;
      BLOCKSPAN_UNROLL
      for (int i = 0; i < window_rows; ++i) least = head[i] < least ? head[i] : least;
      if (least == none) return;
      unsigned having = 0;
      BLOCKSPAN_UNROLL
      for (int i = 0; i < window_rows; ++i) {
        if (head[i] != least) continue;
        having |= 1u << i;
        ++at[i];
        head[i] = at[i] < end[i] ? A.column_indices[at[i]] : none;
      }
      if (!take(least, having)) return;
    }
  }

  KOKKOS_FUNCTION std::int64_t entries_of(std::int64_t window) const {
    std::int64_t const first = window * window_rows, last = first + window_rows;
    return static_cast<std::int64_t>(A.row_offsets[last < A.rows ? last : A.rows]) -
           static_cast<std::int64_t>(A.row_offsets[first]);
  }

  /// Tiles of a window; of more than `most` columns estimated from the first `most`.
  KOKKOS_FUNCTION std::int64_t tiles(std::int64_t window, std::int64_t most) const {
    std::int64_t columns = 0, tiles = 0, entries = 0;
    TileFill<Ordinal> fill;
    for_each_column(window, [&](Ordinal column, unsigned having) {
      tiles += fill.begins_with(column) ? 1 : 0;
      entries += Kokkos::Experimental::popcount_builtin(having);
      return ++columns < most;
    });
    return columns < most ? tiles : ceil_div(tiles * entries_of(window), entries);
  }
};

/// The number of tiles of each window, stored one further; a scan makes them the first tile of
/// every window.
template <class Exec, class Ordinal>
struct PlaceTiles {
  using value_type = std::int64_t;
  WindowMerge<Ordinal> rows;
  Kokkos::View<std::uint32_t*, typename Exec::memory_space> first_tile;

  KOKKOS_FUNCTION void operator()(std::int64_t window) const {
    if (window == 0) first_tile(0) = 0;
    first_tile(window + 1) = static_cast<std::uint32_t>(
        rows.tiles(window, Kokkos::Experimental::finite_max_v<std::int64_t>));
  }
  KOKKOS_FUNCTION void operator()(std::int64_t place, std::int64_t& before, bool final) const {
    before += static_cast<std::int64_t>(first_tile(place));
    if (final) first_tile(place) = static_cast<std::uint32_t>(before);
  }
};

/// A reduction: the window with the most entries.
template <class Ordinal>
struct FullestWindow {
  WindowMerge<Ordinal> rows;
  using Reducer = Kokkos::MaxLoc<std::int64_t, std::int64_t>;

  KOKKOS_FUNCTION void operator()(std::int64_t window,
                                  typename Reducer::value_type& fullest) const {
    std::int64_t const entries = rows.entries_of(window);
    if (entries > fullest.val) fullest = {entries, window};
  }
};

/// A reduction: the tiles of every `stride`-th window, and the most that one has. The fullest one
/// comes after the last, and is not in the sum.
template <class Ordinal>
struct SampleTiles {
  WindowMerge<Ordinal> rows;
  std::int64_t stride, samples, fullest;

  KOKKOS_FUNCTION void operator()(std::int64_t sample, std::int64_t& sum,
                                  std::int64_t& most) const {
    bool const is_fullest = sample == samples;
    std::int64_t const tiles =
        rows.tiles(is_fullest ? fullest : sample * stride, window_sample_columns);
    sum += is_fullest ? 0 : tiles;
    most = most < tiles ? tiles : most;
  }
};

template <class Exec, class Ordinal>
struct WriteTiles {
  static constexpr int window_rows = tuning::window_rows;
  WindowMerge<Ordinal> rows;
  RowWindowList<Exec, Ordinal> list;

  KOKKOS_FUNCTION void operator()(std::int64_t window) const {
    constexpr int wide = tuning::window_columns;
    std::int64_t tile = static_cast<std::int64_t>(list.first_tile(window)) - 1;
    unsigned bits[window_rows] = {};
    std::uint16_t last = 0;
    TileFill<Ordinal> fill;
    auto const distance_of = [&](int j) -> std::uint16_t& {
      return list.distance(tile * wide + list.place_of(j));
    };
    auto const finish = [&](int columns) {
      for (int j = columns; j < wide; ++j) distance_of(j) = last;
      BLOCKSPAN_UNROLL
      for (int i = 0; i < window_rows; ++i) {
        list.masks(tile * window_rows + i) = static_cast<std::uint16_t>(bits[i]);
        bits[i] = 0;
      }
    };
    rows.for_each_column(window, [&](Ordinal column, unsigned having) {
      int const before = fill.columns;
      if (fill.begins_with(column)) {
        if (before > 0) finish(before);
        list.first_column(++tile) = column;
      }
      int const j = fill.columns - 1;
      distance_of(j) = last = static_cast<std::uint16_t>(column - fill.first);
      BLOCKSPAN_UNROLL
      for (int i = 0; i < window_rows; ++i) bits[i] |= (having >> i & 1u) << j;
      return true;
    });
    if (fill.columns > 0) finish(fill.columns);
    if (window + 1 == list.count.windows) list.end_with_empty_tile();
  }
};

/// The windows of a pattern with sorted rows; a column that a row has twice is two columns of its
/// window. Two passes, a thread a window, which merges its rows: O(rows x columns of windows).
template <class Exec, class Ordinal>
RowWindowList<Exec, Ordinal> find_row_windows(Exec const& exec, PatternRef<int, Ordinal> const& A) {
  RowWindowList<Exec, Ordinal> list;
  list.count = {ceil_div(A.rows, std::int64_t{tuning::window_rows}), 0};
  if (A.rows == 0) return list;
  auto const make = [&](auto& view, char const* label, std::int64_t size) {
    view = allocate<std::decay_t<decltype(view)>>(exec, label, size);
  };
  WindowMerge<Ordinal> const rows{A};
  make(list.first_tile, "Blockspan::spmm_plan::first_tile", list.count.windows + 1);
  IndexRange<Exec> const all_windows(exec, 0, list.count.windows);
  PlaceTiles<Exec, Ordinal> const place{rows, list.first_tile};
  Kokkos::parallel_for("Blockspan::spmm_plan::count_tiles", all_windows, place);
  Kokkos::parallel_scan("Blockspan::spmm_plan::place_tiles",
                        IndexRange<Exec>(exec, 0, list.count.windows + 1), place, list.count.tiles);
  std::int64_t const tiles = list.count.tiles + 1;
  require(tiles <= tuning::window_most_tiles, "blockspan::SpmmPlan", "windows have ", tiles,
          " tiles here, more than its kernels count (", tuning::window_most_tiles, ")");
  make(list.first_column, "Blockspan::spmm_plan::tile_first_column", tiles);
  make(list.distance, "Blockspan::spmm_plan::tile_columns", tiles * tuning::window_columns);
  make(list.masks, "Blockspan::spmm_plan::tile_masks", tiles * tuning::window_rows);
  Kokkos::parallel_for("Blockspan::spmm_plan::write_tiles", all_windows,
                       WriteTiles<Exec, Ordinal>{rows, list});
  exec.fence("Blockspan::spmm_plan::find_row_windows");
  return list;
}

/// An estimate of their tiles, from every k-th window and the fullest one, and of its columns from
/// the first of very many.
template <class Exec, class Ordinal>
WindowCount estimate_row_windows(Exec const& exec, PatternRef<int, Ordinal> const& A) {
  std::int64_t const windows = ceil_div(A.rows, std::int64_t{tuning::window_rows});
  if (windows == 0) return {};
  std::int64_t const stride = ceil_div(windows, window_samples);
  std::int64_t const samples = ceil_div(windows, stride);
  typename FullestWindow<Ordinal>::Reducer::value_type fullest{};
  Kokkos::parallel_reduce("Blockspan::spmm_plan::fullest_window",
                          IndexRange<Exec>(exec, 0, windows), FullestWindow<Ordinal>{{A}},
                          typename FullestWindow<Ordinal>::Reducer(fullest));
  std::int64_t tiles = 0, most = 0;
  Kokkos::parallel_reduce(
      "Blockspan::spmm_plan::sample_tiles", IndexRange<Exec>(exec, 0, samples + 1),
      SampleTiles<Ordinal>{{A}, stride, samples, std::max<std::int64_t>(0, fullest.loc)}, tiles,
      Kokkos::Max<std::int64_t>(most));
  return {windows, tiles * windows / samples, most};
}

}  // namespace blockspan::products
