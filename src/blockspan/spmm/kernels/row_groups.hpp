#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/schedule/piece.hpp>

namespace blockspan::detail {

/// A group of neighbouring rows that have the same columns: the entries first .. last - 1 are those
/// of the first row, and the other rows' follow.
template <class Offset>
struct RowGroup {
  std::int64_t first_row;
  int count;
  Offset first;
  Offset last;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row() const { return first_row; }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return count; }
  /// From the first row's entries to the i-th's; rows beyond the group's last repeat that.
  KOKKOS_FORCEINLINE_FUNCTION Offset row_at(int i) const {
    return static_cast<Offset>(i < count ? i : count - 1) * (last - first);
  }
};

/// A piece is a group of rows, as a plan has found them (RowGroupList in partition/pattern.hpp; the
/// arrays belong to the plan). Nothing is left to finish.
template <class Offset, class Ordinal, class Share = PiecesOfTeam>
struct RowGroups {
  static constexpr bool splits_rows = false;
  using OwnPiece = RowGroup<Offset>;

  Share share;                ///< of the groups
  Offset const* row_offsets;  ///< rows + 1
  Ordinal const* begin;       ///< groups + 1: the first row

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_piece(Team const& team,
                                                  Function const& function) const {
    share.for_each(team, [&](std::int64_t group) {
      auto const row = static_cast<std::int64_t>(begin[group]);
      auto const count = static_cast<int>(begin[group + 1] - begin[group]);
      function(OwnPiece{row, count, row_offsets[row], row_offsets[row + 1]});
    });
  }
};

}  // namespace blockspan::detail
