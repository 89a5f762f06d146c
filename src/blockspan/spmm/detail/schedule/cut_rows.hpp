#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/schedule/carry.hpp>
#include <blockspan/spmm/detail/schedule/piece.hpp>

namespace blockspan::detail {

/// Pieces as a plan has cut them; the arrays belong to the plan. A piece that is a complete row is
/// written by the epilogue at once; the sums of a cut row's pieces go to the carry.
template <class Scalar, class Ordinal, class Share = PiecesOfTeam>
struct CutRows : Carry<Scalar, Ordinal> {
  static constexpr bool splits_rows = true;
  using OwnPiece = ListedPiece;

  Share share;
  Ordinal const* target;  ///< pieces: see Piece::target
  int const* first;       ///< pieces
  int const* last;        ///< pieces (often first + 1: neighbouring pieces share an end)

  KOKKOS_FORCEINLINE_FUNCTION OwnPiece at(std::int64_t p) const {
    return {{static_cast<std::int64_t>(target[p]), first[p], last[p]}};
  }

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_piece(Team const& team,
                                                  Function const& function) const {
    share.for_each(team, [&](std::int64_t p) { function(at(p)); });
  }
};

}  // namespace blockspan::detail
