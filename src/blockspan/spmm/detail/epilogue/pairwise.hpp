#pragma once

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/inner/load.hpp>

namespace blockspan::detail {

/// term(0) + ... + term(7), neighbours first; those from `terms` on are zero and not asked for.
/// Sums of 8, 64, ... neighbours made of these are the same whoever adds which of them.
template <class Number, class Term>
KOKKOS_FORCEINLINE_FUNCTION Number add_eight(int terms, Term const& term) {
  Number value[8];
  BLOCKSPAN_UNROLL
  for (int i = 0; i < 8; ++i) value[i] = i < terms ? term(i) : Number(0);
  BLOCKSPAN_UNROLL
  for (int step = 1; step < 8; step *= 2) {
    BLOCKSPAN_UNROLL
    for (int i = 0; i < 8; i += 2 * step) value[i] += value[i + step];
  }
  return value[0];
}

}  // namespace blockspan::detail
