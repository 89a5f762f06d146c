#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/dense/dense_pencil.hpp>
#include <blockspan/solvers/dense/eigensolver.hpp>

// Dense pencils with a singular mass.
namespace blockspan::eigen {

/// The finite part of a dense pencil (A, B) with a singular B = U beta U^H. In coordinates x = Q y
/// + N+ z + N0 w, where [N+ N0] spans the null vectors of B, Q the others, and A is diagonal on the
/// null vectors (delta on N+, zero on N0):
///
///   z = -delta^-1 N+^H A Q y      massless unknowns follow the others
///   N0^H A Q y = 0                constraints, w their multipliers
///
/// What is left is a pencil in the y = Z t that satisfy the constraints, with a definite mass.
/// Directions of N0 that constrain nothing are annihilated by A and B both: any lambda goes with
/// them, and they are left out. O(n^3).
template <class Scalar>
class SingularMass {
 public:
  using Real = real_t<Scalar>;
  using Matrix = SmallMatrix<Scalar>;

  /// U: the eigenvectors of B, those of its `null` smallest, zero, eigenvalues first; beta: all of
  /// them, ascending. tolerance: of ranks, relative.
  SingularMass(Matrix const& A, Matrix const& U, std::vector<Real> const& beta, int null,
               Real tolerance)
      : u_(U),
        beta_(beta.begin() + null, beta.end()),
        n_(static_cast<int>(A.extent(0))),
        null_(null),
        kept_(n_ - null),
        tolerance_(tolerance * largest_entry(A)) {
    Matrix const AU = small_matrix<Scalar>(n_, n_), T = small_matrix<Scalar>(n_, n_);
    product(A, u_, AU);
    product(u_, AU, T, lapack::Transform::adjoint);
    symmetrize(T, Real(1));
    sound_ = diagonalize_null_block(T) && find_constraints();
  }

  bool sound() const { return sound_; }        ///< LAPACK did not fail
  int order() const { return kept_ - rank_; }  ///< of the reduced pencil
  int undefined() const { return static_cast<int>(free_.size()) - rank_; }

  /// The matrices of the reduced pencil.
  Matrix reduced_a() const {
    Matrix const SZ = small_matrix<Scalar>(kept_, order());
    product(s_, z_, SZ);
    return on_constraints(SZ);
  }
  Matrix reduced_b() const { return on_constraints(times_beta(z_, nullptr)); }

  /// Eigenvectors of (A, B) from those of the reduced pencil, T: order x k with values theta.
  Matrix lift(Matrix const& T, std::vector<Real> const& theta) const {
    int const k = static_cast<int>(T.extent(1)), multipliers = static_cast<int>(free_.size());
    Matrix const y = small_matrix<Scalar>(kept_, k), zw = small_matrix<Scalar>(null_, k);
    product(z_, T, y);
    product(g_, y, zw);
    Matrix const w = multipliers_of(y, theta);
    for (int i = 0, next = 0; i < null_; ++i) {
      bool const multiplier = next < multipliers && free_[next] == i;
      for (int j = 0; j < k; ++j) zw(i, j) = multiplier ? w(next, j) : -zw(i, j) / delta_[i];
      if (multiplier) ++next;
    }
    Matrix const coordinates = small_matrix<Scalar>(n_, k), X = small_matrix<Scalar>(n_, k);
    product(v_, zw, part(coordinates, 0, null_, 0, k));
    copy_small(y, part(coordinates, null_, kept_, 0, k));
    product(u_, coordinates, X);
    return X;
  }

 private:
  /// delta, G = V^H T(null, kept) and the Schur complement S of N+.
  bool diagonalize_null_block(Matrix const& T) {
    v_ = small_matrix<Scalar>(null_, null_);
    copy_small(part(T, 0, null_, 0, null_), v_);
    if (lapack::hermitian_eigen(v_, delta_) != 0) return false;
    g_ = small_matrix<Scalar>(null_, kept_), s_ = small_matrix<Scalar>(kept_, kept_);
    product(v_, part(T, 0, null_, null_, kept_), g_, lapack::Transform::adjoint);
    copy_small(part(T, null_, kept_, null_, kept_), s_);
    for (int k = 0; k < null_; ++k) {
      if (std::abs(delta_[k]) <= tolerance_) {
        free_.push_back(k);
        continue;
      }
      for (int j = 0; j < kept_; ++j)
        for (int i = 0; i < kept_; ++i) s_(i, j) -= conjugate(g_(k, i)) * g_(k, j) / delta_[k];
    }
    return true;
  }

