#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/schedule/piece.hpp>
#include <blockspan/spmm/detail/tuning.hpp>

namespace blockspan::detail {

/// A window of neighbouring rows, with the tiles first .. last - 1, and one of the passes over
/// them.
template <class Offset>
struct RowWindow {
  std::int64_t first_row;
  int count;
  Offset first;
  Offset last;
  int pass;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row() const { return first_row; }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return count; }
};

/// A piece is a pass over a window, as a plan has listed them (RowWindowList in
/// partition/pattern.hpp; the arrays belong to the plan). Nothing is left to finish.
template <class Offset>
struct RowWindows {
  static constexpr bool splits_rows = false;
  using OwnPiece = RowWindow<Offset>;

  PieceOfThread share;       ///< of the passes, those of a window side by side
  int passes;                ///< over a window: each makes some of the columns
  std::int64_t rows;         ///< of the matrix
  Offset const* first_tile;  ///< windows + 1

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_piece(Team const& team,
                                                  Function const& function) const {
    share.for_each(team, [&](std::int64_t piece) {
      std::int64_t const window = piece / passes;
      constexpr int most = tuning::window_rows;
      std::int64_t const row = window * most, left = rows - row;
      function(OwnPiece{row, left < most ? static_cast<int>(left) : most, load(first_tile + window),
                        load(first_tile + window + 1), static_cast<int>(piece - window * passes)});
    });
  }
};

}  // namespace blockspan::detail
