#pragma once

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/matrix_ref.hpp>
#include <blockspan/spmm/detail/plan_state.hpp>
#include <blockspan/spmm/op.hpp>

namespace blockspan::detail {

/// One product's operands: Y = alpha op(A) X + beta Y.
template <class Scalar>
struct Product {
  Op op;
  Scalar alpha;
  BlockRef<Scalar const> X;
  Scalar beta;
  BlockRef<Scalar> Y;
};

// Checked, dispatched and launched in the library; defined in multiply_impl.hpp, compiled once per
// backend, scalar and offset.

template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply(Exec const& exec, PlanState<Exec, Offset, Ordinal>& plan,
              MatrixRef<Scalar, Offset, Ordinal> const& A, Product<Scalar> const& product);

/// Without a plan: whole rows; a transposed product builds the transposed pattern on the fly.
template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
              Product<Scalar> const& product);

}  // namespace blockspan::detail
