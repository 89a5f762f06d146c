#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/launch/scale.hpp>
#include <blockspan/spmm/prepared/plan_state.hpp>
#include <blockspan/spmm/run/multiply.hpp>

// The walk over the launches that were decided, for plain products, those with sums (spmm_dots) and
// those fused with a step.

namespace blockspan::products {

/// op(A) as it is read.
template <class Exec, class Scalar, class Ordinal>
struct Factor {
  PreparedPattern<Exec, Ordinal> const& prepared;
  Scalar const* values;
  Op op;
  void const* slices = nullptr;  ///< of these values; null: there are none
};

/// The slices that the plan holds of these values; null: it holds none.
template <class Exec, class Scalar, class Ordinal>
void const* slices_of(PlanState<Exec, Ordinal> const& plan, Scalar const* values) {
  return plan.cached.are_of(values) ? plan.cached.slices.get() : nullptr;
}

/// The same product for a range of columns; the last range includes the padding of X.
template <class Scalar, class Storage>
Product<Scalar, Storage> columns_of(Product<Scalar, Storage> product, std::int64_t first,
                                    std::int64_t columns) {
  bool const last = first + columns == product.Y.columns;
  product.X.data += first * product.X.column_stride;
  product.Y.data += first * product.Y.column_stride;
  product.X.columns = last ? product.X.columns - first : columns;
  product.Y.columns = columns;
  return product;
}

/// launch(call, first column) for each launch; before them rows without entries are filled, where
/// that was decided. Without a plan no rows are cut.
template <class Exec, class Scalar, class Storage, class Ordinal, class Function>
void for_each_launch(Exec const& exec, PlanState<Exec, Ordinal>* plan, Decision const& decision,
                     Factor<Exec, Storage, Ordinal> const& A,
                     Product<Scalar, Storage> const& product, Function const& launch) {
  // for all launches; before Y changes, since memory may be short
  CarrySpace<Scalar> carry;
  if (plan)
    carry = reserve_carry<Scalar>(exec, plan->carry, A.prepared.cuts(*decision.first().variant),
                                  decision.most_columns());
  if constexpr (std::is_same_v<Scalar, Storage>)
    if (decision.fills_empty_rows)
      scale_empty_rows(exec, product.alpha, product.beta, A.prepared.pattern.row_offsets, product.Y,
                       std::string(decision.first().variant->label) + "::empty_rows");
  std::int64_t first = 0;
  for (Launch const& decided : decision.launches) {
    // X may be wider than Y, padded to whole vectors
    bool const whole = decided.columns == product.Y.columns;
    auto const part = whole ? product : columns_of(product, first, decided.columns);
    launch(SpmmCall<Exec, Scalar, Ordinal, Storage>{exec, A.prepared, A.values, carry, decided,
                                                    part, A.slices},
           first);
    first += decided.columns;
  }
}

}  // namespace blockspan::products
