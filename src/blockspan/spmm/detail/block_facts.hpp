#pragma once

#include <cstdint>

#include <blockspan/spmm/detail/multiply.hpp>
#include <blockspan/spmm/detail/packs.hpp>
#include <blockspan/spmm/detail/plan_state.hpp>
#include <blockspan/spmm/plan/facts.hpp>

namespace blockspan::detail {

/// The blocks of a product, as decisions see them.
template <class Scalar>
BlockFacts block_facts(Product<Scalar> const& product, bool reads_singles, bool must_run) {
  auto const& [op, alpha, X, beta, Y] = product;
  auto const is_near = [](std::int64_t stride) {
    std::int64_t const bytes = stride * std::int64_t{sizeof(Scalar)};
    return bytes >= 0 && bytes < std::int64_t{UINT32_MAX};
  };
  return {.columns = Y.columns,
          .scalar = scalar_kind<Scalar>(),
          .x = layout_of(X),
          .y = layout_of(Y),
          .x_rows_near = is_near(X.row_stride),
          .x_columns_near = is_near(X.column_stride),
          .conjugates = conjugates(op),
          .reads_singles = reads_singles,
          .must_run = must_run};
}

}  // namespace blockspan::detail
