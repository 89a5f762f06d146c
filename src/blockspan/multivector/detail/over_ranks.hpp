#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/entries.hpp>
#include <blockspan/multivector/detail/row_chunks.hpp>
#include <blockspan/multivector/detail/small_ref.hpp>
#include <blockspan/multivector/workspace.hpp>
#include <blockspan/support/backend.hpp>

// The last step of a sum over rows where these are spread over ranks (RowSpace): local numbers go
// by way of the host to all ranks. Waits for the instance, so nothing of it can be recorded and
// replayed. With one rank nothing here runs.

namespace blockspan::detail {

/// Numbers of nodes of one level, those of a column side by side. A column may have `parts` real
/// ones, whose numbers are added.
template <class Real>
struct Nodes {
  Real* data;
  std::int64_t count, columns;  ///< nodes, and real columns
  int parts = 1;

  KOKKOS_FORCEINLINE_FUNCTION Real& at(int q, std::int64_t j, std::int64_t node) const {
    return data[(q * columns + j) * count + node];
  }
  /// Number q of column j, the parts together.
  KOKKOS_FORCEINLINE_FUNCTION Real operator()(int q, std::int64_t j, std::int64_t node) const {
    Real sum = at(q, j * parts, node);
    for (int p = 1; p < parts; ++p) sum += at(q, j * parts + p, node);
    return sum;
  }
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

/// `local`: nodes of this rank's rows, a chunk each on hosts, behind which is room for a root.
/// Returns what they are together with those of the other ranks: one node, and one real column a
/// column.
template <class Fold, class Exec, class Real>
Nodes<Real> over_ranks(Exec const& exec, Nodes<Real> const& local, int numbers,
                       RowChunks const& chunks, Workspace<Exec>& workspace) {
  auto const& rows = workspace.rows();
  if (!rows.distributed()) return local;
  rows.require_rows(chunks.rows, "sums over ranks");
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
        *to++ = join_range<Fold, Real>(begin, end, [&](std::int64_t i) { return here(q, j, i); });
  }
  rows.template fold<Fold>(all, width);
  copy_elements<Exec, typename Exec::memory_space, Kokkos::HostSpace>(exec, local.data, all, width);
  return {local.data, 1, columns, 1};
}

/// G = the sum of the G of all ranks, each the sum over all its rows (unit 0 of RowSpace).
template <class Exec, class Scalar>
void gram_over_ranks(Exec const& exec, BlockRef<Scalar> const& G, std::int64_t local_rows,
                     Workspace<Exec>& workspace) {
  auto const& rows = workspace.rows();
  if (!rows.distributed()) return;
  rows.require_rows(local_rows, "a Gram matrix over ranks");
  std::int64_t const width = G.rows * G.columns;
  Scalar* const all = room_for_ranks<Scalar>(exec, width, workspace);
  Scalar* const packed = workspace.template device<Scalar>(exec, Workspace<Exec>::ranks, width);
  BlockRef<Scalar> const contiguous{packed, G.rows, G.columns, 1, G.rows};
  copy_block<Exec, Scalar>(exec, G, contiguous);
  copy_elements<Exec, Kokkos::HostSpace, typename Exec::memory_space>(
      exec, all + (local_rows > 0 ? rows.my_first_node() : 0) * width, packed, width);
  exec.fence("Blockspan: numbers for the other ranks");
  rows.template fold<AddTerms>(all, width);
  copy_elements<Exec, typename Exec::memory_space, Kokkos::HostSpace>(exec, packed, all, width);
  copy_block<Exec, Scalar>(exec, contiguous, G);
}

}  // namespace blockspan::detail
