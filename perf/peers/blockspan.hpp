#pragma once

#include <string>
#include <vector>

#include <Kokkos_Timer.hpp>

#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

#include "peers/contender.hpp"
#include "suite/memory.hpp"

namespace blockspan::perf {

/// Blockspan's product by `algorithm`, "auto" or the id of a variant, on blocks of one layout. The
/// setup is the plan's, measured on a second plan: the first one also loads its kernels.
template <class Layout, class Scalar>
Prepared prepare_blockspan(Operands<Scalar> const& with, std::string const& algorithm) {
  auto const dense_bytes =
      static_cast<double>(with.A.numRows()) * with.A.numCols() * double{sizeof(Scalar)};
  require(algorithm != "dense" || dense_bytes < free_bytes(), "dense", "A written out takes ",
          dense_bytes / (1 << 30), " GiB, more than are free");
  SpmmPlanOptions const options{.columns = with.columns(), .algorithm = algorithm};
  SpmmPlan const warm_up(with.exec, with.A, options);
  with.exec.fence("Blockspan::perf::plan");
  Kokkos::Timer const timer;
  SpmmPlan const plan(with.exec, with.A, options);
  with.exec.fence("Blockspan::perf::plan");
  double const setup_ms = 1e3 * timer.seconds();
  auto const multiply = [with, plan] {
    spmm(with.exec, plan, Op::none, with.alpha, with.A, with.template X<Layout>(), with.beta,
         with.template Y<Layout>());
  };
  return {multiply, setup_ms, plan.kernel(with.columns(), sizeof(Scalar))};
}

/// What a user gets, row-major ("auto") and column-major ("auto/column"), then the whole menu,
/// row-major.
template <class Scalar>
std::vector<Contender> blockspan_contenders(Operands<Scalar> const& with) {
  using Kokkos::LayoutLeft, Kokkos::LayoutRight;
  auto const contender = [&](std::string const& id, bool whole_rows) {
    return Contender{id, "blockspan", Order::row, whole_rows,
                     [with, id] { return prepare_blockspan<LayoutRight>(with, id); }};
  };
  std::vector<Contender> all{contender("auto", false),
                             {"auto/column", "blockspan", Order::column, false,
                              [with] { return prepare_blockspan<LayoutLeft>(with, "auto"); }}};
  for (auto const* const variant : spmm_variants())
    all.push_back(contender(std::string(variant->id), variant->units == SpmmUnits::rows));
  return all;
}

}  // namespace blockspan::perf
