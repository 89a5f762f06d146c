#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/row_chunks.hpp>
#include <blockspan/blocks/small_ref.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

// The last step of a sum over rows that are distributed over ranks (RowSpace): partial sums are
// gathered on all ranks. With a device transport this is asynchronous; otherwise they are staged
// through the host, which fences the instance, so that the sum cannot be captured in a graph. With
// one rank nothing here runs.

namespace blockspan::blocks {

/// Partial sums of one tree level, stored contiguously per column, or per node as gathered from
/// ranks. A column may have `parts` real components, which are added.
template <class Real>
struct Nodes {
  Real* data;
  std::int64_t count, columns;  ///< number of nodes, and of real columns
  int parts = 1;
  std::int64_t sums_of_rank = 0;  ///< values from one node to the next; 0: contiguous per column
  std::int64_t rows_of_node = 0;  ///< 0: a single node of all rows, or sums made by product kernels

  KOKKOS_FORCEINLINE_FUNCTION Real& at(int q, std::int64_t j, std::int64_t node) const {
    std::int64_t const sum = q * columns + j;
    return data[sums_of_rank == 0 ? sum * count + node : node * sums_of_rank + sum];
  }
  /// Sum q of column j, its parts added.
  KOKKOS_FORCEINLINE_FUNCTION Real operator()(int q, std::int64_t j, std::int64_t node) const {
    Real sum = at(q, j * parts, node);
    for (int p = 1; p < parts; ++p) sum += at(q, j * parts + p, node);
    return sum;
  }
};

/// Sum q of column j of a node.
template <class Source>
struct SumOfColumn {
  Source nodes;
  int q;
  std::int64_t j;
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(std::int64_t node) const { return nodes(q, j, node); }
};

/// The chunks of this rank's rows of a block. Their size is that for the rows of all ranks, except
/// on devices with one node a rank: there that for the local rows, enough to keep a device busy.
template <class Exec>
RowChunks local_chunks(std::int64_t rows, Workspace<Exec> const& workspace) {
  RowSpace const& all = workspace.rows();
  if (!runs_on_host_v<Exec> && all.unit() == 0) return row_chunks<Exec>(rows);
  RowChunks chunks = row_chunks<Exec>(rows, all.global_rows(rows));
  chunks.ends_nodes = !all.one_partial_per_rank();
  return chunks;
}

/// Host memory for the sums of the nodes of all ranks, `width` values a node.
template <class Value, class Exec>
Value* room_for_ranks(Exec const& exec, std::int64_t width, Workspace<Exec>& workspace) {
  std::int64_t const nodes = std::max<std::int64_t>(workspace.rows().nodes_of_all(), 1);
  return workspace.template host<Value>(exec, Workspace<Exec>::ranks, nodes * width);
}

/// The nodes that this rank contributes: node k consists of leaves [border[k], border[k + 1]).
/// Small, since functors beyond 512 bytes cannot be captured in graphs.
struct LocalSubtrees {
  static constexpr int most = 20;
  static_assert(RowSpace::most_units <= 1 << most / 2, "nodes grow and then shrink along a range");

