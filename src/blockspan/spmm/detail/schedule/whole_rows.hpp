#pragma once

#include <blockspan/spmm/detail/schedule/piece.hpp>

namespace blockspan::detail {

/// A piece is a row. Nothing is left to finish.
template <class Share = PiecesOfTeam>
struct WholeRows {
  static constexpr bool splits_rows = false;
  using OwnPiece = Piece;

  Share share;
  int const* row_offsets;  ///< rows + 1

  KOKKOS_FORCEINLINE_FUNCTION OwnPiece at(std::int64_t row) const {
    return {row, row_offsets[row], row_offsets[row + 1]};
  }

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_piece(Team const& team,
                                                  Function const& function) const {
    share.for_each(team, [&](std::int64_t row) { function(at(row)); });
  }
};

}  // namespace blockspan::detail
