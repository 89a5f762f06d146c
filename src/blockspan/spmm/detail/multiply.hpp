#pragma once

#include <cstdint>

#include <blockspan/multivector/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/detail/facts.hpp>
#include <blockspan/spmm/detail/row_panels.hpp>
#include <blockspan/spmm/op.hpp>
#include <blockspan/spmm/plan/facts.hpp>

namespace blockspan::detail {

/// One product's operands: Y = alpha op(A) X + beta Y. Stored: the type of the blocks in memory.
template <class Scalar, class Stored = Scalar>
struct Product {
  Op op;
  Scalar alpha;
  BlockRef<Stored const> X;
  Scalar beta;
  BlockRef<Stored> Y;
};

/// The blocks of a product, as decisions see them.
template <class Scalar, class Stored>
BlockFacts block_facts(Product<Scalar, Stored> const& product, bool must_run) {
  auto const& [op, alpha, X, beta, Y] = product;
  auto const is_near = [](std::int64_t stride) {
    std::int64_t const bytes = stride * std::int64_t{sizeof(Stored)};
    return bytes >= 0 && bytes < std::int64_t{UINT32_MAX};
  };
  return {.columns = Y.columns,
          .scalar = scalar_kind<Stored>(),
          .x = layout_of(X),
          .y = layout_of(Y),
          .x_rows_near = is_near(X.row_stride),
          .x_columns_near = is_near(X.column_stride),
          .conjugates = conjugates(op),
          .must_run = must_run};
}

/// The product with a panel of rows of A. Those of a transposed A add up, in the order of the
/// panels.
template <class Scalar, class Stored, class Ordinal>
Product<Scalar, Stored> product_of_panel(Product<Scalar, Stored> product,
                                         RowPanel<Ordinal> const& panel) {
  std::int64_t const first = panel.first_row * panel.pattern.block;
  if (transposes(product.op)) {
    product.X.data += first * product.X.row_stride;
    product.X.rows = panel.pattern.vector_rows();
    if (first > 0) product.beta = Scalar(1);
  } else {
    product.Y.data += first * product.Y.row_stride;
    product.Y.rows = panel.pattern.vector_rows();
  }
  return product;
}

// Checked, dispatched and launched in the library; defined in multiply_impl.hpp, compiled once per
// backend and scalar.

/// Stored: Scalar, or half or bfloat16, which are summed in float.
template <class Exec, class Scalar, class Stored, class Ordinal>
void multiply(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
              MatrixRef<Stored, void, Ordinal> const& A, Product<Scalar, Stored> const& product);

/// Without a plan: whole rows; a transposed product builds the transposed pattern on the fly.
template <class Exec, class Scalar, class Ordinal>
void multiply(Exec const& exec, RowPanels<Exec, Ordinal> const& rows,
              MatrixRef<Scalar, void, Ordinal> const& A, Product<Scalar> const& product);

}  // namespace blockspan::detail
