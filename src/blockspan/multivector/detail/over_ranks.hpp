#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/entries.hpp>
#include <blockspan/multivector/detail/row_chunks.hpp>
#include <blockspan/multivector/detail/small_ref.hpp>
#include <blockspan/multivector/workspace.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

// The last step of a sum over rows where these are spread over ranks (RowSpace): local numbers go
// to all ranks. Where these have devices with a transport of their own, nothing waits; else the
// numbers go by way of the host, which waits for the instance, so that nothing of it can be
// recorded and replayed. With one rank nothing here runs.

namespace blockspan::detail {

/// Numbers of nodes of one level, those of a column side by side; or those of a node, as ranks give
/// them. A column may have `parts` real ones, whose numbers are added.
template <class Real>
struct Nodes {
  Real* data;
  std::int64_t count, columns;  ///< nodes, and real columns
  int parts = 1;
  std::int64_t numbers_of_rank = 0;  ///< 0: those of a column side by side

  KOKKOS_FORCEINLINE_FUNCTION Real& at(int q, std::int64_t j, std::int64_t node) const {
    std::int64_t const number = q * columns + j;
    return data[numbers_of_rank == 0 ? number * count + node : node * numbers_of_rank + number];
  }
  /// Number q of column j, the parts together.
  KOKKOS_FORCEINLINE_FUNCTION Real operator()(int q, std::int64_t j, std::int64_t node) const {
    Real sum = at(q, j * parts, node);
    for (int p = 1; p < parts; ++p) sum += at(q, j * parts + p, node);
    return sum;
  }
};

/// Number q of column j of a node.
template <class Source>
struct NumberOfColumn {
  Source nodes;
  int q;
  std::int64_t j;
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(std::int64_t node) const { return nodes(q, j, node); }
};

/// The chunks of this rank's rows of a block.
template <class Exec>
RowChunks local_chunks(std::int64_t rows, Workspace<Exec> const& workspace) {
  return row_chunks<Exec>(rows, workspace.rows().global_rows(rows));
}

/// Room on the host for the numbers of the nodes of all ranks.
template <class Number, class Exec>
Number* room_for_ranks(Exec const& exec, std::int64_t width, Workspace<Exec>& workspace) {
  std::int64_t const nodes = std::max<std::int64_t>(workspace.rows().nodes_of_all(), 1);
  return workspace.template host<Number>(exec, Workspace<Exec>::ranks, nodes * width);
}

/// Numbers of columns that this rank has for a sum: `numbers` of a column, by nodes of its rows, a
/// chunk each on hosts, or one. Source: `count` nodes, and operator()(q, j, node).
template <class Source>
struct SumsOfRank {
  Source nodes;
  int numbers;
};

/// to[q * columns + j] = the node of number q of column j: a team each.
template <class Exec, class Fold, class Real, class Source>
struct NodeOfRank {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256>>;

  Source nodes;
  std::int64_t columns;
  Real* to;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    auto* const scratch = static_cast<Real*>(
        team.team_scratch(0).get_shmem_aligned(team.team_size() * sizeof(Real), 16));
    std::int64_t const number = team.league_rank();
    auto const q = static_cast<int>(number / columns);
    Real root[1] = {};
    join_by_team<Fold, 1>(
        team, scratch, nodes.count,
        [&](int, std::int64_t i) { return nodes(q, number % columns, i); }, root);
    if (team.team_rank() == 0) to[number] = root[0];
  }

  void launch(Exec const& exec, int numbers) const {
    constexpr int threads = runs_on_host_v<Exec> ? 1 : 256;
    Policy policy(exec, static_cast<int>(numbers * columns), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(threads * static_cast<int>(sizeof(Real)) + 64));
    Kokkos::parallel_for("Blockspan::node_of_rank", policy, *this);
  }
};

/// Writes the node of the chunks [begin, end) of every number, or (end 0) that of all; moves `to`
/// on.
template <class Fold, class Real, class Source>
void give_node(Real*& to, std::int64_t columns, std::int64_t begin, std::int64_t end,
               SumsOfRank<Source> const& some) {
  for (int q = 0; q < some.numbers; ++q)
    for (std::int64_t j = 0; j < columns; ++j)
      *to++ = join_range<Fold, Real>(begin, end > 0 ? end : some.nodes.count,
                                     NumberOfColumn<Source>{some.nodes, q, j});
}

/// sums_over_ranks() where a rank gives one node, of all its rows, that Exec makes.
template <class Fold, class Real, class Exec, class... Sources>
Nodes<Real> nodes_over_ranks(Exec const& exec, std::int64_t columns, Workspace<Exec>& workspace,
                             SumsOfRank<Sources> const&... sums) {
  auto const& rows = workspace.rows();
  auto const& ranks = rows.communicator();
  require(rows.gives_one_node(), "RowSpace", "devices give one node a rank, but the unit is ",
          rows.unit());
  std::int64_t const width = (sums.numbers + ...) * columns;
  Real* const all =
      workspace.template device<Real>(exec, Workspace<Exec>::ranks, ranks.size() * width);
  Real* const mine = all + ranks.rank() * width;
  Real* to = mine;
  auto const join = [&]<class Source>(SumsOfRank<Source> const& some) {
    NodeOfRank<Exec, Fold, Real, Source>{some.nodes, columns, to}.launch(exec, some.numbers);
    to += some.numbers * columns;
  };
  (join(sums), ...);
  if (auto* const device = rows.device_sums()) {
    device->gather(native_stream(exec), reinterpret_cast<std::byte*>(all),
                   width * static_cast<std::int64_t>(sizeof(Real)));
    return {all, ranks.size(), columns, 1, width};
  }
  Real* const host = room_for_ranks<Real>(exec, width, workspace);
  Real* const own = host + (rows.nodes().empty() ? 0 : rows.my_first_node() * width);
  copy_elements<Exec, Kokkos::HostSpace, typename Exec::memory_space>(exec, own, mine, width);
  exec.fence("Blockspan: numbers for the other ranks");
  rows.template fold<Fold>(host, width);
  copy_elements<Exec, typename Exec::memory_space, Kokkos::HostSpace>(exec, all, host, width);
  return {all, 1, columns};
}

