#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/lobpcg/accuracy/certain_digits.hpp>
#include <blockspan/solvers/lobpcg/subspace/residuals.hpp>

namespace blockspan::eigen {

/// Error bounds of a Ritz value, in the scale of the solver.
template <class Real>
struct PairQuality {
  Real bound = std::numeric_limits<Real>::infinity();  ///< |lambda - theta|, rounding included
  Real rounding = 0;                                   ///< the part of it that no iteration reduces
  Real noise = 0;  ///< values below are not distinguished from zero
  Real below = 0;  ///< the part of it that the entries of a semidefinite A leave open below zero
};

/// What rounding may do to a pair, over u times the terms of a sum: to its Rayleigh quotient, and
/// to its residual in the norm of D^-1.
template <class Real>
struct RoundingSizes {
  std::vector<Real> energy, dual;
  std::vector<Real> mass;  ///< the part of B in the first, over x^H B x = 1
};

/// From the norms of the operators: right for all, much too large for graded ones.
template <class Scalar, class Exec>
RoundingSizes<real_t<Scalar>> crude_rounding(Problem<Scalar, Exec> const& problem,
                                             std::vector<real_t<Scalar>> const& theta,
                                             Residuals<real_t<Scalar>> const& norms) {
  RoundingSizes<real_t<Scalar>> sizes;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    auto const size = (problem.norm_a + std::abs(theta[j]) * problem.norm_b) * norms.x[j];
    sizes.energy.push_back(size * norms.x[j]);
    sizes.dual.push_back(size * problem.mass.largest_weight);
    sizes.mass.push_back(problem.norm_b * norms.x[j] * norms.x[j]);
  }
  return sizes;
}

/// From the magnitudes of the operators' entries (see Problem::rounding_of_a), one pass over X; the
/// crude ones where these are not known. Fences exec.
template <class Scalar, class Exec>
RoundingSizes<real_t<Scalar>> sharp_rounding(Problem<Scalar, Exec>& problem,
                                             Block<Scalar, Exec> const& X,
                                             std::vector<real_t<Scalar>> const& theta,
                                             Residuals<real_t<Scalar>> const& norms) {
  using Real = real_t<Scalar>;
  auto const& of_a = problem.rounding_of_a();
  bool const generalized = problem.generalized();
  if (!of_a.known || (generalized && !problem.rounding_of_b().known))
    return crude_rounding(problem, theta, norms);
  Real const* energy_b = generalized ? problem.rounding_of_b().energy.data() : nullptr;
  Real const* dual_b = generalized ? problem.rounding_of_b().dual.data() : nullptr;
  RoundingTerms<Scalar> const terms{row_major_ref<Exec>(X),
                                    {of_a.energy.data(), energy_b, of_a.dual.data(), dual_b}};
  auto const m = X.extent(1);
  auto const sums =
      problem.fold("Blockspan::lobpcg::rounding", terms, static_cast<std::int64_t>(m));
  // x^H B x = 1 and |x|^H |B| |x|, about twice x^H D x, show how small the least eigenvalue of the
  // scaled B is at least; Lanczos may not have come near it.
  if (problem.knows_mass_diagonal())
    for (std::size_t j = 0; j < m; ++j)
      problem.mass.factor =
          std::max(problem.mass.factor, std::sqrt((sums[m + j] + problem.mass.lift * sums[j]) /
                                                  (2 * (1 + problem.mass.lift * theta[j]))));
  RoundingSizes<Real> sizes;
  for (std::size_t j = 0; j < m; ++j) {
    Real const size = std::abs(theta[j]);
    sizes.energy.push_back(sums[j] + size * sums[m + j]);
    sizes.dual.push_back(std::sqrt(sums[2 * m + j]) + size * std::sqrt(sums[3 * m + j]));
    sizes.mass.push_back(sums[m + j]);
  }
  return sizes;
}

/// What rounding may do to a sum of the products of a row, over its terms' sizes.
template <class Scalar, class Exec>
real_t<Scalar> rounding_of_rows(Problem<Scalar, Exec> const& problem) {
  using Real = real_t<Scalar>;
  constexpr Real per_term = is_complex_v<Scalar> ? 4 : 2;
  return (per_term * static_cast<Real>(problem.terms_per_row()) + 4) * Thresholds<Real>::u;
}

