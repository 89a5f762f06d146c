#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/column_sums.hpp>
#include <blockspan/blocks/column_terms.hpp>
#include <blockspan/blocks/workspace.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/kernels/groups/groups.hpp>
#include <blockspan/spmm/kernels/rows/direct_lanes.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/launch/check.hpp>
#include <blockspan/spmm/parts/scale_add_dots.hpp>
#include <blockspan/spmm/run/dots.hpp>
#include <blockspan/spmm/run/run.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// Most teams of a fused product: narrower blocks must not need more scratch than wider ones.
inline std::int64_t most_teams(std::int64_t segments, std::int64_t columns) {
  std::int64_t const lanes = std::int64_t{1} << bits_to_hold(columns, tuning::device_lane_bits);
  return ceil_div(segments * lanes, std::int64_t{tuning::device_threads});
}

/// Real sums of a column.
template <class Scalar>
int dots_sums(DotOutputs<Scalar> const& dots) {
  return parts<Scalar> + (dots.squares() ? 1 : 0);
}

/// Room for `nodes` nodes in the pool's memory.
template <class Exec, class Scalar>
real_t<Scalar>* reserve_nodes(Exec const& exec, ScratchPool<Exec>& pool, std::int64_t nodes,
                              DotOutputs<Scalar> const& dots) {
  std::int64_t const sums = nodes * dots.x_dot_y.columns * dots_sums(dots);
  return static_cast<real_t<Scalar>*>(
      pool.reserve(exec, static_cast<std::size_t>(sums) * sizeof(real_t<Scalar>)));
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

/// The sums of X and Y in one pass over them. memory(count): room for that many real values;
/// of_all(nodes): those of other ranks with them.
template <class Exec, class Scalar, class Memory, class OfAll>
void dot_columns(Exec const& exec, BlockRef<Scalar const> const& X, BlockRef<Scalar const> const& Y,
                 real_t<Scalar> const* weights, RowChunks const& chunks,
                 DotOutputs<Scalar> const& dots, Memory const& memory, OfAll const& of_all) {
  auto const sum = [&]<class Ref>(Ref const& x, Ref const& y) {
    auto const with = [&]<bool Squares>() {
      auto const nodes =
          sum_chunks(exec, "Blockspan::spmm_dots::separate", DotTerms<Ref, Squares>{x, y, weights},
                     chunks, Y.columns, memory);
      store_dots<Squares>(exec, "Blockspan::spmm_dots::add", of_all(nodes), dots);
    };
    dots.squares() ? with.template operator()<true>() : with.template operator()<false>();
  };
  with_strides<Exec, Scalar>(X, Y, sum, true);
}

/// The product as it is, then one pass over X and Y.
template <class Exec, class Scalar, class Ordinal>
void multiply_then_dot(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                       MatrixRef<Scalar, void, Ordinal> const& A, Product<Scalar> const& product,
                       real_t<Scalar> const* weights, DotOutputs<Scalar> const& dots) {
  auto const& Y = product.Y;
  auto* const memory =
      reserve_nodes(exec, plan.first().dots, most_nodes<Exec, real_t<Scalar>>(Y.rows), dots);
  multiply(exec, plan, A, product);  // last: Y stays as it is where memory is short
  dot_columns<Exec, Scalar>(
      exec, product.X, Y, weights, row_chunks<Exec>(Y.rows), dots, [&](auto) { return memory; },
      [](auto const& nodes) { return nodes; });
}

inline std::string dots_label(Launch const& launch) {
  return std::string(launch.variant->label) + "::dots";
}

/// Where a fused launch leaves its sums.
template <class Scalar>
struct DotsTarget {
  LaunchShape shape;
  SegmentOfThread share;
  BlockRef<Scalar const> x;       ///< whose rows meet those of Y
  Nodes<real_t<Scalar>> nodes;    ///< the first are the sums of teams, then of cut rows
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
        target.x.data,
        target.x.row_stride,
        target.x.column_stride,
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

/// The kernels of launch_rows and launch_groups with one pass, for A as it is. Complex scalars: one
/// vector a lane, or registers would spill.
template <class Call>
void launch_dots(Call const& call, DotsTarget<typename Call::Scalar> const& target) {
  using Scalar = typename Call::Scalar;
  using Entries = PlainEntries<Scalar, typename Call::Ordinal>;
  auto const& prepared = call.prepared;
  auto const& X = call.product.X;
  auto const& lanes = call.launch.lanes;
  Entries const entries{prepared.pattern.column_indices, call.values};
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

/// The launch of a product that sums as well, with the nodes it leaves.
template <class Exec, class Scalar, class Ordinal>
class FusedDots {
 public:
  FusedDots(Exec const& exec, PlanState<Exec, Ordinal>& plan, Decision const& decision,
            Scalar const* values, Product<Scalar> const& product)
      : plan_(plan),
        decision_(decision),
        call_{exec, plan.plain, values, {}, decision.first(), product},
        share_{plan.plain.segments(call_.variant()), 1},
        shape_(launch_shape(call_, call_.launch.lanes.grid.lanes(), share_)) {}

  std::int64_t nodes() const { return shape_.teams + plan_.plain.list.cut_rows; }
  /// Of this product and narrower ones.
  std::int64_t most_nodes() const {
    std::int64_t const teams = most_teams(share_.segments, call_.product.Y.columns);
    return std::max(shape_.teams, teams) + plan_.plain.list.cut_rows;
  }

  /// Writes Y, and the nodes() first ones of `nodes`.
  void launch(BlockRef<Scalar const> const& x, real_t<Scalar> const* weights, bool squares,
              Nodes<real_t<Scalar>> const& nodes) {
    Factor<Exec, Scalar, Ordinal> const A{plan_.plain, call_.values, call_.product.op};
    for_each_launch(
        call_.exec, &plan_, decision_, A, call_.product, [&](auto const& call, std::int64_t) {
          launch_dots(call, DotsTarget<Scalar>{shape_, share_, x, nodes, squares, weights});
        });
  }

 private:
  PlanState<Exec, Ordinal>& plan_;
  Decision const& decision_;
  SpmmCall<Exec, Scalar, Ordinal> call_;
  SegmentOfThread share_;
  LaunchShape shape_;
};

/// The roots of a fused product's nodes to the outputs. of_all: see dot_columns.
template <class Exec, class Scalar, class OfAll>
void add_dots(Exec const& exec, std::string const& label, Nodes<real_t<Scalar>> const& nodes,
              DotOutputs<Scalar> const& dots, OfAll const& of_all) {
  auto const few = of_all(few_nodes<AddTerms>(exec, nodes, dots_sums(dots)));
  if (dots.squares())
    store_dots<true>(exec, label.c_str(), few, dots);
  else
    store_dots<false>(exec, label.c_str(), few, dots);
}

template <class Exec, class Scalar, class Ordinal>
void multiply_fused(Exec const& exec, PlanState<Exec, Ordinal>& plan, Decision const& decision,
                    Scalar const* values, Product<Scalar> const& product,
                    real_t<Scalar> const* weights, DotOutputs<Scalar> const& dots) {
  using Real = real_t<Scalar>;
  FusedDots fused(exec, plan, decision, values, product);
  std::int64_t const room = room_for_nodes<Exec, Real>(fused.most_nodes());
  Nodes<Real> const nodes{reserve_nodes(exec, plan.dots, room, dots), fused.nodes(),
                          product.Y.columns};
  fused.launch(product.X, weights, dots.squares(), nodes);
  add_dots(exec, dots_label(decision.first()) + "::add", nodes, dots,
           [](auto const& few) { return few; });
}

/// The decision whose launch sums products as well, of rows of Y with those of x; null: they take a
/// pass of their own. A matrix in several panels has none.
template <class Exec, class Scalar, class Ordinal>
Decision const* fused_decision(PlanPanels<Exec, Ordinal> const& panels,
                               Product<Scalar> const& product, BlockRef<Scalar const> const& x) {
  if (!lanes_exchange_v<Exec> || panels.is_cut() || product.alpha == Scalar(0)) return nullptr;
  auto const& plan = panels.first();
  auto blocks = block_facts(product, plan.options.must_run());
  blocks.x.vectors = blocks.x.vectors && rows_are_vectors(x);  // read as rows of Y are written
  blocks.sums = true;
  // rows without entries become zero, or they are in the sums too: NaN, if alpha is not finite
  blocks.overwrites = product.beta == Scalar(0) && product.alpha * Scalar(0) == Scalar(0);
  auto const& decision = plan.plain.decision_for(blocks);
  return decision.fuses_sums ? &decision : nullptr;
}

template <class Scalar>
void check_outputs(std::int64_t columns, DotOutputs<Scalar> const& dots) {
  require(dots.x_dot_y.columns == columns && (!dots.squares() || dots.y_dot_y.columns == columns),
          "blockspan::spmm_dots",
          "x_dot_y and y_dot_y must have an entry for each column (x_dot_y: ", dots.x_dot_y.columns,
          ", y_dot_y: ", dots.y_dot_y.columns, ", columns: ", columns, ")");
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
  check_outputs(product.Y.columns, dots);
  auto const* const decision = fused_decision(plan, product, product.X);
  if (decision == nullptr) return multiply_then_dot(exec, plan, A, product, weights, dots);
  if constexpr (lanes_exchange_v<Exec>)
    multiply_fused(exec, plan.first(), *decision, A.values, product, weights, dots);
}

/// A part of the rows of a product with sums.
template <class Scalar>
struct PartOfDots {
  Product<Scalar> product;
  BlockRef<Scalar const> x;
  real_t<Scalar> const* weights;
};

/// By parts that all have a launch that sums: their nodes behind each other are those of a product.
template <class Exec, class Scalar, class Ordinal, class Memory, class OfAll>
void multiply_fused(Exec const& exec, std::span<PartOfRows<Exec, Scalar, Ordinal> const> parts,
                    std::vector<PartOfDots<Scalar>> const& of_parts, OrderOfParts<Exec> const& run,
                    DotOutputs<Scalar> const& dots, Memory const& memory, OfAll const& of_all) {
  using Real = real_t<Scalar>;
  auto const fused = [&](Exec const& on, std::size_t p) {
    auto const& [product, x, weights] = of_parts[p];
    return FusedDots<Exec, Scalar, Ordinal>(on, parts[p].plan->first(),
                                            *fused_decision(*parts[p].plan, product, x),
                                            parts[p].A.values, product);
  };
  std::vector<std::int64_t> first{0};
  std::int64_t most = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    bool const any = of_parts[p].x.rows > 0;
    first.push_back(first.back() + (any ? fused(exec, p).nodes() : 0));
    most += any ? fused(exec, p).most_nodes() : 0;
  }
  Nodes<Real> const nodes{memory(room_for_nodes<Exec, Real>(most)), first.back(),
                          dots.x_dot_y.columns};
  run([&](Exec const& on, int which) {
    auto const p = static_cast<std::size_t>(which);
    if (of_parts[p].x.rows == 0) return;
    Nodes<Real> own = nodes;
    own.data += first[p];
    fused(on, p).launch(of_parts[p].x, of_parts[p].weights, dots.squares(), own);
  });
  add_dots(exec, "Blockspan::spmm_dots::add", nodes, dots, of_all);
}

/// The sums of all nodes of the parts at once, where each part has a kernel that makes them; else
/// one pass over all rows.
template <class Exec, class Scalar, class Ordinal>
void multiply_dots(Exec const& exec, std::span<PartOfRows<Exec, Scalar, Ordinal> const> parts,
                   OrderOfParts<Exec> const& run, Product<Scalar> const& rows,
                   real_t<Scalar> const* weights, DotOutputs<Scalar> const& dots,
                   Workspace<Exec>& workspace) {
  using Real = real_t<Scalar>;
  BlockRef<Scalar const> const x = rows.X;
  BlockRef<Scalar> const Y = rows.Y;
  check_outputs(Y.columns, dots);
  auto const chunks = local_chunks(Y.rows, workspace);
  int const sums = dots_sums(dots);
  auto const memory = [&](std::int64_t nodes) {
    return workspace.template device<Real>(exec, Workspace<Exec>::partials,
                                           nodes * sums * Y.columns);
  };
  auto const of_all = [&](Nodes<Real> const& nodes) {
    return over_ranks<AddTerms>(exec, nodes, sums, chunks, workspace);
  };
  std::vector<PartOfDots<Scalar>> of_parts;
  bool fused = lanes_exchange_v<Exec> && workspace.rows().unit() == 0;
  for (auto const& part : parts) {
    std::int64_t const count = part.A.pattern.rows;
    PartOfDots<Scalar> const own{
        Product<Scalar>{rows.op, rows.alpha, part.X, rows.beta, row_range(Y, part.first, count)},
        row_range(x, part.first, count), weights ? weights + part.first : nullptr};
    check_product("blockspan::spmm_dots", part.A.pattern, own.product);
    check_plan("blockspan::spmm_dots", *part.plan, part.A.pattern);
    fused = fused && (count == 0 || fused_decision(*part.plan, own.product, own.x) != nullptr);
    of_parts.push_back(own);
  }
  if constexpr (lanes_exchange_v<Exec>)
    if (fused) return multiply_fused(exec, parts, of_parts, run, dots, memory, of_all);
  auto* const room = memory(most_nodes<Exec, Real>(Y.rows));
  run([&](Exec const& on, int which) {
    auto const part = static_cast<std::size_t>(which);
    if (of_parts[part].x.rows > 0)
      multiply(on, *parts[part].plan, parts[part].A, of_parts[part].product);
  });
  dot_columns<Exec, Scalar>(
      exec, x, Y, weights, chunks, dots, [&](auto) { return room; }, of_all);
}

}  // namespace blockspan::products
