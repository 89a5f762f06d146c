#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include <Kokkos_Core.hpp>
#include <Kokkos_Timer.hpp>

#include <blockspan/spmm/prepared/tune_cache.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/interruption.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

namespace products {

// Defined in explain_impl.hpp, compiled once per backend.

/// Whether the device of the plan has what the variant needs.
template <class Exec, class Ordinal>
bool offers(PlanPanels<Exec, Ordinal> const& plan, SpmmVariant const& variant);
/// Whether the core runs the variant at a plan's width: shared tiles are of Blockspan::published
/// where no team shares them.
template <class Exec, class Ordinal>
bool runs_without_published(PlanPanels<Exec, Ordinal> const& plan, SpmmVariant const& variant,
                            int columns, std::size_t scalar_bytes);
template <class Exec, class Ordinal>
void set_reason(PlanPanels<Exec, Ordinal>& plan, std::string const& reason);
/// Blocks that the variant asked for does not support run as its fallback from now on.
template <class Exec, class Ordinal>
void allow_fallbacks(PlanPanels<Exec, Ordinal>& plan);

/// Milliseconds of one product, row-major blocks of X.extent(1) columns: the least of a few
/// batches.
template <class Exec, class Plan, class Matrix, class View>
double milliseconds_of(Exec const& exec, Plan const& plan, Matrix const& A, View const& X,
                       View const& Y) {
  using Scalar = scalar_t<Matrix>;
  constexpr int batches = 4, products = 5;
  double least = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < batches; ++batch) {  // the first one warms up as well
    InterruptionCheck::step();
    exec.fence("Blockspan::tuned_plan");
    Kokkos::Timer const timer;
    for (int i = 0; i < products; ++i) spmm(exec, plan, Op::none, Scalar(1), A, X, Scalar(0), Y);
    exec.fence("Blockspan::tuned_plan");
    least = std::min(least, 1e3 * timer.seconds() / products);
  }
  return least;
}

/// Measures the kernels of the core; the fastest plan, with the times in its
/// reason. `best`: the result where nothing can be measured.
template <class Exec, class Matrix, class Plan>
Plan measured_plan(Exec const& exec, Matrix const& A, SpmmPlanOptions options, Plan best) {
  using Scalar = scalar_t<Matrix>;
  using Vectors = Block<Scalar, Exec>;
  auto const X =
      allocate_zeros<Vectors>(exec, "Blockspan::tuned_plan::X", A.numCols(), options.columns);
  auto const Y =
      allocate_zeros<Vectors>(exec, "Blockspan::tuned_plan::Y", A.numRows(), options.columns);
  double least = std::numeric_limits<double>::infinity();
  std::ostringstream times;
  for (auto const* const entry : spmm_variants()) {
    auto const& variant = *entry;
    bool const is_own = variant.component == nullptr;
    if (!is_own || !offers(best.panels(), variant)) continue;
    options.algorithm = variant.id;
    Plan const candidate(exec, A, options);
    if (!runs_without_published(candidate.panels(), variant, options.columns, sizeof(Scalar)))
      continue;
    double const time = milliseconds_of(exec, candidate, A, X, Y);
    times << (times.str().empty() ? "" : ", ") << variant.id << ' ' << time << " ms";
    if (time < least) best = candidate;
    least = std::min(least, time);
  }
  set_reason(best.panels(),
             "measured with " + std::to_string(options.columns) + " columns: " + times.str());
  return best;
}

/// The plan with a kernel that was measured before; nothing where the device or the library that
/// runs now has none of that id: caches outlive builds. `plan`: what the model says.
template <class Exec, class Matrix, class Plan>
std::optional<Plan> plan_measured_before(Exec const& exec, Matrix const& A, SpmmPlanOptions options,
                                         Plan const& plan, SpmmVariant const& known) {
  if (known.component != nullptr || !offers(plan.panels(), known)) return {};
  if (known.id == plan.algorithm()) return plan;
  options.algorithm = known.id;
  Plan const result(exec, A, options);
  if (!runs_without_published(result.panels(), known, options.columns, sizeof(scalar_t<Matrix>)))
    return {};
  return result;
}

}  // namespace products

struct SpmmTuneOptions {
  /// File that keeps measured choices between runs; empty: none. It is created where absent;
  /// several processes may share it.
  std::string cache_file;
};

/// A plan whose variant is chosen by measurement: each variant of the menu that the library runs by
/// itself multiplies A with a row-major block of options.columns columns, and the fastest one is
/// kept; explain() lists the times. For a matrix that many products will be made with: it costs
/// some 20 products a variant, two blocks of memory, and waits for the instance. Which variant
/// wins, and with it the bits of the products, may differ from run to run; plan.algorithm() says
/// which.
///
/// With a cache file, a choice that was measured before is read from it, without measuring, and
/// explain() says so; what is measured is added. A choice holds for the device by its name (on
/// hosts: the backend and its number of threads, so that different machines need files of their
/// own), the scalar, the offset's size, the row statistics but the shortest row (not the pattern
/// itself), and the options, the number of columns among them. One of a kernel that this library
/// does not run there is measured again.
///
/// Throws Error if an option is bad, if options.algorithm is not "auto", if the cache file is
/// something else or has a bad entry (with the line), where memory is short, or, before anything is
/// measured, if the file cannot be written.
template <class Exec, class Matrix>
auto tuned_plan(Exec const& exec, Matrix const& A, SpmmPlanOptions const& options = {},
                SpmmTuneOptions const& tune = {})
    -> SpmmPlan<Exec, sparse::offset_t<Matrix>, sparse::ordinal_t<Matrix>> {
  static_assert(!sparse::has_blocks_v<Matrix>, "there is nothing to choose for a BsrMatrix");
  options.validate();
  require(options.algorithm == "auto", "blockspan::tuned_plan",
          "there is nothing to choose where an algorithm is asked for (", options.algorithm, ")");
  SpmmPlan plan(exec, A, options);  // what the model says
  bool const cached = !tune.cache_file.empty();
  products::TuneKey const key{products::tune_device(exec),
                              products::tune_scalar<sparse::scalar_t<Matrix>>(),
                              int(sizeof(sparse::offset_t<Matrix>)), plan.statistics(), options};
  auto const* const known = cached ? products::find_tuned(tune.cache_file, key) : nullptr;
  auto const before = known != nullptr
                          ? products::plan_measured_before(exec, A, options, plan, *known)
                          : std::nullopt;
  if (before) {
    plan = *before;
    products::set_reason(plan.panels(), "measured before with " + std::to_string(options.columns) +
                                            " columns, as the cache " + tune.cache_file + " says");
  } else {
    if (cached) products::check_tuned_writable(tune.cache_file);
    plan = products::measured_plan(exec, A, options, plan);
    if (cached) products::add_tuned(tune.cache_file, key, *find_spmm_variant(plan.algorithm()));
  }
  products::allow_fallbacks(plan.panels());
  return plan;
}

}  // namespace blockspan
