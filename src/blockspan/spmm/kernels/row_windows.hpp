#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/tuning.hpp>

namespace blockspan::detail {

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

/// A piece is a pass over a window, as a plan has listed them (RowWindowList in
/// partition/pattern.hpp; the arrays belong to the plan). The passes over the windows of a team are
/// neighbouring teams. Nothing is left to finish.
struct RowWindows {
  static constexpr bool splits_rows = false;
  using OwnPiece = RowWindow;

  int windows;
  int passes;                       ///< over a window: each makes some of the columns
  int rows;                         ///< of the matrix
  std::uint32_t const* first_tile;  ///< windows + 1

  /// 32 bits: the numbers of rows are indices of the matrix.
  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_piece(Team const& team,
                                                  Function const& function) const {
    auto const all = static_cast<unsigned>(passes), own = static_cast<unsigned>(team.league_rank());
    unsigned const share = all == 1 ? own : own / all;
    int const window = static_cast<int>(share) * team.team_size() + team.team_rank();
    if (window >= windows) return;
    int const left = rows - window * tuning::window_rows;
    function(OwnPiece{window, left < tuning::window_rows ? left : tuning::window_rows,
                      load(first_tile + window), load(first_tile + window + 1),
                      static_cast<int>(own - share * all)});
  }
};

}  // namespace blockspan::detail
