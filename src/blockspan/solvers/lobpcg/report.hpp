#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/lobpcg/accuracy/certain_digits.hpp>
#include <blockspan/solvers/lobpcg/accuracy/pair_quality.hpp>
#include <blockspan/solvers/lobpcg/subspace/residuals.hpp>

namespace blockspan::eigen {

/// A backward error or relative residual as it is reported: NaN (an operator that is not finite)
/// becomes infinite.
template <class Real>
Real reported(Real error) {
  return std::isnan(error) ? std::numeric_limits<Real>::infinity() : error;
}

/// Pads the lists with pairs of which nothing is known.
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

inline void add_words(std::string& text, std::string const& words) {
  if (!text.empty()) text += "; ";
  text += words;
}

template <class Real>
std::string orthonormality_in_words(Real loss) {
  std::ostringstream words;
  words.precision(2);
  words << "the vectors are orthonormal in the mass to " << loss
        << " only: it is singular to working precision";
  return words.str();
}

/// The status of one pair by the requested criterion.
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
  report.unused_rows = problem.unused_rows();
  report.mass_norm = problem.mass.words;
  report.trouble = problem.trouble;
  bool const orthonormal = report.orthogonality_loss <= Thresholds<Real>::orthonormality_loss;
  if (!orthonormal) add_words(report.trouble, orthonormality_in_words(report.orthogonality_loss));
  int const known = std::min(options.wanted, static_cast<int>(theta.size()));
  for (int j = 0; j < known; ++j) {
    Real const backward = reported(norms.backward[j]), relative = reported(norms.relative[j]);
    Status pair = pair_status(options, theta[j], backward, relative, quality[j]);
    Real const value = problem.eigenvalue(theta[j]);
    if (is_done(pair) && (!orthonormal || !std::isfinite(value))) pair = Status::attainable_limit;
    // The bound of a pair that is called zero is that of being zero.
    bool const zero = pair == Status::zero_eigenvalue;
    Real const bound = quality[j].bound + (zero ? std::abs(theta[j]) : Real(0));
    Real const reported_bound = reported(problem.original_bound(theta[j], bound));
    bool const lost = pair == Status::converged && options.criterion == Criterion::digits &&
                      !(reported_bound <= digits_accuracy(options) * std::abs(value));
    report.eigenvalues.push_back(value);
    report.backward_errors.push_back(backward);
    report.relative_residuals.push_back(relative);
    report.error_bounds.push_back(reported_bound);
    report.certain_digits.push_back(certain_digits(value, reported_bound));
    report.pair_status.push_back(lost ? Status::attainable_limit : pair);
  }
  if (static_cast<int>(theta.size()) > options.wanted)
    report.next_eigenvalue = problem.eigenvalue(theta[options.wanted]);
  report_unknown(options.wanted, report);
}

/// Backward errors at the tolerance show no more of pairs that may have been missed: where they
/// leave fewer than two digits, a bound is at least what they allow, of pairs that live on the
/// smallest masses too.
template <class Scalar, class Exec>
void allow_for_missed(Problem<Scalar, Exec> const& problem,
                      LobpcgOptions<Scalar, Exec> const& options,
                      std::vector<real_t<Scalar>> const& theta,
                      Residuals<real_t<Scalar>> const& norms,
                      std::vector<PairQuality<real_t<Scalar>>>& quality) {
  using Real = real_t<Scalar>;
  if (options.criterion != Criterion::backward) return;
  Real const longest =
      problem.generalized() ? problem.mass.factor * problem.mass.largest_weight : Real(1);
  bool const lifted = problem.mass.lift > 0 && !problem.semidefinite();
  for (std::size_t j = 0; j < theta.size(); ++j) {
    Real const size = problem.norm_a + std::abs(theta[j]) * problem.norm_b;
    Real const x = std::max(norms.x[j], longest);
    if (!(quality[j].bound <= Real(0.01) * std::abs(theta[j])))
      quality[j].bound = lifted ? std::numeric_limits<Real>::infinity()
                                : std::max(quality[j].bound, options.tolerance * size * x * x);
  }
}

/// The same for the certificate, whose gaps require all pairs as well.
template <class Real>
void allow_for_missed(LobpcgReport<Real>& report) {
  auto& gaps = report.certificate.gap_radius;
  for (std::size_t j = 0; j < gaps.size(); ++j)
    if (!(report.error_bounds[j] <= Real(0.01) * std::abs(report.eigenvalues[j])))
      gaps[j] = std::max(gaps[j], report.error_bounds[j]);
}

/// Zeros of A that the iteration did not find are rounded as its norm lets them be: one of those
/// has the index of a pair that is called zero.
template <class Scalar, class Exec>
void allow_for_missed_zeros(Problem<Scalar, Exec> const& problem,
                            std::vector<real_t<Scalar>> const& theta,
                            Residuals<real_t<Scalar>> const& norms,
                            LobpcgReport<real_t<Scalar>>& report) {
  using Real = real_t<Scalar>;
  Real const x = norms.largest_x();
  Real const rounding = rounding_of_rows(problem) * problem.norm_a * x * x;
  for (std::size_t j = 0; j < std::min(theta.size(), report.pair_status.size()); ++j) {
    if (report.pair_status[j] != Status::zero_eigenvalue) continue;
    Real const bound = problem.original_bound(theta[j], std::abs(theta[j]) + rounding);
    report.error_bounds[j] = std::max(report.error_bounds[j], bound);
    if (j < report.certificate.gap_radius.size())
      report.certificate.gap_radius[j] = std::max(report.certificate.gap_radius[j], bound);
  }
}

