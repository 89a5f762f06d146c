#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/column_sums.hpp>
#include <blockspan/multivector/detail/column_terms.hpp>
#include <blockspan/spmm/detail/block_facts.hpp>
#include <blockspan/spmm/detail/check.hpp>
#include <blockspan/spmm/detail/dots.hpp>
#include <blockspan/spmm/detail/dots_launch.hpp>
#include <blockspan/spmm/detail/multiply.hpp>
#include <blockspan/spmm/detail/scale_block.hpp>
#include <blockspan/spmm/detail/scale_empty_rows.hpp>

namespace blockspan::detail {

/// Teams of a fused product of up to so many columns, at most: wide packs need fewer than fewer
/// single columns do, and narrower blocks shall not need more scratch.
inline std::int64_t most_teams(std::int64_t pieces, std::int64_t columns) {
  std::int64_t const lanes = std::int64_t{1} << bits_to_hold(columns, tuning::device_lane_bits);
  return ceil_div(pieces * lanes, std::int64_t{tuning::device_threads});
}

/// Numbers of a column.
template <class Scalar>
int dots_numbers(DotOutputs<Scalar> const& dots) {
  return parts<Scalar> + (dots.squares() ? 1 : 0);
}

/// Room for `nodes` nodes in the pool's memory.
template <class Exec, class Scalar>
real_t<Scalar>* reserve_nodes(Exec const& exec, ScratchPool<Exec>& pool, std::int64_t nodes,
                              DotOutputs<Scalar> const& dots) {
  std::int64_t const numbers = nodes * dots.x_dot_y.columns * dots_numbers(dots);
  return static_cast<real_t<Scalar>*>(
      pool.reserve(exec, static_cast<std::size_t>(numbers) * sizeof(real_t<Scalar>)));
}

/// The roots of the nodes to the outputs.
template <bool Squares, class Exec, class Scalar>
void store_dots(Exec const& exec, char const* label, Nodes<real_t<Scalar>> const& nodes,
                DotOutputs<Scalar> const& dots) {
  using Real = real_t<Scalar>;
  using Store = StoreDots<Scalar, Squares>;
  Store const store{dots.x_dot_y.data, dots.x_dot_y.column_stride, dots.y_dot_y.data,
                    dots.y_dot_y.column_stride};
  TakeRoots<Exec, AddTerms, Real, Store::count, Nodes<Real>, Nodes<Real>, Store>{nodes, nodes,
                                                                                 store}
      .launch(exec, label, nodes.columns);
}

/// The product as it is, then one pass over X and Y.
template <class Exec, class Scalar, class Ordinal>
void multiply_then_dot(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                       MatrixRef<Scalar, void, Ordinal> const& A, Product<Scalar> const& product,
                       real_t<Scalar> const* weights, DotOutputs<Scalar> const& dots) {
  auto const& [op, alpha, X, beta, Y] = product;
  auto* const memory =
      reserve_nodes(exec, plan.first().dots, most_nodes<Exec, real_t<Scalar>>(Y.rows), dots);
  multiply(exec, plan, A, product);  // after that: Y does not change where memory is short
  constexpr char const* label = "Blockspan::spmm_dots::separate";
  std::int64_t const rows = Y.rows, columns = Y.columns;
  auto const sum = [&]<class Ref>(Ref const& x, Ref const& y) {
    auto const with = [&]<bool Squares>() {
      auto const nodes = sum_chunks(exec, label, DotTerms<Ref, Squares>{x, y, weights},
                                    row_chunks<Exec>(rows), columns, [&](auto) { return memory; });
      store_dots<Squares>(exec, "Blockspan::spmm_dots::add", nodes, dots);
    };
    dots.squares() ? with.template operator()<true>() : with.template operator()<false>();
  };
  with_strides<Exec, Scalar>(X, Y, sum, true);
}

template <class Exec, class Scalar, class Ordinal>
void multiply_fused(Exec const& exec, PlanState<Exec, Ordinal>& plan, Launch const& launch,
                    Scalar const* values, Product<Scalar> const& product,
                    real_t<Scalar> const* weights, DotOutputs<Scalar> const& dots) {
  using Real = real_t<Scalar>;
  auto const& prepared = plan.plain;
  auto const& Y = product.Y;
  PieceOfThread share{prepared.pieces(*launch.variant), 1};
  auto const shape = launch_shape<Exec>(launch.variant->worker, launch.lanes.grid.lanes(),
                                        prepared.statistics, share);
  std::int64_t const count = shape.teams + prepared.list.cut_rows;
  std::int64_t const most = most_teams(share.pieces, Y.columns) + prepared.list.cut_rows;
  Nodes<Real> const nodes{
      reserve_nodes(exec, plan.dots, room_for_nodes<Exec, Real>(std::max(count, most)), dots),
      count, Y.columns};
  auto const carry = reserve_carry<Scalar>(exec, plan.carry, prepared.list, Y.columns);
  if (launch.variant->skips_empty_rows())
    scale_empty_rows(exec, product.beta, prepared.pattern.row_offsets, Y,
                     std::string(launch.variant->label) + "::empty_rows");
  launch_dots<Exec, Scalar, Ordinal>(exec, {prepared, launch, shape, share, values, carry, product,
                                            nodes, dots.squares(), weights});
  auto const few = few_nodes<AddTerms>(exec, nodes, dots_numbers(dots));
  auto const label = dots_label(launch) + "::add";
  if (dots.squares())
    store_dots<true>(exec, label.c_str(), few, dots);
  else
    store_dots<false>(exec, label.c_str(), few, dots);
}

/// The launch that sums products as well; null: they take a pass of their own. A matrix in several
/// panels has none.
template <class Exec, class Scalar, class Ordinal>
Launch const* fused_launch(PlanPanels<Exec, Ordinal> const& panels,
                           Product<Scalar> const& product) {
  if (!lanes_exchange_v<Exec> || panels.is_cut() || product.alpha == Scalar(0)) return nullptr;
  auto const& plan = panels.first();
  auto blocks = block_facts(product, false, plan.options.algorithm != "auto");
  blocks.sums = true;
  blocks.overwrites = product.beta == Scalar(0);
  auto const& decision = plan.plain.decision_for(blocks);
  return decision.fuses_sums ? &decision.first() : nullptr;
}

template <class Exec, class Scalar, class Ordinal>
void multiply_dots(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                   MatrixRef<Scalar, void, Ordinal> const& A, Product<Scalar> const& product,
                   real_t<Scalar> const* weights, DotOutputs<Scalar> const& dots) {
  require(A.pattern.rows == A.pattern.columns, "blockspan::spmm_dots",
          "A must be square, because x_dot_y pairs the rows of X with those of Y (A: ",
          A.pattern.vector_rows(), " x ", A.pattern.vector_columns(), ")");
  check_product("blockspan::spmm_dots", A.pattern, product);
  check_plan("blockspan::spmm_dots", plan, A.pattern);
  require(dots.x_dot_y.columns == product.Y.columns &&
              (!dots.squares() || dots.y_dot_y.columns == product.Y.columns),
          "blockspan::spmm_dots",
          "x_dot_y and y_dot_y must have an entry for each column (x_dot_y: ", dots.x_dot_y.columns,
          ", y_dot_y: ", dots.y_dot_y.columns, ", columns: ", product.Y.columns, ")");
  auto const* const launch = fused_launch(plan, product);
  if (launch == nullptr) return multiply_then_dot(exec, plan, A, product, weights, dots);
  if constexpr (lanes_exchange_v<Exec>)
    multiply_fused(exec, plan.first(), *launch, A.values, product, weights, dots);
}

template <class Exec, class Scalar, class Ordinal>
std::string dots_kernel(PlanPanels<Exec, Ordinal> const& plan, Product<Scalar> const& product) {
  auto const* const launch = fused_launch(plan, product);
  return launch == nullptr ? "Blockspan::spmm_dots::separate" : dots_label(*launch);
}

}  // namespace blockspan::detail
