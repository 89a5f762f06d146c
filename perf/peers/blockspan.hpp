#pragma once

#include <string>
#include <vector>

#include <Kokkos_Timer.hpp>

#include <blockspan/spmm/spmm.hpp>

#include "peers/contender.hpp"

namespace blockspan::perf {

/// Blockspan's product by `algorithm`, "auto" or the id of a variant. The setup is the plan's,
/// measured on a second plan: the first one also loads its kernels.
template <class Scalar>
Prepared prepare_blockspan(Operands<Scalar> const& with, std::string const& algorithm) {
  SpmmPlanOptions const options{.columns = with.columns(), .algorithm = algorithm};
  SpmmPlan const warm_up(with.exec, with.A, options);
  with.exec.fence("Blockspan::perf::plan");
  Kokkos::Timer const timer;
  SpmmPlan const plan(with.exec, with.A, options);
  with.exec.fence("Blockspan::perf::plan");
  double const setup_ms = 1e3 * timer.seconds();
  auto const multiply = [with, plan] {
    spmm(with.exec, plan, Op::none, Scalar(1), with.A, with.X_row, Scalar(0), with.Y_row);
  };
  return {multiply, setup_ms, plan.kernel(with.columns(), sizeof(Scalar))};
}

/// What a user gets, then the whole menu.
template <class Scalar>
std::vector<Contender> blockspan_contenders(Operands<Scalar> const& with) {
  auto const contender = [&](std::string const& id, bool whole_rows) {
    return Contender{id, "blockspan", Order::row, whole_rows,
                     [with, id] { return prepare_blockspan(with, id); }};
  };
  std::vector<Contender> all{contender("auto", false)};
  for (SpmmVariant const& variant : spmm_variants)
    all.push_back(
        contender(std::string(variant.id), variant.partition == SpmmPartition::whole_rows));
  return all;
}

}  // namespace blockspan::perf
