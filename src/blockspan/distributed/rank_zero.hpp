#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/halo/exchange_lists.hpp>
#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/sparse/host/host_csr.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

// Computations of rank 0 with the rows of all ranks. All ranks call these functions together.

namespace blockspan::distributed {

/// Calls f() on rank 0; an exception there is an Error on all ranks.
template <class Function>
void on_rank_zero(Communicator const& ranks, Function const& f) {
  ranks.run_agreed([&] {
    if (ranks.rank() == 0) f();
  });
}

/// A block of all rows on the host of rank 0, without rows on other ranks. local: the local rows,
/// on the host.
template <class LocalView>
auto block_on_rank_zero(RowSpace const& space, LocalView const& local) {
  using Whole = Kokkos::View<typename LocalView::non_const_value_type**, Kokkos::LayoutLeft,
                             Kokkos::HostSpace>;
  Whole whole;
  on_rank_zero(space.communicator(), [&] {
    whole = allocate<Whole>(Kokkos::DefaultHostExecutionSpace(), "Blockspan::distributed::whole",
                            space.cuts().back(), local.extent(1));
  });
  gather_block(space, local, whole);
  return whole;
}

/// Gathers the block of all rows on rank 0, calls f(whole) there, which modifies it in place, and
/// overwrites `local` with the local rows of the result.
template <class LocalView, class Function>
void change_on_rank_zero(RowSpace const& space, LocalView const& local, Function const& f) {
  auto const whole = block_on_rank_zero(space, local);
  on_rank_zero(space.communicator(), [&] { f(whole); });
  scatter_block(space, whole, local);
}

/// Rows of a square matrix on the host, with 32-bit indices.
template <class Scalar>
struct WholeRows {
  std::vector<int> offsets{0}, columns;
  std::vector<Scalar> values;

  /// The matrix in memory of Exec; on hosts it shares the arrays.
  template <class Exec>
  CrsMatrix<Scalar, Exec> matrix(Exec const& exec) {
    auto const rows = static_cast<std::int64_t>(offsets.size()) - 1;
    return sparse::to_device(exec,
                             sparse::HostCsr<Scalar, int, int>{
                                 rows, rows, sparse::HostArray<int>(offsets.data(), offsets.size()),
                                 sparse::HostArray<int>(columns.data(), columns.size()),
                                 sparse::HostArray<Scalar>(values.data(), values.size())});
  }
};

/// The rows of all ranks on rank 0; empty on others. Fences the instance. Throws Error, on all
/// ranks, for more than 2^31 rows or entries.
template <class Scalar, class Exec>
WholeRows<Scalar> rows_on_rank_zero(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A) {
  Communicator const& ranks = A.row_space().communicator();
  auto const mine = ranks.run_agreed([&] {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    require(A.partition().global_rows() <= most && A.nonzeros() <= most, "blockspan::direct",
            A.partition().global_rows(), " rows and ", A.nonzeros(),
            " entries, more than 32-bit indices allow");
    auto rows = A.global_rows(exec);
    return WholeRows<Scalar>{{rows.offsets.begin(), rows.offsets.end()},
                             {rows.columns.begin(), rows.columns.end()},
                             std::move(rows.values)};
  });
  return gather_rows(ranks, mine, 0);
}

/// graph_shape of all rows, computed by rank 0, the same on all ranks. For more than 2^31 rows or
/// entries, for which rank 0 may lack memory, GraphShape{}.
template <class Scalar, class Exec>
GraphShape shape_on_rank_zero(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                              GraphLook look = GraphLook::whole) {
  Communicator const& ranks = A.row_space().communicator();
  GraphShape shape;
  if (std::max(A.partition().global_rows(), A.nonzeros()) > std::numeric_limits<int>::max())
    return shape;
  auto all = rows_on_rank_zero(exec, A);
  on_rank_zero(ranks, [&] { shape = graph_shape(all.matrix(exec), look); });
  ranks.broadcast(std::span(&shape, 1), 0);
  return shape;
}

}  // namespace blockspan::distributed
