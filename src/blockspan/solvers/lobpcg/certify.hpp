#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/lobpcg/certain_digits.hpp>
#include <blockspan/solvers/lobpcg/residuals.hpp>

namespace blockspan::detail {

/// A bound of ||A x - theta B x||_2 for the exact products, from the computed residual: each entry
/// of A x and B x is a sum of so many rounded products, and the sums of squares have n terms.
template <class Scalar, class Exec>
std::vector<real_t<Scalar>> residual_bounds(Problem<Scalar, Exec> const& problem,
                                            std::vector<real_t<Scalar>> const& theta,
                                            Residuals<real_t<Scalar>> const& norms) {
  using Real = real_t<Scalar>;
  Real const u = Thresholds<Real>::u, per_term = is_complex_v<Scalar> ? Real(4) : Real(2);
  auto const rounding = [&](LinearOperator<Scalar, Exec> const& op) {
    return (per_term * static_cast<Real>(op.terms_per_row()) + 4) * u;
  };
  Real const of_a = rounding(problem.a()) * problem.norm_a;
  Real const of_b = (problem.generalized() ? rounding(*problem.b()) : 4 * u) * problem.norm_b;
  Real const of_norm = 1 + 4 * static_cast<Real>(problem.rows()) * u;
  std::vector<Real> bounds;
  for (std::size_t j = 0; j < norms.r.size(); ++j)
    bounds.push_back((norms.r[j] + (of_a + std::abs(theta[j]) * of_b) * norms.x[j]) * of_norm);
  return bounds;
}

/// The certificate of the leading pairs. theta, norms: of all Ritz pairs known, ascending, measured
/// with exact images; X, BX: the vectors of the wanted ones. Fences exec.
template <class Scalar, class Exec>
LobpcgCertificate<real_t<Scalar>> certify(Problem<Scalar, Exec>& problem,
                                          Block<Scalar, Exec> const& X,
                                          Block<Scalar, Exec> const& BX,
                                          std::vector<real_t<Scalar>> const& theta,
                                          Residuals<real_t<Scalar>> const& norms,
                                          LobpcgOptions<Scalar, Exec> const& options) {
  using Real = real_t<Scalar>;
  int const k = static_cast<int>(X.extent(1));
  LobpcgCertificate<Real> result;
  auto const G = small_matrix<Scalar>(k, k);
  blockspan::gram(problem.exec, X, BX, G, problem.workspace);
  result.orthogonality_loss = defect_from_diagonal(G);
  // A bound of the least eigenvalue of B where one is known, else the norm of B^-1 as measured.
  Real const known =
      problem.generalized() ? problem.b()->eigenvalue_lower_bound().value_or(Real(0)) : Real(0);
  Real const mass_bound = problem.scaled_by_b(std::max(options.mass_lower_bound, known));
  bool const bounded = !problem.generalized() || mass_bound > 0;
  result.rigorous = bounded && problem.a().norm_bound().has_value() &&
                    (!problem.generalized() || problem.b()->norm_bound().has_value());

  // ||r||_(B^-1) / ||x||_B; x^H B x is 1 up to the loss and the rounding errors of its computation
  auto radius = residual_bounds(problem, theta, norms);
  Real const terms = static_cast<Real>(2 * problem.rows() + 8);
  Real const rounding =
      terms * Thresholds<Real>::u * problem.norm_b * norms.largest_x() * norms.largest_x();
  Real const size = std::sqrt(std::max(Real(0), 1 - result.orthogonality_loss - rounding));
  for (std::size_t j = 0; j < radius.size(); ++j) {
    Real const of_rounding = (radius[j] - norms.r[j]) * problem.largest_mass_weight;
    if (!problem.generalized())
      radius[j] /= norms.x[j];
    else if (bounded)
      radius[j] /= std::sqrt(mass_bound) * size;
    else if (problem.mass_measured)
      radius[j] = problem.mass_factor * (norms.dual[j] + of_rounding) / size;
    else
      radius[j] = std::numeric_limits<Real>::infinity();
  }
  auto const by_gap = gap_radii(theta, radius);
  for (int j = 0; j < k; ++j) {
    result.radius.push_back(problem.original_size(radius[j]));
    result.gap_radius.push_back(problem.original_size(by_gap[j]));
  }
  return result;
}

}  // namespace blockspan::detail
