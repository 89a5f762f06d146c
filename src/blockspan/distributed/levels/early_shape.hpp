#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <Kokkos_Core.hpp>

#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/rank_zero.hpp>
#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/operators/entries/mean_row_sum.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/backend.hpp>

// What `automatic` looks at before the first iteration: on hosts the graph, on devices, which have
// none, the sums of rows. All ranks call these functions together, and find the same.

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

/// Rank 0 gathers no more before it is known whether iterations are many: 0.8 GB in double. The
/// same on one rank, for the same course on any number of them.
inline constexpr std::int64_t early_most_entries = std::int64_t{1} << 26;

/// Hosts: the shape of a narrow graph, with small_eigenvalue, before the first iteration; nothing
/// for a system whose rows, weighted by the inverse of their diagonal, do not say that iterations
/// may be many. For it one product, and where they do the time of some.
template <class Scalar, class Exec, class Weights>
std::optional<GraphShape> early_shape(SolveKind kind, Exec const& exec,
                                      DistributedMatrix<Scalar, Exec> const& A,
                                      LinearOperator<Scalar, Exec> const& product,
                                      Weights const& weights) {
  std::int64_t const rows = A.partition().global_rows();
  if (rows < early_least_rows || A.nonzeros() > early_most_entries) return {};
  if (kind == SolveKind::system &&
      !may_change_early(operators::mean_row_sum(exec, product, rows, weights)))
    return {};
  if (auto const shape = shape_of_rows(exec, A, GraphLook::early); shape.narrow) return shape;
  return {};
}

/// Whether a device begins with multigrid: for pairs, and for systems whose rows, weighted by the
/// inverse of their diagonal, say that iterations may be many. One product.
template <class Scalar, class Exec, class Weights>
bool levels_at_once(SolveKind kind, Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                    LinearOperator<Scalar, Exec> const& product, Weights const& weights,
                    double tolerance) {
  std::int64_t const rows = A.partition().global_rows();
  if (rows < early_least_rows) return false;
  return kind == SolveKind::eigenpairs ||
         levels_pay_at_once(operators::mean_row_sum(exec, product, rows, weights), tolerance);
}

}  // namespace blockspan::distributed
