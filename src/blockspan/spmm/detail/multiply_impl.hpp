#pragma once

#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/check.hpp>
#include <blockspan/spmm/detail/launch.hpp>
#include <blockspan/spmm/detail/multiply.hpp>
#include <blockspan/spmm/detail/pack_block.hpp>
#include <blockspan/spmm/detail/relayout_block.hpp>
#include <blockspan/spmm/detail/scale_block.hpp>
#include <blockspan/spmm/detail/scale_empty_rows.hpp>

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

/// By way of a dense A. Defined in dense_product.hpp, compiled with launch_published.
template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply_dense(Exec const& exec, PlanState<Exec, Offset, Ordinal>& plan,
                    PreparedPattern<Exec, Offset, Ordinal> const& prepared, Scalar const* values,
                    Product<Scalar> const& product);

/// Multiplies with a prepared pattern. `asked`: the variant was asked for by its id. `pools`: for
/// the parts of cut rows, of which there are none without a plan.
template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply_prepared(Exec const& exec, PreparedPattern<Exec, Offset, Ordinal> const& prepared,
                       bool asked, CarryPools<Exec>* pools, MatrixValues<Scalar> const& values,
                       Product<Scalar> const& product) {
  SpmmVariant const& chosen = *prepared.choice.variant;
  BlockFit const fit = fit_of<Exec>(product.X, product.Y);
  SpmmVariant const& variant =
      variant_that_runs(prepared, fit, is_taken(prepared, fit, product), product.Y.columns);
  require(!asked || &variant == &chosen, "blockspan::spmm", chosen.id,
          " cannot serve this input; it needs ", chosen.needs, " (columns: ", product.Y.columns,
          " of ", sizeof(Scalar), " bytes, strides of X: ", product.X.row_stride, ", ",
          product.X.column_stride, ", of Y: ", product.Y.row_stride, ", ", product.Y.column_stride,
          ")");
  bool const packs = variant.takes_packs && fit.has_packs_for(variant);
  std::int64_t const columns = product.Y.columns;
  auto const width_from = [&](std::int64_t first) {
    return prepared.panel(variant, columns - first, sizeof(Scalar), packs);
  };
  // for all panels, since the first is the widest; and before Y changes, since memory may be short
  CarrySpace<Scalar> carry;
  if (pools != nullptr) carry = reserve_carry<Scalar>(exec, *pools, prepared.cuts(), width_from(0));
  if (variant.skips_empty_rows() && !prepared.fills_beside(variant, packs))
    scale_empty_rows(exec, product.beta, prepared.pattern.row_offsets, product.Y,
                     std::string(variant.label) + "::empty_rows");
  for (std::int64_t first = 0, width = 0; first < columns; first += width) {
    width = width_from(first);
    // X may be wider than Y, padded to whole packs
    Product<Scalar> const panel = width == columns ? product : columns_of(product, first, width);
    launch(exec,
           SpmmCall<Exec, Scalar, Offset, Ordinal>{prepared, values, carry, packs, panel, variant});
  }
}

/// Devices: whether windows of rows multiply X, if its rows are contiguous.
template <class Exec, class Scalar, class Offset, class Ordinal>
bool go_by_windows(PreparedPattern<Exec, Offset, Ordinal> const& prepared) {
  auto const& variant = *prepared.choice.variant;
  return variant.lists_windows() && is_offered<Exec, real_t<Scalar>>(variant);
}

