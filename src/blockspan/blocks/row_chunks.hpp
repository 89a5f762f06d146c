#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/registers/unroll.hpp>

// The one order in which rows are summed: dots, norms, Gram matrices, residuals, the recurrences of
// the solvers, the sums of spmm_dots.
//
//   leaf   a chunk of consecutive rows, summed in the kernel's own order
//   node   two neighbours of the level below, joined: node i of level l is the sum of the chunks
//          [i 2^l, (i + 1) 2^l); a node without a right neighbour is passed up unchanged
//
// The size of chunks is a power of two that depends on the backend and the number of rows alone:
// neither on columns, threads, multiprocessors nor the launch. So the result does not depend on who
// joins which nodes, and a block that is partitioned at chunk boundaries (over several devices) has
// the nodes of the whole block, if its parts use the chunk size of the whole. A kernel may divide a
// chunk into a power of two of equal leaves; the tree is then that much deeper.
//
// Error of a sum of terms x_i: at most gamma_m sum |x_i|, m = rows of a chunk + log2(chunks).

namespace blockspan::blocks {

/// The chunks of the rows that a rank has. Its first row begins a chunk.
struct RowChunks {
  std::int64_t rows, size;
  bool ends_nodes = false;  ///< kernels write single chunks: larger nodes might span ranks

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return ceil_div(rows, size); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first(std::int64_t c) const { return c * size; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t last(std::int64_t c) const {
    return rows - c * size < size ? rows : (c + 1) * size;
  }
};

inline constexpr std::int64_t most_chunk_rows = 2048;
/// A few hundred chunks keep a device busy; for partial Gram matrices long chunks are cheaper.
template <class Exec>
inline constexpr std::int64_t least_chunk_rows = runs_on_host_v<Exec> ? 1024 : 128;

/// Rows of a chunk of a block of `global_rows` rows, all ranks together.
template <class Exec>
constexpr std::int64_t chunk_rows(std::int64_t global_rows) {
  std::int64_t size = least_chunk_rows<Exec>;
  while (size < most_chunk_rows && 512 * size < global_rows) size *= 2;
  return size;
}

template <class Exec>
RowChunks row_chunks(std::int64_t rows, std::int64_t global_rows) {
  return {rows, chunk_rows<Exec>(global_rows)};
}
template <class Exec>
RowChunks row_chunks(std::int64_t rows) {
  return row_chunks<Exec>(rows, rows);
}

/// The default operation that joins nodes.
struct AddTerms {
  template <class Scalar>
  KOKKOS_FORCEINLINE_FUNCTION static void fold(Scalar& total, Scalar const& term) {
    total += term;
  }
};

/// The node of term(0) ... term(7), of which the first `terms` (> 0) exist.
template <class Fold, class Scalar, class Term>
KOKKOS_FORCEINLINE_FUNCTION Scalar join_eight(std::int64_t terms, Term const& term) {
  Scalar value[8];
  BLOCKSPAN_UNROLL
  for (int i = 0; i < 8; ++i) value[i] = i < terms ? term(i) : Scalar();
  BLOCKSPAN_UNROLL
  for (int step = 1; step < 8; step *= 2) {
    BLOCKSPAN_UNROLL
    for (int i = 0; i < 8; i += 2 * step)
      if (i + step < terms) Fold::fold(value[i], value[i + step]);
  }
  return value[0];
}

/// The node of term(first) ... term(last - 1), first < last, by one thread. first: a multiple of
/// the smallest power of two that is at least last - first.
template <class Fold, class Scalar, class Term>
KOKKOS_FUNCTION Scalar join_range(std::int64_t first, std::int64_t last, Term const& term) {
  constexpr int most_levels = 32;
  Scalar nodes[most_levels];  // of level 3 + l where bit l of `done` is set
  std::int64_t done = 0;
  for (std::int64_t i = first; i < last; i += 8, ++done) {
    Scalar node = join_eight<Fold, Scalar>(last - i, [&](int k) { return term(i + k); });
    int level = 0;
    for (; (done >> level & 1) != 0; ++level) {
      Scalar left = nodes[level];
      Fold::fold(left, node);
      node = left;
    }
    nodes[level] = node;
  }
  int level = 0;
  while ((done >> level & 1) == 0) ++level;
  Scalar node = nodes[level];
  while (done >> ++level != 0) {
    if ((done >> level & 1) == 0) continue;
    Scalar left = nodes[level];
    Fold::fold(left, node);
    node = left;
  }
  return node;
}

/// Joins `count` partial sums, `step` values apart, into the first, for `sums` such sets, `apart`
/// values apart. Called by all threads of a team, with `place` 0, 1, ... for those that share a
/// set, and a large value for idle threads; the thread of place 0 may read the result without a
/// barrier.
template <class Fold, int sums, class Team, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void join_in_scratch(Team const& team, int place, Scalar* set, int step,
                                                 int apart, int count) {
  for (int left = count; left > 1; left = (left + 7) / 8) {
    Scalar node[sums] = {};
    bool const busy = place < (left + 7) / 8;
    team.team_barrier();
    if (busy)
      for (int q = 0; q < sums; ++q)
        node[q] = join_eight<Fold, Scalar>(
            left - 8 * place, [&](int k) { return set[(8 * place + k) * step + q * apart]; });
    team.team_barrier();
    if (busy)
      for (int q = 0; q < sums; ++q) set[place * step + q * apart] = node[q];
  }
}

/// Terms of each thread, a power of two, where `threads` of them share `count` terms.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t terms_of_thread(std::int64_t count, int threads) {
  std::int64_t share = 8;
  while (share * threads < count) share *= 2;
  return share;
}

/// The roots of `sums` trees of `count` nodes term(q, 0) ... term(q, count - 1), by a team; zero if
/// count is 0. Written to `root` of the first thread. scratch: sums x threads values.
template <class Fold, int sums, class Team, class Scalar, class Term>
KOKKOS_FORCEINLINE_FUNCTION void join_by_team(Team const& team, Scalar* scratch, std::int64_t count,
                                              Term const& term, Scalar* root) {
  int const rank = team.team_rank(), threads = team.team_size();
  std::int64_t const share = terms_of_thread(count, threads), first = rank * share;
  std::int64_t const last = count - first < share ? count : first + share;
  if (first < count)
    for (int q = 0; q < sums; ++q)
      scratch[q * threads + rank] =
          join_range<Fold, Scalar>(first, last, [&](std::int64_t i) { return term(q, i); });
  join_in_scratch<Fold, sums>(team, rank, scratch, 1, threads,
                              static_cast<int>(ceil_div(count, share)));
  if (rank == 0)
    for (int q = 0; q < sums; ++q) root[q] = count > 0 ? scratch[q * threads] : Scalar();
}

}  // namespace blockspan::blocks
