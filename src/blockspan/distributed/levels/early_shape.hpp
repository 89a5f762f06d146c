#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/workspace.hpp>
#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/rank_zero.hpp>
#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/multivector/columns.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

// The graph of a matrix as `automatic` looks at it: on hosts; a device has none. All ranks call
// these functions together, and find the same.

namespace blockspan::distributed {

template <class Scalar, class Exec>
using SharedRows = std::shared_ptr<DistributedMatrix<Scalar, Exec> const>;

/// graph_shape of all rows; GraphShape{} where rank 0 cannot number them.
template <class Scalar, class Exec>
GraphShape shape_of_rows(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                         GraphLook look) {
  return A.partition().ranks() == 1 ? graph_shape(A.whole(), look)
                                    : shape_on_rank_zero(exec, A, look);
}

/// The same later; null on devices. Keeps A alive.
template <class Scalar, class Exec>
std::function<GraphShape()> later_shape(Exec const& exec, SharedRows<Scalar, Exec> const& A) {
  if constexpr (support::runs_on_host_v<Exec>)
    return [exec, A] { return shape_of_rows(exec, *A, GraphLook::whole); };
  return nullptr;
}

/// The mean of the row sums of A, the operator `product`, times those weights, one a row. One
/// product; waits for the instance.
template <class Scalar, class Exec, class Weights>
double mean_row_sum(Exec const& exec, LinearOperator<Scalar, Exec> const& product,
                    std::int64_t all_rows, Weights const& weights) {
  constexpr auto label = "Blockspan::distributed::row_sums";
  auto const n = static_cast<std::size_t>(product.rows());
  using Vectors = Block<Scalar, Exec>;
  auto const ones = allocate<Vectors>(exec, label, n, 1),
             sums = allocate<Vectors>(exec, label, n, 1),
             weighted = allocate<Vectors>(exec, label, n, 1);
  Kokkos::deep_copy(exec, ones, Scalar(1));
  product.apply(exec, ones, sums);
  operators::scale_rows<Exec, Scalar>(exec, weights.data(), blocks::block_ref<Exec>(sums),
                                      blocks::block_ref<Exec>(weighted));
  Kokkos::View<Scalar*, Kokkos::HostSpace> const sum(label, 1);
  Workspace<Exec> workspace(product.row_space());
  column_dots(exec, ones, weighted, sum, workspace);
  return static_cast<double>(real_part(sum(0))) / static_cast<double>(all_rows);
}

/// Rank 0 gathers no more before it is known whether iterations are many: 0.8 GB in double. The
/// same on one rank, for the same course on any number of them.
inline constexpr std::int64_t early_most_entries = std::int64_t{1} << 26;

/// The shape of a narrow graph, with small_eigenvalue, before the first iteration; nothing for a
/// system whose rows, weighted by the inverse of their diagonal, do not say that iterations may be
/// many. For it one product, and where they do the time of some.
template <class Scalar, class Exec, class Weights>
std::optional<GraphShape> early_shape(SolveKind kind, Exec const& exec,
                                      DistributedMatrix<Scalar, Exec> const& A,
                                      LinearOperator<Scalar, Exec> const& product,
                                      Weights const& weights) {
  if constexpr (support::runs_on_host_v<Exec>) {
    std::int64_t const rows = A.partition().global_rows();
    if (rows < early_least_rows || A.nonzeros() > early_most_entries) return {};
    if (kind == SolveKind::system && !may_change_early(mean_row_sum(exec, product, rows, weights)))
      return {};
    if (auto const shape = shape_of_rows(exec, A, GraphLook::early); shape.narrow) return shape;
  }
  return {};
}

}  // namespace blockspan::distributed
