#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/partition/pattern.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::detail {

/// One work item a group of neighbouring rows.
template <class Offset, class Ordinal>
struct MeasureRows {
  struct value_type {
    std::int64_t shortest, longest, empty, entries, group_work, diagonal_groups;
  };
  static constexpr std::int64_t group_size = RowStatistics::group_size;
  Offset const* row_offsets;  // rows + 1
  Ordinal const* columns;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t group, value_type& result) const {
    value_type own;
    init(own);
    std::int64_t const first = group * group_size;
    std::int64_t const last = first + group_size < rows ? first + group_size : rows;
    for (std::int64_t row = first; row < last; ++row) {
      auto const length = static_cast<std::int64_t>(row_offsets[row + 1] - row_offsets[row]);
      join(own, {length, length, length == 0 ? 1 : 0, length, 0, 0});
    }
    own.group_work = (last - first) * own.longest;
    own.diagonal_groups = last - first > 1 && is_diagonal(first) ? 1 : 0;
    join(result, own);
  }
  KOKKOS_FUNCTION bool is_diagonal(std::int64_t row) const {
    Offset const begin = row_offsets[row], middle = row_offsets[row + 1],
                 end = row_offsets[row + 2];
    return begin < middle && middle < end && columns[middle] == columns[begin] + 1 &&
           columns[end - 1] == columns[middle - 1] + 1;
  }
  KOKKOS_FUNCTION void init(value_type& result) const { result = {INT64_MAX, 0, 0, 0, 0, 0}; }
  KOKKOS_FUNCTION void join(value_type& a, value_type const& b) const {
    if (b.shortest < a.shortest) a.shortest = b.shortest;
    if (b.longest > a.longest) a.longest = b.longest;
    a.empty += b.empty;
    a.entries += b.entries;
    a.group_work += b.group_work;
    a.diagonal_groups += b.diagonal_groups;
  }
};

template <class Exec, class Offset, class Ordinal>
RowStatistics row_statistics(Exec const& exec, PatternRef<Offset, Ordinal> const& A) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (A.rows == 0) return {.columns = A.columns};
  using Measure = MeasureRows<Offset, Ordinal>;
  typename Measure::value_type result;
  Kokkos::parallel_reduce("Blockspan::spmm_plan::row_statistics",
                          Policy(exec, 0, ceil_div(A.rows, std::int64_t{Measure::group_size})),
                          Measure{A.row_offsets, A.column_indices, A.rows}, result);
  return {A.rows,          A.columns,      result.entries,    result.empty,
          result.shortest, result.longest, result.group_work, result.diagonal_groups};
}

/// Sums a hash of every (place, value); the finalizer of splitmix64 (Steele, Lea, Flood 2014,
/// doi:10.1145/2660193.2660195).
template <class Integer>
struct HashArray {
  Integer const* values;
  std::uint64_t salt;

  static KOKKOS_FUNCTION std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint64_t& sum) const {
    sum += mix(mix(static_cast<std::uint64_t>(i) + salt) ^ static_cast<std::uint64_t>(values[i]));
  }
};

template <class Exec, class Integer>
std::uint64_t hash_array(Exec const& exec, Integer const* values, std::int64_t length,
                         std::uint64_t salt) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  std::uint64_t sum = 0;
  if (length > 0)
    Kokkos::parallel_reduce("Blockspan::spmm_plan::fingerprint", Policy(exec, 0, length),
                            HashArray<Integer>{values, salt}, sum);
  return sum;
}

template <class Exec, class Offset, class Ordinal>
std::uint64_t fingerprint(Exec const& exec, PatternRef<Offset, Ordinal> const& A) {
  auto const shape = HashArray<Offset>::mix(static_cast<std::uint64_t>(A.rows)) ^
                     HashArray<Offset>::mix(static_cast<std::uint64_t>(A.columns) + 0x9e37ULL) ^
                     HashArray<Offset>::mix(static_cast<std::uint64_t>(A.block) + 0x79b9ULL);
  return shape +
         hash_array(exec, A.row_offsets, A.rows == 0 ? 0 : A.rows + 1, 0x5bd1e995ULL << 32) +
         hash_array(exec, A.column_indices, A.entries, 0x27d4eb2fULL << 32);
}

}  // namespace blockspan::detail
