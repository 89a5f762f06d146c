#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/over_ranks.hpp>
#include <blockspan/blocks/row_chunks.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/registers/register_set.hpp>
#include <blockspan/support/registers/unroll.hpp>

// Partial sums of chunks of rows on hosts: the first step of column_sums.hpp. Also how Terms are
// loaded and folded, on hosts and devices.

namespace blockspan::blocks {

template <class Terms>
concept HasFold = requires(typename Terms::Real& total) {
  Terms::fold(total, total);
};
template <class Terms>
using FoldOf = std::conditional_t<HasFold<Terms>, Terms, AddTerms>;

template <class Terms>
KOKKOS_FORCEINLINE_FUNCTION bool goes_down([[maybe_unused]] Terms const& terms) {
  if constexpr (requires { terms.down(); })
    return terms.down();
  else
    return false;
}

/// Folds the terms of `n` rows of column j, `step` rows apart, into sum(d, q) for the d-th row and
/// term q. Terms that are LoadsFirst load all operands before the first is evaluated.
template <int n, class Terms, class Sum>
KOKKOS_FORCEINLINE_FUNCTION void fold_entries(Terms const& terms, std::int64_t i, std::int64_t step,
                                              std::int64_t j, Sum const& sum) {
  using Real = typename Terms::Real;
  Real term[n][Terms::count];
  if constexpr (LoadsFirst<Terms>) {
    typename Terms::Operands operands[n];
    for (int d = 0; d < n; ++d) operands[d] = terms.load(i + d * step, j);
    for (int d = 0; d < n; ++d) terms(i + d * step, j, operands[d], term[d]);
  } else {
    for (int d = 0; d < n; ++d) terms(i + d * step, j, term[d]);
  }
  for (int d = 0; d < n; ++d)
    for (int q = 0; q < Terms::count; ++q) FoldOf<Terms>::fold(sum(d, q), term[d][q]);
}

/// First step on hosts.
template <class Exec, class Terms>
struct ChunkSumsOnHost {
  using Real = typename Terms::Real;
  static constexpr int strands = 8;
  static constexpr int members = 8;
  static constexpr std::int64_t member_rows = 64, leaf_rows = members * member_rows;

  Terms terms;
  RowChunks chunks;
  Nodes<Real> nodes;
  std::int64_t together;  ///< chunks of a task: several of contiguous columns, for longer reads

  ChunkSumsOnHost(Terms const& terms_, RowChunks const& chunks_, std::int64_t columns)
      : terms(terms_),
        chunks(chunks_),
        nodes{nullptr, chunks.count(), columns, 1, 0, chunks.size},
        together(goes_down(terms) && nodes.count >= 128 ? 4 : 1) {}

  // Not inlined: Kokkos instantiates a loop per schedule, and each would contain this whole
  // function.
  KOKKOS_FUNCTION BLOCKSPAN_NOINLINE void operator()(std::int64_t task) const {
    std::int64_t const first = task * together, end = first + together;
    std::int64_t const last = end < nodes.count ? end : nodes.count;
    if (!goes_down(terms)) return fold_tiles<32>(task, 0);
    for (std::int64_t j = 0; j < nodes.columns; ++j)
      for (std::int64_t c = first; c < last; ++c) fold_column(c, j);
  }

  /// Tiles of as many columns as possible: long contiguous reads, best for the hardware prefetcher.
  template <int width>
  KOKKOS_FUNCTION void fold_tiles(std::int64_t c, std::int64_t j) const {
    for (; j + width <= nodes.columns; j += width) fold_tile<width>(c, j);
    constexpr int narrower = width == 32 && !LoadsFirst<Terms> ? 24 : width > 16 ? 16 : width / 2;
    if constexpr (width > 1) fold_tiles<narrower>(c, j);
  }

  /// Sums a chunk by leaves, and a leaf by eight members of consecutive rows.
  template <int width>
  KOKKOS_FUNCTION void fold_tile(std::int64_t c, std::int64_t j) const {
    std::int64_t const first = chunks.first(c), last = chunks.last(c);
    Real leaves[most_chunk_rows / leaf_rows][Terms::count][width] = {};
    int count = 0;
    for (std::int64_t i = first; i < last; i += leaf_rows, ++count)
      fold_leaf<width>(i, i + leaf_rows < last ? leaf_rows : last - i, j, leaves[count]);
    join(leaves, count);
    for (int q = 0; q < Terms::count; ++q)
      for (int t = 0; t < width; ++t) nodes.at(q, j + t, c) = leaves[0][q][t];
  }

