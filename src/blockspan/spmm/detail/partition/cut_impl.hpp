#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/partition/pattern.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::detail {

/// How many pieces, slots and cut rows the rows before a row have.
struct CutCount {
  std::int64_t pieces, slots, cut_rows;
};

template <class Offset>
struct CountCuts {
  using value_type = CutCount;
  Offset const* row_offsets;  // rows + 1
  std::int64_t piece;
  bool skip_empty;

  KOKKOS_FUNCTION CutCount of_row(std::int64_t row) const {
    auto const length = static_cast<std::int64_t>(row_offsets[row + 1] - row_offsets[row]);
    if (skip_empty && length == 0) return {0, 0, 0};
    std::int64_t const parts = length <= piece ? 1 : ceil_div(length, piece);
    return parts == 1 ? CutCount{1, 0, 0} : CutCount{parts, parts, 1};
  }
  KOKKOS_FUNCTION void operator()(std::int64_t row, CutCount& sum) const { join(sum, of_row(row)); }
  KOKKOS_FUNCTION void init(CutCount& sum) const { sum = {0, 0, 0}; }
  KOKKOS_FUNCTION void join(CutCount& a, CutCount const& b) const {
    a.pieces += b.pieces;
    a.slots += b.slots;
    a.cut_rows += b.cut_rows;
  }
};

/// A scan over the rows: each row writes its own pieces where the rows before it end.
template <class Exec, class Offset, class Ordinal>
struct WriteCuts {
  using value_type = CutCount;
  CountCuts<Offset> count;
  std::int64_t rows;
  PieceList<Exec, Offset, Ordinal> list;
  Kokkos::View<Offset*, typename Exec::memory_space> ends;  ///< pieces + 1

  KOKKOS_FUNCTION void operator()(std::int64_t row, CutCount& before, bool final) const {
    CutCount const own = count.of_row(row);
    if (final) write(row, before, own);
    join(before, own);
  }
  KOKKOS_FUNCTION void init(CutCount& sum) const { count.init(sum); }
  KOKKOS_FUNCTION void join(CutCount& a, CutCount const& b) const { count.join(a, b); }

  KOKKOS_FUNCTION void write(std::int64_t row, CutCount const& before, CutCount const& own) const {
    auto const begin = static_cast<std::int64_t>(count.row_offsets[row]);
    auto const end = static_cast<std::int64_t>(count.row_offsets[row + 1]);
    std::int64_t const parts = own.pieces > 0 ? own.pieces : 1;
    std::int64_t const share = (end - begin) / parts;
    std::int64_t const longer = (end - begin) % parts;  // pieces with one entry more
    for (std::int64_t i = 0; i < own.pieces; ++i) {
      std::int64_t const target = own.slots == 0 ? row : -1 - (before.slots + i);
      list.target(before.pieces + i) = static_cast<Ordinal>(target);
      ends(before.pieces + i) = static_cast<Offset>(begin + i * share + (i < longer ? i : longer));
    }
    if (own.cut_rows == 1) {
      list.cut_row(before.cut_rows) = static_cast<Ordinal>(row);
      list.cut_slot(before.cut_rows) = static_cast<Ordinal>(before.slots);
      for (std::int64_t i = 0; i < own.slots; ++i)
        list.slot_row(before.slots + i) = static_cast<Ordinal>(before.cut_rows);
    }
    if (row == rows - 1) {
      ends(list.pieces) = static_cast<Offset>(end);
      list.cut_slot(list.cut_rows) = static_cast<Ordinal>(list.slots);
    }
  }
};

template <class Exec, class Offset, class Ordinal>
PieceList<Exec, Offset, Ordinal> cut_long_rows(Exec const& exec,
                                               PatternRef<Offset, Ordinal> const& A,
                                               std::int64_t piece, bool skip_empty) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using List = PieceList<Exec, Offset, Ordinal>;
  List list;
  if (A.rows == 0) return list;
  CountCuts<Offset> const count{A.row_offsets, piece, skip_empty};
  CutCount total;
  Kokkos::parallel_reduce("Blockspan::spmm_plan::count_pieces", Policy(exec, 0, A.rows), count,
                          total);
  require(total.slots < std::numeric_limits<Ordinal>::max(), "blockspan::SpmmPlan",
          "too many pieces for the ordinal type (", total.slots, ")");
  auto const uninitialized = [&](char const* label) {
    return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string(label));
  };
  list.pieces = total.pieces;
  list.slots = total.slots;
  list.cut_rows = total.cut_rows;
  list.target = decltype(list.target)(uninitialized("Blockspan::spmm_plan::target"), total.pieces);
  // a piece ends where the next begins
  decltype(list.first) const ends(uninitialized("Blockspan::spmm_plan::ends"), total.pieces + 1);
  auto const part = [&](std::int64_t from) {
    return Kokkos::subview(ends, std::pair<std::int64_t, std::int64_t>(from, from + total.pieces));
  };
  list.first = part(0);
  list.last = part(1);
  list.allocate(exec);
  Kokkos::parallel_scan("Blockspan::spmm_plan::cut_long_rows", Policy(exec, 0, A.rows),
                        WriteCuts<Exec, Offset, Ordinal>{count, A.rows, list, ends});
  exec.fence("Blockspan::spmm_plan::cut_long_rows");
  return list;
}

}  // namespace blockspan::detail
