#pragma once

#include <cstdint>
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

namespace detail {

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195): a
/// bijection of 64 bits whose output bits depend on all input bits.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
/// What counters of that generator are multiplied by.
inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

}  // namespace detail
}  // namespace blockspan
