#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/kernels/rows/rows_host.hpp>
#include <blockspan/spmm/launch/check.hpp>
#include <blockspan/spmm/run/run.hpp>
#include <blockspan/spmm/run/step.hpp>
#include <blockspan/spmm/run/step_launch.hpp>

namespace blockspan::products {

/// The launches with the fused step, one after the other over the columns; null: there are none.
template <class Exec, class Scalar, class Ordinal>
Decision const* step_decision(PlanPanels<Exec, Ordinal> const& panels,
                              Product<Scalar> const& product, ProductStep<Scalar> const& step) {
  constexpr bool has_kernels = lanes_exchange_v<Exec> || runs_on_host_v<Exec>;
  if (!has_kernels || panels.is_cut() || product.Y.rows * product.Y.columns == 0) return nullptr;
  auto const& plan = panels.first();
  auto blocks = block_facts(product, plan.options.must_run());
  // what a lane reads of R and Z, it reads as it writes Y
  BlockLayout const r = layout_of(step.R), z = layout_of(step.Z);
  if (!blocks.x.contiguous || !blocks.y.contiguous || !r.contiguous || !z.contiguous)
    return nullptr;
  blocks.x.vectors = blocks.y.vectors =
      blocks.x.vectors && blocks.y.vectors && r.vectors && z.vectors;
  blocks.steps = true;
  auto const& decision = plan.plain.decision_for(blocks);
  return decision.fuses_step ? &decision : nullptr;
}

template <class Exec, class Scalar, class Ordinal>
bool fuses_step(PlanPanels<Exec, Ordinal> const& panels, BlockRef<Scalar const> const& X,
                ProductStep<Scalar> const& step, BlockRef<Scalar> const& Y) {
  return step_decision(panels, Product<Scalar>{Op::none, Scalar(1), X, Scalar(0), Y}, step) !=
         nullptr;
}

template <class Exec, class Scalar, class Ordinal>
bool multiply_with_step(Exec const& exec, PlanPanels<Exec, Ordinal>& panels,
                        MatrixRef<Scalar, void, Ordinal> const& A, BlockRef<Scalar const> const& X,
                        ProductStep<Scalar> const& step, BlockRef<Scalar> const& Y) {
  Product<Scalar> const product{Op::none, Scalar(1), X, Scalar(0), Y};
  check_product("blockspan::spmm", A.pattern, product);
  check_plan("blockspan::spmm", panels, A.pattern);
  auto const* const decision = step_decision(panels, product, step);
  if (decision == nullptr) return false;
  auto& plan = panels.first();
  Factor<Exec, Scalar, Ordinal> const factor{plan.plain, A.values, product.op,
                                             slices_of(plan, A.values)};
  for_each_launch(exec, &plan, *decision, factor, product,
                  [&](auto const& call, std::int64_t first) {
                    std::int64_t const columns = call.launch.columns;
                    auto of_part = step;
                    of_part.R.data += first * step.R.column_stride;
                    of_part.R.columns = columns;
                    of_part.Z.data += first * step.Z.column_stride;
                    of_part.Z.columns = columns;
                    if constexpr (runs_on_host_v<Exec>)
                      launch_host_step(call, of_part);
                    else if constexpr (lanes_exchange_v<Exec>)
                      StepLaunch(call, of_part).run();
                  });
  return true;
}

}  // namespace blockspan::products
