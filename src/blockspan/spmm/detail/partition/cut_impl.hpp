#pragma once

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/partition/pattern.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::detail {

/// Items of the scan that writes pieces, about: more have several rows each. H200, microseconds
/// with one row an item and with eight: email-Enron (36,692 rows) 26, 55; R-MAT 18 108, 131; R-MAT
/// 20 314, 213.
inline constexpr std::int64_t piece_items = std::int64_t{1} << 18;

/// How many pieces (of each class), slots and cut rows the rows before a row have.
template <int Classes>
struct CutCount {
  std::uint32_t pieces[Classes];
  std::int64_t slots, cut_rows;
};

/// A row as pieces: `longer` of them have an entry more than `share`.
struct RowCut {
  std::int64_t begin, pieces, share, longer;
};

template <int Classes>
struct CountCuts {
  using value_type = CutCount<Classes>;
  int const* row_offsets;  // rows + 1
  PieceRule rule;

  KOKKOS_FUNCTION RowCut cut(std::int64_t row) const {
    auto const begin = static_cast<std::int64_t>(row_offsets[row]);
    std::int64_t const length = static_cast<std::int64_t>(row_offsets[row + 1]) - begin;
    if (length <= rule.longest) return {begin, rule.skip_empty && length == 0 ? 0 : 1, length, 0};
    std::int64_t const pieces = ceil_div(length, rule.longest);
    return {begin, pieces, length / pieces, length % pieces};
  }
  /// 0 for the longest; the last one has the pieces without entries.
  static KOKKOS_FUNCTION int class_of(std::int64_t length) {
    int bits = 0;
    while (bits < Classes - 1 && length >> bits != 0) ++bits;
    return Classes - 1 - bits;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t row, value_type& sum) const {
    RowCut const own = cut(row);
    sum.pieces[class_of(own.share + 1)] += static_cast<std::uint32_t>(own.longer);
    sum.pieces[class_of(own.share)] += static_cast<std::uint32_t>(own.pieces - own.longer);
    if (own.pieces <= 1) return;
    sum.slots += own.pieces;
    ++sum.cut_rows;
  }
  KOKKOS_FUNCTION void init(value_type& sum) const { sum = {}; }
  KOKKOS_FUNCTION void join(value_type& a, value_type const& b) const {
    for (int i = 0; i < Classes; ++i) a.pieces[i] += b.pieces[i];
    a.slots += b.slots;
    a.cut_rows += b.cut_rows;
  }
};

/// A scan over the rows, a few an item where there are many, because the sums of a scan are large:
/// each row writes its own pieces where those of the rows before it end.
template <class Exec, class Ordinal, int Classes>
struct WriteCuts {
  using value_type = CutCount<Classes>;
  CountCuts<Classes> count;
  std::int64_t rows, rows_of_item;
  PieceList<Exec, Ordinal> list;
  CutCount<Classes> begin;  ///< of a class: the pieces before it

  KOKKOS_FUNCTION void operator()(std::int64_t item, value_type& before, bool final) const {
    std::int64_t const first = item * rows_of_item;
    std::int64_t const end = first + rows_of_item < rows ? first + rows_of_item : rows;
    for (std::int64_t row = first; row < end; ++row) {
      if (final) write(row, before);
      count(row, before);
    }
  }
  KOKKOS_FUNCTION void init(value_type& sum) const { count.init(sum); }
  KOKKOS_FUNCTION void join(value_type& a, value_type const& b) const { count.join(a, b); }

  KOKKOS_FUNCTION void write(std::int64_t row, value_type const& before) const {
    RowCut const own = count.cut(row);
    std::uint32_t used[Classes] = {};
    for (std::int64_t i = 0; i < own.pieces; ++i) {
      bool const is_longer = i < own.longer;
      std::int64_t const length = own.share + (is_longer ? 1 : 0);
      std::int64_t const first = own.begin + i * own.share + (is_longer ? i : own.longer);
      int const c = count.class_of(length);
      std::int64_t const place = std::int64_t{begin.pieces[c]} + before.pieces[c] + used[c]++;
      list.first(place) = static_cast<int>(first);
      list.last(place) = static_cast<int>(first + length);
      list.target(place) = static_cast<Ordinal>(own.pieces == 1 ? row : -1 - (before.slots + i));
      if (own.pieces > 1) list.slot_row(before.slots + i) = static_cast<Ordinal>(before.cut_rows);
    }
    if (own.pieces > 1) {
      list.cut_row(before.cut_rows) = static_cast<Ordinal>(row);
      list.cut_slot(before.cut_rows) = static_cast<Ordinal>(before.slots);
    }
    if (row == rows - 1) list.cut_slot(list.cut_rows) = static_cast<Ordinal>(list.slots);
  }
};

template <int Classes, class Exec, class Ordinal>
PieceList<Exec, Ordinal> cut_into_classes(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                          PieceRule const& rule) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  PieceList<Exec, Ordinal> list;
  if (A.rows == 0) return list;
  CountCuts<Classes> const count{A.row_offsets, rule};
  CutCount<Classes> total{}, begin{};
  Kokkos::parallel_reduce("Blockspan::spmm_plan::count_pieces", Policy(exec, 0, A.rows), count,
                          total);
  require(total.slots < std::numeric_limits<Ordinal>::max(), "blockspan::SpmmPlan",
          "too many pieces for the ordinal type (", total.slots, ")");
  for (int c = 0; c < Classes; ++c) {
    begin.pieces[c] = static_cast<std::uint32_t>(list.pieces);
    list.pieces += total.pieces[c];
  }
  list.slots = total.slots;
  list.cut_rows = total.cut_rows;
  list.allocate(exec);
  std::int64_t const rows_of_item = 1 + A.rows / piece_items;
  Kokkos::parallel_scan(
      "Blockspan::spmm_plan::cut_long_rows", Policy(exec, 0, ceil_div(A.rows, rows_of_item)),
      WriteCuts<Exec, Ordinal, Classes>{count, A.rows, rows_of_item, list, begin});
  exec.fence("Blockspan::spmm_plan::cut_long_rows");
  return list;
}

template <class Exec, class Ordinal>
PieceList<Exec, Ordinal> cut_long_rows(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                       PieceRule const& rule) {
  return rule.sorted ? cut_into_classes<tuning::piece_classes>(exec, A, rule)
                     : cut_into_classes<1>(exec, A, rule);
}

}  // namespace blockspan::detail