  template <int width>
  KOKKOS_FUNCTION void fold_leaf(std::int64_t first, std::int64_t rows, std::int64_t j,
                                 Real (&node)[Terms::count][width]) const {
    constexpr int at_once = width == 1 ? members : 1;
    Real sums[members][Terms::count][width];
    int m = 0;
    if constexpr (width == 1)
      if (nodes.columns == 1 && rows == leaf_rows) {
        fold_column_of_leaf(first, j, sums);
        m = members;
      }
    for (; m + at_once <= members && (m + at_once) * member_rows <= rows; m += at_once)
      fold_members<at_once>(first + m * member_rows, member_rows, j, sums + m);
    for (; m * member_rows < rows; ++m)
      fold_members<1>(first + m * member_rows, std::min(member_rows, rows - m * member_rows), j,
                      sums + m);
    join(sums, m);
    std::copy_n(&sums[0][0][0], Terms::count * width, &node[0][0]);
  }

  /// Sums `rows` rows of each of n members. For one column all members advance together:
  /// independent additions hide the latency. Constant widths let the compiler vectorize along the
  /// rows.
  template <int n, int width>
  KOKKOS_FUNCTION void fold_members(std::int64_t first, std::int64_t rows, std::int64_t j,
                                    Real (*to)[Terms::count][width]) const {
    Terms const own = terms;  // a local copy, which stores cannot alias
    Real sums[n][Terms::count][width] = {};
    for (std::int64_t i = first; i < first + rows; ++i)
      for (int m = 0; m < n; ++m)
        for (int t = 0; t < width; ++t) {
          Real term[Terms::count];
          take(own, i + m * member_rows, j + t, term);
          for (int q = 0; q < Terms::count; ++q) FoldOf<Terms>::fold(sums[m][q][t], term[q]);
        }
    std::copy_n(&sums[0][0][0], n * Terms::count * width, &to[0][0][0]);
  }

  /// For a block of one column: first all terms, vectorized over the rows, then the sums.
  KOKKOS_FUNCTION void fold_column_of_leaf(std::int64_t first, std::int64_t j,
                                           Real (&sums)[members][Terms::count][1]) const {
    Terms const own = copy_of_width(terms, std::integral_constant<int, 1>());
    Real all[Terms::count][leaf_rows];
    BLOCKSPAN_INDEPENDENT
    for (std::int64_t i = 0; i < leaf_rows; ++i) {
      Real term[Terms::count];
      take(own, first + i, j, term);
      for (int q = 0; q < Terms::count; ++q) all[q][i] = term[q];
    }
    for (int q = 0; q < Terms::count; ++q) {
      Real of_members[members] = {};
      for (int i = 0; i < member_rows; ++i)
        for (int m = 0; m < members; ++m)
          FoldOf<Terms>::fold(of_members[m], all[q][m * member_rows + i]);
      for (int m = 0; m < members; ++m) sums[m][q][0] = of_members[m];
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION static void take(Terms const& own, std::int64_t i, std::int64_t j,
                                               Real* term) {
    if constexpr (LoadsFirst<Terms>)
      own(i, j, own.load(i, j), term);
    else
      own(i, j, term);
  }

  /// Joins `count` consecutive nodes into the first.
  template <int width>
  KOKKOS_FORCEINLINE_FUNCTION static void join(Real (*sums)[Terms::count][width], int count) {
    for (int step = 1; step < count; step *= 2)
      for (int i = 0; i + step < count; i += 2 * step)
        for (int q = 0; q < Terms::count; ++q)
          for (int t = 0; t < width; ++t) FoldOf<Terms>::fold(sums[i][q][t], sums[i + step][q][t]);
  }

  /// Several independent sums, to hide the latency of additions.
  KOKKOS_FUNCTION void fold_column(std::int64_t c, std::int64_t j) const {
    std::int64_t const last = chunks.last(c);
    std::int64_t i = chunks.first(c);
    Real sums[Terms::count][strands] = {};
    for (; i + strands <= last; i += strands)
      fold_entries<strands>(terms, i, 1, j, [&](int d, int q) -> Real& { return sums[q][d]; });
    for (; i < last; ++i)
      fold_entries<1>(terms, i, 1, j, [&](int, int q) -> Real& { return sums[q][0]; });
    for (int q = 0; q < Terms::count; ++q)
      nodes.at(q, j, c) =
          join_eight<FoldOf<Terms>, Real>(strands, [&](int d) { return sums[q][d]; });
  }

  void launch(Exec const& exec, char const* label) const {
    Kokkos::parallel_for(label, IndexRange<Exec>(exec, 0, ceil_div(nodes.count, together)), *this);
  }
};

}  // namespace blockspan::blocks
