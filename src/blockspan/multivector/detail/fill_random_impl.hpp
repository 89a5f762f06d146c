#pragma once

#include <blockspan/multivector/detail/columns_impl.hpp>
#include <blockspan/multivector/fill_random.hpp>

namespace blockspan::detail {

/// The finalizer of SplitMix64: a bijection of 64 bits whose output bits depend on all input bits.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

template <class Scalar>
struct FillRandom {
  using Real = real_t<Scalar>;

  BlockRef<Scalar> X;
  std::uint64_t stream;  ///< the mixed seed
  std::int64_t first_column, first_row;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    auto const column =
        mix_bits(stream + golden_gamma * static_cast<std::uint64_t>(first_column + j + 1));
    auto const hash =
        mix_bits(column + golden_gamma * static_cast<std::uint64_t>(first_row + i + 1));
    if constexpr (is_complex_v<Scalar>)
      X(i, j) = Scalar(number(hash), number(mix_bits(hash + golden_gamma)));
    else
      X(i, j) = number(hash);
  }

  /// The leading bits of the hash as a multiple of 2^-52 (2^-23) in [-1, 1); every step is exact.
  KOKKOS_FORCEINLINE_FUNCTION static Real number(std::uint64_t hash) {
    if constexpr (std::is_same_v<Real, float>)
      return static_cast<float>(static_cast<std::int32_t>(hash >> 40)) * 0x1p-23f - 1.0f;
    else
      return static_cast<double>(static_cast<std::int64_t>(hash >> 11)) * 0x1p-52 - 1.0;
  }
};

template <class Exec, class Scalar>
void fill_random(Exec const& exec, BlockRef<Scalar> const& X, std::uint64_t seed,
                 std::int64_t first_column, std::int64_t first_row) {
  for_each_entry(exec, "Blockspan::fill_random", X,
                 FillRandom<Scalar>{X, mix_bits(seed + golden_gamma), first_column, first_row});
}

}  // namespace blockspan::detail
