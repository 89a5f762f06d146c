#pragma once

#include <blockspan/sparse/generators/generator_hash.hpp>
#include <blockspan/sparse/generators/generator_pattern.hpp>
#include <blockspan/support/bisect.hpp>

namespace blockspan::sparse {

/// Row lengths uniformly distributed over the integers least .. least + count - 1.
struct EvenLengths {
  std::int64_t least;
  std::int64_t count;
  std::uint64_t seed;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return least + reduce_range(hash(seed, HashStream::length, std::uint64_t(i), 0), count);
  }
};

/// `least`, or with probability threshold / 2^53 one more.
struct MeanLengths {
  std::int64_t least;
  std::uint64_t threshold;
  std::uint64_t seed;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return least + (hash(seed, HashStream::length, std::uint64_t(i), 0) >> 11 < threshold ? 1 : 0);
  }
};

/// Lengths from a table computed on the host: length l has probability (t(l-1) - t(l)) / 2^53,
/// where t(l) = 2^53 * P(length > l) decreases from t(0) = 2^53.
template <class Exec>
struct TableLengths {
  Kokkos::View<std::uint64_t const*, Kokkos::Device<Exec, typename Exec::memory_space>> survival;
  std::uint64_t seed;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
    std::uint64_t const draw = hash(seed, HashStream::length, std::uint64_t(i), 0) >> 11;
    return first_where(std::int64_t{0}, static_cast<std::int64_t>(survival.extent(0)),
                       [&](std::int64_t length) { return draw >= survival(length); });
  }
};

/// d columns of a row, the j-th from the j-th of d equal parts of the column range: exact counts,
/// distinct and ascending without sorting or rejection.
template <class Lengths>
struct StratifiedRule {
  static constexpr bool has_values = false;
  Lengths lengths;
  std::int64_t columns;
  std::uint64_t seed;

  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t i) const { return lengths(i); }
  KOKKOS_FUNCTION void fill(std::int64_t i, int length, int* out) const {
    std::int64_t first = 0;
    for (int j = 0; j < length; ++j) {
      std::int64_t const last = columns * (j + 1) / length;
      std::uint64_t const bits = hash(seed, HashStream::column, std::uint64_t(i), std::uint64_t(j));
      out[j] = static_cast<int>(first + reduce_range(bits, last - first));
      first = last;
    }
  }
};

/// All columns within `half` of the diagonal.
struct BandedRule {
  static constexpr bool has_values = false;
  std::int64_t n;
  std::int64_t half;

  KOKKOS_FUNCTION std::int64_t first(std::int64_t i) const { return i > half ? i - half : 0; }
  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t i) const {
    return (i + half < n ? i + half + 1 : n) - first(i);
  }
  KOKKOS_FUNCTION void fill(std::int64_t i, int length, int* out) const {
    for (int j = 0; j < length; ++j) out[j] = static_cast<int>(first(i) + j);
  }
};

/// Values of the random generators as functions of the indices of an entry.
struct HashedValue {
  std::uint64_t seed;
  bool symmetric;
  GeneratorValues kind;

  /// 24 random bits are an integer that float represents exactly; scaling by a power of two is
  /// exact.
  KOKKOS_FUNCTION double part(HashStream stream, std::uint64_t i, std::uint64_t j) const {
    auto const bits = static_cast<std::int64_t>(hash(seed, stream, i, j) >> 40);
    switch (kind) {
      case GeneratorValues::in_minus_one_one:
        return double(bits - (1 << 23)) * 0x1p-23;
      case GeneratorValues::in_zero_one:
        return double(bits + 1) * 0x1p-24;
      default:
        return stream == HashStream::real_value ? 1.0 : 0.0;
    }
  }
  KOKKOS_FUNCTION double real(std::uint64_t i, std::uint64_t j) const {
    return symmetric && j < i ? part(HashStream::real_value, j, i)
                              : part(HashStream::real_value, i, j);
  }
  KOKKOS_FUNCTION double imaginary(std::uint64_t i, std::uint64_t j) const {
    if (!symmetric) return part(HashStream::imaginary_value, i, j);
    if (i == j) return 0;
    return i < j ? part(HashStream::imaginary_value, i, j)
                 : -part(HashStream::imaginary_value, j, i);
  }
};

}  // namespace blockspan::sparse
