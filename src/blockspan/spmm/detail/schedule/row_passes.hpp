#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/schedule/piece.hpp>

namespace blockspan::detail {

/// A row, and one of the passes over its columns.
struct RowPass : Piece {
  int pass;
};

/// A piece is a pass over a row, for few rows with many columns: passes run side by side then, the
/// first of all rows before the second, so that a part of X is in use at a time. Nothing is left to
/// finish. Traffic: A once a pass.
struct RowPasses {
  static constexpr bool splits_rows = false;
  using OwnPiece = RowPass;

  PiecesOfTeam share;  ///< of the passes
  std::int64_t rows;
  int const* row_offsets;  ///< rows + 1

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_piece(Team const& team,
                                                  Function const& function) const {
    share.for_each(team, [&](std::int64_t piece) {
      std::int64_t const pass = piece / rows, row = piece - pass * rows;
      function(OwnPiece{{row, row_offsets[row], row_offsets[row + 1]}, static_cast<int>(pass)});
    });
  }
};

}  // namespace blockspan::detail
