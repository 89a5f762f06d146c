#pragma once

#include <blockspan/sparse/detail/generator_hash.hpp>
#include <blockspan/sparse/detail/generator_keys.hpp>

namespace blockspan::detail {

/// A pseudo-random bijection of 0 .. n - 1: a Feistel network on the next even number of bits,
/// walked until it lands below n (fewer than four steps on average). Each place is computed alone.
struct FeistelPermutation {
  std::uint64_t n;
  int half_bits;  ///< 4^half_bits >= n
  std::uint64_t seed;
  HashStream stream;

  static FeistelPermutation make(std::int64_t n, std::uint64_t seed, HashStream stream) {
    int half_bits = 1;
    while ((std::uint64_t(1) << (2 * half_bits)) < std::uint64_t(n)) ++half_bits;
    return {std::uint64_t(n), half_bits, seed, stream};
  }
  KOKKOS_FUNCTION std::uint64_t scramble(std::uint64_t x) const {
    std::uint64_t const mask = (std::uint64_t(1) << half_bits) - 1;
    std::uint64_t left = x >> half_bits, right = x & mask;
    for (std::uint64_t round = 0; round < 6; ++round) {
      std::uint64_t const next = left ^ (hash(seed, stream, round, right) & mask);
      left = right;
      right = next;
    }
    return (left << half_bits) | right;
  }
  KOKKOS_FUNCTION int operator()(std::int64_t i) const {
    std::uint64_t x = scramble(std::uint64_t(i));
    while (x >= n) x = scramble(x);
    return static_cast<int>(x);
  }
};

template <class Exec>
struct TabulatePermutation {
  using Indices = typename GeneratedPattern<Exec>::Indices;
  FeistelPermutation permutation;
  Indices to;    ///< new place of old i
  Indices from;  ///< old place of new i
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int const place = permutation(i);
    to(i) = place;
    from(place) = static_cast<int>(i);
  }
};

/// Sorts n integers where they stand: insertion for short rows, else a heap (no recursion, no
/// storage).
KOKKOS_INLINE_FUNCTION void sift_down(int* x, int root, int n) {
  int const moving = x[root];
  for (int child = 2 * root + 1; child < n; child = 2 * root + 1) {
    if (child + 1 < n && x[child + 1] > x[child]) ++child;
    if (x[child] <= moving) break;
    x[root] = x[child];
    root = child;
  }
  x[root] = moving;
}
KOKKOS_INLINE_FUNCTION void sort_row(int* x, int n) {
  if (n <= 32) {
    for (int i = 1; i < n; ++i) {
      int const moving = x[i];
      int j = i;
      for (; j > 0 && x[j - 1] > moving; --j) x[j] = x[j - 1];
      x[j] = moving;
    }
    return;
  }
  for (int root = n / 2 - 1; root >= 0; --root) sift_down(x, root, n);
  for (int last = n - 1; last > 0; --last) {
    int const largest = x[0];
    x[0] = x[last];
    x[last] = largest;
    sift_down(x, 0, last);
  }
}

/// Row i of the permuted pattern is row row_of(i) of the source with its columns renamed and
/// sorted. (Values are then looked up by name: see PermutedValues.)
template <class Exec>
struct PermutedRows {
  static constexpr bool has_values = false;
  GeneratedPattern<Exec> source;
  typename GeneratedPattern<Exec>::Indices row_of;
  typename GeneratedPattern<Exec>::Indices new_column;

  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t i) const {
    int const row = row_of(i);
    return static_cast<std::int64_t>(source.row_map(row + 1) - source.row_map(row));
  }
  KOKKOS_FUNCTION void fill(std::int64_t i, int length, int* out) const {
    std::size_t const first = source.row_map(row_of(i));
    for (int j = 0; j < length; ++j) out[j] = new_column(source.entries(first + j));
    sort_row(out, length);
  }
};

/// The keys of the permuted pattern, unsorted: for patterns with rows too long for one thread.
template <class Exec>
struct PermutedKeys {
  PermutedRows<Exec> rows;
  Keys<Exec> keys;
  typename GeneratedPattern<Exec>::Indices new_row;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    for (std::size_t k = rows.source.row_map(row); k < rows.source.row_map(row + 1); ++k)
      keys(k) = entry_key(new_row(row), rows.new_column(rows.source.entries(k)));
  }
};

/// values(new entry) = value of the old entry, found by bisection of its row.
template <class Exec>
struct PermutedValues {
  GeneratedPattern<Exec> source;
  GeneratedPattern<Exec> result;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int const row = result.row_of(i);
    for (std::size_t k = result.row_map(i); k < result.row_map(i + 1); ++k) {
      int const column = result.column_of(result.entries(k));
      std::size_t low = source.row_map(row), high = source.row_map(row + 1);
      while (low + 1 < high) {
        std::size_t const middle = low + (high - low) / 2;
        if (source.entries(middle) <= column)
          low = middle;
        else
          high = middle;
      }
      result.values(k) = source.values(low);
    }
  }
};

}  // namespace blockspan::detail