/// Devices: by way of row-major copies, of whole packs, of those blocks that are none. Kernels that
/// write any Y need none of it.
template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply_copies(Exec const& exec, PlanState<Exec, Offset, Ordinal>& plan,
                     PreparedPattern<Exec, Offset, Ordinal> const& prepared,
                     MatrixValues<Scalar> const& values, Product<Scalar> const& product) {
  std::string const label = prepared.choice.variant->label;
  std::int64_t const columns =
      ceil_div(product.X.columns, std::int64_t{device_pack_v<Scalar>}) * device_pack_v<Scalar>;
  bool const padded = columns != product.X.columns;
  Product<Scalar> with = product;
  if (padded || !rows_are_aligned(product.X)) {
    auto const X = row_major_scratch<Scalar>(exec, plan.packed, product.X.rows, columns);
    relayout_block(exec, product.X, Scalar(0), X, label + "::pack");
    with.X = X;
  }
  SpmmVariant const& variant =
      variant_that_runs(prepared, {true, true, true},
                        is_offered<Exec, real_t<Scalar>>(*prepared.choice.variant), columns);
  bool const through_copy = !variant.writes_any() && (padded || !rows_are_aligned(product.Y));
  if (through_copy) {
    with.Y = row_major_scratch<Scalar>(exec, plan.packed_result, product.Y.rows, columns);
    with.beta = Scalar(0);
  }
  multiply_prepared(exec, prepared, false, &plan.carry, values, with);
  if (through_copy)
    relayout_block<Exec, Scalar>(exec, with.Y, product.beta, product.Y, label + "::unpack");
}

/// Devices: serves blocks whose rows are not contiguous, or no packs, where that is faster than to
/// read them number by number. False: nothing was done.
template <class Exec, class Scalar, class Offset, class Ordinal>
bool multiplied_columns(Exec const& exec, PlanState<Exec, Offset, Ordinal>& plan,
                        PreparedPattern<Exec, Offset, Ordinal> const& prepared,
                        MatrixValues<Scalar> const& values, Product<Scalar> const& product) {
  auto const& [op, alpha, X, beta, Y] = product;
  if (X.column_stride == 1 && go_by_windows<Exec, Scalar>(prepared)) return false;
  bool const contiguous = X.column_stride == 1 && Y.column_stride == 1;
  if (X.columns == 1 || contiguous || plan.options.algorithm != "auto") return false;
  bool const may_go_by_columns = X.row_stride == 1 && prepared.stands_in_order();
  switch (column_major_access(prepared.statistics, prepared.choice, prepared.groups.count,
                              prepared.windows.count, static_cast<int>(X.columns), sizeof(Scalar),
                              may_go_by_columns)) {
    case BlockAccess::by_columns:
      launch_columns<Exec, Scalar, Offset, Ordinal>(
          exec, {prepared, values, {}, false, product, *find_spmm_variant("warp_per_row")});
      return true;
    case BlockAccess::row_major_copies:
      multiply_copies(exec, plan, prepared, values, product);
      return true;
    default:
      return false;
  }
}

/// op(A) as it is read.
template <class Exec, class Scalar, class Offset, class Ordinal>
struct Factor {
  PreparedPattern<Exec, Offset, Ordinal> const& prepared;
  MatrixValues<Scalar> values;
  Op op;
};

template <class Exec, class Scalar, class Offset, class Ordinal>
Factor<Exec, Scalar, Offset, Ordinal> factor_of(Exec const& exec,
                                                PlanState<Exec, Offset, Ordinal>& plan, Op op,
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

template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply_panel(Exec const& exec, PlanState<Exec, Offset, Ordinal>& plan, Scalar const* values,
                    Product<Scalar> const& product) {
  auto const factor = factor_of(exec, plan, product.op, values);
  auto const& prepared = factor.prepared;
  auto const& variant = *prepared.choice.variant;
  Product<Scalar> with = product;
  with.op = factor.op;
  if (variant.worker == SpmmWorker::blas)
    return multiply_dense(exec, plan, prepared, factor.values.own, with);
  if constexpr (!runs_on_host_v<Exec>)
    if (multiplied_columns(exec, plan, prepared, factor.values, with)) return;
  if (variant.takes_packs && should_pack<Exec>(product.X, prepared.statistics.mean()))
    with.X = packed_block(exec, plan.packed, product.X, std::string(variant.label) + "::pack");
  multiply_prepared(exec, prepared, plan.options.algorithm != "auto", &plan.carry, factor.values,
                    with);
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

template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply_unplanned(Exec const& exec, PatternRef<Offset, Ordinal> const& pattern,
                        Scalar const* values, Product<Scalar> const& product) {
  PreparedPattern<Exec, Offset, Ordinal> prepared;
  TransposedPattern<Exec, Offset, Ordinal> transposed;
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
  multiply_prepared<Exec, Scalar>(exec, prepared, false, nullptr, {values}, product);
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