/// What the angle of the constraints to those given does to the residual of pair j; twice that to
/// its value, which is no more stationary along them.
template <class Scalar, class Exec>
real_t<Scalar> rounding_of_constraints(Problem<Scalar, Exec> const& problem,
                                       Residuals<real_t<Scalar>> const& norms, std::size_t j) {
  return problem.deflation.angle() * problem.mass.factor * norms.constrained[j];
}

/// What entries that become denormal in the solver's scale do to the value of pair j.
template <class Scalar, class Exec>
real_t<Scalar> underflow_of_entries(Problem<Scalar, Exec> const& problem, real_t<Scalar> theta,
                                    Residuals<real_t<Scalar>> const& norms, std::size_t j) {
  using Real = real_t<Scalar>;
  if (problem.unscaled()) return 0;
  Real const entries =
      static_cast<Real>(problem.terms_per_row() + 1) * std::numeric_limits<Real>::denorm_min();
  return entries * (1 + std::abs(theta)) * norms.x[j] * norms.x[j];
}

/// |x_i^H (A - theta_j B) x_j|^2 of measured pairs, with what rounding leaves open of it.
template <class Scalar>
class MeasuredCouplings {
 public:
  using Real = real_t<Scalar>;

  /// products: X^H R.
  template <class Exec>
  MeasuredCouplings(Problem<Scalar, Exec> const& problem, SmallMatrix<Scalar> const& products,
                    Residuals<Real> const& norms, RoundingSizes<Real> const& sizes)
      : products_(products),
        r_(norms.r),
        x_(norms.x),
        of_sums_(static_cast<Real>(problem.global_rows()) * Thresholds<Real>::u) {
    Real const of_rows = rounding_of_rows(problem);
    for (Real const energy : sizes.energy) roots_.push_back(std::sqrt(of_rows * energy));
  }

  long double operator()(int i, int j) const {
    return square<long double>(Kokkos::abs(products_(i, j)) + roots_[i] * roots_[j] +
                               of_sums_ * x_[i] * r_[j]);
  }

 private:
  SmallMatrix<Scalar> products_;
  std::vector<Real> roots_, r_, x_;
  Real of_sums_;
};

/// Bounds of |lambda_j - theta_j| by gaps from the residuals' norms in that of B^-1. Where Problem
/// has a lifted mass F = B + lift A they are those of the pencil (A, F), whose eigenvalues are
/// theta / (1 + lift theta): its residuals are those of (A, B) over 1 + lift theta, ||x||_F^2 the
/// same index.
template <class Real, class Coupling>
std::vector<Real> lifted_gap_radii(Real lift, std::vector<Real> theta, std::vector<Real> radius,
                                   std::vector<Real> slack, int wanted, Coupling const& coupling) {
  std::vector<Real> scale;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    scale.push_back(1 + lift * theta[j]);
    theta[j] /= scale[j], radius[j] /= scale[j] * std::sqrt(scale[j]);
    slack[j] /= scale[j] * scale[j];
  }
  auto const lifted = [&] {
    if constexpr (std::is_same_v<Coupling, NoCoupling>)
      return coupling;
    else
      return [&](int i, int j) {
        return coupling(i, j) / (square<long double>(scale[j]) * scale[j] * scale[i]);
      };
  };
  auto bound = gap_radii(theta, radius, kahan_radii(theta, radius, slack, wanted), slack,
                         -std::numeric_limits<Real>::infinity(), lifted());
  for (std::size_t j = 0; j < bound.size(); ++j) {
    Real const size = bound[j] * scale[j], left = 1 - lift * size;
    bound[j] = left > 0 ? size * scale[j] / left : std::numeric_limits<Real>::infinity();
  }
  return bound;
}

