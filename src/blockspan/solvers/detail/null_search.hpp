#pragma once

#include <algorithm>
#include <vector>

#include <blockspan/solvers/detail/cg_group.hpp>

namespace blockspan::detail {

/// Adds what a solve within a solve took.
inline void add_counters(CgCounters& all, CgCounters const& inner) {
  all.operator_applications += inner.operator_applications;
  all.operator_columns += inner.operator_columns;
  all.preconditioner_applications += inner.preconditioner_applications;
  all.preconditioner_columns += inner.preconditioner_columns;
  all.synchronizations += inner.synchronizations;
  all.compactions += inner.compactions;
  all.replayed += inner.replayed;
  all.reorthogonalizations += inner.reorthogonalizations;
}

inline void add_seconds(CgSeconds& all, CgSeconds const& inner) {
  all.product += inner.product;
  all.preconditioner += inner.preconditioner;
  all.update += inner.update;
  all.gram += inner.gram;
  all.dense += inner.dense;
  all.verify += inner.verify;
}

/// E with A E = Q to these relative residuals, by at most so many iterations, which count as those
/// of the solve.
template <class Scalar, class Exec>
void solve_within(CgProblem<Scalar, Exec>& problem, CgControl<Scalar, Exec>& control,
                  Block<Scalar, Exec> const& Q, Block<Scalar, Exec> const& E,
                  std::vector<real_t<Scalar>> const& tolerances, int iterations, bool block) {
  using Real = real_t<Scalar>;
  int const columns = static_cast<int>(Q.extent(1));
  CgOptions<Scalar, Exec> options;
  options.preconditioner = control.options().preconditioner;
  options.tolerances = tolerances;
  options.max_iterations = iterations;
  options.max_cycles = 2;
  options.keep_history = false;
  options.time_limit = control.time_left();
  options.time_phases = control.options().time_phases;
  options.monitor = [&](CgProgress<Real> const& now) { return control.step_aside(now.directions); };
  CgReport<Real> report;
  report.columns.resize(static_cast<std::size_t>(columns));
  CgProblem<Scalar, Exec> inner(problem.exec, problem.a(), options);
  CgControl<Scalar, Exec> inner_control(options, report);
  inner_control.forbid_search();
  CgTools<Scalar, Exec> tools(inner, inner_control, columns);
  CgGroup<Scalar, Exec>(inner, tools, block_ref<Exec>(Q), block_ref<Exec>(E), 0,
                        block && columns > 1)
      .solve();
  add_counters(problem.counters, inner.counters);
  add_seconds(problem.seconds, inner.seconds);
}

template <class Scalar, class Exec>
ImageSizes<real_t<Scalar>> refine_null_vectors(CgProblem<Scalar, Exec>& problem,
                                               CgControl<Scalar, Exec>& control,
                                               Block<Scalar, Exec> const& Z, bool block) {
  using Real = real_t<Scalar>;
  using Limits = CgThresholds<Real>;
  constexpr int most = 3;
  constexpr Real digits = Limits::pick(1e-8, 1e-4);  // more of them in the next round
  int const iterations = 3 * control.group_iterations() + 100;
  auto const like = [&] {
    return allocate<Block<Scalar, Exec>>(problem.exec, "Blockspan::cg::null_vectors", Z.extent(0),
                                         Z.extent(1));
  };
  auto const Q = like(), E = like();
  std::vector<Real> first;
  for (int round = 0;; ++round) {
    auto const sizes = image_sizes(problem, Z, Q, E);
    if (round == 0) first = sizes.length;
    std::vector<Real> tolerances;
    bool done = true;
    for (std::size_t c = 0; c < first.size(); ++c) {
      bool const nothing = sizes.length[c] <= Limits::no_part * first[c];
      bool const near = nothing || sizes.image[c] <= Limits::refined * sizes.rounding[c];
      done = done && near;
      Real const wanted = near ? Real(0.5) : sizes.rounding[c] / sizes.image[c];
      tolerances.push_back(std::clamp(wanted, digits, Real(0.5)));
    }
    if (done || round == most || control.stopped()) return sizes;
    solve_within(problem, control, Q, E, tolerances, iterations, block);
    for_each_entry(problem.exec, "Blockspan::cg::subtract", block_ref<Exec>(Z),
                   SubtractBlock<Scalar>{block_ref<Exec>(E), block_ref<Exec>(Z)});
  }
}

}  // namespace blockspan::detail
