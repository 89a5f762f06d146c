#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/chunk_sums_host.hpp>
#include <blockspan/blocks/over_ranks.hpp>
#include <blockspan/blocks/row_chunks.hpp>
#include <blockspan/blocks/small_ref.hpp>
#include <blockspan/support/backend.hpp>

// Sums of terms over the rows of each column of tall blocks, in two steps: partial sums of chunks
// of rows, then their tree (row_chunks.hpp). The result of a column does not depend on the other
// columns, provided that on hosts the compiler does not contract products and sums (ROUND_EACH in
// cmake/Instantiations.cmake).
//
// Terms: a type Real, the number of sums of a column (`count`), and operator()(i, j, terms), which
// computes the terms of an entry. Terms are added, or joined by fold(total, term), whose neutral
// element is zero. Terms that also write declare what they read (LoadsFirst in entries.hpp).
// down(), if present: whether columns are contiguous. Traffic: what Terms read and write, once.

namespace blockspan::blocks {

/// Threads of a team: the largest power of two, at most `threads`, whose partial sums fit in its
/// scratch. Of 48 KiB Kokkos reserves a value a thread.
template <int sums, class Real>
constexpr int threads_in_scratch(int threads) {
  while (threads * (sums * sizeof(Real) + sizeof(double)) > 47 * 1024) threads /= 2;
  return threads;
}

/// First step on devices: `members` threads sum the rows of a leaf and column, each with several
/// rows in flight. A team handles a tile of columns and consecutive leaves, as many as its threads
/// allow, and joins them: the tree is the same whichever team joins which nodes. Leaves are short,
/// so that rows written at the same time are close in memory. The number of rows in flight is the
/// same for any number of columns: the compiler's choice of fused multiply-adds, and so the bits,
/// depend on it.
template <class Exec, class Terms>
struct ChunkSumsOnDevice {
  using Real = typename Terms::Real;
  static constexpr int members = 16, at_once = 4;
  static constexpr int most_threads = threads_in_scratch<Terms::count, Real>(512);
  static constexpr std::int64_t most_leaf_rows = 128, enough_teams = 256;
  static_assert(most_leaf_rows <= least_chunk_rows<Exec>);
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<most_threads>>;
  using Team = typename Policy::member_type;

  Terms terms;
  std::int64_t rows, leaves;
  Nodes<Real> nodes;  ///< one per team
  int tiles, width, leaves_of_team = 1;

  ChunkSumsOnDevice(Terms const& terms_, RowChunks const& chunks, std::int64_t columns)
      : terms(terms_), rows(chunks.rows), leaves(ceil_div(rows, most_leaf_rows)) {
    constexpr std::int64_t widest = most_threads / members;
    tiles = static_cast<int>(ceil_div(columns, widest));
    width = static_cast<int>(ceil_div(columns, std::int64_t{std::max(tiles, 1)}));
    std::int64_t const most = chunks.ends_nodes ? chunks.size / most_leaf_rows : leaves;
    while (2 * leaves_of_team * members * width <= most_threads && 2 * leaves_of_team <= most &&
           leaves * tiles >= 2 * leaves_of_team * enough_teams)
      leaves_of_team *= 2;
    nodes = {nullptr, ceil_div(leaves, std::int64_t{leaves_of_team}), columns};
    nodes.rows_of_node = leaves_of_team * most_leaf_rows;
  }

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto* const scratch = static_cast<Real*>(
        team.team_scratch(0).get_shmem_aligned(Terms::count * threads() * sizeof(Real), 16));
    bool const down = goes_down(terms);
    int const rank = team.team_rank(), places = leaves_of_team * members;
    int const place = down ? rank % places : rank / width, c = down ? rank / places : rank % width;
    std::int64_t const j = team.league_rank() % tiles * width + c;
    std::int64_t const node = team.league_rank() / tiles, first = node * leaves_of_team;
    auto const here = static_cast<int>(
        (leaves - first < leaves_of_team ? leaves - first : leaves_of_team) * members);
    bool const busy = place < here && c < width && j < nodes.columns;
    if (busy) {
      Real sums[Terms::count] = {};
      fold_member(first + place / members, place % members, j, sums);
      for (int q = 0; q < Terms::count; ++q) scratch[q * threads() + place * width + c] = sums[q];
    }
    join_in_scratch<FoldOf<Terms>, Terms::count>(team, busy ? place : most_threads, scratch + c,
                                                 width, threads(), here);
    if (!busy || place > 0) return;
    for (int q = 0; q < Terms::count; ++q) nodes.at(q, j, node) = scratch[q * threads() + c];
  }

