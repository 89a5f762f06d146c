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
template <class Real>
struct NumberOfColumn {
  Nodes<Real> nodes;
  int q;
  std::int64_t j;
  KOKKOS_FORCEINLINE_FUNCTION Real operator()(std::int64_t node) const { return nodes(q, j, node); }
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

/// to[q * columns + j] = the node of number q of column j: a team each.
template <class Exec, class Fold, class Real>
struct NodeOfRank {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256>>;

  Nodes<Real> nodes;
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

/// over_ranks() without the host: the nodes of all ranks, one each, behind each other.
template <class Fold, class Exec, class Real>
Nodes<Real> gather_on_device(Exec const& exec, Nodes<Real> const& local, int numbers,
                             DeviceTransport& device, Workspace<Exec>& workspace) {
  auto const& ranks = workspace.rows().communicator();
  std::int64_t const columns = local.columns / local.parts, width = numbers * columns;
  Real* const all =
      workspace.template device<Real>(exec, Workspace<Exec>::ranks, ranks.size() * width);
  NodeOfRank<Exec, Fold, Real>{local, columns, all + ranks.rank() * width}.launch(exec, numbers);
  device.gather(native_stream(exec), reinterpret_cast<std::byte*>(all),
                width * static_cast<std::int64_t>(sizeof(Real)));
  return {all, ranks.size(), columns, 1, width};
}

/// `local`: nodes of this rank's rows, a chunk each on hosts, behind which is room for a root.
/// Returns what they are together with those of the other ranks: one node, or one a rank, and one
/// real column a column.
template <class Fold, class Exec, class Real>
Nodes<Real> over_ranks(Exec const& exec, Nodes<Real> const& local, int numbers,
                       RowChunks const& chunks, Workspace<Exec>& workspace) {
  auto const& rows = workspace.rows();
  if (!rows.distributed()) return local;
  rows.require_rows(chunks.rows, "sums over ranks");
  if (auto* const device = rows.device_sums())
    return gather_on_device<Fold>(exec, local, numbers, *device, workspace);
  std::int64_t const columns = local.columns / local.parts, width = numbers * columns;
  Real* const all = room_for_ranks<Real>(exec, width, workspace);
  Nodes<Real> here = local;
  std::int64_t const count = numbers * local.columns * local.count;
  if constexpr (!runs_on_host_v<Exec>) {
    here.data = workspace.template host<Real>(exec, Workspace<Exec>::partials, count);
    if (count > 0)
      copy_elements<Exec, Kokkos::HostSpace, typename Exec::memory_space>(exec, here.data,
                                                                          local.data, count);
  }
  exec.fence("Blockspan: numbers for the other ranks");
  Real* to = all + rows.my_first_node() * width;
  for (auto const& [first, last] : rows.nodes()) {
    bool const whole = last - first == chunks.rows;
    std::int64_t const begin = first / chunks.size,
                       end = whole ? here.count : ceil_div(last, chunks.size);
    for (int q = 0; q < numbers; ++q)
      for (std::int64_t j = 0; j < columns; ++j)
        *to++ = join_range<Fold, Real>(begin, end, NumberOfColumn<Real>{here, q, j});
  }
  rows.template fold<Fold>(all, width);
  copy_elements<Exec, typename Exec::memory_space, Kokkos::HostSpace>(exec, local.data, all, width);
  return {local.data, 1, columns, 1};
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
