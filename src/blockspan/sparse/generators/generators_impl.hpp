#pragma once

#include <algorithm>
#include <limits>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/generators/generator_random.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/interruption.hpp>
#include <blockspan/support/scalar.hpp>

// Generates a matrix from a spec: the pattern, then symmetrization and permutation, then values.

namespace blockspan::sparse {

template <class Exec>
GeneratedPattern<Exec> generate_pattern(Exec const& exec, NonzeroLimit const& limit) {
  auto const& spec = limit.spec;
  if (spec.nonzeros >= 0 && limit.last_row < 0) limit.check(spec.nonzeros);
  auto const generated = [&] {
    if (spec.name.starts_with("elasticity") || spec.name.starts_with("p1"))
      return generate_elasticity(exec, spec, limit);
    if (is_family(spec.name)) return generate_family(exec, spec, limit);
    if (spec.name == "rmat") return generate_rmat(exec, spec, limit);
    if (spec.sizes.size() == 3 || spec.name == "laplace5") return generate_grid(exec, spec, limit);
    return generate_random_rows(exec, spec, limit);
  };
  GeneratedPattern<Exec> pattern = generated();
  InterruptionCheck::step();
  if (spec.symmetric) pattern = symmetrize(exec, pattern, limit);
  return spec.permuted ? permute(exec, pattern, spec.permutation_seed) : pattern;
}

template <class Exec, class Values>
struct FillHashedValues {
  GeneratedPattern<Exec> pattern;
  HashedValue rule;
  Values values;
  std::int64_t first_row;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    using Scalar = typename Values::non_const_value_type;
    using Real = real_t<Scalar>;
    bool const permuted = pattern.row_of.data() != nullptr;
    auto const row = std::uint64_t(permuted ? pattern.row_of(i) : first_row + i);
    for (std::size_t k = pattern.row_map(i); k < pattern.row_map(i + 1); ++k) {
      int const name = pattern.entries(k);
      auto const column = std::uint64_t(permuted ? pattern.column_of(name) : name);
      if constexpr (is_complex_v<Scalar>)
        values(k) = Scalar(Real(rule.real(row, column)), Real(rule.imaginary(row, column)));
      else
        values(k) = Real(rule.real(row, column));
    }
  }
};

/// `from` itself if the types agree, else a converted copy.
template <class To, class Exec, class From>
To converted(Exec const& exec, char const* label, From const& from) {
  if constexpr (std::is_same_v<typename From::non_const_value_type,
                               typename To::non_const_value_type>) {
    return from;
  } else {
    auto const to = allocate<To>(exec, label, from.extent(0));
    Kokkos::deep_copy(exec, to, from);
    return to;
  }
}

}  // namespace blockspan::sparse

namespace blockspan {

template <class Scalar, class Exec, class Offset>
CrsMatrix<Scalar, Exec, Offset> generate_rows(Exec const& exec, GeneratorSpec const& spec,
                                              std::int64_t first, std::int64_t last) {
  require(first >= 0 && first <= last && last <= spec.rows, "generate_rows", "rows ", first, " to ",
          last, " of ", spec.rows);
  bool const all = first == 0 && last == spec.rows;
  require(all || knows_rows(spec), "generate_rows", "'", spec.text,
          "' knows no row by itself: its rows are made together");
  using Matrix = CrsMatrix<Scalar, Exec, Offset>;
  using Device = typename Matrix::device_type;
  using Values = Kokkos::View<Scalar*, Device>;
  using Offsets = Kokkos::View<Offset*, Device>;
  constexpr auto most =
      std::min<std::uint64_t>(std::numeric_limits<Offset>::max(),
                              static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  auto const pattern = sparse::generate_pattern(
      exec, {static_cast<std::int64_t>(most), spec, first, all ? -1 : last});
  InterruptionCheck::step();
  auto const nonzeros = static_cast<std::int64_t>(pattern.entries.extent(0));
  Values values;
  if (static_cast<std::int64_t>(pattern.values.extent(0)) == nonzeros) {
    values = sparse::converted<Values>(exec, "Blockspan::generate::values", pattern.values);
  } else {
    values = allocate<Values>(exec, "Blockspan::generate::values", nonzeros);
    Kokkos::parallel_for("Blockspan::generate::hashed_values",
                         support::IndexRange<Exec>(exec, 0, last - first),
                         sparse::FillHashedValues<Exec, Values>{
                             pattern, {spec.seed, spec.symmetric, spec.values}, values, first});
  }
  auto const row_map =
      sparse::converted<Offsets>(exec, "Blockspan::generate::row_map", pattern.row_map);
  exec.fence("Blockspan::generate: the intermediate arrays are released");
  return Matrix("Blockspan::" + spec.name, static_cast<int>(last - first),
                static_cast<int>(spec.columns), static_cast<Offset>(nonzeros), values, row_map,
                pattern.entries);
}

}  // namespace blockspan
