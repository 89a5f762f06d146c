#pragma once

#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/block_facts.hpp>
#include <blockspan/spmm/detail/check.hpp>
#include <blockspan/spmm/detail/launch.hpp>
#include <blockspan/spmm/detail/multiply.hpp>
#include <blockspan/spmm/detail/pack_block.hpp>
#include <blockspan/spmm/detail/published_kernels.hpp>
#include <blockspan/spmm/detail/relayout_block.hpp>
#include <blockspan/spmm/detail/scale_block.hpp>
#include <blockspan/spmm/detail/scale_empty_rows.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::detail {

/// Does without A what needs no A; true if that was all.
template <class Exec, class Scalar>
bool finished_without_matrix(Exec const& exec, Product<Scalar> const& product) {
  if (product.Y.rows == 0 || product.Y.columns == 0) return true;
  if (product.alpha != Scalar(0)) return false;
  scale_block(exec, product.beta, product.Y);
  return true;
}

/// The same product of so many columns; the last of them with all that X has beyond Y.
template <class Scalar>
Product<Scalar> columns_of(Product<Scalar> product, std::int64_t first, std::int64_t columns) {
  bool const last = first + columns == product.Y.columns;
  product.X.data += first * product.X.column_stride;
  product.Y.data += first * product.Y.column_stride;
  product.X.columns = last ? product.X.columns - first : columns;
  product.Y.columns = columns;
  return product;
}

/// A variant that was asked for by its id serves these blocks or none.
template <class Scalar>
[[noreturn]] void refuse(SpmmVariant const& asked, Product<Scalar> const& product) {
  auto const& [op, alpha, X, beta, Y] = product;
  fail("blockspan::spmm", asked.id, " cannot serve this input; it needs ", asked.needs,
       " (columns: ", Y.columns, " of ", sizeof(Scalar), " bytes, strides of X: ", X.row_stride,
       ", ", X.column_stride, ", of Y: ", Y.row_stride, ", ", Y.column_stride, ")");
}

/// Runs the launches, one after the other over the columns.
template <class Exec, class Scalar, class Ordinal>
void run_all(Exec const& exec, PreparedPattern<Exec, Ordinal> const& prepared,
             Decision const& decision, CarryPools<Exec>* pools, MatrixValues<Scalar> const& values,
             Product<Scalar> const& product) {
  // for all launches, since the first is the widest; and before Y changes, since memory may be
  // short
  CarrySpace<Scalar> carry;
  if (pools != nullptr)
    carry = reserve_carry<Scalar>(exec, *pools, prepared.cuts(), decision.first().columns);
  if (decision.fills_empty_rows)
    scale_empty_rows(exec, product.beta, prepared.pattern.row_offsets, product.Y,
                     std::string(decision.first().variant->label) + "::empty_rows");
  std::int64_t first = 0;
  for (Launch const& launch : decision.launches) {
    // X may be wider than Y, padded to whole packs
    bool const whole = launch.columns == product.Y.columns;
    Product<Scalar> const part = whole ? product : columns_of(product, first, launch.columns);
    run(exec, SpmmCall<Exec, Scalar, Ordinal>{prepared, values, carry, launch, part});
    first += launch.columns;
  }
}

/// The product by way of the copies that were decided, in the plan's memory.
template <class Exec, class Scalar, class Ordinal>
void run_with_copies(Exec const& exec, PlanState<Exec, Ordinal>& plan,
                     PreparedPattern<Exec, Ordinal> const& prepared, Decision const& decision,
                     MatrixValues<Scalar> const& values, Product<Scalar> const& product) {
  std::string const label = prepared.choice.variant->label;
  Product<Scalar> with = product;
  auto const scratch = [&](auto& pool, std::int64_t rows) {
    return row_major_scratch<Scalar>(exec, pool, rows, whole_packs_of<Scalar>(product.Y.columns));
  };
  if (decision.x == BlockCopy::row_major)
    with.X = packed_block(exec, plan.packed, product.X, label + "::pack");
  if constexpr (!runs_on_host_v<Exec>) {
    if (decision.x == BlockCopy::whole_packs) {
      auto const X = scratch(plan.packed, product.X.rows);
      relayout_block(exec, product.X, Scalar(0), X, label + "::pack");
      with.X = X;
    }
    if (decision.y_by_copy) {
      with.Y = scratch(plan.packed_result, product.Y.rows);
      with.beta = Scalar(0);
      run_all(exec, prepared, decision, &plan.carry, values, with);
      return relayout_block<Exec, Scalar>(exec, with.Y, product.beta, product.Y,
                                          label + "::unpack");
    }
  }
  run_all(exec, prepared, decision, &plan.carry, values, with);
}

/// op(A) as it is read.
template <class Exec, class Scalar, class Ordinal>
struct Factor {
  PreparedPattern<Exec, Ordinal> const& prepared;
  MatrixValues<Scalar> values;
  Op op;
};