/// Several sums of the same columns, those of one behind those of the other, over the rows of all
/// ranks: one message. Returns one node, or one a rank, valid until the workspace is used again.
template <class Fold, class Real, class Exec, class... Sources>
Nodes<Real> sums_over_ranks(Exec const& exec, RowChunks const& chunks, std::int64_t columns,
                            Workspace<Exec>& workspace, SumsOfRank<Sources> const&... sums) {
  auto const& rows = workspace.rows();
  rows.require_rows(chunks.rows, "sums over ranks");
  if constexpr (runs_on_host_v<Exec>)
    if (rows.device_sums() == nullptr) {
      std::int64_t const width = (sums.numbers + ...) * columns;
      Real* const all = room_for_ranks<Real>(exec, width, workspace);
      exec.fence("Blockspan: numbers for the other ranks");
      Real* to = all + rows.my_first_node() * width;
      for (auto const& [first, last] : rows.nodes()) {
        std::int64_t const begin = first / chunks.size;
        std::int64_t const end = last - first == chunks.rows ? 0 : ceil_div(last, chunks.size);
        (give_node<Fold>(to, columns, begin, end, sums), ...);
      }
      rows.template fold<Fold>(all, width);
      return {all, 1, columns};
    }
  return nodes_over_ranks<Fold, Real>(exec, columns, workspace, sums...);
}

/// One sum, over the rows of all ranks where there are several.
template <class Fold, class Exec, class Real>
Nodes<Real> over_ranks(Exec const& exec, Nodes<Real> const& local, int numbers,
                       RowChunks const& chunks, Workspace<Exec>& workspace) {
  if (!workspace.rows().distributed()) return local;
  return sums_over_ranks<Fold, Real>(exec, chunks, local.columns / local.parts, workspace,
                                     SumsOfRank<Nodes<Real>>{local, numbers});
}

/// G = the sum of the matrices of all ranks, `apart` numbers from one rank's to the next's.
template <class Scalar>
struct AddMatrices {
  Scalar const* first;
  std::int64_t ranks, apart;
  BlockRef<Scalar> G;

  KOKKOS_FUNCTION void operator()(std::int64_t entry) const {
    G(entry % G.rows, entry / G.rows) = join_range<AddTerms, Scalar>(
        0, ranks, [&](std::int64_t rank) { return first[rank * apart + entry]; });
  }
};

/// Each of `matrices` = its sum over all ranks, each the sum over all rows of a rank (unit 0 of
/// RowSpace). One message.
template <class Exec, class Scalar>
void gram_over_ranks(Exec const& exec, std::initializer_list<BlockRef<Scalar>> matrices,
                     std::int64_t local_rows, Workspace<Exec>& workspace) {
  auto const& rows = workspace.rows();
  if (!rows.distributed()) return;
  rows.require_rows(local_rows, "a Gram matrix over ranks");
  std::int64_t width = 0;
  for (auto const& G : matrices) width += G.rows * G.columns;
  auto const each = [&](Scalar* packed, auto const& take) {
    for (auto const& G : matrices) {
      take(G, packed);
      packed += G.rows * G.columns;
    }
  };
  auto const contiguous = [](BlockRef<Scalar> const& G, Scalar* packed) {
    return BlockRef<Scalar>{packed, G.rows, G.columns, 1, G.rows};
  };
  auto const pack = [&](BlockRef<Scalar> const& G, Scalar* to) {
    copy_block<Exec, Scalar>(exec, G, contiguous(G, to));
  };
  if (auto* const device = rows.device_sums()) {
    auto const& ranks = rows.communicator();
    Scalar* const all =
        workspace.template device<Scalar>(exec, Workspace<Exec>::ranks, ranks.size() * width);
    each(all + ranks.rank() * width, pack);
    device->gather(native_stream(exec), reinterpret_cast<std::byte*>(all),
                   width * static_cast<std::int64_t>(sizeof(Scalar)));
    return each(all, [&](BlockRef<Scalar> const& G, Scalar const* first) {
      Kokkos::parallel_for(
          "Blockspan::gram_of_ranks",
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, G.rows * G.columns),
          AddMatrices<Scalar>{first, ranks.size(), width, G});
    });
  }
  Scalar* const all = room_for_ranks<Scalar>(exec, width, workspace);
  Scalar* const packed = workspace.template device<Scalar>(exec, Workspace<Exec>::ranks, width);
  each(packed, pack);
  copy_elements<Exec, Kokkos::HostSpace, typename Exec::memory_space>(
      exec, all + (local_rows > 0 ? rows.my_first_node() : 0) * width, packed, width);
  exec.fence("Blockspan: numbers for the other ranks");
  rows.template fold<AddTerms>(all, width);
  copy_elements<Exec, typename Exec::memory_space, Kokkos::HostSpace>(exec, packed, all, width);
  each(packed, [&](BlockRef<Scalar> const& G, Scalar* from) {
    copy_block<Exec, Scalar>(exec, contiguous(G, from), G);
  });
}

}  // namespace blockspan::detail
