#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/add_rows.hpp>
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

/// Room for some rows of sums in the pool's memory, those of a column side by side. The pool grows
/// to at least `most` rows.
template <class Scalar, class Exec>
DotRows<Scalar> reserve_dots(Exec const& exec, ScratchPool<Exec>& pool, std::int64_t rows,
                             std::int64_t columns, bool squares, std::int64_t most = 0) {
  auto const count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  auto const room = static_cast<std::size_t>(std::max(rows, most) * columns);
  auto* const x_dot_y =
      static_cast<Scalar*>(pool.reserve(exec, room * (sizeof(Scalar) + sizeof(real_t<Scalar>))));
  auto* const y_dot_y = reinterpret_cast<real_t<Scalar>*>(x_dot_y + count);
  return {{x_dot_y, rows, columns, 1, rows}, {squares ? y_dot_y : nullptr, rows, columns, 1, rows}};
}

/// `rows` of them from `first` on.
template <class Scalar>
DotRows<Scalar> some_rows(DotRows<Scalar> dots, std::int64_t first, std::int64_t rows) {
  auto const cut = [&](auto& sums) {
    if (sums.data != nullptr) sums.data += first * sums.row_stride;
    sums.rows = rows;
  };
  cut(dots.x_dot_y);
  cut(dots.y_dot_y);
  return dots;
}

/// The product as it is, then one pass over X and Y.
template <class Exec, class Scalar, class Ordinal>
void multiply_then_dot(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                       MatrixRef<Scalar, void, Ordinal> const& A, Product<Scalar> const& product,
                       real_t<Scalar> const* weights, DotRows<Scalar> const& dots) {
  using Source = BlockProducts<Scalar>;
  auto const& [op, alpha, X, beta, Y] = product;
  auto const spare = reserve_dots<Scalar>(exec, plan.first().dots, chunks_of<Source>(Y.rows),
                                          Y.columns, dots.squares());
  multiply(exec, plan, A, product);  // after that: Y does not change where memory is short
  add_rows(exec, "Blockspan::spmm_dots::separate", Source{X, Y, weights}, Y.rows, Y.columns, spare,
           dots);
}

template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply_fused(Exec const& exec, PlanState<Exec, Offset, Ordinal>& plan, Launch const& launch,
                    Scalar const* values, Product<Scalar> const& product,
                    real_t<Scalar> const* weights, DotRows<Scalar> const& dots) {
  auto const& prepared = plan.plain;
  auto const& Y = product.Y;
  PieceOfThread share{prepared.pieces(*launch.variant), 1};
  auto const shape = launch_shape<Exec>(launch.variant->worker, launch.lanes.grid.lanes(),
                                        prepared.statistics, share);
  std::int64_t const rows = shape.teams + prepared.list.cut_rows;
  std::int64_t const steps = steps_of_partials<Exec, Scalar>(rows);
  auto const memory =
      reserve_dots<Scalar>(exec, plan.dots, rows + steps, Y.columns, dots.squares(),
                           most_teams(share.pieces, Y.columns) + prepared.list.cut_rows + steps);
  auto const carry = reserve_carry<Scalar>(exec, plan.carry, prepared.list, Y.columns);
  if (launch.variant->skips_empty_rows())
    scale_empty_rows(exec, product.beta, prepared.pattern.row_offsets, Y,
                     std::string(launch.variant->label) + "::empty_rows");
  launch_dots<Exec, Scalar, Offset, Ordinal>(
      exec, {prepared, launch, shape, share, values, carry, product, memory, weights});
  auto const spare = some_rows(memory, rows, steps);
  auto const label = dots_label(launch) + "::add";
  add_partials(exec, label, memory, rows, spare, dots);
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
                   real_t<Scalar> const* weights, DotRows<Scalar> const& dots) {
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
