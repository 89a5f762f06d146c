#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/parts/carry.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/schedule.hpp>

namespace blockspan::products {

/// Tiles of a plan: consecutive entries of consecutive rows. A row in several tiles leaves a
/// partial sum in each of them; a row inside one tile is written at once. As a schedule: a tile a
/// team thread, which walks the parts of its rows. The arrays belong to the plan (TileList in
/// layouts/pattern.hpp).
template <class Scalar, class Ordinal>
struct CutTiles : Carry<Scalar, Ordinal> {
  static constexpr bool splits_rows = true;
  using Segment = RowSegment;

  SegmentsOfTeam share;    ///< of the tiles
  int const* row_offsets;  ///< rows + 1
  Ordinal const* row;      ///< tiles + 1: the first row that does not end before the tile
  int const* entry;        ///< tiles + 1: the first entry
  Ordinal const* slot;     ///< tiles + 1: of the part that continues a row in this tile

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_segment(Team const& team,
                                                    Function const& function) const {
    share.for_each(team, [&](std::int64_t tile) {
      std::int64_t const count = parts(tile);
      for (std::int64_t p = 0; p < count; ++p) function(part(tile, p));
    });
  }

  /// Rows that have a part in the tile, those without entries that end in it included.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t parts(std::int64_t tile) const {
    Ordinal const last = row[tile + 1];
    bool const reaches_beyond = row_offsets[last] < entry[tile + 1];
    return static_cast<std::int64_t>(last - row[tile]) + (reaches_beyond ? 1 : 0);
  }

  /// A tile for a whole team.
  struct Tile {
    std::int64_t place, first_row;
    int rows;        ///< that end in it; a part of a row may be without
    int begin, end;  ///< entries
  };
  KOKKOS_FORCEINLINE_FUNCTION Tile tile_at(std::int64_t t) const {
    auto const first = static_cast<std::int64_t>(load(row + t));
    auto const last = static_cast<std::int64_t>(load(row + t + 1));
    return {t, first, static_cast<int>(last - first), load(entry + t), load(entry + t + 1)};
  }
  /// Writes the sum of a tile with at most one row, or keeps it where the row has other parts.
  template <int Width, class Epilogue>
  KOKKOS_FORCEINLINE_FUNCTION void finish_row(Tile const& tile, std::int64_t column,
                                              Sum<Scalar, Width> const& sum,
                                              Epilogue const& epilogue) const {
    int const first = load(row_offsets + tile.first_row);
    int const last = load(row_offsets + tile.first_row + 1);
    RowSegment const part = part_of(tile.place, tile.first_row, first, last, tile.begin, tile.end);
    if (part.complete()) return epilogue(part.row(), column, sum);
    this->keep(part, column, sum, [&](auto cut, auto of, auto from, auto const& all) {
      epilogue.finish_cut_row(cut, of, from, all);
    });
  }

  KOKKOS_FORCEINLINE_FUNCTION RowSegment part(std::int64_t tile, std::int64_t p) const {
    std::int64_t const i = static_cast<std::int64_t>(row[tile]) + p;
    return part_of(tile, i, row_offsets[i], row_offsets[i + 1], entry[tile], entry[tile + 1]);
  }

  /// Of row i, whose entries are first .. last - 1, in the tile of the entries begin .. end - 1.
  KOKKOS_FORCEINLINE_FUNCTION RowSegment part_of(std::int64_t tile, std::int64_t i, int first,
                                                 int last, int begin, int end) const {
    if (first < begin)  // continued here; its slot is known
      return {-1 - static_cast<std::int64_t>(slot[tile]), begin, last < end ? last : end};
    if (last > end)  // the next tile continues with the slot after
      return {-static_cast<std::int64_t>(slot[tile + 1]), first, end};
    return {i, first, last};
  }
};

}  // namespace blockspan::products
