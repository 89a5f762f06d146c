#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/support/arithmetic.hpp>

namespace blockspan::sparse {

/// Independent random streams derived from one seed.
enum class HashStream : std::uint64_t {
  length,
  column,
  real_value,
  imaginary_value,
  row_permutation,
  column_permutation,
  jump,
  edge,
  jitter,
  long_row,
  patch
};

/// 64 pseudo-random bits for the pair (a, b): a counter-based generator, the same on every backend.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t hash(std::uint64_t seed, HashStream stream,
                                               std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = mix_bits(seed + golden_gamma * (1 + static_cast<std::uint64_t>(stream)));
  h = mix_bits(h + golden_gamma + a);
  return mix_bits(h + golden_gamma + b);
}

/// Maps 64 random bits to 0 .. n - 1, n < 2^32, in integer arithmetic.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t reduce_range(std::uint64_t bits, std::int64_t n) {
  return static_cast<std::int64_t>(((bits >> 32) * static_cast<std::uint64_t>(n)) >> 32);
}

}  // namespace blockspan::sparse
