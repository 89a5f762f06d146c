#pragma once

#include <blockspan/blocks/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/compiled.hpp>
#include <blockspan/spmm/op.hpp>

namespace blockspan::products {

/// One product's operands: Y = alpha op(A) X + beta Y. Storage: the type of the blocks in memory.
template <class Scalar, class Storage = Scalar>
struct Product {
  Op op;
  Scalar alpha;
  BlockRef<Storage const> X;
  Scalar beta;
  BlockRef<Storage> Y;
};

// Checked, dispatched and launched in the library; defined in multiply_impl.hpp, compiled once per
// backend and scalar.

/// Storage: Scalar, or half or bfloat16, which are summed in float.
template <class Exec, class Scalar, class Storage, class Ordinal>
void multiply(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
              MatrixRef<Storage, void, Ordinal> const& A, Product<Scalar, Storage> const& product);

/// Without a plan: whole rows; a transposed product builds the transposed pattern on the fly.
template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
              Product<Scalar> const& product);

}  // namespace blockspan::products
