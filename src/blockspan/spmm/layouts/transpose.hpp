#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>

#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// First index in [0, n] whose key is not below `wanted`; keys ascend.
template <class Key>
KOKKOS_FUNCTION std::int64_t lower_bound(Key const* keys, std::int64_t n, Key wanted) {
  std::int64_t low = 0;
  while (n > 0) {
    std::int64_t const half = n / 2;
    if (keys[low + half] < wanted) {
      low += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return low;
}

/// What transpose_by_keys launches, by tag.
template <class Exec, class Ordinal>
struct TransposeByKeys {
  struct MakeKeys {};
  struct FindOffsets {};
  struct WriteEntries {};
  PatternRef<int, Ordinal> A;
  TransposedPattern<Exec, Ordinal> result;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> keys;
  std::int64_t n;
  int bits;  ///< of a place

  KOKKOS_FUNCTION void operator()(MakeKeys, std::int64_t k) const {
    keys(k) =
        (static_cast<std::uint64_t>(A.column_indices[k]) << bits) | static_cast<std::uint64_t>(k);
  }
  /// The key after the last column's may not fit: it is the end.
  KOKKOS_FUNCTION void operator()(FindOffsets, std::int64_t column) const {
    result.row_offsets(column) = static_cast<int>(
        column == A.columns ? n
                            : lower_bound<std::uint64_t>(
                                  keys.data(), n, static_cast<std::uint64_t>(column) << bits));
  }
  KOKKOS_FUNCTION void operator()(WriteEntries, std::int64_t i) const {
    auto const place = static_cast<int>(keys(i) & ((std::uint64_t{1} << bits) - 1));
    result.permutation(i) = place;
    result.column_indices(i) =
        static_cast<Ordinal>(lower_bound<int>(A.row_offsets, A.rows + 1, place + 1) - 1);
  }
};

/// The device's way: sort (column, place) keys, then read the transposed pattern off them.
template <class Exec, class Ordinal>
void transpose_by_keys(Exec const& exec, PatternRef<int, Ordinal> const& A,
                       TransposedPattern<Exec, Ordinal> const& result) {
  auto const n = static_cast<std::int64_t>(result.permutation.extent(0));
  int const bits = bits_to_hold(n, 63);  // of a place
  require(bits + bits_to_hold(A.columns, 63) <= 64, "blockspan::SpmmPlan",
          "cannot transpose a pattern of ", A.columns, " columns and ", n,
          " nonzeros: (column, place) does not fit 64 bits");
  auto const keys = allocate<Kokkos::View<std::uint64_t*, typename Exec::memory_space>>(
      exec, "Blockspan::spmm_plan::keys", n);
  using Body = TransposeByKeys<Exec, Ordinal>;
  Body const body{A, result, keys, n, bits};
  auto const each = [&]<class Tag>(Tag, char const* label, std::int64_t count) {
    Kokkos::parallel_for(label, IndexRange<Exec, Tag>(exec, 0, count), body);
  };
  if (n > 0) {
    each(typename Body::MakeKeys{}, "Blockspan::spmm_plan::make_keys", n);
    Kokkos::sort(exec, keys);
  }
  each(typename Body::FindOffsets{}, "Blockspan::spmm_plan::transposed_offsets", A.columns + 1);
  if (n == 0) return;
  each(typename Body::WriteEntries{}, "Blockspan::spmm_plan::transposed_entries", n);
}

/// The host's way: count the columns, add up, distribute; on one thread, so in A's order.
template <class Exec, class Ordinal>
void transpose_by_counting(PatternRef<int, Ordinal> const& A,
                           TransposedPattern<Exec, Ordinal> const& result) {
  auto const n = static_cast<std::int64_t>(result.permutation.extent(0));
  auto* const offsets = result.row_offsets.data();
  for (std::int64_t column = 0; column <= A.columns; ++column) offsets[column] = 0;
  for (std::int64_t k = 0; k < n; ++k) ++offsets[A.column_indices[k] + 1];
  for (std::int64_t column = 0; column < A.columns; ++column)
    offsets[column + 1] += offsets[column];
  for (std::int64_t row = 0; row < A.rows; ++row)
    for (int k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      int const place = offsets[A.column_indices[k]]++;
      result.permutation(place) = k;
      result.column_indices(place) = static_cast<Ordinal>(row);
    }
  // each offset is now its row's end: the begin of the next
  for (std::int64_t column = A.columns; column > 0; --column) offsets[column] = offsets[column - 1];
  offsets[0] = 0;
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
  if constexpr (runs_on_host_v<Exec>) {
    exec.fence("Blockspan::spmm_plan::transpose");
    transpose_by_counting(A, result);
  } else {
    transpose_by_keys(exec, A, result);
    exec.fence("Blockspan::spmm_plan::transpose");
  }
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

}  // namespace blockspan::detail
