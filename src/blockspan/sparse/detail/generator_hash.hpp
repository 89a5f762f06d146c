#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace blockspan::detail {

/// Independent uses of one seed.
enum class HashStream : std::uint64_t {
  length,
  column,
  real_value,
  imaginary_value,
  row_permutation,
  column_permutation,
  jump,
  edge,
  jitter
};

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195): a bijection
/// of 64-bit integers in which every output bit depends on every input bit.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// 64 pseudo-random bits for the pair (a, b): a counter-based generator, the same everywhere.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t hash(std::uint64_t seed, HashStream stream,
                                               std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  std::uint64_t h = mix_bits(seed + golden * (1 + static_cast<std::uint64_t>(stream)));
  h = mix_bits(h + golden + a);
  return mix_bits(h + golden + b);
}

/// Maps 64 random bits to 0 .. n - 1, n < 2^32, by integers only.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t reduce_range(std::uint64_t bits, std::int64_t n) {
  return static_cast<std::int64_t>(((bits >> 32) * static_cast<std::uint64_t>(n)) >> 32);
}

}  // namespace blockspan::detail
