#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/detail/dense_pencil.hpp>

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
    if (!all_finite(mass_vectors_) || lapack::hermitian_eigen(mass_vectors_, mass_values_) != 0) {
      mass_values_.assign(n_, Real(-1));
      return false;
    }
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

/// An orthonormal basis of what is orthogonal to the r orthonormal columns of R: the null vectors
/// of R R^H.
template <class Scalar>
SmallMatrix<Scalar> orthogonal_complement(SmallMatrix<Scalar> const& R) {
  int const n = static_cast<int>(R.extent(0)), r = static_cast<int>(R.extent(1));
  auto const projector = small_matrix<Scalar>(n, n);
  lapack::multiply(lapack::Transform::none, lapack::Transform::adjoint, Scalar(1), R, R, Scalar(0),
                   projector);
  std::vector<real_t<Scalar>> ignored;
  lapack::hermitian_eigen(projector, ignored);
  return part(projector, 0, n, 0, n - r);
}

/// The finite part of a pencil with a singular B. In coordinates x = Q y + N+ z + N0 w, where B = Q
/// beta Q^H, [N+ N0] spans its null space and A is diagonal there (delta on N+, zero on N0):
///
///   z = -delta^-1 N+^H A Q y      massless unknowns follow the others
///   N0^H A Q y = 0                constraints, w their multipliers
///
/// What is left is a pencil in the y that satisfy the constraints, with a definite mass. Directions
/// of N0 that constrain nothing are annihilated by A and B both: any lambda goes with them, and
/// they are left out.
template <class Scalar>
std::optional<Status> DensePencil<Scalar>::deflate() {
  using lapack::Transform;
  if (!semidefinite()) return Status::mass_not_positive_definite;
  Real const largest_mass = mass_values_.back();
  int null = 0;
  while (null < n_ && mass_values_[null] <= rank_tolerance() * std::max(Real(0), largest_mass))
    ++null;
  int const kept = n_ - null;
  infinite_ = n_;
  if (kept == 0) return std::nullopt;

  // T = U^H A U, its block on the null vectors diagonal, the others behind it
  Matrix const As = scaled_by_mass(a_), AU = small_matrix<Scalar>(n_, n_),
               T = small_matrix<Scalar>(n_, n_);
  product(As, mass_vectors_, AU);
  product(mass_vectors_, AU, T, Transform::adjoint);
  symmetrize(T, Real(1));
  Real size = 0;
  for (int j = 0; j < n_; ++j)
    for (int i = 0; i < n_; ++i) size = std::max(size, Real(Kokkos::abs(As(i, j))));
  Matrix const V = small_matrix<Scalar>(null, null);
  copy_small(part(T, 0, null, 0, null), V);
  std::vector<Real> delta;
  if (lapack::hermitian_eigen(V, delta) != 0) return Status::basis_collapsed;
  Matrix const G = small_matrix<Scalar>(null, kept);
  product(V, part(T, 0, null, null, kept), G, Transform::adjoint);

  // the Schur complement of N+, and the constraints of N0
  std::vector<int> free;
  Matrix const S = small_matrix<Scalar>(kept, kept);
  copy_small(part(T, null, kept, null, kept), S);
  for (int k = 0; k < null; ++k) {
    if (std::abs(delta[k]) <= rank_tolerance() * size) {
      free.push_back(k);
      continue;
    }
    for (int j = 0; j < kept; ++j)
      for (int i = 0; i < kept; ++i) S(i, j) -= conjugate(G(k, i)) * G(k, j) / delta[k];
  }
  int const multipliers = static_cast<int>(free.size());
  Matrix const range = small_matrix<Scalar>(std::max(kept, multipliers), multipliers);
  for (int c = 0; c < multipliers; ++c)
    for (int i = 0; i < static_cast<int>(range.extent(0)); ++i)
      range(i, c) = i < kept ? conjugate(G(free[c], i)) : Scalar(0);
  std::vector<Real> diagonal;
  if (lapack::qr_pivoted(range, diagonal) != 0) return Status::basis_collapsed;
  int rank = 0;
  while (rank < std::min(kept, multipliers) && diagonal[rank] > rank_tolerance() * size) ++rank;
  undefined_ = multipliers - rank;
  int const order = kept - rank;
  infinite_ = n_ - order - undefined_;
  if (order == 0) return std::nullopt;
  Matrix const R = part(range, 0, kept, 0, rank), Z = orthogonal_complement(R);

  // the reduced pencil
  Matrix const SZ = small_matrix<Scalar>(kept, order), beta_Z = small_matrix<Scalar>(kept, order);
  product(S, Z, SZ);
  for (int j = 0; j < order; ++j)
    for (int i = 0; i < kept; ++i) beta_Z(i, j) = mass_values_[null + i] * Z(i, j);
  Matrix const reduced_a = small_matrix<Scalar>(order, order),
               reduced_b = small_matrix<Scalar>(order, order);
  product(Z, SZ, reduced_a, Transform::adjoint);
  product(Z, beta_Z, reduced_b, Transform::adjoint);
  symmetrize(reduced_a, Real(1)), symmetrize(reduced_b, Real(1));
  DensePencil<Scalar> reduced(reduced_a, reduced_b, {},
                              -static_cast<int>(std::log10(accuracy_) - Real(0.5)));
  if (auto const trouble = reduced.solve(std::min(wanted_, order))) return trouble;

  // back: y = Z t, z from y, and w of least norm with G0^H w = theta beta y - S y
  int const found = static_cast<int>(reduced.theta().size());
  Matrix const y = small_matrix<Scalar>(kept, found), h = small_matrix<Scalar>(kept, found);
  product(Z, reduced.vectors(), y);
  product(S, y, h);
  for (int j = 0; j < found; ++j)
    for (int i = 0; i < kept; ++i)
      h(i, j) = reduced.theta()[j] * mass_values_[null + i] * y(i, j) - h(i, j);
  Matrix const K = small_matrix<Scalar>(rank, multipliers),
               right = small_matrix<Scalar>(rank, found);
  for (int c = 0; c < multipliers; ++c)
    for (int r = 0; r < rank; ++r) {
      Scalar sum(0);
      for (int i = 0; i < kept; ++i) sum += conjugate(R(i, r)) * conjugate(G(free[c], i));
      K(r, c) = sum;
    }
  product(R, h, right, Transform::adjoint);
  Matrix const KK = small_matrix<Scalar>(rank, rank), w = small_matrix<Scalar>(multipliers, found);
  lapack::multiply(Transform::none, Transform::adjoint, Scalar(1), K, K, Scalar(0), KK);
  if (rank > 0) {
    if (lapack::cholesky(KK) != 0) return Status::basis_collapsed;
    lapack::solve_lower(Transform::none, KK, right);
    lapack::solve_lower(Transform::adjoint, KK, right);
  }
  product(K, right, w, Transform::adjoint);
  Matrix const coordinates = small_matrix<Scalar>(n_, found),
               zw = small_matrix<Scalar>(null, found);
  product(G, y, zw);
  int next = 0;
  for (int k = 0; k < null; ++k) {
    bool const multiplier = next < multipliers && free[next] == k;
    for (int j = 0; j < found; ++j) zw(k, j) = multiplier ? w(next, j) : -zw(k, j) / delta[k];
    if (multiplier) ++next;
  }
  product(V, zw, part(coordinates, 0, null, 0, found));
  copy_small(y, part(coordinates, null, kept, 0, found));
  Pairs now;
  now.way = "elimination of the null vectors of the mass";
  now.theta = reduced.theta();
  now.vectors = small_matrix<Scalar>(n_, found);
  product(mass_vectors_, coordinates, now.vectors);
  for (int j = 0; j < found; ++j)
    for (int i = 0; i < n_; ++i) now.vectors(i, j) *= mass_scale_[i];
  refine(now);
  std::vector<Real> bound;
  for (int j = 0; j < found; ++j)
    bound.push_back(reduced.bounds()[j] + reduced.noise()[j] / 10 +
                    std::abs(now.theta[j] - reduced.theta()[j]));
  finish(now, bound);
  return std::nullopt;
}

}  // namespace blockspan::detail
