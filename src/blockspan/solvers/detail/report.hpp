#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <blockspan/solvers/detail/residuals.hpp>

namespace blockspan::detail {

/// A backward error or relative residual as it is reported: NaN (an operator that is not finite)
/// becomes infinite.
template <class Real>
Real reported(Real error) {
  return std::isnan(error) ? std::numeric_limits<Real>::infinity() : error;
}

/// Fills up the lists with pairs of which nothing is known.
template <class Real>
void report_unknown(int wanted, LobpcgReport<Real>& report) {
  using Limits = std::numeric_limits<Real>;
  report.eigenvalues.resize(wanted, Limits::quiet_NaN());
  report.backward_errors.resize(wanted, Limits::infinity());
  report.relative_residuals.resize(wanted, Limits::infinity());
  report.pair_status.resize(wanted, Status::not_converged);
}

/// Fills in everything about the wanted pairs from their Ritz values and final residuals.
template <class Scalar, class Exec>
void report_pairs(Problem<Scalar, Exec> const& problem, std::vector<real_t<Scalar>> const& theta,
                  Residuals<real_t<Scalar>> const& norms,
                  LobpcgOptions<Scalar, Exec> const& options,
                  LobpcgReport<real_t<Scalar>>& report) {
  using Real = real_t<Scalar>;
  report.norm_a = problem.original_norm_a();
  report.norm_b = problem.original_norm_b();
  int const known = std::min(options.wanted, static_cast<int>(theta.size()));
  for (int j = 0; j < known; ++j) {
    Real const backward = reported(norms.backward[j]), relative = reported(norms.relative[j]);
    Real const judged = options.criterion == Criterion::backward ? backward : relative;
    report.eigenvalues.push_back(problem.eigenvalue(theta[j]));
    report.backward_errors.push_back(backward);
    report.relative_residuals.push_back(relative);
    report.pair_status.push_back(judged <= options.tolerance           ? Status::converged
                                 : backward <= Thresholds<Real>::floor ? Status::attainable_limit
                                                                       : Status::not_converged);
  }
  report_unknown(options.wanted, report);
}

/// The report of a solve that never had a finite block: nothing is known about any pair.
template <class Scalar, class Exec>
void report_nothing(Problem<Scalar, Exec> const& problem,
                    LobpcgOptions<Scalar, Exec> const& options,
                    LobpcgReport<real_t<Scalar>>& report) {
  report.norm_a = problem.original_norm_a();
  report.norm_b = problem.original_norm_b();
  report_unknown(options.wanted, report);
}

}  // namespace blockspan::detail
