#pragma once

#include <algorithm>
#include <cmath>

#include <blockspan/sparse/generators/generator_hash.hpp>
#include <blockspan/sparse/generators/generator_keys.hpp>
#include <blockspan/sparse/generators/generator_random.hpp>
#include <blockspan/sparse/generators/generator_rows.hpp>
#include <blockspan/sparse/generators/spec/generator_lengths.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/bisect.hpp>
#include <blockspan/support/interruption.hpp>

namespace blockspan::sparse {

/// A pseudo-random bijection of 0 .. n - 1: a Feistel network on the next even number of bits,
/// repeated until the result is below n (fewer than four steps on average). Each index is computed
/// independently.
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
  Indices to;    ///< new index of old i
  Indices from;  ///< old index of new i
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int const place = permutation(i);
    to(i) = place;
    from(place) = static_cast<int>(i);
  }
};

/// The unsorted keys of the permuted pattern.
template <class Exec>
struct PermutedKeys {
  GeneratedPattern<Exec> source;
  typename GeneratedPattern<Exec>::Indices new_row, new_column;
  Keys<Exec> keys;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    for (std::size_t k = source.row_map(row); k < source.row_map(row + 1); ++k)
      keys(k) = entry_key(new_row(row), new_column(source.entries(k)));
  }
};

/// values(new entry) = value of the old entry, found by bisection in its row.
template <class Exec>
struct CopyPermutedValues {
  GeneratedPattern<Exec> source;
  GeneratedPattern<Exec> result;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int const row = result.row_of(i);
    for (std::size_t k = result.row_map(i); k < result.row_map(i + 1); ++k) {
      int const column = result.column_of(result.entries(k));
      auto const old = first_where(source.row_map(row), source.row_map(row + 1),
                                   [&](std::size_t l) { return source.entries(l) >= column; });
      result.values(k) = source.values(old);
    }
  }
};

/// Edge e of an R-MAT graph: at each of `scale` levels one of four quadrants, by comparing 32
/// random bits with thresholds computed on the host.
template <class Exec>
struct RmatEdges {
  Keys<Exec> keys;  ///< one an edge
  int scale;
  std::uint64_t threshold[3];  ///< 2^32 * (a, a + b, a + b + c)
  std::uint64_t seed;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    std::int64_t row = 0, column = 0;
    for (int level = 0; level < scale; ++level) {
      std::uint64_t const bits =
          hash(seed, HashStream::edge, std::uint64_t(e), std::uint64_t(level)) >> 32;
      bool const lower = bits >= threshold[1];
      bool const right = lower ? bits >= threshold[2] : bits >= threshold[0];
      row = 2 * row + lower;
      column = 2 * column + right;
    }
    keys(e) = entry_key(row, column);
  }
};

/// Both (i, j) and (j, i) for every entry.
template <class Exec>
struct BothWays {
  GeneratedPattern<Exec> pattern;
  Keys<Exec> keys;  ///< two a nonzero
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t k = pattern.row_map(i); k < pattern.row_map(i + 1); ++k) {
      keys(2 * k) = entry_key(i, pattern.entries(k));
      keys(2 * k + 1) = entry_key(pattern.entries(k), i);
    }
  }
};

template <class Exec, class Lengths>
GeneratedPattern<Exec> stratified_rows(Exec const& exec, GeneratorSpec const& spec,
                                       Lengths const& lengths, NonzeroLimit const& limit) {
  return assemble_rows(exec, "Blockspan::generate::stratified", spec.rows, spec.columns,
                       StratifiedRule<Lengths>{lengths, spec.columns, spec.seed}, limit);
}

template <class Exec>
GeneratedPattern<Exec> tabulated_rows(Exec const& exec, GeneratorSpec const& spec,
                                      NonzeroLimit const& limit) {
  auto const survival_of = spec.name == "powerlaw" ? power_law_survival : lognormal_survival;
  auto const table =
      survival_of(spec.numbers[0], spec.numbers[1], std::int64_t(spec.options.at("max")));
  using Host = Kokkos::View<std::uint64_t const*, Kokkos::HostSpace,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  auto const survival = allocate<Keys<Exec>>(exec, "Blockspan::generate::survival",
                                             static_cast<std::int64_t>(table.size()));
  Kokkos::deep_copy(exec, survival, Host(table.data(), table.size()));
  exec.fence("Blockspan::generate: the host table is read");
  return stratified_rows(exec, spec, TableLengths<Exec>{survival, spec.seed}, limit);
}

