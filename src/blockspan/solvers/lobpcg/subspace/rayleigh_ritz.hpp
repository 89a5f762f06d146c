#pragma once

#include <utility>
#include <vector>

#include <blockspan/blocks/small_factor.hpp>
#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/dense/eigensolver.hpp>
#include <blockspan/solvers/lobpcg/thresholds.hpp>

namespace blockspan::eigen {

/// The small dense work of an iteration, on the host but for eigenproblems that `eigen` leaves to a
/// device, in matrices of order up to 3 m that are allocated once: from G = S^H B S and H = S^H A S
/// (Hermitian, finite) to Ritz values and to the coefficients that make the next X and P of S.
///
///   factor    F with F^H G F = I (Cholesky of the scaled G, SVQB, or the identity)
///   solve     F^H H F = C Theta C^H, coefficients F C(:, 1:m) for X
///   select    what W and P gave to the active columns of X, made orthonormal to X: coefficients
///   for P
///
/// The basis selection is that of Hetmaniuk and Lehoucq 2006 and Duersch, Shao, Yang and Gu 2018.
template <class Scalar>
class RayleighRitz {
 public:
  using Real = real_t<Scalar>;
  using Matrix = SmallMatrix<Scalar>;

  RayleighRitz(int max_order, Eigensolver<Scalar> eigen)
      : eigen_(std::move(eigen)),
        factor_(small_matrix<Scalar>(max_order, max_order)),
        vectors_(small_matrix<Scalar>(max_order, max_order)),
        coefficients_(small_matrix<Scalar>(max_order, max_order)),
        selected_(small_matrix<Scalar>(max_order, max_order)),
        scratch_(small_matrix<Scalar>(max_order, max_order)) {}

  /// F = I.
  void factor_identity(int order) {
    order_ = rank_ = order;
    identity_ = true;
  }

  /// F = D L^-H with L L^H = D G D, D = diag(G)^-1/2. False if it fails, or if a squared pivot is
  /// below `least_pivot`: the basis is then too ill-conditioned for this path.
  bool factor_cholesky(Matrix const& G, Real least_pivot) {
    if (!scale_diagonal(G)) return false;
    rank_ = order_;
    Matrix const scaled = part(scratch_, 0, order_, 0, order_);
    return cholesky_coefficients(scaled, scale_, Real(0), F()) > least_pivot;
  }

  /// F = D U Lambda^-1/2 with D G D = U Lambda U^H, without the eigenvalues negligible against the
  /// largest. False if it fails or nothing is left.
  bool factor_svqb(Matrix const& G) {
    if (!scale_diagonal(G)) return false;
    Matrix const U = part(scratch_, 0, order_, 0, order_);
    std::vector<Real> lambda;
    if (eigen_(U, lambda) != 0) return false;
    Real const least = Thresholds<Real>::svqb_drop * lambda[order_ - 1];
    rank_ = 0;
    while (rank_ < order_ && lambda[order_ - 1 - rank_] > least) ++rank_;
    svqb_coefficients(U, lambda, scale_, rank_, Real(0), F());
    return rank_ > 0;
  }

  /// The lowest m Ritz pairs of H. False if it fails or the basis has fewer than m columns.
  bool solve(Matrix const& H, int m) {
    m_ = m;
    p_ = 0;
    if (rank_ < m) return false;
    Matrix const C = part(vectors_, 0, rank_, 0, rank_);
    if (identity_) {
      copy_small(H, C);
    } else {
      Matrix const HF = part(scratch_, 0, order_, 0, rank_);
      product(H, F(), HF);
      product(F(), HF, C, lapack::Transform::adjoint);
    }
    symmetrize(C, Real(1));
    if (!all_finite(C) || eigen_(C, theta_) != 0) return false;
    lift(part(vectors_, 0, rank_, 0, m), part(coefficients_, 0, order_, 0, m));
    return true;
  }

  /// Columns for the next P, at most as many as active columns; 0 is right where nothing came from
  /// W and P. G is not read where F = I.
  int select(Matrix const& G, std::vector<int> const& active) {
    int const a = static_cast<int>(active.size());
    Matrix const Z = part(selected_, 0, rank_, 0, a);
    gather_new_parts(G, active, Z);
    normalize_columns(Z);
    remove_x(Z);
    std::vector<Real> diagonal;
    if (!all_finite(Z) || lapack::qr_pivoted(Z, diagonal) != 0) return 0;
    int const limit = std::min(a, rank_ - m_);
    while (p_ < limit && diagonal[p_] > Thresholds<Real>::select_drop * diagonal[0]) ++p_;
    if (p_ == 0) return 0;
    Matrix const Q = part(selected_, 0, rank_, 0, p_);
    remove_x(Q);
    if (lapack::qr_pivoted(Q, diagonal) != 0) return p_ = 0;
    lift(Q, part(coefficients_, 0, order_, m_, p_));
    return p_;
  }

  std::vector<Real> const& theta() const { return theta_; }  ///< all Ritz values, ascending
  /// order x (m + p): [X P] := S times this.
  Matrix coefficients() const { return part(coefficients_, 0, order_, 0, m_ + p_); }

 private:
  Matrix F() const { return part(factor_, 0, order_, 0, rank_); }

  /// scratch := D G D; false where a diagonal entry is not positive.
  bool scale_diagonal(Matrix const& G) {
    order_ = static_cast<int>(G.extent(0));
    identity_ = false;
    return scale_to_unit_diagonal(G, scale_, part(scratch_, 0, order_, 0, order_));
  }

  /// out := F Z
  void lift(Matrix const& Z, Matrix const& out) const {
    if (identity_)
      copy_small(Z, out);
    else
      product(F(), Z, out);
  }

  /// Z := what the rows of W and P contribute to the active columns of the next X, in coordinates
  /// where the basis is orthonormal.
  void gather_new_parts(Matrix const& G, std::vector<int> const& active, Matrix const& Z) {
    int const a = static_cast<int>(active.size());
    Matrix const raw = identity_ ? Z : part(scratch_, 0, order_, 0, a);
    for (int j = 0; j < a; ++j)
      for (int i = 0; i < order_; ++i) raw(i, j) = i < m_ ? Scalar(0) : coefficients_(i, active[j]);
    if (identity_) return;
    Matrix const weighted = part(scratch_, 0, order_, a, a);
    product(G, raw, weighted);
    product(F(), weighted, Z, lapack::Transform::adjoint);
  }

  /// Z := Z - C_x (C_x^H Z), twice.
  void remove_x(Matrix const& Z) {
    int const columns = static_cast<int>(Z.extent(1));
    Matrix const Cx = part(vectors_, 0, rank_, 0, m_);
    Matrix const overlap = part(scratch_, 0, m_, 0, columns);
    for (int pass = 0; pass < 2; ++pass) {
      product(Cx, Z, overlap, lapack::Transform::adjoint);
      lapack::multiply(lapack::Transform::none, lapack::Transform::none, Scalar(-1), Cx, overlap,
                       Scalar(1), Z);
    }
  }

  Eigensolver<Scalar> eigen_;
  Matrix factor_, vectors_, coefficients_, selected_, scratch_;
  std::vector<Real> scale_, theta_;
  int order_ = 0, rank_ = 0, m_ = 0, p_ = 0;
  bool identity_ = true;
};

}  // namespace blockspan::eigen