  KOKKOS_FORCEINLINE_FUNCTION void fold_member(std::int64_t leaf, int member, std::int64_t j,
                                               Real (&sums)[Terms::count]) const {
    std::int64_t const end = (leaf + 1) * most_leaf_rows, last = end < rows ? end : rows;
    std::int64_t i = leaf * most_leaf_rows + member;
    auto const all = [&](int, int q) -> Real& { return sums[q]; };
    for (; i + (at_once - 1) * members < last; i += at_once * members)
      fold_entries<at_once>(terms, i, members, j, all);
    for (; i < last; i += members) fold_entries<1>(terms, i, members, j, all);
  }

  KOKKOS_FORCEINLINE_FUNCTION int threads() const {
    return (leaves_of_team * members * width + 31) / 32 * 32;
  }

  void launch(Exec const& exec, char const* label) const {
    if (nodes.count == 0 || nodes.columns == 0) return;
    Policy policy(exec, static_cast<int>(nodes.count * tiles), threads());
    policy.set_scratch_size(
        0, Kokkos::PerTeam(Terms::count * threads() * static_cast<int>(sizeof(Real)) + 64));
    Kokkos::parallel_for(label, policy, *this);
  }
};

template <class Exec, class Terms>
using ChunkSums = std::conditional_t<runs_on_host_v<Exec>, ChunkSumsOnHost<Exec, Terms>,
                                     ChunkSumsOnDevice<Exec, Terms>>;

/// Devices: reduces the nodes of a level by a factor of `of_team`, one team a node and sum.
template <class Exec, class Fold, class Real>
struct JoinNodes {
  static constexpr int threads = 1024;
  static constexpr std::int64_t of_team = std::int64_t{16} * threads;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads>>;

  Nodes<Real> from, to;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    auto* const scratch =
        static_cast<Real*>(team.team_scratch(0).get_shmem_aligned(threads * sizeof(Real), 16));
    std::int64_t const sum = team.league_rank() / to.count, node = team.league_rank() % to.count;
    std::int64_t const first = node * of_team, rest = from.count - first;
    Real const* const nodes = from.data + sum * from.count + first;
    join_by_team<Fold, 1>(
        team, scratch, rest < of_team ? rest : of_team,
        [&](int, std::int64_t i) { return nodes[i]; }, to.data + sum * to.count + node);
  }

  void launch(Exec const& exec, int sums) const {
    Policy policy(exec, static_cast<int>(to.count * sums), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(threads * static_cast<int>(sizeof(Real)) + 64));
    Kokkos::parallel_for("Blockspan::join_nodes", policy, *this);
  }
};

/// Few enough nodes for one team: `nodes` themselves, or the nodes of a higher level, written
/// behind them, where there must be capacity for ceil_div(nodes.count, of_team) more. sums: per
/// column.
template <class Fold, class Exec, class Real>
Nodes<Real> few_nodes(Exec const& exec, Nodes<Real> nodes, int sums) {
  using Join = JoinNodes<Exec, Fold, Real>;
  if constexpr (!runs_on_host_v<Exec>)
    if (nodes.count > Join::of_team) {
      std::int64_t const all = sums * nodes.columns;
      Nodes<Real> to = nodes;
      to.data += all * nodes.count;
      to.count = ceil_div(nodes.count, Join::of_team);
      Join{nodes, to}.launch(exec, static_cast<int>(all));
      return to;
    }
  return nodes;
}

/// Capacity, in nodes, for `count` leaves and the level that few_nodes appends.
template <class Exec, class Real>
std::int64_t room_for_nodes(std::int64_t count) {
  return count + ceil_div(count, JoinNodes<Exec, AddTerms, Real>::of_team);
}

/// The same for `rows` rows, an upper bound for any number of columns.
template <class Exec, class Real>
std::int64_t most_nodes(std::int64_t rows) {
  return room_for_nodes<Exec, Real>(ceil_div(rows, least_chunk_rows<Exec>));
}