/// Bounds from the residuals of all Ritz pairs at hand (theta ascending, x^H B x = 1, measured by
/// residuals()): Weinstein in the norm of B^-1, Kato-Temple where there is a gap. Rayleigh
/// quotients bound eigenvalues from above: where A is known to be positive semidefinite, small ones
/// are certain to be no larger than they look. The first `wanted` pairs are the requested ones.
template <class Scalar, class Exec, class Coupling = NoCoupling>
std::vector<PairQuality<real_t<Scalar>>> pair_qualities(Problem<Scalar, Exec> const& problem,
                                                        std::vector<real_t<Scalar>> const& theta,
                                                        Residuals<real_t<Scalar>> const& norms,
                                                        RoundingSizes<real_t<Scalar>> const& sizes,
                                                        int wanted, Coupling const& coupling = {}) {
  using Real = real_t<Scalar>;
  constexpr Real most_cancellation = 1000;
  Real const of_rows = rounding_of_rows(problem);
  Real const noise = std::max(
      10 * std::sqrt(static_cast<Real>(problem.global_rows())) * Thresholds<Real>::u, 3 * of_rows);
  std::vector<Real> radius, of_rounding, slack;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    Real const of_constraints = rounding_of_constraints(problem, norms, j);
    slack.push_back(of_rows * sizes.energy[j] + 2 * of_constraints +
                    underflow_of_entries(problem, theta[j], norms, j));
    of_rounding.push_back(problem.mass.factor * of_rows * sizes.dual[j] + of_constraints);
    radius.push_back(problem.mass.factor * norms.dual[j] + of_rounding[j]);
  }
  auto const by_gap = lifted_gap_radii(problem.mass.lift, theta, radius, slack, wanted, coupling);
  auto const floor =
      lifted_gap_radii(problem.mass.lift, theta, of_rounding, slack, wanted, NoCoupling());
  auto widened = slack;
  widen_by_order(theta, widened);
  bool const semidefinite = problem.semidefinite();
  // The coupling within a cluster of zeros is rounding too, and adds up: as measured, plus its
  // uncertainty.
  Real zeros = 0;
  for (std::size_t j = 0; j < theta.size(); ++j)
    if (std::abs(theta[j]) <= noise * sizes.energy[j]) zeros += 1;
  Real const of_zeros = std::max(Real(1), 2 * zeros - 1) * noise;
  std::vector<PairQuality<Real>> result;
  for (std::size_t j = 0; j < theta.size(); ++j) {
    Real const rounding = widened[j];
    Real bound = by_gap[j];
    Real below = 0;
    if (semidefinite && std::max(Real(0), theta[j]) + problem.below_zero() <= bound) {
      below = problem.below_zero();
      bound = std::abs(theta[j]) + below;  // a value below zero is wrong by its own size
    }
    // Close to a null vector of B the rounding of entries is no measure for zeros.
    bool const cancels = problem.generalized() && !(sizes.mass[j] <= most_cancellation);
    result.push_back({bound + rounding, rounding + floor[j],
                      cancels ? Real(0) : of_zeros * sizes.energy[j], below});
  }
  return result;
}

/// 10^-digits of LobpcgOptions.
template <class Scalar, class Exec>
real_t<Scalar> digits_accuracy(LobpcgOptions<Scalar, Exec> const& options) {
  return std::pow(real_t<Scalar>(10), static_cast<real_t<Scalar>>(-options.digits));
}

/// Whether the value is zero as far as the arithmetic shows.
template <class Real>
bool is_zero(Real theta, PairQuality<Real> const& quality) {
  return is_zero_to_rounding(theta, quality.bound - quality.below, quality.noise);
}

/// Whether its digits are certain, or it is zero (decided only by sharp bounds: others would take
/// small values of graded matrices for zeros); accuracy: 10^-digits.
template <class Real>
bool has_digits(Real theta, PairQuality<Real> const& quality, Real accuracy, bool sharp) {
  return quality.bound <= accuracy * std::abs(theta) || (sharp && is_zero(theta, quality));
}

/// Whether further iterations cannot gain the digits: rounding alone limits them.
template <class Real>
bool is_limited_by_rounding(Real theta, PairQuality<Real> const& quality, Real accuracy) {
  return quality.rounding > accuracy * std::abs(theta) && quality.bound <= 2 * quality.rounding &&
         !is_zero(theta, quality);
}

}  // namespace blockspan::eigen
