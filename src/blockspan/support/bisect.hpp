#pragma once

#include <Kokkos_Core.hpp>

namespace blockspan::support {

/// The first index in [low, high) at which `holds` is true, or high, by bisection: it has to be
/// false up to some index and true from there on. O(log(high - low)) calls of it.
template <class Index, class Predicate>
KOKKOS_FUNCTION Index first_where(Index low, Index high, Predicate const& holds) {
  while (low < high) {
    Index const middle = low + (high - low) / 2;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace blockspan::support