  /// R: an orthonormal basis of what the constraints span, Z: of what they leave.
  bool find_constraints() {
    int const multipliers = static_cast<int>(free_.size()), rows = std::max(kept_, multipliers);
    Matrix const Q = small_matrix<Scalar>(rows, multipliers);
    for (int c = 0; c < multipliers; ++c)
      for (int i = 0; i < rows; ++i) Q(i, c) = i < kept_ ? conjugate(g_(free_[c], i)) : Scalar(0);
    std::vector<Real> diagonal;
    if (lapack::qr_pivoted(Q, diagonal) != 0) return false;
    while (rank_ < std::min(kept_, multipliers) && diagonal[rank_] > tolerance_) ++rank_;
    r_ = part(Q, 0, kept_, 0, rank_);
    z_ = orthogonal_complement<Scalar>(r_, lapack::hermitian_eigen<Scalar>);
    return true;
  }

  /// beta M, the columns times `factors` (null: ones).
  Matrix times_beta(Matrix const& M, std::vector<Real> const* factors) const {
    Matrix const result = small_matrix<Scalar>(kept_, static_cast<int>(M.extent(1)));
    for (std::size_t j = 0; j < M.extent(1); ++j)
      for (int i = 0; i < kept_; ++i)
        result(i, j) = (factors ? (*factors)[j] : Real(1)) * beta_[i] * M(i, j);
    return result;
  }

  Matrix on_constraints(Matrix const& MZ) const {
    Matrix const result = small_matrix<Scalar>(order(), order());
    product(z_, MZ, result, lapack::Transform::adjoint);
    symmetrize(result, Real(1));
    return result;
  }

  /// w of least norm with G0^H w = theta beta y - S y, whose two sides lie in the span of R.
  Matrix multipliers_of(Matrix const& y, std::vector<Real> const& theta) const {
    using lapack::Transform;
    int const k = static_cast<int>(y.extent(1)), multipliers = static_cast<int>(free_.size());
    Matrix const w = small_matrix<Scalar>(multipliers, k);
    if (multipliers == 0) return w;
    Matrix const h = times_beta(y, &theta), right = small_matrix<Scalar>(rank_, k);
    lapack::multiply(Transform::none, Transform::none, Scalar(-1), s_, y, Scalar(1), h);
    product(r_, h, right, Transform::adjoint);
    Matrix const G0 = small_matrix<Scalar>(multipliers, kept_);
    for (int c = 0; c < multipliers; ++c)
      for (int i = 0; i < kept_; ++i) G0(c, i) = g_(free_[c], i);
    Matrix const K = small_matrix<Scalar>(multipliers, rank_),
                 KK = small_matrix<Scalar>(rank_, rank_);
    product(G0, r_, K);
    product(K, K, KK, Transform::adjoint);
    if (rank_ > 0 && lapack::cholesky(KK) == 0) {
      lapack::solve_lower(Transform::none, KK, right);
      lapack::solve_lower(Transform::adjoint, KK, right);
    }
    product(K, right, w);
    return w;
  }

  Matrix u_, v_, g_, s_, r_, z_;
  std::vector<Real> beta_, delta_;
  std::vector<int> free_;  ///< indices of the null vectors on which A is zero
  int n_, null_, kept_, rank_ = 0;
  Real tolerance_;
  bool sound_ = false;
};

/// Whether B is positive semidefinite to rounding, by the eigenvalues of B with its diagonal scaled
/// to one.
template <class Scalar>
bool DensePencil<Scalar>::semidefinite() {
  if (mass_values_.empty()) {
    for (int i = 0; i < n_; ++i) {
      Real const b = real_part(pencil_.b()(i, i));
      mass_scale_.push_back(b > 0 ? std::ldexp(Real(1), -std::ilogb(b) / 2) : Real(1));
    }
    mass_vectors_ = scaled_by_mass(pencil_.b());
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
  Pairs now;
  now.method = "elimination of the null vectors of the mass";
  now.infinite = n_;
  best_ = now;
  if (null == n_) return std::nullopt;
  SingularMass<Scalar> const part(scaled_by_mass(pencil_.a()), mass_vectors_, mass_values_, null,
                                  rank_tolerance());
  if (!part.sound()) return Status::stagnated;
  undefined_ = part.undefined();
  best_.infinite = now.infinite = n_ - part.order() - undefined_;
  if (part.order() == 0) return std::nullopt;
  DensePencil<Scalar> reduced(part.reduced_a(), part.reduced_b(), {}, digits_);
  if (auto const trouble = reduced.solve(std::min(wanted_, part.order()))) return trouble;
  now.vectors = part.lift(reduced.vectors(), reduced.theta());
  for (std::size_t j = 0; j < reduced.theta().size(); ++j)
    for (int i = 0; i < n_; ++i) now.vectors(i, j) *= mass_scale_[i];
  measured(now);
  for (std::size_t j = 0; j < now.theta.size(); ++j)
    now.bound.push_back(reduced.bounds()[j] + reduced.noise()[j] / 10 +
                        std::abs(now.theta[j] - reduced.theta()[j]));
  finish(now);
  return std::nullopt;
}

}  // namespace blockspan::eigen
