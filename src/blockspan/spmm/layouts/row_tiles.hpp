#pragma once

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::products {

/// How rows are put into tiles (cut_row_classes).
struct RowClasses {
  std::int64_t tile_work;  ///< of a tile of several rows, about
  std::int64_t row_work;   ///< of a row, beside 1 for each entry
  std::int64_t alone;      ///< entries of a row that shares its tile, at most
  std::int64_t longest;    ///< entries of a part of a longer one, at most
};

/// The tiles that begin at a row: where the work since the first
/// row has crossed a multiple of tile_work, and around rows too long for a common tile.
template <class Exec, class Ordinal>
struct WriteRowClasses {
  TileList<Exec, Ordinal> list;
  int const* row_offsets;
  std::int64_t rows;
  RowClasses classes;

  KOKKOS_FUNCTION std::int64_t length(std::int64_t row) const {
    return static_cast<std::int64_t>(row_offsets[row + 1] - row_offsets[row]);
  }
  KOKKOS_FUNCTION std::int64_t line_of(std::int64_t row) const {
    return (static_cast<std::int64_t>(row_offsets[row]) + classes.row_work * row) /
           classes.tile_work;
  }
  KOKKOS_FUNCTION std::int64_t tiles_at(std::int64_t row) const {
    std::int64_t const own = length(row);
    if (own > classes.alone) return own > classes.longest ? ceil_div(own, classes.longest) : 1;
    bool const first =
        row == 0 || length(row - 1) > classes.alone || line_of(row) != line_of(row - 1);
    return first ? 1 : 0;
  }
  /// As a reduction: how many tiles there are.
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& sum) const {
    sum += tiles_at(row);
  }
  /// As a scan: each row writes the tiles that begin at it.
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& before, bool final) const {
    std::int64_t const own = tiles_at(row);
    if (final) {
      auto const begin = static_cast<std::int64_t>(row_offsets[row]);
      std::int64_t const share = own > 0 ? length(row) / own : 0;
      std::int64_t const longer = own > 0 ? length(row) % own : 0;
      for (std::int64_t i = 0; i < own; ++i) {
        list.row(before + i) = static_cast<Ordinal>(row);
        list.entry(before + i) = static_cast<int>(begin + i * share + (i < longer ? i : longer));
      }
      if (row == rows - 1) {
        list.row(list.tiles) = static_cast<Ordinal>(rows);
        list.entry(list.tiles) = row_offsets[rows];
      }
    }
    before += own;
  }
};

/// Slots of the parts of cut rows, by a scan over the beginnings of tiles: one a beginning that
/// cuts a row, and one more for the row's first part.
template <class Exec, class Ordinal>
struct NumberSlots {
  struct value_type {
    std::int64_t slots, cut_rows;
  };
  TileList<Exec, Ordinal> list;
  int const* row_offsets;
  std::int64_t rows;

  KOKKOS_FUNCTION bool cuts(std::int64_t t) const {
    auto const row = static_cast<std::int64_t>(list.row(t));
    return t > 0 && row < rows && row_offsets[row] < list.entry(t);
  }
  KOKKOS_FUNCTION value_type own(std::int64_t t) const {
    if (!cuts(t)) return {0, 0};
    bool const again = cuts(t - 1) && list.row(t - 1) == list.row(t);
    return again ? value_type{1, 0} : value_type{2, 1};
  }
  KOKKOS_FUNCTION void operator()(std::int64_t t, value_type& sum) const { join(sum, own(t)); }
  KOKKOS_FUNCTION void operator()(std::int64_t t, value_type& before, bool final) const {
    value_type const mine = own(t);
    if (final) {
      list.slot(t) = static_cast<Ordinal>(mine.slots > 0 ? before.slots + mine.slots - 1 : 0);
      for (std::int64_t i = 0; i < mine.slots; ++i)
        list.slot_row(before.slots + i) = static_cast<Ordinal>(before.cut_rows + mine.cut_rows - 1);
      if (mine.cut_rows > 0) {
        list.cut_row(before.cut_rows) = list.row(t);
        list.cut_slot(before.cut_rows) = static_cast<Ordinal>(before.slots);
      }
      if (t == list.tiles) list.cut_slot(list.cut_rows) = static_cast<Ordinal>(list.slots);
    }
    join(before, mine);
  }
  KOKKOS_FUNCTION void init(value_type& sum) const { sum = {0, 0}; }
  KOKKOS_FUNCTION void join(value_type& a, value_type const& b) const {
    a.slots += b.slots;
    a.cut_rows += b.cut_rows;
  }
};

/// Room for the tiles, their slots not yet numbered.
template <class Exec, class Ordinal>
TileList<Exec, Ordinal> make_tile_list(Exec const& exec, std::int64_t tiles) {
  require(tiles < std::numeric_limits<Ordinal>::max() / 2, "blockspan::SpmmPlan",
          "too many tiles for the ordinal type (", tiles, ")");
  TileList<Exec, Ordinal> list;
  list.tiles = tiles;
  PartedArray<Exec, Ordinal> of_rows(exec, "Blockspan::spmm_plan::tile_rows", 2 * (tiles + 1));
  list.row = of_rows.take(tiles + 1);
  list.slot = of_rows.take(tiles + 1);
  list.entry =
      PartedArray<Exec, int>(exec, "Blockspan::spmm_plan::tile_entries", tiles + 1).take(tiles + 1);
  return list;
}

/// Computes the arrays that follow from the begins of the tiles.
template <class Exec, class Ordinal>
void number_slots(Exec const& exec, PatternRef<int, Ordinal> const& A,
                  TileList<Exec, Ordinal>& list) {
  using Slots = NumberSlots<Exec, Ordinal>;
  typename Slots::value_type total;
  IndexRange<Exec> const beginnings(exec, 0, list.tiles + 1);
  Kokkos::parallel_reduce("Blockspan::spmm_plan::count_slots", beginnings,
                          Slots{list, A.row_offsets, A.rows}, total);
  list.slots = total.slots;
  list.cut_rows = total.cut_rows;
  PartedArray<Exec, Ordinal> cuts(exec, "Blockspan::spmm_plan::cut_rows", list.size());
  list.place(cuts);
  Kokkos::parallel_scan("Blockspan::spmm_plan::number_slots", beginnings,
                        Slots{list, A.row_offsets, A.rows});
  exec.fence("Blockspan::spmm_plan::number_slots");
}

/// Tiles for whole teams: rows of at most `alone` entries together, up to tile_work + alone entries
/// and tile_work / row_work rows a tile; longer rows a tile each; rows of more than `longest`
/// entries in the fewest equal parts of at most that. O(rows + tiles).
template <class Exec, class Ordinal>
TileList<Exec, Ordinal> cut_row_classes(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                        RowClasses const& classes) {
  if (A.rows == 0) return {};
  using Write = WriteRowClasses<Exec, Ordinal>;
  IndexRange<Exec> const all_rows(exec, 0, A.rows);
  std::int64_t tiles = 0;
  Kokkos::parallel_reduce("Blockspan::spmm_plan::count_tiles", all_rows,
                          Write{{}, A.row_offsets, A.rows, classes}, tiles);
  auto list = make_tile_list<Exec, Ordinal>(exec, tiles);
  Kokkos::parallel_scan("Blockspan::spmm_plan::cut_row_classes", all_rows,
                        Write{list, A.row_offsets, A.rows, classes});
  number_slots(exec, A, list);
  return list;
}

}  // namespace blockspan::products
