#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/lobpcg/dense_pencil.hpp>
#include <blockspan/solvers/lobpcg/singular_mass.hpp>

// What becomes of a dense pencil whose mass is singular.
namespace blockspan::detail {

/// Whether B is positive semidefinite to rounding, by the eigenvalues of B with its diagonal scaled
/// to one.
template <class Scalar>
bool DensePencil<Scalar>::semidefinite() {
  if (mass_values_.empty()) {
    for (int i = 0; i < n_; ++i) {
      Real const b = real_part(b_(i, i));
      mass_scale_.push_back(b > 0 ? std::ldexp(Real(1), -std::ilogb(b) / 2) : Real(1));
    }
    mass_vectors_ = scaled_by_mass(b_);
    if (!all_finite(mass_vectors_) || lapack::hermitian_eigen(mass_vectors_, mass_values_) != 0)
      mass_values_.assign(n_, Real(-1));
  }
  return mass_values_.front() >= -rank_tolerance() * std::max(Real(0), mass_values_.back());
}

template <class Scalar>
SmallMatrix<Scalar> DensePencil<Scalar>::scaled_by_mass(Matrix const& M) const {
  Matrix const result = small_matrix<Scalar>(n_, n_);
  for (int j = 0; j < n_; ++j)
    for (int i = 0; i < n_; ++i) result(i, j) = mass_scale_[i] * M(i, j) * mass_scale_[j];
  return result;
}

/// The finite pairs by way of the pencil that SingularMass leaves.
template <class Scalar>
std::optional<Status> DensePencil<Scalar>::deflate() {
  if (!semidefinite()) return Status::mass_not_positive_definite;
  Real const least = rank_tolerance() * std::max(Real(0), mass_values_.back());
  int null = 0;
  while (null < n_ && mass_values_[null] <= least) ++null;
  infinite_ = n_;
  if (null == n_) return std::nullopt;
  SingularMass<Scalar> const part(scaled_by_mass(a_), mass_vectors_, mass_values_, null,
                                  rank_tolerance());
  if (!part.sound()) return Status::basis_collapsed;
  undefined_ = part.undefined();
  infinite_ = n_ - part.order() - undefined_;
  if (part.order() == 0) return std::nullopt;
  DensePencil<Scalar> reduced(part.reduced_a(), part.reduced_b(), {}, digits_);
  if (auto const trouble = reduced.solve(std::min(wanted_, part.order()))) return trouble;
  Pairs now;
  now.way = "elimination of the null vectors of the mass";
  now.theta = reduced.theta();
  now.vectors = part.lift(reduced.vectors(), now.theta);
  for (std::size_t j = 0; j < now.theta.size(); ++j)
    for (int i = 0; i < n_; ++i) now.vectors(i, j) *= mass_scale_[i];
  refine(now);
  std::vector<Real> bound;
  for (std::size_t j = 0; j < now.theta.size(); ++j)
    bound.push_back(reduced.bounds()[j] + reduced.noise()[j] / 10 +
                    std::abs(now.theta[j] - reduced.theta()[j]));
  finish(now, bound);
  return std::nullopt;
}

}  // namespace blockspan::detail
