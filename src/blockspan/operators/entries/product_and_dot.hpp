#pragma once

#include <cstdint>

#include <blockspan/blocks/over_ranks.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/arena.hpp>

namespace blockspan::operators {

/// y := A x and dot(0) := x^H y for single columns, over all ranks of `workspace`, in one pass if
/// the operator has such a kernel. Asynchronous.
template <class Scalar, class Exec>
void product_and_dot(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                     Block<Scalar, Exec> const& x, Block<Scalar, Exec> const& y,
                     Array<Scalar, Exec> const& dot, Workspace<Exec>& workspace) {
  auto const rows = static_cast<std::int64_t>(x.extent(0));
  if (workspace.rows().one_partial_per_rank()) {
    BlockRef<Scalar> const of_all{dot.data(), 1, 1, 1, 1};
    GramsOverRanks<Exec, Scalar, 1> const sum(exec, {of_all}, rows, workspace);
    OperatorValues<Scalar, Exec> const of_rank(sum.nodes(0).first.data, 1);
    if (A.apply_dots(exec, x, y, {}, of_rank, {})) return sum.join();
  }
  A.apply(exec, x, y);
  blockspan::column_dots(exec, x, y, dot, workspace);
}

}  // namespace blockspan::operators
