#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/arena.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

// Arrays in memory of Exec and loops over them, for the setup of a hierarchy.

namespace blockspan::levels {

template <class Exec>
using Integers = Array<int, Exec>;

/// The largest power of two that is at most `norm`; 1 for zero, subnormal values, infinity and NaN.
KOKKOS_INLINE_FUNCTION double power_of_two(double norm) {
  auto const bits = Kokkos::bit_cast<std::uint64_t>(norm) & 0x7FF0000000000000u;
  return bits == 0 || bits == 0x7FF0000000000000u ? 1 : Kokkos::bit_cast<double>(bits);
}

/// Runs body(i) for 0 <= i < count. Asynchronous.
template <class Exec, class Body>
void each(Exec const& exec, char const* label, std::int64_t count, Body const& body) {
  if (count > 0)
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), body);
}

/// The sum of the integers that body(i, sum) adds. Fences.
template <class Exec, class Body>
std::int64_t count_each(Exec const& exec, char const* label, std::int64_t count, Body const& body) {
  std::int64_t sum = 0;
  if (count > 0)
    Kokkos::parallel_reduce(
        label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), body,
        sum);
  return sum;
}

/// The maximum that body(i, most) computes, at least 0. Fences.
template <class Exec, class Body>
std::int64_t most_each(Exec const& exec, char const* label, std::int64_t count, Body const& body) {
  std::int64_t most = 0;
  if (count > 0)
    Kokkos::parallel_reduce(
        label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), body,
        Kokkos::Max<std::int64_t>(most));
  return count > 0 && most > 0 ? most : 0;
}

/// Groups of consecutive rows with the same columns; begin null: every row is its own group.
struct Supernodes {
  int const* begin = nullptr;  ///< groups + 1
  std::int64_t groups = 0;
  int most = 1;                 ///< rows of the largest group
  int const* of_row = nullptr;  ///< group of a row

  KOKKOS_FUNCTION std::int64_t first(std::int64_t group) const {
    return begin == nullptr ? group : begin[group];
  }
  KOKKOS_FUNCTION int rows(std::int64_t group) const {
    return begin == nullptr ? 1 : begin[group + 1] - begin[group];
  }

  /// Number of columns[a], ..., columns[end - 1], at most `most_at_once`, that are consecutive rows
  /// of one group. At least one.
  KOKKOS_FUNCTION int run_length(int const* columns, int a, int end, int most_at_once) const {
    if (of_row == nullptr) return 1;
    int const k = columns[a], group = of_row[k];
    int count = 1;
    while (count < most_at_once && a + count < end && columns[a + count] == k + count &&
           of_row[k + count] == group)
      ++count;
    return count;
  }
};

/// The groups, or single rows if there are none.
inline Supernodes groups_of_rows(Supernodes const& groups, std::int64_t rows) {
  return groups.begin == nullptr ? Supernodes{nullptr, rows, 1} : groups;
}

/// The sparsity pattern of a matrix: row offsets and column indices.
template <class Exec>
struct Pattern {
  int rows = 0, columns = 0;
  Integers<Exec> offsets, indices;

  std::int64_t entries() const { return static_cast<std::int64_t>(indices.extent(0)); }
  PatternRef<int, int> ref() const {
    return {rows, columns, entries(), offsets.data(), indices.data()};
  }
};

template <class Scalar, class Exec>
CrsMatrix<Scalar, Exec> matrix_of(Pattern<Exec> const& P, Array<Scalar, Exec> const& values) {
  return CrsMatrix<Scalar, Exec>("Blockspan::multigrid", P.rows, P.columns,
                                 static_cast<int>(P.entries()), values, P.offsets, P.indices);
}

// Compiled once per backend (patterns_impl.hpp). They may fence.

/// offsets(i) := the sum of the counts before i, for counts in offsets(0..n-1); n + 1 elements.
/// Returns the total. Throws Error if it exceeds an int. Fences.
template <class Exec>
int offsets_of_counts(Exec const& exec, Integers<Exec> const& offsets);

/// The pattern of A B with sorted rows. O(products), and for each worker a table of twice the
/// columns of the longest row. supernodes_A, supernodes_B: groups of rows of A and B; only one row
/// of each group is read, and the rows of the product have the groups of A.
template <class Exec>
Pattern<Exec> multiply_patterns(Exec const& exec, Arena<Exec>& arena, PatternRef<int, int> const& A,
                                PatternRef<int, int> const& B, Supernodes const& supernodes_A = {},
                                Supernodes const& supernodes_B = {});

/// `groups`, if all rows of each group have the same columns in A, else none.
template <class Exec>
Supernodes find_supernodes(Exec const& exec, PatternRef<int, int> const& A,
                           Supernodes const& groups);

/// Whether the columns of every row are strictly ascending.
template <class Exec>
bool is_in_order(Exec const& exec, PatternRef<int, int> const& A);

/// The pattern of the adjoint, with sorted rows, and the position in A of each of its entries.
template <class Exec>
struct Transposed {
  Pattern<Exec> pattern;
  Integers<Exec> places;
};
template <class Exec>
Transposed<Exec> transposed(Exec const& exec, Arena<Exec>& arena, Pattern<Exec> const& A);

/// The rows of each class, ascending: row i of the pattern lists the members of class i. class_of:
/// -1 for none. In scratch arrays of the arena.
template <class Exec>
Pattern<Exec> members(Exec const& exec, Arena<Exec>& arena, Integers<Exec> const& class_of,
                      int classes);

/// The pattern of a diagonal matrix, and of a dense n x n matrix.
template <class Exec>
Pattern<Exec> diagonal_pattern(Exec const& exec, Arena<Exec>& arena, int n);
template <class Exec>
Pattern<Exec> full_pattern(Exec const& exec, Arena<Exec>& arena, int n);

}  // namespace blockspan::levels
