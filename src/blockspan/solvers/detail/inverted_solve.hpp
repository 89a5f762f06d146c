#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <blockspan/solvers/detail/lobpcg_solver.hpp>

namespace blockspan::detail {

/// The smallest finite pairs of A x = lambda B x for a singular B and a positive definite A: the
/// largest mu = 1 / lambda of B x = mu A x, where infinite lambda are zeros and in nobody's way.
/// The subspaces are those of the direct iteration, the inner product is that of A. Nothing where
/// that cannot be: other pairs are wanted, constraints or checkpoints are given, A is not positive
/// definite.
template <class Scalar, class Exec>
class InvertedSolve {
 public:
  using Real = real_t<Scalar>;
  using Operator = LinearOperator<Scalar, Exec>;
  using Options = LobpcgOptions<Scalar, Exec>;
  using Report = LobpcgReport<Real>;
  using View = Block<Scalar, Exec>;

  InvertedSolve(Exec const& exec, Operator const& A, Operator const& B, View const& X,
                Options const& options)
      : exec_(exec), a_(A), b_(B), x_(X), options_(options) {}

  std::optional<Report> solve(int columns) {
    if (options_.which == Which::largest || options_.constraints.extent(1) > 0 ||
        !options_.checkpoint.empty() || !options_.resume.empty() || columns < options_.wanted)
      return std::nullopt;
    auto inverted = options_;
    inverted.which = Which::largest;
    inverted.certify = false;
    inverted.monitor = nullptr;
    if (options_.monitor)
      inverted.monitor = [&](LobpcgProgress<Real> const& now) { return monitor(now); };
    Problem<Scalar, Exec> problem(exec_, b_, &a_, inverted);
    constexpr double never = std::numeric_limits<double>::infinity();
    auto found = LobpcgSolver<Scalar, Exec>(problem, x_, columns, inverted, never).solve();
    if (found.status == Status::mass_not_positive_definite || found.status == Status::mass_singular)
      return std::nullopt;
    return translated(std::move(found));
  }

 private:
  static std::vector<Real> inverses(std::vector<Real> values) {
    for (Real& value : values) value = 1 / value;
    return values;
  }

  bool monitor(LobpcgProgress<Real> const& now) const {
    auto const values = inverses(now.eigenvalues);
    return options_.monitor({now.iteration, now.converged, now.wanted, now.active, now.locked,
                             values, now.backward_errors, now.seconds});
  }

  /// The report of the pencil as it was given, with residuals from A and B themselves.
  Report translated(Report found) {
    Report report;
    report.status = found.status;
    report.iterations = found.iterations;
    for (auto& line : found.history) line.eigenvalues = inverses(line.eigenvalues);
    report.history = std::move(found.history);
    report.counters = found.counters;
    std::swap(report.counters.operator_columns, report.counters.mass_columns);
    std::swap(report.counters.operator_applications, report.counters.mass_applications);
    report.seconds = found.seconds;
    std::swap(report.seconds.operator_a, report.seconds.operator_b);
    report.fault = found.fault;
    if (report.fault.operator_name == "A" || report.fault.operator_name == "B")
      report.fault.operator_name = report.fault.operator_name == "A" ? "B" : "A";

    Problem<Scalar, Exec> problem(exec_, a_, &b_, options_);
    problem.set_norms(found.norm_b, found.norm_a);
    problem.mass_words = "norm of A^-1, " + found.mass_norm;
    int finite = 0;
    Real const top = std::abs(found.eigenvalues.front());
    while (finite < options_.wanted && found.eigenvalues[finite] > 100 * Thresholds<Real>::u * top)
      ++finite;
    std::vector<Real> theta;
    std::vector<PairQuality<Real>> quality;
    for (int j = 0; j < finite; ++j) {
      Real const mu = found.eigenvalues[j], relative = found.error_bounds[j] / mu;
      theta.push_back(problem.scaled_eigenvalue(1 / mu));
      Real const bound = relative < Real(0.5) ? 2 * relative * std::abs(theta.back())
                                              : std::numeric_limits<Real>::infinity();
      quality.push_back({bound, 0, 0});
    }
    problem.trouble = "the mass matrix is singular: its infinite eigenvalues were left out";
    if (finite == 0) {
      report_nothing(problem, options_, report);
      report.status = Status::mass_singular;
      return report;
    }
    auto const norms = measure(problem, found.eigenvalues, finite, theta);
    report_pairs(problem, theta, norms, quality, options_, report);
    if (finite < options_.wanted) report.status = Status::mass_singular;
    if (report.converged())
      for (Status const pair : report.pair_status)
        if (!is_done(pair)) report.status = pair;
    return report;
  }

  /// X to X^H B X = I, and its residuals.
  Residuals<Real> measure(Problem<Scalar, Exec>& problem, std::vector<Real> const& mu, int finite,
                          std::vector<Real> const& theta) {
    Basis<Scalar, Exec> const basis(exec_, problem.rows(), finite, true);
    auto const X = Basis<Scalar, Exec>::columns(x_, 0, finite);
    std::vector<Real> factors;
    for (int j = 0; j < finite; ++j) factors.push_back(1 / std::sqrt(mu[j]));
    problem.scale_each(X, factors);
    exec_.fence("Blockspan::lobpcg: factors");
    Kokkos::deep_copy(exec_, basis.x(), X);
    problem.scale(basis.x(), 1 / problem.vector_scale());
    problem.apply_a(basis.x(), basis.ax());
    problem.apply_b(basis.x(), basis.bx());
    return residuals(problem, basis.x_and_images(), theta, basis.a_spare(finite));
  }

  Exec exec_;
  Operator const &a_, &b_;
  View x_;
  Options const& options_;
};

}  // namespace blockspan::detail
