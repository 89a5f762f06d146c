#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/published/menu/menu.hpp>
#include <blockspan/published/menu/tuning.hpp>
#include <blockspan/spmm/launch/kernel_table.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/spmm/layouts/row_tiles.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::published {

/// Finds the start of tile t: entry(t), and row(t), the first row that does not end before it.
template <class Exec, class Ordinal>
struct FindTiles {
  TileList<Exec, Ordinal> list;
  int const* row_offsets;
  std::int64_t rows, entries, tiles;
  bool with_rows;  ///< rows count as work units

  /// Number of rows that end at or before entry k, at most `most`; with_rows: that end within the
  /// first k units of work.
  KOKKOS_FUNCTION std::int64_t rows_before(std::int64_t k, std::int64_t most) const {
    std::int64_t low = 0, high = most;
    while (low < high) {
      std::int64_t const i = (low + high) / 2;
      auto const end = static_cast<std::int64_t>(row_offsets[i + 1]);
      if (with_rows ? end < k - i : end <= k)
        low = i + 1;
      else
        high = i;
    }
    return low;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    std::int64_t const all = with_rows ? rows + entries : entries;
    std::int64_t const share = all / tiles, longer = all % tiles;
    std::int64_t const work = t * share + (t < longer ? t : longer);
    std::int64_t i = rows_before(work, with_rows && work < rows ? work : rows);
    std::int64_t k = with_rows ? work - i : work;
    if (t == 0) i = 0, k = 0;
    // a row whose entries all belong to earlier tiles ends in the tile before
    if (with_rows && i < rows && static_cast<std::int64_t>(row_offsets[i]) < k &&
        static_cast<std::int64_t>(row_offsets[i + 1]) == k)
      ++i;
    if (t == tiles) i = rows, k = entries;
    list.row(t) = static_cast<Ordinal>(i);
    list.entry(t) = static_cast<int>(k);
  }
};

/// Partitions the pattern into tiles independently of row boundaries: of at most `work` entries,
/// or, with_rows, of at most `work` rows and entries together (Merrill, Garland 2016). `entries`:
/// as counted by `summarize`. O(tiles log rows).
template <class Exec, class Ordinal>
TileList<Exec, Ordinal> cut_equal_tiles(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                        std::int64_t entries, bool with_rows, std::int64_t work) {
  if (A.rows == 0) return {};
  std::int64_t const all = with_rows ? A.rows + entries : entries;
  std::int64_t const tiles = std::max<std::int64_t>(1, ceil_div(all, work));
  auto list = make_tile_list<Exec, Ordinal>(exec, tiles);
  Kokkos::parallel_for(
      "Blockspan::spmm_plan::cut_equal_tiles", IndexRange<Exec>(exec, 0, tiles + 1),
      FindTiles<Exec, Ordinal>{list, A.row_offsets, A.rows, entries, tiles, with_rows});
  number_slots(exec, A, list);
  return list;
}

/// The default size of a tile, or `asked` if that is smaller and not 0.
inline std::int64_t size_of_tile(std::int64_t usual, std::int64_t asked) {
  return asked > 0 && asked < usual ? asked : usual;
}

/// Registers the partitioning functions of a backend for the kernels that use tiles, of at most
/// `asked` entries if that is not 0.
template <class Exec, class Ordinal>
void register_published_tiles() {
  using Pattern = PatternRef<int, Ordinal>;
  constexpr std::int64_t of_thread =
      runs_on_host_v<Exec> ? tuning::host_thread_tile : tuning::device_thread_tile;
  auto& table = tile_table<Exec, Ordinal>();
  table.add(published::merge,
            [](Exec const& exec, Pattern const& A, RowStatistics const& rows, std::int64_t asked) {
              return cut_equal_tiles(exec, A, rows.nonzeros, true, size_of_tile(of_thread, asked));
            });
  table.add(published::balanced,
            [](Exec const& exec, Pattern const& A, RowStatistics const& rows, std::int64_t asked) {
              return cut_equal_tiles(exec, A, rows.nonzeros, false, size_of_tile(of_thread, asked));
            });
  table.add(published::prefix_sum, [](Exec const& exec, Pattern const& A, RowStatistics const& rows,
                                      std::int64_t asked) {
    return cut_equal_tiles(exec, A, rows.nonzeros, false, size_of_tile(tuning::team_scan, asked));
  });
}

}  // namespace blockspan::published