  LocalSubtrees(RowSpace const& rows, std::int64_t leaves, std::int64_t rows_of_leaf) {
    if (rows.one_partial_per_rank()) {
      border[++count] = static_cast<std::int32_t>(leaves);
      return;
    }
    require(rows_of_leaf > 0, "RowSpace", "one node a rank is given, but the unit is ",
            rows.unit());
    for (auto const& [begin, end] : rows.nodes())
      border[++count] = static_cast<std::int32_t>(ceil_div(end, rows_of_leaf));
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first(int k) const { return border[k]; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t leaves(int k) const { return border[k + 1] - border[k]; }

  int count = 0;
  std::int32_t border[most + 1] = {};
};

/// Sums of the nodes of all ranks, `width` values a node, and of those of this rank, in memory of
/// Exec.
template <class Value>
struct NodesOfRanks {
  Value *all, *mine;
  std::int64_t width;
};

template <class Value, class Exec>
NodesOfRanks<Value> nodes_of_ranks(Exec const& exec, std::int64_t width,
                                   Workspace<Exec>& workspace) {
  auto const& rows = workspace.rows();
  bool const here = rows.device_sums() != nullptr;
  std::int64_t const of_rank = std::max<std::int64_t>(rows.most_nodes_of_rank(), 1) * width;
  Value* const all = workspace.template device<Value>(
      exec, Workspace<Exec>::ranks, (here ? rows.communicator().size() : 1) * of_rank);
  return {all, here ? all + rows.communicator().rank() * of_rank : all, width};
}

/// Joins the nodes of all ranks in place, one thread a sum.
template <class Fold, class Value>
struct JoinOverRanks {
  Value* values;
  std::int64_t width, joins;
  std::int64_t const* pairs;

  KOKKOS_FUNCTION void operator()(std::int64_t sum) const {
    for (std::int64_t i = 0; i < joins; ++i)
      Fold::fold(values[pairs[2 * i] * width + sum], values[pairs[2 * i + 1] * width + sum]);
  }
};

/// The gathered contributions: the node of all rows, or one a rank.
template <class Value>
struct Given {
  Value* first;
  std::int64_t nodes;
};

/// Gathers the sums of all ranks; this rank has written its own to `nodes.mine`.
template <class Fold, class Exec, class Value>
Given<Value> gather_nodes(Exec const& exec, NodesOfRanks<Value> const& nodes,
                          Workspace<Exec>& workspace) {
  auto const& rows = workspace.rows();
  std::int64_t const width = nodes.width;
  if (auto* const device = rows.device_sums()) {
    device->gather(native_stream(exec), reinterpret_cast<std::byte*>(nodes.all),
                   rows.most_nodes_of_rank() * width * static_cast<std::int64_t>(sizeof(Value)));
    if (rows.one_partial_per_rank()) return {nodes.all, rows.communicator().size()};
    Kokkos::parallel_for("Blockspan::join_over_ranks", IndexRange<Exec>(exec, 0, width),
                         JoinOverRanks<Fold, Value>{nodes.all, width, rows.nodes_of_all() - 1,
                                                    workspace.joins(exec)});
    return {nodes.all + rows.padded_root() * width, 1};
  }
  Value* const host = room_for_ranks<Value>(exec, width, workspace);
  copy_elements<Exec, Kokkos::HostSpace, typename Exec::memory_space>(
      exec, host + rows.my_first_node() * width, nodes.mine,
      static_cast<std::int64_t>(rows.nodes().size()) * width);
  exec.fence("Blockspan: sums for the other ranks");
  rows.template fold<Fold>(host, width);
  copy_elements<Exec, typename Exec::memory_space, Kokkos::HostSpace>(exec, nodes.all, host, width);
  return {nodes.all, 1};
}

/// The partial sums of this rank, `count` of a column, as nodes of its rows. Source: has a `count`
/// of nodes, and operator()(q, j, node).
template <class Source>
struct SumsOfRank {
  Source nodes;
  int count;

  LocalSubtrees given(RowSpace const& rows) const {
    std::int64_t rows_of_leaf = 0;
    if constexpr (requires { nodes.rows_of_node; }) rows_of_leaf = nodes.rows_of_node;
    return {rows, nodes.count, rows_of_leaf};
  }
};

/// to[k * width + q * columns + j] = the k-th node of sum q of column j; one team each.
template <class Exec, class Fold, class Real, class Source>
struct NodeOfRank {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256>>;

  Source nodes;
  LocalSubtrees given;
  std::int64_t columns, width;
  Real* to;
  int sums;  ///< of all columns

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    auto* const scratch = static_cast<Real*>(
        team.team_scratch(0).get_shmem_aligned(team.team_size() * sizeof(Real), 16));
    int const sum = team.league_rank() % sums, k = team.league_rank() / sums;
    auto const q = static_cast<int>(sum / columns);
    Real root[1] = {};
    join_by_team<Fold, 1>(
        team, scratch, given.leaves(k),
        [&](int, std::int64_t i) { return nodes(q, sum % columns, given.first(k) + i); }, root);
    if (team.team_rank() == 0) to[k * width + sum] = root[0];
  }

  void launch(Exec const& exec) const {
    if (given.count == 0 || sums == 0) return;
    constexpr int threads = runs_on_host_v<Exec> ? 1 : 256;
    Policy policy(exec, sums * given.count, threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(threads * static_cast<int>(sizeof(Real)) + 64));
    Kokkos::parallel_for("Blockspan::node_of_rank", policy, *this);
  }
};

/// Writes the node of the chunks [begin, end) (end 0: of all) of every sum, and advances `to`.
template <class Fold, class Real, class Source>
void give_node(Real*& to, std::int64_t columns, std::int64_t begin, std::int64_t end,
               SumsOfRank<Source> const& some) {
  for (int q = 0; q < some.count; ++q)
    for (std::int64_t j = 0; j < columns; ++j)
      *to++ = join_range<Fold, Real>(begin, end > 0 ? end : some.nodes.count,
                                     SumOfColumn<Source>{some.nodes, q, j});
}

/// sums_over_ranks() where the sums of this rank are joined in kernels of Exec.
template <class Fold, class Real, class Exec, class... Sources>
Nodes<Real> nodes_over_ranks(Exec const& exec, std::int64_t columns, Workspace<Exec>& workspace,
                             SumsOfRank<Sources> const&... sums) {
  std::int64_t const width = (sums.count + ...) * columns;
  auto const nodes = nodes_of_ranks<Real>(exec, width, workspace);
  Real* to = nodes.mine;
  auto const join = [&]<class Source>(SumsOfRank<Source> const& some) {
    auto const all = static_cast<int>(some.count * columns);
    NodeOfRank<Exec, Fold, Real, Source>{
        some.nodes, some.given(workspace.rows()), columns, width, to, all}
        .launch(exec);
    to += all;
  };
  (join(sums), ...);
  auto const [first, given] = gather_nodes<Fold>(exec, nodes, workspace);
  return {first, given, columns, 1, width};
}

/// Several sums of the same columns over the rows of all ranks, in one message; those of the first
/// source come first. Returns one node, or one a rank, valid until the workspace is used again.
template <class Fold, class Real, class Exec, class... Sources>
Nodes<Real> sums_over_ranks(Exec const& exec, RowChunks const& chunks, std::int64_t columns,
                            Workspace<Exec>& workspace, SumsOfRank<Sources> const&... sums) {
  auto const& rows = workspace.rows();
  rows.require_rows(chunks.rows, "sums over ranks");
  if constexpr (runs_on_host_v<Exec>)
    if (rows.device_sums() == nullptr) {
      std::int64_t const width = (sums.count + ...) * columns;
      Real* const all = room_for_ranks<Real>(exec, width, workspace);
      exec.fence("Blockspan: sums for the other ranks");
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

/// One sum, over the rows of all ranks; with one rank `local` itself.
template <class Fold, class Exec, class Real>
Nodes<Real> over_ranks(Exec const& exec, Nodes<Real> const& local, int count,
                       RowChunks const& chunks, Workspace<Exec>& workspace) {
  if (!workspace.rows().distributed()) return local;
  return sums_over_ranks<Fold, Real>(exec, chunks, local.columns / local.parts, workspace,
                                     SumsOfRank<Nodes<Real>>{local, count});
}

/// Where a rank writes the nodes of a Gram matrix that it contributes: the first node, and the
/// distance between nodes in values.
template <class Scalar>
struct GramNodes {
  BlockRef<Scalar> first;
  std::int64_t apart;
};

/// G = the sum of the matrices of all ranks, which are `apart` values apart.
template <class Scalar>
struct AddMatrices {
  Scalar const* first;
  std::int64_t given, apart;
  BlockRef<Scalar> G;

  KOKKOS_FUNCTION void operator()(std::int64_t entry) const {
    G(entry % G.rows, entry / G.rows) = join_range<AddTerms, Scalar>(
        0, given, [&](std::int64_t k) { return first[k * apart + entry]; });
  }
};

/// Gram matrices as sums over the rows of all ranks, in one message: the kernel that sums the rows
/// of this rank writes nodes(i), then join() forms the matrices. With one rank both are the same
/// memory.
template <class Exec, class Scalar, std::size_t count>
class GramsOverRanks {
 public:
  using Matrices = std::array<BlockRef<Scalar>, count>;

  GramsOverRanks(Exec const& exec, Matrices const& matrices, std::int64_t local_rows,
                 Workspace<Exec>& workspace)
      : exec_(exec), matrices_(matrices), workspace_(workspace) {
    if (!workspace.rows().distributed()) return;
    workspace.rows().require_rows(local_rows, "a Gram matrix over ranks");
    std::int64_t width = 0;
    for (auto const& G : matrices_) width += G.rows * G.columns;
    nodes_ = nodes_of_ranks<Scalar>(exec, width, workspace);
  }

  GramNodes<Scalar> nodes(std::size_t which) const {
    auto const& G = matrices_[which];
    if (!workspace_.rows().distributed()) return {G, 0};
    return {{nodes_.mine + begin(which), G.rows, G.columns, 1, G.rows}, nodes_.width};
  }

  void join() const {
    if (!workspace_.rows().distributed()) return;
    auto const [first, given] = gather_nodes<AddTerms>(exec_, nodes_, workspace_);
    for (std::size_t which = 0; which < count; ++which) {
      auto const& G = matrices_[which];
      Kokkos::parallel_for("Blockspan::gram_of_ranks",
                           IndexRange<Exec>(exec_, 0, G.rows * G.columns),
                           AddMatrices<Scalar>{first + begin(which), given, nodes_.width, G});
    }
  }

 private:
  std::int64_t begin(std::size_t which) const {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < which; ++i) at += matrices_[i].rows * matrices_[i].columns;
    return at;
  }

  Exec exec_;
  Matrices matrices_;
  Workspace<Exec>& workspace_;
  NodesOfRanks<Scalar> nodes_{};
};

}  // namespace blockspan::blocks
