#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/layouts/group_by_key.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/bisect.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::products {

/// The column of each entry of A^T: the row of A that contains it.
template <class Ordinal>
struct FindRows {
  PatternRef<int, Ordinal> A;
  int const* places;
  Ordinal* columns;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const ends_later = [&](std::int64_t row) { return A.row_offsets[row + 1] > places[i]; };
    columns[i] = static_cast<Ordinal>(first_where(std::int64_t{0}, A.rows, ends_later));
  }
};

/// The device's way: places by their columns, then their rows.
template <class Exec, class Ordinal>
void transpose_by_grouping(Exec const& exec, Arena<Exec>& arena, PatternRef<int, Ordinal> const& A,
                           TransposedPattern<Exec, Ordinal> const& result) {
  auto const n = static_cast<std::int64_t>(result.permutation.extent(0));
  group_by_key(exec, arena, A.column_indices, n, A.columns, result.row_offsets.data(),
               result.permutation.data());
  if (n > 0)
    Kokkos::parallel_for(
        "Blockspan::spmm_plan::transposed_entries", IndexRange<Exec>(exec, 0, n),
        FindRows<Ordinal>{A, result.permutation.data(), result.column_indices.data()});
}

/// The host's way: places and their rows at once, in A's order.
template <class Exec, class Ordinal>
void transpose_on_host(PatternRef<int, Ordinal> const& A,
                       TransposedPattern<Exec, Ordinal> const& result) {
  std::int64_t row = 0;
  group_on_host(A.column_indices, static_cast<std::int64_t>(result.permutation.extent(0)),
                A.columns, result.row_offsets.data(), [&](int place, int k) {
                  while (k >= A.row_offsets[row + 1]) ++row;
                  result.permutation(place) = k;
                  result.column_indices(place) = static_cast<Ordinal>(row);
                });
}

template <class Exec, class Ordinal>
void transpose_pattern(Exec const& exec, Arena<Exec>& arena, PatternRef<int, Ordinal> const& A,
                       TransposedPattern<Exec, Ordinal> const& result) {
  if constexpr (runs_on_host_v<Exec>) {
    exec.fence("Blockspan::spmm_plan::transpose");
    transpose_on_host(A, result);
  } else {
    transpose_by_grouping(exec, arena, A, result);
    exec.fence("Blockspan::spmm_plan::transpose");
  }
}

template <class Exec, class Ordinal>
TransposedPattern<Exec, Ordinal> transpose_pattern(Exec const& exec,
                                                   PatternRef<int, Ordinal> const& A,
                                                   std::int64_t nonzeros) {
  TransposedPattern<Exec, Ordinal> result;
  result.rows = A.columns;
  result.columns = A.rows;
  result.row_offsets = allocate<decltype(result.row_offsets)>(
      exec, "Blockspan::spmm_plan::transposed_offsets", A.columns + 1);
  result.column_indices = allocate<decltype(result.column_indices)>(
      exec, "Blockspan::spmm_plan::transposed_columns", nonzeros);
  result.permutation =
      allocate<decltype(result.permutation)>(exec, "Blockspan::spmm_plan::permutation", nonzeros);
  Arena<Exec> arena("Blockspan::spmm_plan");
  transpose_pattern(exec, arena, A, result);
  return result;
}

template <class Exec, class Ordinal>
struct ComposePermutations {
  TransposedPattern<Exec, Ordinal> first, second;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    second.permutation(k) = first.permutation(second.permutation(k));
  }
};

/// The pattern with the columns of every row in ascending order, equal ones in the order of A:
/// entry k is entry permutation(k) of A. Two transpositions, and costs as much.
template <class Exec, class Ordinal>
TransposedPattern<Exec, Ordinal> sort_rows(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                           std::int64_t nonzeros) {
  auto const transposed = transpose_pattern(exec, A, nonzeros);
  auto const sorted = transpose_pattern(exec, transposed.ref(), nonzeros);
  Kokkos::parallel_for("Blockspan::spmm_plan::compose_permutations",
                       IndexRange<Exec>(exec, 0, nonzeros),
                       ComposePermutations<Exec, Ordinal>{transposed, sorted});
  exec.fence("Blockspan::spmm_plan::sort_rows");
  return sorted;
}

}  // namespace blockspan::products