/// The nodes of Terms, in memory(count), which returns storage for `count` values. Asynchronous.
template <class Exec, class Terms, class Memory>
Nodes<typename Terms::Real> sum_chunks(Exec const& exec, char const* label, Terms const& terms,
                                       RowChunks const& chunks, std::int64_t columns,
                                       Memory const& memory) {
  using Real = typename Terms::Real;
  ChunkSums<Exec, Terms> kernel(terms, chunks, columns);
  kernel.nodes.data =
      memory(room_for_nodes<Exec, Real>(kernel.nodes.count) * Terms::count * columns);
  kernel.launch(exec, label);
  if (chunks.ends_nodes) return kernel.nodes;
  return few_nodes<FoldOf<Terms>>(exec, kernel.nodes, Terms::count);
}

/// Second step, one team a column (on hosts one thread): computes the roots of the column's trees,
/// the first `of_first` from `first`, the others from `second`, and calls take(j, sums). A source
/// has a `count` of nodes and operator()(q, j, node). Take: `count` sums of a column.
template <class Exec, class Fold, class Real, int of_first, class First, class Second, class Take>
struct TakeRoots {
  static constexpr int most_threads = threads_in_scratch<Take::count, Real>(1024);
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<most_threads>>;
  static constexpr int of_second = Take::count - of_first;

  First first;
  Second second;
  Take take;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    auto* const scratch = static_cast<Real*>(
        team.team_scratch(0).get_shmem_aligned(Take::count * team.team_size() * sizeof(Real), 16));
    std::int64_t const j = team.league_rank();
    Real roots[Take::count] = {};
    join_by_team<Fold, of_first>(
        team, scratch, first.count, [&](int q, std::int64_t i) { return first(q, j, i); }, roots);
    if constexpr (of_second > 0)
      join_by_team<Fold, of_second>(
          team, scratch + of_first * team.team_size(), second.count,
          [&](int q, std::int64_t i) { return second(q, j, i); }, roots + of_first);
    if (team.team_rank() == 0) take(j, roots);
  }

  void launch(Exec const& exec, char const* label, std::int64_t columns) const {
    if (columns == 0) return;
    int threads = 1;
    if constexpr (!runs_on_host_v<Exec>)
      threads = std::max(first.count, second.count) <= 2048 ? 256 : most_threads;
    Policy policy(exec, static_cast<int>(columns), threads);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(Take::count * threads * static_cast<int>(sizeof(Real)) + 64));
    Kokkos::parallel_for(label, policy, *this);
  }
};

/// Both steps; calls take(j, sums) in a kernel with all sums of a column. Asynchronous, except over
/// ranks without a device transport.
template <class Exec, class Terms, class Take>
void reduce_columns(Exec const& exec, char const* label, Terms const& terms,
                    RowChunks const& chunks, std::int64_t columns, Take const& take,
                    Workspace<Exec>& workspace) {
  using Real = typename Terms::Real;
  auto const here = sum_chunks(exec, label, terms, chunks, columns, [&](std::int64_t count) {
    return workspace.template device<Real>(exec, Workspace<Exec>::partials, count);
  });
  auto const nodes = over_ranks<FoldOf<Terms>>(exec, here, Terms::count, chunks, workspace);
  using Source = Nodes<Real>;
  TakeRoots<Exec, FoldOf<Terms>, Real, Take::count, Source, Source, Take>{nodes, nodes, take}
      .launch(exec, "Blockspan::column_roots", columns);
}

/// Writes sum q of column j to sums[q * columns + j].
template <class Real, int count_>
struct StoreSums {
  static constexpr int count = count_;
  Real* sums;
  std::int64_t columns;

  KOKKOS_FUNCTION void operator()(std::int64_t j, Real const* roots) const {
    for (int q = 0; q < count; ++q) sums[q * columns + j] = roots[q];
  }
};

/// The sums of all columns on the host: entry q * columns + j is sum q of column j. Fences exec.
template <class Exec, class Terms>
std::vector<typename Terms::Real> columns_to_host(Exec const& exec, char const* label,
                                                  Terms const& terms, RowChunks const& chunks,
                                                  std::int64_t columns,
                                                  Workspace<Exec>& workspace) {
  using Real = typename Terms::Real;
  std::int64_t const count = Terms::count * columns;
  Real* const sums = workspace.template device<Real>(exec, Workspace<Exec>::result, count);
  reduce_columns(exec, label, terms, chunks, columns, StoreSums<Real, Terms::count>{sums, columns},
                 workspace);
  std::vector<Real> result(static_cast<std::size_t>(count));
  copy_elements<Exec, Kokkos::HostSpace, typename Exec::memory_space>(exec, result.data(), sums,
                                                                      count);
  exec.fence("Blockspan: sums of columns");
  return result;
}

}  // namespace blockspan::blocks
