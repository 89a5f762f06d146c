#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <blockspan/solvers/lobpcg/pair_quality.hpp>
#include <blockspan/solvers/lobpcg/residuals.hpp>

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
  report.error_bounds.resize(wanted, Limits::infinity());
  report.certain_digits.resize(wanted, Real(0));
  report.pair_status.resize(wanted, Status::not_converged);
}

/// The state of one pair by the criterion asked for.
template <class Scalar, class Exec>
Status pair_status(LobpcgOptions<Scalar, Exec> const& options, real_t<Scalar> theta,
                   real_t<Scalar> backward, real_t<Scalar> relative,
                   PairQuality<real_t<Scalar>> const& quality) {
  using Real = real_t<Scalar>;
  Real const accuracy = digits_accuracy(options);
  bool const floor = backward <= Thresholds<Real>::floor;
  if (options.criterion == Criterion::digits) {
    if (backward <= options.tolerance && is_zero(theta, quality)) return Status::zero_eigenvalue;
    if (backward <= options.tolerance && has_digits(theta, quality, accuracy, true))
      return Status::converged;
    return floor || is_limited_by_rounding(theta, quality, accuracy) ? Status::attainable_limit
                                                                     : Status::not_converged;
  }
  Real const judged = options.criterion == Criterion::backward ? backward : relative;
  return judged <= options.tolerance ? Status::converged
         : floor                     ? Status::attainable_limit
                                     : Status::not_converged;
}

/// Fills in everything about the wanted pairs from their Ritz values, final residuals and bounds.
template <class Scalar, class Exec>
void report_pairs(Problem<Scalar, Exec> const& problem, std::vector<real_t<Scalar>> const& theta,
                  Residuals<real_t<Scalar>> const& norms,
                  std::vector<PairQuality<real_t<Scalar>>> const& quality,
                  LobpcgOptions<Scalar, Exec> const& options,
                  LobpcgReport<real_t<Scalar>>& report) {
  using Real = real_t<Scalar>;
  report.norm_a = problem.original_norm_a();
  report.norm_b = problem.original_norm_b();
  report.mass_norm = problem.mass_words;
  report.trouble = problem.trouble;
  int const known = std::min(options.wanted, static_cast<int>(theta.size()));
  for (int j = 0; j < known; ++j) {
    Real const backward = reported(norms.backward[j]), relative = reported(norms.relative[j]);
    report.eigenvalues.push_back(problem.eigenvalue(theta[j]));
    report.backward_errors.push_back(backward);
    report.relative_residuals.push_back(relative);
    report.error_bounds.push_back(reported(problem.original_size(quality[j].bound)));
    report.certain_digits.push_back(certain_digits(theta[j], quality[j].bound));
    report.pair_status.push_back(pair_status(options, theta[j], backward, relative, quality[j]));
  }
  if (static_cast<int>(theta.size()) > options.wanted)
    report.next_eigenvalue = problem.eigenvalue(theta[options.wanted]);
  report_unknown(options.wanted, report);
}

/// The report of a solve that never had a finite block: nothing is known about any pair.
template <class Scalar, class Exec>
void report_nothing(Problem<Scalar, Exec> const& problem,
                    LobpcgOptions<Scalar, Exec> const& options,
                    LobpcgReport<real_t<Scalar>>& report) {
  report.norm_a = problem.original_norm_a();
  report.norm_b = problem.original_norm_b();
  report.trouble = problem.trouble;
  report_unknown(options.wanted, report);
}

}  // namespace blockspan::detail
