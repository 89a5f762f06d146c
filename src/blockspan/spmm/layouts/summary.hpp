#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan::products {

/// A reduction over the rows and then the entries. One, because waiting for its result takes longer
/// than the work on a small matrix; not the entries row by row, because rows may be of any length.
template <class Exec, class Ordinal>
struct Summarize {
  struct value_type {
    std::int64_t shortest, longest, empty, entries, group_work, diagonal_groups;
    std::int64_t descents, half_bandwidth, grouping_candidates;
    std::uint64_t hash;
  };
  static constexpr std::int64_t group_size = RowStatistics::group_size;
  PatternRef<int, Ordinal> A;
  std::int64_t strides;  ///< items of entries; on devices each reads every strides-th entry

  /// Devices: their loads are in flight together. Hosts: many, in order, for vectors of them.
  static constexpr int entries_of_item = runs_on_host_v<Exec> ? 1024 : 8;
  static std::int64_t items_of(std::int64_t entries) {
    return ceil_div(entries, std::int64_t{entries_of_item});
  }

  KOKKOS_FUNCTION void operator()(std::int64_t item, value_type& sum) const {
    if (item < A.rows) return add_row(item, sum);
    auto const begin = static_cast<std::int64_t>(A.row_offsets[0]);
    auto const end = static_cast<std::int64_t>(A.row_offsets[A.rows]);
    if constexpr (runs_on_host_v<Exec>) {
      add_entries(begin + entries_of_item * (item - A.rows), begin, end, sum);
    } else {
      BLOCKSPAN_UNROLL
      for (int i = 0; i < entries_of_item; ++i)
        add_entry(item - A.rows + i * strides, begin, end, sum);
    }
  }

  /// Those of an item from `first` on.
  KOKKOS_FUNCTION void add_entries(std::int64_t first, std::int64_t begin, std::int64_t end,
                                   value_type& sum) const {
    std::int64_t const last = first + entries_of_item < end ? first + entries_of_item : end;
    std::uint64_t hashes = 0;
    std::int64_t descents = 0;
    for (std::int64_t k = first; k < last; ++k) hashes += hash(k, 1, A.column_indices[k]);
    for (std::int64_t k = first > begin ? first : begin + 1; k < last; ++k)
      descents += A.column_indices[k] < A.column_indices[k - 1] ? 1 : 0;
    sum.hash += hashes;
    sum.descents += descents;
  }

  KOKKOS_FUNCTION void add_row(std::int64_t row, value_type& sum) const {
    int const begin = A.row_offsets[row], end = A.row_offsets[row + 1];
    auto const length = static_cast<std::int64_t>(end - begin);
    bool const empty = length == 0;
    join(sum, {length, length, empty ? 1 : 0, length, 0, 0, 0, 0, 0, hash(row + 1, 0, end)});
    if (row == 0) sum.hash += hash(0, 0, begin);
    if (row % group_size == 0) add_group(row, sum);
    if (!empty) add_ends(row, begin, end, sum);
  }
  KOKKOS_FUNCTION void add_group(std::int64_t first, value_type& sum) const {
    std::int64_t const last = first + group_size < A.rows ? first + group_size : A.rows;
    std::int64_t longest = 0;
    for (std::int64_t row = first; row < last; ++row) {
      auto const length = static_cast<std::int64_t>(A.row_offsets[row + 1] - A.row_offsets[row]);
      if (length > longest) longest = length;
    }
    sum.group_work += (last - first) * longest;
    if (last - first > 1 && is_diagonal(first)) ++sum.diagonal_groups;
  }
  KOKKOS_FUNCTION bool is_diagonal(std::int64_t row) const {
    int const begin = A.row_offsets[row], middle = A.row_offsets[row + 1],
              end = A.row_offsets[row + 2];
    auto const* const columns = A.column_indices;
    return begin < middle && middle < end && columns[middle] == columns[begin] + 1 &&
           columns[end - 1] == columns[middle - 1] + 1;
  }
  /// What follows from the first and the last column of a row.
  KOKKOS_FUNCTION void add_ends(std::int64_t row, int begin, int end, value_type& sum) const {
    auto const* const columns = A.column_indices;
    std::int64_t const first = columns[begin], last = columns[end - 1];
    std::int64_t const ends[] = {first, last};
    for (std::int64_t const column : ends) {
      std::int64_t const distance = column < row ? row - column : column - row;
      if (distance > sum.half_bandwidth) sum.half_bandwidth = distance;
    }
    if (begin > A.row_offsets[0] && columns[begin] < columns[begin - 1]) --sum.descents;
    if (row == 0) return;
    int const before = A.row_offsets[row - 1];
    if (begin - before == end - begin && columns[before] == first && columns[begin - 1] == last)
      sum.grouping_candidates += static_cast<std::int64_t>(end - begin);
  }

  KOKKOS_FORCEINLINE_FUNCTION void add_entry(std::int64_t k, std::int64_t begin, std::int64_t end,
                                             value_type& sum) const {
    if (k < begin || k >= end) return;
    Ordinal const column = A.column_indices[k];
    sum.hash += hash(k, 1, column);
    if (k > begin && column < A.column_indices[k - 1]) ++sum.descents;
  }

  KOKKOS_FUNCTION void init(value_type& sum) const { sum = {INT64_MAX, 0, 0, 0, 0, 0, 0, 0, 0, 0}; }
  KOKKOS_FUNCTION void join(value_type& a, value_type const& b) const {
    if (b.shortest < a.shortest) a.shortest = b.shortest;
    if (b.longest > a.longest) a.longest = b.longest;
    a.empty += b.empty;
    a.entries += b.entries;
    a.group_work += b.group_work;
    a.diagonal_groups += b.diagonal_groups;
    a.descents += b.descents;
    if (b.half_bandwidth > a.half_bandwidth) a.half_bandwidth = b.half_bandwidth;
    a.grouping_candidates += b.grouping_candidates;
    a.hash += b.hash;
  }

  /// Hash of a value and its index, in one of several arrays.
  template <class Integer>
  static KOKKOS_FUNCTION std::uint64_t hash(std::int64_t place, std::uint64_t array,
                                            Integer value) {
    return mix_bits((static_cast<std::uint64_t>(place) + (array << 60)) * golden_gamma +
                    static_cast<std::uint64_t>(value) * 0xd1342543de82ef95ULL);
  }
};

template <class Exec, class Ordinal>
PatternSummary summarize(Exec const& exec, PatternRef<int, Ordinal> const& A) {
  using Sum = Summarize<Exec, Ordinal>;
  PatternSummary result{.rows = {.columns = A.columns}};
  result.fingerprint = Sum::hash(A.rows, 2, Sum::hash(A.columns, 2, A.block));
  if (A.rows == 0) return result;
  typename Sum::value_type sum;
  std::int64_t const strides = Sum::items_of(A.entries);
  Kokkos::parallel_reduce("Blockspan::spmm_plan::summarize",
                          IndexRange<Exec>(exec, 0, A.rows + strides), Sum{A, strides}, sum);
  result.rows = {A.rows,       A.columns,   sum.entries,    sum.empty,
                 sum.shortest, sum.longest, sum.group_work, sum.diagonal_groups};
  result.fingerprint += sum.hash;
  result.sorted = sum.descents == 0;
  result.half_bandwidth = sum.half_bandwidth;
  result.grouping_candidates = sum.grouping_candidates;
  return result;
}

}  // namespace blockspan::products
