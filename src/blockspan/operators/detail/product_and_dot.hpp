#pragma once

#include <cstdint>

#include <blockspan/multivector/detail/over_ranks.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/scratch_arrays.hpp>

namespace blockspan::detail {

/// y := A x and dot(0) := x^H y for single columns, of all ranks of `workspace`, in one pass where
/// the operator can. Does not wait.
template <class Scalar, class Exec>
void product_and_dot(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                     Block<Scalar, Exec> const& x, Block<Scalar, Exec> const& y,
                     Array<Scalar, Exec> const& dot, Workspace<Exec>& workspace) {
  auto const rows = static_cast<std::int64_t>(x.extent(0));
  if (workspace.rows().gives_one_node() && A.apply_dots(exec, x, y, {}, dot, {})) {
    gram_over_ranks<Exec, Scalar>(exec, {BlockRef<Scalar>{dot.data(), 1, 1, 1, 1}}, rows,
                                  workspace);
  } else {
    A.apply(exec, x, y);
    blockspan::column_dots(exec, x, y, dot, workspace);
  }
}

}  // namespace blockspan::detail
