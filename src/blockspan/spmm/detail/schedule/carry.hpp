#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/sum.hpp>

namespace blockspan::detail {

/// Where the sums of a cut row's parts wait for the second pass (finish_rows), one slot a part, the
/// slots of a row next to each other in the order of its parts. The arrays belong to the plan.
template <class Scalar, class Ordinal>
struct Carry {
  std::int64_t cut_rows;    ///< rows that were cut
  Ordinal const* cut_row;   ///< cut_rows: which row
  Ordinal const* cut_slot;  ///< cut_rows + 1: its slots are cut_slot[i] .. cut_slot[i + 1] - 1
  Scalar* carry;            ///< slots x columns, row-major
  std::int64_t columns;     ///< of Y

  template <class Piece, int Width>
  KOKKOS_FORCEINLINE_FUNCTION void keep(Piece const& piece, std::int64_t column,
                                        Sum<Scalar, Width> const& sum) const {
    Scalar* const slot = carry + piece.slot() * columns + column;
    for (int j = 0; j < Width; ++j) slot[j] = sum.value[j];
  }
};

}  // namespace blockspan::detail
