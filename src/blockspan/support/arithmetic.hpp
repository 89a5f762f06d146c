#pragma once

#include <type_traits>

#include <Kokkos_Macros.hpp>

namespace blockspan {

/// Smallest integer >= a / b, for a >= 0 and b > 0, without overflow.
template <class Integer>
KOKKOS_FORCEINLINE_FUNCTION constexpr Integer ceil_div(Integer a, std::type_identity_t<Integer> b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// Bits of the smallest power of two that is at least `count`, at most `most`.
inline int bits_to_hold(std::int64_t count, int most) {
  int bits = 0;
  while (bits < most && (std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

}  // namespace blockspan
