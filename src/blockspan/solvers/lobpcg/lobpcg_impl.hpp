#pragma once

#include <blockspan/solvers/dense/dense_path.hpp>
#include <blockspan/solvers/dense/inverted_solve.hpp>
#include <blockspan/solvers/lobpcg/solve_path.hpp>
#include <blockspan/solvers/lobpcg/solver.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/interruption.hpp>

// The entry of lobpcg: validates the options, chooses the path and runs it.

namespace blockspan {

template <class Scalar, class Exec>
void LobpcgOptions<Scalar, Exec>::validate() const {
  constexpr auto where = "LobpcgOptions";
  require(wanted >= 1, where, "wanted is ", wanted, ", at least 1 pair must be asked for");
  require(tolerance > 0 && tolerance < 1, where, "tolerance is ", tolerance, ", not in (0, 1)");
  require(digits >= 1 && digits <= 12, where, "digits is ", digits, ", not between 1 and 12");
  require(max_iterations >= 0, where, "max_iterations is ", max_iterations, ", negative");
  require(guess_columns >= 0, where, "guess_columns is ", guess_columns, ", negative");
  require(stagnation_window >= 1, where, "stagnation_window is ", stagnation_window, ", below 1");
  require(block >= 0, where, "block is ", block, ", negative");
  require(checkpoint_seconds >= 0, where, "checkpoint_seconds is ", checkpoint_seconds,
          ", negative or NaN");
  require(mass_lower_bound >= 0, where, "mass_lower_bound is ", mass_lower_bound,
          ", negative or NaN");
  require(widest_block >= 0, where, "widest_block is ", widest_block, ", negative");
  require(time_limit >= 0, where, "time_limit is ", time_limit, " seconds, negative or NaN");
  require(path != SolvePath::dense || (checkpoint.empty() && resume.empty()), where,
          "path is dense, and a dense solve neither writes nor reads checkpoints");
}

namespace eigen {

/// Why an iteration that ended with this status is followed by a dense solve; null: it is not.
template <class Real>
char const* reason_for_dense(LobpcgReport<Real> const& report, PathChoice const& choice,
                             bool wants_dense) {
  if (!choice.may_change) return nullptr;
  if (wants_dense) return "the iteration had cost what a dense solve was predicted to";
  switch (report.status) {
    case Status::mass_singular:
      return "the mass matrix is singular";
    case Status::attainable_limit:
    case Status::stagnated:
      // Rounding errors of the iteration, not of the result, may limit the accuracy.
      return choice.dense_seconds < affordable_dense_seconds
                 ? "rounding kept the iteration from its goal"
                 : nullptr;
    default:
      return nullptr;
  }
}

/// The dense path, with `seconds` to take. They, and the checks of InterruptionCheck, end it where
/// no ranks share it: nothing is known then, and X is as it was.
template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> solve_densely(Problem<Scalar, Exec>& problem,
                                           Block<Scalar, Exec> const& X,
                                           LobpcgOptions<Scalar, Exec> const& options,
                                           double seconds) {
  auto const begin = std::chrono::steady_clock::now();
  bool late = false;
  std::optional<InterruptionCheck> limit;
  if (!problem.distributed())
    limit.emplace([&late, begin, seconds] {
      late = seconds_since(begin) > seconds;
      return !late;
    });
  try {
    return DensePath<Scalar, Exec>(problem, options).solve(X);
  } catch (Interrupted const&) {
    LobpcgReport<real_t<Scalar>> report;
    report.path = "dense";
    report.status = late ? Status::time_limit : Status::stopped_by_monitor;
    report_nothing(problem, options, report);
    problem.seconds.total = seconds_since(begin);
    report.counters = problem.counters;
    report.seconds = problem.seconds;
    return report;
  }
}

/// The dense path after an iteration, whose history and costs go into the report.
template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> solve_densely_after(LobpcgReport<real_t<Scalar>> const& before,
                                                 char const* reason, Exec const& exec,
                                                 LinearOperator<Scalar, Exec> const& A,
                                                 LinearOperator<Scalar, Exec> const* B,
                                                 Block<Scalar, Exec> const& X,
                                                 LobpcgOptions<Scalar, Exec> const& options) {
  Problem<Scalar, Exec> problem(exec, A, B, options);
  auto report = solve_densely(problem, X, options, options.time_limit - before.seconds.total);
  if (report.status == Status::time_limit || report.status == Status::stopped_by_monitor) {
    auto ended = before;  // its pairs are the best so far
    ended.status = report.status;
    ended.seconds.add(report.seconds);
    ended.counters.add(report.counters);
    return ended;
  }
  report.history = before.history;
  report.iterations = before.iterations;
  report.seconds.add(before.seconds);
  report.counters.add(before.counters);
  report.fault = before.fault;
  report.checkpoint_fault = before.checkpoint_fault;
  report.path = before.iterations > 0 ? "iterative, then dense" : "dense";
  report.path_reason = reason;
  return report;
}

template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> lobpcg_solve(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                                          LinearOperator<Scalar, Exec> const* B,
                                          Block<Scalar, Exec> const& X,
                                          LobpcgOptions<Scalar, Exec> const& options) {
  A.row_space().communicator().run_agreed([&] { check_arguments(A, B, X, options); });
  std::int64_t const m = X.extent(1);
  Problem<Scalar, Exec> problem(exec, A, B, options);
  require_finite_vectors(problem, X, options);
  PathChoice const choice = choose_path(problem, options, m);
  if (choice.dense) {
    A.row_space().communicator().run_agreed([&] {
      require(options.resume.empty(), "lobpcg", "there is no checkpoint of a dense solve (",
              choice.reason, "): resume is ", options.resume);
    });
    auto report = solve_densely(problem, X, options, options.time_limit);
    report.path_reason = choice.reason;
    return report;
  }
  int const columns = static_cast<int>(iterated_columns(options, m));
  constexpr double never = std::numeric_limits<double>::infinity();
  LobpcgSolver<Scalar, Exec> solver(problem, X, columns, options,
                                    choice.may_change ? choice.dense_seconds : never);
  auto report = solver.solve();
  report.path_reason = choice.reason;
  char const* const reason = reason_for_dense(report, choice, solver.wants_dense());
  if (report.status == Status::mass_singular && B && !problem.distributed()) {
    InvertedSolve<Scalar, Exec> shifted(problem, X, options);
    auto inverted = shifted.solve(columns);
    if (inverted && (inverted->converged() || !reason)) {
      inverted->path_reason = "the mass matrix is singular: solved as M x = mu (K + s M) x";
      return *inverted;
    }
    if (!inverted) report.trouble += "; " + shifted.refusal();
  }
  return reason ? solve_densely_after(report, reason, exec, A, B, X, options) : report;
}

}  // namespace eigen

template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> lobpcg(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A, Block<Scalar, Exec> const& X,
    std::type_identity_t<LobpcgOptions<Scalar, Exec>> const& options) {
  return eigen::lobpcg_solve<Scalar, Exec>(exec, A, nullptr, X, options);
}

template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> lobpcg(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A, LinearOperator<Scalar, Exec> const& B,
    Block<Scalar, Exec> const& X,
    std::type_identity_t<LobpcgOptions<Scalar, Exec>> const& options) {
  return eigen::lobpcg_solve<Scalar, Exec>(exec, A, &B, X, options);
}

}  // namespace blockspan