template <class Exec, class Scalar, class Ordinal>
Factor<Exec, Scalar, Ordinal> factor_of(Exec const& exec, PlanState<Exec, Ordinal>& plan, Op op,
                                        Scalar const* values) {
  auto const& held = plan.held;
  bool const here = held.are_of(values);
  MatrixValues<Scalar> const plain{values,
                                   here ? held.singles.template as<single_t<Scalar>>() : nullptr};
  if (!transposes(op)) return {plan.plain, plain, op};
  if (!here || !held.has_transpose) return {transposed_of(exec, plan), {values}, op};
  if (held.symmetry != Symmetry::none)
    return {plan.plain, plain, without_transposing(op, held.symmetry)};
  return {held.prepared, {held.transposed.template as<Scalar>()}, op};
}

template <class Exec, class Scalar, class Ordinal>
void multiply_panel(Exec const& exec, PlanState<Exec, Ordinal>& plan, Scalar const* values,
                    Product<Scalar> product) {
  auto const factor = factor_of(exec, plan, product.op, values);
  product.op = factor.op;
  auto const& prepared = factor.prepared;
  bool const asked = plan.options.algorithm != "auto";
  Decision const& decision =
      prepared.decision_for(block_facts(product, factor.values.singles != nullptr, asked));
  if (decision.launches.empty()) refuse(*prepared.choice.variant, product);
  if (decision.first().kernel == SpmmKernelKind::dense) {
    auto const multiply_dense = PublishedKernels<Exec, Scalar, Ordinal>::multiply_dense;
    require_published<Exec>("blockspan::spmm", *decision.first().variant, multiply_dense);
    return multiply_dense(exec, plan, prepared, factor.values.own, product);
  }
  run_with_copies(exec, plan, prepared, decision, factor.values, product);
}

template <class Exec, class Scalar, class Ordinal>
void multiply(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
              MatrixRef<Scalar, void, Ordinal> const& A, Product<Scalar> const& product) {
  check_product("blockspan::spmm", A.pattern, product);
  check_plan("blockspan::spmm", plan, A.pattern);
  if (finished_without_matrix(exec, product)) return;
  for (std::size_t p = 0; p < plan.states.size(); ++p) {
    auto const& panel = plan.rows.panels[p];
    multiply_panel(exec, *plan.states[p], values_of(A, panel), product_of_panel(product, panel));
  }
}

template <class Exec, class Scalar, class Ordinal>
void multiply_unplanned(Exec const& exec, PatternRef<int, Ordinal> const& pattern,
                        Scalar const* values, Product<Scalar> const& product) {
  PreparedPattern<Exec, Ordinal> prepared;
  TransposedPattern<Exec, Ordinal> transposed;
  std::int64_t const block = pattern.block;
  prepared.choice.variant = find_spmm_variant(block > 1 ? "row_group" : "warp_per_row_packs");
  prepared.pattern = pattern;
  if (transposes(product.op)) {
    auto const entries = summarize(exec, pattern).rows.nonzeros;
    transposed = transpose_pattern(exec, pattern, entries);
    prepared.pattern = transposed.ref();
    prepared.pattern.block = block;
    prepared.permutation = transposed.permutation.data();
  }
  prepared.statistics.rows = prepared.pattern.rows;
  prepared.statistics.nonzeros = prepared.pattern.entries;
  if (block > 1) {
    prepared.statistics = statistics_of_blocks(prepared.statistics, block);
    prepared.groups = groups_of_blocks<Exec>(prepared.pattern, prepared.pattern.entries);
  }
  MatrixValues<Scalar> const own{values};
  auto blocks = block_facts(product, false, false);
  blocks.may_copy = false;
  auto const decision = decide(prepared.facts(), prepared.choice, blocks, *prepared.device);
  run_all<Exec, Scalar>(exec, prepared, decision, nullptr, own, product);
  // the transposed pattern is given back when this returns
  if (transposes(product.op)) exec.fence("Blockspan::spmm without a plan, transposed");
}

template <class Exec, class Scalar, class Ordinal>
void multiply(Exec const& exec, RowPanels<Exec, Ordinal> const& rows,
              MatrixRef<Scalar, void, Ordinal> const& A, Product<Scalar> const& product) {
  check_product("blockspan::spmm", A.pattern, product);
  if (finished_without_matrix(exec, product)) return;
  for (auto const& panel : rows.panels)
    multiply_unplanned(exec, panel.pattern, values_of(A, panel), product_of_panel(product, panel));
  // the narrowed offsets are given back when the caller returns
  if (rows.offsets.extent(0) > 0) exec.fence("Blockspan::spmm without a plan, narrowed offsets");
}

}  // namespace blockspan::detail
