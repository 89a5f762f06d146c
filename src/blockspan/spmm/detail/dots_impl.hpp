#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/column_sums.hpp>
#include <blockspan/multivector/detail/column_terms.hpp>
#include <blockspan/spmm/detail/call.hpp>
#include <blockspan/spmm/detail/check.hpp>
#include <blockspan/spmm/detail/dots.hpp>
#include <blockspan/spmm/detail/scale.hpp>
#include <blockspan/spmm/kernels/direct_lanes.hpp>
#include <blockspan/spmm/kernels/groups.hpp>
#include <blockspan/spmm/parts/scale_add_dots.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Teams of a fused product, at most: narrower blocks shall not need more scratch than wider ones.
inline std::int64_t most_teams(std::int64_t segments, std::int64_t columns) {
  std::int64_t const lanes = std::int64_t{1} << bits_to_hold(columns, tuning::device_lane_bits);
  return ceil_div(segments * lanes, std::int64_t{tuning::device_threads});
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

inline std::string dots_label(Launch const& launch) {
  return std::string(launch.variant->label) + "::dots";
}

/// Where a fused launch leaves its sums.
template <class Scalar>
struct DotsTarget {
  LaunchShape shape;
  SegmentOfThread share;
  Nodes<real_t<Scalar>> nodes;    ///< the sums of teams, then of cut rows
  bool squares;                   ///< whether y_dot_y is wanted
  real_t<Scalar> const* weights;  ///< of the rows in y_dot_y; null: ones
};

template <bool Vectorized, class Call, class Schedule, class Inner>
void launch_dots_kernel(Call const& call, DotsTarget<typename Call::Scalar> const& target,
                        Schedule const& schedule, Inner const& inner) {
  using Scalar = typename Call::Scalar;
  auto const with = [&]<bool Squares>() {
    auto const& [op, alpha, X, beta, Y] = call.product;
    ScaleAddDots<Scalar, Vectorized, Squares, Inner::width, Inner::vectors> const epilogue{
        alpha,
        beta,
        beta == Scalar(0),
        X.data,
        X.row_stride,
        X.column_stride,
        Y,
        target.shape.teams,
        target.nodes.count,
        target.nodes.data,
        target.weights,
        call.launch.lanes.grid};
    launch_kernel(call.exec, dots_label(call.launch).c_str(), target.shape, schedule, inner,
                  epilogue);
  };
  target.squares ? with.template operator()<true>() : with.template operator()<false>();
}

/// The kernels of launch_rows and launch_groups with one pass, for A as it is. Complex numbers: one
/// vector a lane, or registers would spill.
template <class Call>
void launch_dots(Call const& call, DotsTarget<typename Call::Scalar> const& target) {
  using Scalar = typename Call::Scalar;
  using Entries = PlainEntries<Scalar, typename Call::Ordinal>;
  auto const& prepared = call.prepared;
  auto const& X = call.product.X;
  auto const& lanes = call.launch.lanes;
  Entries const entries{prepared.pattern.column_indices, call.values.own};
  if (call.launch.variant->lists_groups()) {
    auto schedule = row_groups_of<SegmentOfThread>(prepared);
    schedule.share = target.share;
    GroupInners<typename Call::Exec, Scalar, Entries, true> const inners{entries, X, false,
                                                                         call.launch.vectorized};
    return inners.template with<true>(
        prepared.groups.most, lanes.grid, [&]<bool Vectorized, class Inner>(Inner const& inner) {
          launch_dots_kernel<Vectorized>(call, target, schedule, inner);
        });
  }
  auto const with = [&]<int Width, bool Vectorized, int Vectors, bool EntryLanes>() {
    using Inner = DirectLanes<Scalar, Entries, Width, Vectorized, Vectors, EntryLanes, 1, true>;
    Inner const inner = Inner::of(call, entries);
    if (call.launch.variant->lists_segments())
      launch_dots_kernel<Vectorized>(call, target, cut_rows_of(call, target.share), inner);
    else
      launch_dots_kernel<Vectorized>(
          call, target, WholeRows<SegmentOfThread>{target.share, prepared.pattern.row_offsets},
          inner);
  };
  constexpr int width = device_vector_v<Scalar>;
  bool const entry_lanes = lanes.grid.entry_bits > 0, two = lanes.vectors_per_lane == 2;
  if (!call.launch.vectorized && entry_lanes) return with.template operator()<1, false, 1, true>();
  if constexpr (!is_complex_v<Scalar>) {
    if (!call.launch.vectorized && two) return with.template operator()<1, false, 2, false>();
    if (call.launch.vectorized && two) return with.template operator()<width, true, 2, false>();
  }
  if (!call.launch.vectorized) return with.template operator()<1, false, 1, false>();
  if (entry_lanes) return with.template operator()<width, true, 1, true>();
  with.template operator()<width, true, 1, false>();
}

template <class Exec, class Scalar, class Ordinal>
void multiply_fused(Exec const& exec, PlanState<Exec, Ordinal>& plan, Launch const& launch,
                    Scalar const* values, Product<Scalar> const& product,
                    real_t<Scalar> const* weights, DotOutputs<Scalar> const& dots) {
  using Real = real_t<Scalar>;
  auto const& prepared = plan.plain;
  auto const& Y = product.Y;
  SpmmCall<Exec, Scalar, Ordinal> call{exec, prepared, {values}, {}, launch, product};
  SegmentOfThread share{prepared.segments(*launch.variant), 1};
  auto const shape = launch_shape(call, launch.lanes.grid.lanes(), share);
  std::int64_t const count = shape.teams + prepared.list.cut_rows;
  std::int64_t const most = most_teams(share.segments, Y.columns) + prepared.list.cut_rows;
  Nodes<Real> const nodes{
      reserve_nodes(exec, plan.dots, room_for_nodes<Exec, Real>(std::max(count, most)), dots),
      count, Y.columns};
  call.carry = reserve_carry<Scalar>(exec, plan.carry, prepared.list, Y.columns);
  if (launch.variant->skips_empty_rows())
    scale_empty_rows(exec, product.beta, prepared.pattern.row_offsets, Y,
                     std::string(launch.variant->label) + "::empty_rows");
  launch_dots(call, DotsTarget<Scalar>{shape, share, nodes, dots.squares(), weights});
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