template <class Exec>
GeneratedPattern<Exec> generate_random_rows(Exec const& exec, GeneratorSpec const& spec,
                                            NonzeroLimit const& limit) {
  if (spec.name == "banded")
    return assemble_rows(exec, "Blockspan::generate::banded", spec.rows, spec.columns,
                         BandedRule{spec.rows, std::int64_t(spec.numbers[0])}, limit);
  if (spec.options.contains("max")) return tabulated_rows(exec, spec, limit);
  double const number = spec.numbers[0];
  if (spec.name == "hypersparse") {
    auto const least = static_cast<std::int64_t>(number);
    auto const threshold = static_cast<std::uint64_t>(std::ldexp(number - double(least), 53));
    return stratified_rows(exec, spec, MeanLengths{least, threshold, spec.seed}, limit);
  }
  LengthRange range{std::int64_t(number), std::int64_t(number)};  // fixed
  if (spec.name == "uniform") range = half_to_full(double(spec.columns) * number / 100);
  if (spec.name == "wide") range = half_to_full(4 * number / 3);
  return stratified_rows(exec, spec,
                         EvenLengths{range.least, range.most - range.least + 1, spec.seed}, limit);
}

template <class Exec>
GeneratedPattern<Exec> generate_rmat(Exec const& exec, GeneratorSpec const& spec,
                                     NonzeroLimit const& limit) {
  int const scale = static_cast<int>(spec.numbers[0]);
  auto const edges = static_cast<std::int64_t>(std::ldexp(spec.numbers[1], scale));
  double const a = spec.options.at("a"), b = spec.options.at("b"), c = spec.options.at("c");
  auto const threshold = [](double p) { return static_cast<std::uint64_t>(std::ldexp(p, 32)); };
  auto const keys = allocate<Keys<Exec>>(exec, "Blockspan::generate::edges", edges);
  constexpr std::int64_t together = 1 << 22;  // some tenths of a second on a host
  for (std::int64_t first = 0; first < edges; first += together) {
    InterruptionCheck::step();
    Kokkos::parallel_for(
        "Blockspan::generate::rmat",
        IndexRange<Exec>(exec, first, std::min(first + together, edges)),
        RmatEdges<Exec>{
            keys, scale, {threshold(a), threshold(a + b), threshold(a + b + c)}, spec.seed});
  }
  return pattern_of_keys(exec, sorted_unique_keys(exec, keys, limit), spec.rows, spec.columns);
}

template <class Exec>
GeneratedPattern<Exec> symmetrize(Exec const& exec, GeneratedPattern<Exec> const& pattern,
                                  NonzeroLimit const& limit) {
  auto const nonzeros = static_cast<std::int64_t>(pattern.entries.extent(0));
  auto const keys = allocate<Keys<Exec>>(exec, "Blockspan::generate::edges", 2 * nonzeros);
  Kokkos::parallel_for("Blockspan::generate::both_ways", IndexRange<Exec>(exec, 0, pattern.rows),
                       BothWays<Exec>{pattern, keys});
  return pattern_of_keys(exec, sorted_unique_keys(exec, keys, limit), pattern.rows,
                         pattern.columns);
}

template <class Exec>
GeneratedPattern<Exec> permute(Exec const& exec, GeneratedPattern<Exec> const& source,
                               std::uint64_t seed) {
  using Indices = typename GeneratedPattern<Exec>::Indices;
  auto const tabulate = [&](std::int64_t n, HashStream stream) {
    auto const to = allocate<Indices>(exec, "Blockspan::generate::permutation", n);
    auto const from = allocate<Indices>(exec, "Blockspan::generate::inverse_permutation", n);
    Kokkos::parallel_for(
        "Blockspan::generate::permutation", IndexRange<Exec>(exec, 0, n),
        TabulatePermutation<Exec>{FeistelPermutation::make(n, seed, stream), to, from});
    return std::pair(to, from);
  };
  auto const [new_row, row_of] = tabulate(source.rows, HashStream::row_permutation);
  auto const [new_column, column_of] =
      source.rows == source.columns ? std::pair(new_row, row_of)
                                    : tabulate(source.columns, HashStream::column_permutation);
  auto const keys = allocate<Keys<Exec>>(exec, "Blockspan::generate::permuted_keys",
                                         std::int64_t(source.entries.extent(0)));
  Kokkos::parallel_for("Blockspan::generate::permuted_keys", IndexRange<Exec>(exec, 0, source.rows),
                       PermutedKeys<Exec>{source, new_row, new_column, keys});
  sort_keys(exec, keys);
  auto result = pattern_of_keys(exec, keys, source.rows, source.columns);
  result.row_of = row_of;
  result.column_of = column_of;
  if (source.values.extent(0) > 0) {
    result.values = allocate<typename GeneratedPattern<Exec>::Values>(
        exec, "Blockspan::generate::values", std::int64_t(source.values.extent(0)));
    Kokkos::parallel_for("Blockspan::generate::permuted_values",
                         IndexRange<Exec>(exec, 0, source.rows),
                         CopyPermutedValues<Exec>{source, result});
  }
  return result;
}

}  // namespace blockspan::sparse
