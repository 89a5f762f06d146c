#pragma once

#include <cmath>

#include <blockspan/sparse/detail/generator_lengths.hpp>
#include <blockspan/sparse/detail/generator_permute.hpp>
#include <blockspan/sparse/detail/generator_random.hpp>
#include <blockspan/sparse/detail/generator_rmat.hpp>
#include <blockspan/sparse/detail/generator_rows.hpp>

namespace blockspan::detail {

template <class Exec, class Lengths>
GeneratedPattern<Exec> stratified_rows(Exec const& exec, GeneratorSpec const& spec,
                                       Lengths const& lengths, NonzeroLimit const& limit) {
  return assemble_rows(exec, "Blockspan::generate::stratified", spec.rows, spec.columns,
                       StratifiedRule<Lengths>{lengths, spec.columns, spec.seed}, limit);
}

template <class Exec>
GeneratedPattern<Exec> power_law_rows(Exec const& exec, GeneratorSpec const& spec,
                                      NonzeroLimit const& limit) {
  auto const table =
      power_law_survival(spec.numbers[0], spec.numbers[1], std::int64_t(spec.options.at("max")));
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
  if (spec.name == "powerlaw") return power_law_rows(exec, spec, limit);
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
  Kokkos::parallel_for(
      "Blockspan::generate::rmat",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, edges),
      RmatEdges<Exec>{
          keys, scale, {threshold(a), threshold(a + b), threshold(a + b + c)}, spec.seed});
  return pattern_of_keys(exec, sorted_unique_keys(exec, keys, limit), spec.rows, spec.columns);
}

template <class Exec>
GeneratedPattern<Exec> symmetrize(Exec const& exec, GeneratedPattern<Exec> const& pattern,
                                  NonzeroLimit const& limit) {
  auto const nonzeros = static_cast<std::int64_t>(pattern.entries.extent(0));
  auto const keys = allocate<Keys<Exec>>(exec, "Blockspan::generate::edges", 2 * nonzeros);
  Kokkos::parallel_for(
      "Blockspan::generate::both_ways",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, pattern.rows),
      BothWays<Exec>{pattern, keys});
  return pattern_of_keys(exec, sorted_unique_keys(exec, keys, limit), pattern.rows,
                         pattern.columns);
}

template <class Exec>
struct LongestRow {
  typename GeneratedPattern<Exec>::Offsets row_map;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::size_t& longest) const {
    std::size_t const length = row_map(i + 1) - row_map(i);
    if (length > longest) longest = length;
  }
};

/// The permuted pattern: rows are sorted each by one thread unless one is so long that sorting all
/// entries together is quicker. Both give the same pattern.
template <class Exec>
GeneratedPattern<Exec> permuted_pattern(Exec const& exec, PermutedRows<Exec> const& rows,
                                        typename GeneratedPattern<Exec>::Indices const& new_row) {
  constexpr std::size_t long_row = 4096;
  GeneratedPattern<Exec> const& source = rows.source;
  Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>> const policy(exec, 0, source.rows);
  std::size_t longest = 0;
  Kokkos::parallel_reduce("Blockspan::generate::longest_row", policy,
                          LongestRow<Exec>{source.row_map}, Kokkos::Max<std::size_t>(longest));
  exec.fence("Blockspan::generate: longest row");
  auto const nonzeros = static_cast<std::int64_t>(source.entries.extent(0));
  if (longest <= long_row)
    return assemble_rows(exec, "Blockspan::generate::permute", source.rows, source.columns, rows,
                         NonzeroLimit{nonzeros, GeneratorSpec{}});
  auto const keys = allocate<Keys<Exec>>(exec, "Blockspan::generate::permuted_keys", nonzeros);
  Kokkos::parallel_for("Blockspan::generate::permuted_keys", policy,
                       PermutedKeys<Exec>{rows, keys, new_row});
  sort_keys(exec, keys);
  return pattern_of_keys(exec, keys, source.rows, source.columns);
}

template <class Exec>
GeneratedPattern<Exec> permute(Exec const& exec, GeneratedPattern<Exec> const& source,
                               std::uint64_t seed) {
  using Indices = typename GeneratedPattern<Exec>::Indices;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  auto const tabulate = [&](std::int64_t n, HashStream stream) {
    auto const to = allocate<Indices>(exec, "Blockspan::generate::permutation", n);
    auto const from = allocate<Indices>(exec, "Blockspan::generate::inverse_permutation", n);
    Kokkos::parallel_for(
        "Blockspan::generate::permutation", Policy(exec, 0, n),
        TabulatePermutation<Exec>{FeistelPermutation::make(n, seed, stream), to, from});
    return std::pair(to, from);
  };
  auto const [new_row, row_of] = tabulate(source.rows, HashStream::row_permutation);
  auto const [new_column, column_of] =
      source.rows == source.columns ? std::pair(new_row, row_of)
                                    : tabulate(source.columns, HashStream::column_permutation);
  auto result = permuted_pattern(exec, PermutedRows<Exec>{source, row_of, new_column}, new_row);
  result.row_of = row_of;
  result.column_of = column_of;
  if (source.values.extent(0) > 0) {
    result.values = allocate<typename GeneratedPattern<Exec>::Values>(
        exec, "Blockspan::generate::values", std::int64_t(source.values.extent(0)));
    Kokkos::parallel_for("Blockspan::generate::permuted_values", Policy(exec, 0, source.rows),
                         PermutedValues<Exec>{source, result});
  }
  return result;
}

}  // namespace blockspan::detail
