#pragma once

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

namespace detail {

/// Milliseconds of one product, row-major blocks of X.extent(1) columns: the least of a few
/// batches.
template <class Exec, class Plan, class Matrix, class View>
double milliseconds_of(Exec const& exec, Plan const& plan, Matrix const& A, View const& X,
                       View const& Y) {
  using Scalar = scalar_t<Matrix>;
  constexpr int batches = 4, products = 5;
  double least = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < batches; ++batch) {  // the first one warms up as well
    exec.fence("Blockspan::tuned_plan");
    Kokkos::Timer const timer;
    for (int i = 0; i < products; ++i) spmm(exec, plan, Op::none, Scalar(1), A, X, Scalar(0), Y);
    exec.fence("Blockspan::tuned_plan");
    least = std::min(least, 1e3 * timer.seconds() / products);
  }
  return least;
}

}  // namespace detail

/// A plan whose variant is chosen by measurement: each variant of the menu but the baselines
/// multiplies A with a row-major block of options.columns columns, and the fastest one is kept;
/// explain() lists the times. For a matrix that many products will be made with: it costs some 20
/// products a variant, two blocks of memory, and waits for the instance. Which variant wins, and
/// with it the bits of the products, may differ from run to run; plan.algorithm() tells.
/// Throws Error if an option is bad or if options.algorithm is not "auto".
template <class Exec, class Matrix>
auto tuned_plan(Exec const& exec, Matrix const& A, SpmmPlanOptions options = {})
    -> SpmmPlan<Exec, detail::offset_t<Matrix>, detail::ordinal_t<Matrix>> {
  options.validate();
  require(options.algorithm == "auto", "blockspan::tuned_plan",
          "there is nothing to choose where an algorithm is asked for (", options.algorithm, ")");
  using Scalar = detail::scalar_t<Matrix>;
  Block<Scalar, Exec> const X(Kokkos::view_alloc(exec, "Blockspan::tuned_plan::X"), A.numCols(),
                              options.columns);
  Block<Scalar, Exec> const Y(Kokkos::view_alloc(exec, "Blockspan::tuned_plan::Y"), A.numRows(),
                              options.columns);
  SpmmPlan best(exec, A, options);  // what the model says, where nothing can be measured
  double least = std::numeric_limits<double>::infinity();
  std::ostringstream times;
  for (auto const& variant : spmm_variants) {
    if (variant.worker != SpmmWorker::team_thread) continue;
    options.algorithm = variant.id;
    SpmmPlan const candidate(exec, A, options);
    if (candidate.kernel(options.columns, sizeof(Scalar)) != variant.label) continue;
    double const time = detail::milliseconds_of(exec, candidate, A, X, Y);
    times << (times.str().empty() ? "" : ", ") << variant.id << ' ' << time << " ms";
    if (time < least) best = candidate;
    least = std::min(least, time);
  }
  best.state().options.algorithm = "auto";  // chosen, not asked for: other blocks are served too
  best.state().plain.choice.reason =
      "measured with " + std::to_string(options.columns) + " columns: " + times.str();
  return best;
}

}  // namespace blockspan