/// The report of a solve that never had a finite block: nothing is known about any pair.
template <class Scalar, class Exec>
void report_nothing(Problem<Scalar, Exec> const& problem,
                    LobpcgOptions<Scalar, Exec> const& options,
                    LobpcgReport<real_t<Scalar>>& report) {
  report.norm_a = problem.original_norm_a();
  report.norm_b = problem.original_norm_b();
  report.unused_rows = problem.unused_rows();
  report.trouble = problem.trouble;
  report_unknown(options.wanted, report);
}

/// A bound of ||A x - theta B x||_2 for the exact products, from the computed residual: each entry
/// of A x and B x is a sum of terms_per_row rounded products, and the sums of squares have n
/// terms.
template <class Scalar, class Exec>
std::vector<real_t<Scalar>> residual_bounds(Problem<Scalar, Exec> const& problem,
                                            std::vector<real_t<Scalar>> const& theta,
                                            Residuals<real_t<Scalar>> const& norms) {
  using Real = real_t<Scalar>;
  Real const u = Thresholds<Real>::u, per_term = is_complex_v<Scalar> ? Real(4) : Real(2);
  auto const rounding = [&](OperatorFacts<Scalar, Exec> const& facts) {
    return (per_term * static_cast<Real>(*facts.terms_per_row) + 4) * u;
  };
  Real const of_a = rounding(problem.facts_of_a()) * problem.norm_a;
  Real const of_b =
      (problem.generalized() ? rounding(problem.facts_of_b()) : 4 * u) * problem.norm_b;
  Real const of_norm = 1 + 4 * static_cast<Real>(problem.global_rows()) * u;
  std::vector<Real> bounds;
  for (std::size_t j = 0; j < norms.r.size(); ++j)
    bounds.push_back((norms.r[j] + (of_a + std::abs(theta[j]) * of_b) * norms.x[j]) * of_norm);
  return bounds;
}

/// The certificate of the `count` leading pairs. theta, norms: of all Ritz pairs known, ascending,
/// measured with exact images; loss: max |X^H B X - I|; rounding: of the values themselves.
template <class Scalar, class Exec, class Coupling>
LobpcgCertificate<real_t<Scalar>> certify(Problem<Scalar, Exec> const& problem, int count,
                                          std::vector<real_t<Scalar>> const& theta,
                                          Residuals<real_t<Scalar>> const& norms,
                                          Coupling const& coupling, real_t<Scalar> loss,
                                          RoundingSizes<real_t<Scalar>> const& sizes,
                                          LobpcgOptions<Scalar, Exec> const& options) {
  using Real = real_t<Scalar>;
  constexpr Real u = Thresholds<Real>::u;
  LobpcgCertificate<Real> result;
  result.orthogonality_loss = loss;
  // A bound of the least eigenvalue of B where one is known, else the norm of B^-1 as measured.
  Real const known = problem.generalized()
                         ? problem.facts_of_b().eigenvalue_lower_bound.value_or(Real(0))
                         : Real(0);
  Real const mass_bound = problem.scaled_by_b(std::max(options.mass_lower_bound, known));
  bool const bounded = !problem.generalized() || mass_bound > 0;
  result.rigorous = bounded && problem.facts_of_a().norm_bound.has_value() &&
                    (!problem.generalized() || problem.facts_of_b().norm_bound.has_value());

  // ||r||_(B^-1) / ||x||_B; x^H B x is 1 up to the loss and the rounding errors of its computation
  auto radius = residual_bounds(problem, theta, norms);
  Real const terms = static_cast<Real>(2 * problem.global_rows() + 8);
  Real const spread_of_norms = 1 + 2 * terms * u;
  Real const of_length = terms * u * problem.norm_b * norms.largest_x() * norms.largest_x();
  Real const size = std::sqrt(std::max(Real(0), 1 - loss - of_length));
  Real const of_rows = rounding_of_rows(problem);
  for (std::size_t j = 0; j < radius.size(); ++j) {
    // in the norm of D^-1, D the diagonal of B: by norms, or entry by entry
    Real const of_rounding =
        std::min((radius[j] - norms.r[j]) * problem.mass.largest_weight,
                 of_rows * sizes.dual[j] + norms.dual[j] * (spread_of_norms - 1));
    if (!problem.generalized())
      radius[j] = (norms.r[j] + of_rounding) / norms.x[j];
    else if (bounded)
      radius[j] /= std::sqrt(mass_bound) * size;
    else if (problem.mass.measured)
      radius[j] = problem.mass.factor * (norms.dual[j] + of_rounding) / size;
    else
      radius[j] = std::numeric_limits<Real>::infinity();
  }
  Real const lift = bounded ? Real(0) : problem.mass.lift;
  std::vector<Real> slack;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    Real const of_constraints = rounding_of_constraints(problem, norms, j);
    radius[j] += of_constraints;
    slack.push_back(of_rows * sizes.energy[j] + 2 * (of_constraints + u * std::abs(theta[j])) +
                    underflow_of_entries(problem, theta[j], norms, j));
  }
  auto const by_gap = lifted_gap_radii(lift, theta, radius, slack, count, coupling);
  auto widened = slack;
  widen_by_order(theta, widened);
  Real const spread = 1 + 4 * static_cast<Real>(theta.size()) * (loss + of_length);
  for (int j = 0; j < count; ++j) {
    result.radius.push_back(problem.original_bound(theta[j], radius[j] + slack[j]));
    result.gap_radius.push_back(problem.original_bound(theta[j], by_gap[j] * spread + widened[j]));
  }
  return result;
}

}  // namespace blockspan::eigen
