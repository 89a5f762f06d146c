#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace blockspan::detail {

/// What one team thread multiplies at a time: the nonzeros first .. last - 1 of one row.
struct Piece {
  std::int64_t target;  ///< >= 0: the row, complete; < 0: the carry slot -1 - target of a cut row
  int first;
  int last;

  KOKKOS_FORCEINLINE_FUNCTION bool complete() const { return target >= 0; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row() const { return target; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slot() const { return -1 - target; }

  /// As a group of rows (RowGroup), of which it is one.
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION int row_at(int) const { return 0; }
};

/// One that a plan has listed.
struct ListedPiece : Piece {
  static constexpr bool is_listed = true;
};
template <class Piece>
inline constexpr bool is_listed_v = requires {
  Piece::is_listed;
};
/// Whether it is one pass over the columns (RowPass).
template <class Piece>
inline constexpr bool is_pass_v = requires(Piece const& piece) {
  piece.pass;
};

/// Hands the pieces of a schedule to the threads of its teams: team t owns the pieces
/// [t * per_team, (t + 1) * per_team), a thread of it every team_size-th of them.
struct PiecesOfTeam {
  std::int64_t pieces;    ///< of the whole product
  std::int64_t per_team;  ///< >= 1

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Team const& team, Function const& function) const {
    std::int64_t const begin = per_team * team.league_rank();
    std::int64_t const end = begin + per_team < pieces ? begin + per_team : pieces;
    for (std::int64_t p = begin + team.team_rank(); p < end; p += team.team_size()) function(p);
  }
};

/// The same where a team has a thread for each of its pieces: what a kernel keeps from piece to
/// piece then needs no registers while it multiplies.
struct PieceOfThread {
  std::int64_t pieces;
  std::int64_t per_team;  ///< team size

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Team const& team, Function const& function) const {
    std::int64_t const p = per_team * team.league_rank() + team.team_rank();
    if (p < pieces) function(p);
  }
};

}  // namespace blockspan::detail
