#pragma once

#include <cstdint>
#include <string_view>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/generator_spec.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::sparse {

/// A generated matrix before its scalar and offset types are chosen, so that the generators are
/// compiled once per backend. Values are real, in double, or absent: then they are hashes of the
/// indices before permutation, (row_of(i), column_of(j)); empty maps are the identity.
template <class Exec>
struct GeneratedPattern {
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  using Indices = Kokkos::View<int*, Device>;
  using Offsets = Kokkos::View<std::size_t*, Device>;
  using Values = Kokkos::View<double*, Device>;

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Offsets row_map;         ///< rows + 1
  Indices entries;         ///< distinct and ascending within a row
  Values values;           ///< one an entry, or none
  Indices row_of = {};     ///< rows, or none
  Indices column_of = {};  ///< columns, or none
};

inline void check_nonzeros(std::int64_t nonzeros, std::int64_t most, GeneratorSpec const& spec) {
  require(nonzeros <= most, "generate", "'", spec.text, "' has ", nonzeros,
          " nonzeros, more than the row offsets can count (", most,
          "); 64-bit offsets would hold them");
}

/// The largest number of nonzeros that the caller's offsets can represent, which a pattern function
/// must not exceed, and the rows to generate: all, or [first_row, last_row) if rows are
/// independent.
struct NonzeroLimit {
  std::int64_t most;
  GeneratorSpec const& spec;
  std::int64_t first_row = 0, last_row = -1;

  void check(std::int64_t nonzeros) const { check_nonzeros(nonzeros, most, spec); }
};

// The families, each compiled once per backend. All check the limit before they allocate entries.
template <class Exec>
GeneratedPattern<Exec> generate_grid(Exec const& exec, GeneratorSpec const& spec,
                                     NonzeroLimit const& limit);
template <class Exec>
GeneratedPattern<Exec> generate_elasticity(Exec const& exec, GeneratorSpec const& spec,
                                           NonzeroLimit const& limit);
template <class Exec>
GeneratedPattern<Exec> generate_random_rows(Exec const& exec, GeneratorSpec const& spec,
                                            NonzeroLimit const& limit);
template <class Exec>
GeneratedPattern<Exec> generate_rmat(Exec const& exec, GeneratorSpec const& spec,
                                     NonzeroLimit const& limit);
/// Whether generate_family() generates the matrix.
inline bool is_family(std::string_view name) {
  for (std::string_view const family :
       {"star", "spins", "queues", "wells", "circuit", "attachment", "saddle", "patches"})
    if (name == family) return true;
  return false;
}
template <class Exec>
GeneratedPattern<Exec> generate_family(Exec const& exec, GeneratorSpec const& spec,
                                       NonzeroLimit const& limit);

/// The union of a square pattern without values and its transpose.
template <class Exec>
GeneratedPattern<Exec> symmetrize(Exec const& exec, GeneratedPattern<Exec> const& pattern,
                                  NonzeroLimit const& limit);

/// Rows and columns permuted, by the same permutation when the pattern is square.
template <class Exec>
GeneratedPattern<Exec> permute(Exec const& exec, GeneratedPattern<Exec> const& pattern,
                               std::uint64_t seed);

}  // namespace blockspan::sparse
