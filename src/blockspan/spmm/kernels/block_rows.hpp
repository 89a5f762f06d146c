#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/schedule/piece.hpp>

namespace blockspan::detail {

/// Rows of one block row, which have the same columns. Places count the scalar columns of its
/// blocks: 0 .. last - 1.
template <class Offset>
struct BlockGroup {
  static constexpr int first = 0;

  std::int64_t first_row;
  int count;
  int last;
  Offset block;  ///< the first of the block row
  int before;    ///< rows of the block row before the group's first
  int row_step;  ///< values from a row of a block to the next

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row() const { return first_row; }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return count; }
  /// From the begin of a block to the i-th row; rows beyond the group's last repeat that.
  KOKKOS_FORCEINLINE_FUNCTION int row_at(int i) const {
    return (before + (i < count ? i : count - 1)) * row_step;
  }
};

/// A piece is a group of rows of one block row, which has `groups` of them, about equally large.
template <class Offset>
struct BlockRows {
  static constexpr bool splits_rows = false;
  using OwnPiece = BlockGroup<Offset>;

  PiecesOfTeam share;         ///< of the groups
  Offset const* row_offsets;  ///< block rows + 1
  int size;                   ///< rows of a block
  int groups;
  int row_step;

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_piece(Team const& team,
                                                  Function const& function) const {
    share.for_each(team, [&](std::int64_t piece) {
      std::int64_t const block_row = piece / groups;
      auto const group = static_cast<int>(piece - block_row * groups);
      int const begin = group * size / groups, end = (group + 1) * size / groups;
      Offset const first = row_offsets[block_row];
      auto const last = static_cast<int>(row_offsets[block_row + 1] - first) * size;
      function(OwnPiece{block_row * size + begin, end - begin, last, first, begin, row_step});
    });
  }
};

}  // namespace blockspan::detail
