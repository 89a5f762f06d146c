#pragma once

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::products {

/// Approximate number of work items of the scan that writes segments; with more rows an item has
/// several. H200, microseconds with one row an item and with eight: email-Enron (36,692 rows) 26,
/// 55; R-MAT 18 108, 131; R-MAT 20 314, 213.
inline constexpr std::int64_t segment_items = std::int64_t{1} << 18;

/// How rows are cut, and the order of their segments.
struct SegmentRule {
  std::int64_t longest;     ///< entries of a segment, at most
  bool skip_empty = false;  ///< rows without entries have no segment
  bool sorted = false;      ///< in classes of equal length (a power of two and what is below the
                            ///< next), the longest first; in each class in the order of the rows
};

/// The order in which rows are visited: theirs, or a permutation.
template <class Ordinal>
struct RowOrder {
  Ordinal const* rows = nullptr;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return rows == nullptr ? i : static_cast<std::int64_t>(rows[i]);
  }
};

/// How many segments (of each class), slots and cut rows the rows before a row have.
template <int Classes>
struct CutCount {
  std::uint32_t segments[Classes];
  std::int64_t slots, cut_rows;
};

/// A row as segments: `longer` of them have an entry more than `share`.
struct RowCut {
  std::int64_t begin, segments, share, longer;
};

template <int Classes>
struct CountCuts {
  using value_type = CutCount<Classes>;
  int const* row_offsets;  // rows + 1
  SegmentRule rule;

  KOKKOS_FUNCTION RowCut cut(std::int64_t row) const {
    auto const begin = static_cast<std::int64_t>(row_offsets[row]);
    std::int64_t const length = static_cast<std::int64_t>(row_offsets[row + 1]) - begin;
    if (length <= rule.longest) return {begin, rule.skip_empty && length == 0 ? 0 : 1, length, 0};
    std::int64_t const segments = ceil_div(length, rule.longest);
    return {begin, segments, length / segments, length % segments};
  }
  /// 0 for the longest; the last one has the segments without entries.
  static KOKKOS_FUNCTION int class_of(std::int64_t length) {
    int bits = 0;
    while (bits < Classes - 1 && length >> bits != 0) ++bits;
    return Classes - 1 - bits;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t row, value_type& sum) const {
    RowCut const own = cut(row);
    sum.segments[class_of(own.share + 1)] += static_cast<std::uint32_t>(own.longer);
    sum.segments[class_of(own.share)] += static_cast<std::uint32_t>(own.segments - own.longer);
    if (own.segments <= 1) return;
    sum.slots += own.segments;
    ++sum.cut_rows;
  }
  KOKKOS_FUNCTION void init(value_type& sum) const { sum = {}; }
  KOKKOS_FUNCTION void join(value_type& a, value_type const& b) const {
    for (int i = 0; i < Classes; ++i) a.segments[i] += b.segments[i];
    a.slots += b.slots;
    a.cut_rows += b.cut_rows;
  }
};

/// A scan over the rows, a few an item where there are many, because the sums of a scan are large:
/// each row writes its own segments where those of the rows before it end.
template <class Exec, class Ordinal, int Classes>
struct WriteCuts {
  using value_type = CutCount<Classes>;
  CountCuts<Classes> count;
  std::int64_t rows, rows_of_item;
  SegmentList<Exec, Ordinal> list;
  CutCount<Classes> begin;  ///< of a class: the segments before it
  RowOrder<Ordinal> order;

  KOKKOS_FUNCTION void operator()(std::int64_t item, value_type& before, bool final) const {
    std::int64_t const first = item * rows_of_item;
    std::int64_t const end = first + rows_of_item < rows ? first + rows_of_item : rows;
    for (std::int64_t i = first; i < end; ++i) {
      if (final) write(i, before);
      count(order(i), before);
    }
  }
  KOKKOS_FUNCTION void init(value_type& sum) const { count.init(sum); }
  KOKKOS_FUNCTION void join(value_type& a, value_type const& b) const { count.join(a, b); }

  KOKKOS_FUNCTION void write(std::int64_t place_of_row, value_type const& before) const {
    std::int64_t const row = order(place_of_row);
    RowCut const own = count.cut(row);
    std::uint32_t used[Classes] = {};
    for (std::int64_t i = 0; i < own.segments; ++i) {
      bool const is_longer = i < own.longer;
      std::int64_t const length = own.share + (is_longer ? 1 : 0);
      std::int64_t const first = own.begin + i * own.share + (is_longer ? i : own.longer);
      int const c = count.class_of(length);
      std::int64_t const place = std::int64_t{begin.segments[c]} + before.segments[c] + used[c]++;
      list.first(place) = static_cast<int>(first);
      list.last(place) = static_cast<int>(first + length);
      list.target(place) = static_cast<Ordinal>(own.segments == 1 ? row : -1 - (before.slots + i));
      if (own.segments > 1) list.slot_row(before.slots + i) = static_cast<Ordinal>(before.cut_rows);
    }
    if (own.segments > 1) {
      list.cut_row(before.cut_rows) = static_cast<Ordinal>(row);
      list.cut_slot(before.cut_rows) = static_cast<Ordinal>(before.slots);
    }
    if (place_of_row == rows - 1) list.cut_slot(list.cut_rows) = static_cast<Ordinal>(list.slots);
  }
};

template <int Classes, class Exec, class Ordinal>
SegmentList<Exec, Ordinal> cut_into_classes(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                            SegmentRule const& rule,
                                            RowOrder<Ordinal> const& order) {
  SegmentList<Exec, Ordinal> list;
  if (A.rows == 0) return list;
  CountCuts<Classes> const count{A.row_offsets, rule};
  CutCount<Classes> total{}, begin{};
  Kokkos::parallel_reduce("Blockspan::spmm_plan::count_segments", IndexRange<Exec>(exec, 0, A.rows),
                          count, total);
  require(total.slots < std::numeric_limits<Ordinal>::max(), "blockspan::SpmmPlan",
          "too many segments for the ordinal type (", total.slots, ")");
  for (int c = 0; c < Classes; ++c) {
    begin.segments[c] = static_cast<std::uint32_t>(list.segments);
    list.segments += total.segments[c];
  }
  list.slots = total.slots;
  list.cut_rows = total.cut_rows;
  list.allocate(exec);
  std::int64_t const rows_of_item = 1 + A.rows / segment_items;
  Kokkos::parallel_scan(
      "Blockspan::spmm_plan::cut_long_rows",
      IndexRange<Exec>(exec, 0, ceil_div(A.rows, rows_of_item)),
      WriteCuts<Exec, Ordinal, Classes>{count, A.rows, rows_of_item, list, begin, order});
  exec.fence("Blockspan::spmm_plan::cut_long_rows");
  return list;
}

/// Cuts every row of more than `longest` entries into the fewest equal segments; the other rows are
/// a segment each. Every entry is in exactly one segment; the segments are in the order of the
/// rows, or in classes (those of 2^(tuning::segment_classes - 2) entries and more are one). A
/// count of the rows and a scan over them: O(rows + segments).
template <class Exec, class Ordinal>
SegmentList<Exec, Ordinal> cut_long_rows(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                         SegmentRule const& rule,
                                         RowOrder<Ordinal> const& order = {}) {
  return rule.sorted ? cut_into_classes<tuning::segment_classes>(exec, A, rule, order)
                     : cut_into_classes<1>(exec, A, rule, order);
}

}  // namespace blockspan::products
