#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/lobpcg/certain_digits.hpp>
#include <blockspan/solvers/lobpcg/eigensolver.hpp>
#include <blockspan/solvers/lobpcg/extended_rows.hpp>
#include <blockspan/solvers/lobpcg/thresholds.hpp>
#include <blockspan/solvers/status.hpp>

namespace blockspan::detail {

/// The lowest eigenpairs of a dense Hermitian pencil A x = lambda B x (B empty: the identity), each
/// with a proven bound of its error. The first of these methods that gives the digits is taken:
///
///   mass    Cholesky of B, eigenpairs of L^-1 A L^-H: errors are some u ||L^-1 A L^-H||
///   shift   Cholesky of A + sigma B, sigma >= 0 as small as it may be, and the largest mu of
///           B x = mu (A + sigma B) x, lambda = 1 / mu - sigma: errors are some u (lambda + sigma),
///           however large other eigenvalues are; B may be singular
///   deflate B singular and no shift helps: null vectors of B and the constraints that they put on
///           the others are eliminated (the finite part of a pencil of index one or two)
///
/// Rayleigh quotients and residuals are computed in extended precision. Bounds are those of
/// Weinstein and Kato-Temple in the norm of B^-1, of the metric A + sigma B relative to lambda +
/// sigma (Parlett, The Symmetric Eigenvalue Problem, 1998, doi:10.1137/1.9781611971163; for graded
/// matrices Demmel and Veselic 1992, doi:10.1137/0613074). O(n^3) time.
template <class Scalar>
class DensePencil {
 public:
  using Real = real_t<Scalar>;
  using Matrix = SmallMatrix<Scalar>;

  /// A, B: Hermitian, finite, both triangles; B of order 0: the identity. eigen: of a device, for
  /// all pairs of a matrix; empty: LAPACK, for those wanted. digits: wanted of every eigenvalue.
  /// tolerance: of the backward errors, where a better way can bring them there.
  DensePencil(Matrix A, Matrix B, Eigensolver<Scalar> eigen, int digits, Real tolerance = 1)
      : a_(std::move(A)),
        b_(std::move(B)),
        eigen_(std::move(eigen)),
        digits_(digits),
        accuracy_(std::pow(Real(10), Real(-digits))),
        tolerance_(tolerance),
        n_(static_cast<int>(a_.extent(0))),
        rows_a_(a_),
        sums_a_(row_sizes(a_)) {
    norm_a_ = infinity_norm(a_);
    if (!generalized()) return;
    norm_b_ = infinity_norm(b_);
    rows_b_.emplace(b_);
    sums_b_ = row_sums(b_);
  }

  /// The `wanted` lowest finite pairs, or as many as there are (see count()). A status where there
  /// is no answer: B not positive semidefinite, or LAPACK failed.
  std::optional<Status> solve(int wanted) {
    wanted_ = wanted;
    if (n_ == 0) return std::nullopt;
    bool const by_mass = generalized() ? mass() : standard();
    if (by_mass && enough()) return std::nullopt;
    mass_definite_ = by_mass || !generalized();
    if (shifts(by_mass) || by_mass) return std::nullopt;
    return generalized() ? deflate() : std::optional(Status::stagnated);
  }

  int count() const {
    return static_cast<int>(best_.theta.size()) < wanted_ ? static_cast<int>(best_.theta.size())
                                                          : wanted_;
  }
  std::vector<Real> const& theta() const { return best_.theta; }  ///< ascending, with some guards
  Matrix const& vectors() const { return best_.vectors; }         ///< x^H B x = 1
  std::vector<Real> const& bounds() const { return best_.bound; }
  std::vector<Real> const& noise() const { return best_.noise; }
  char const* method() const { return best_.method; }
  int infinite() const { return infinite_; }    ///< eigenvalues, where B is singular
  int undefined() const { return undefined_; }  ///< directions that A and B both annihilate

 private:
  struct Pairs {
    std::vector<Real> theta, bound, noise, backward;
    Matrix vectors;
    char const* method = "";
  };
  using Wide = typename ExtendedRows<Scalar>::Wide;
  static constexpr Real u = Thresholds<Real>::u;

  /// |x_i^H r_j|^2 of vectors and their residuals.
  struct Couplings {
    Matrix products;
    Couplings(Matrix const& X, Matrix const& R)
        : products(
              small_matrix<Scalar>(static_cast<int>(X.extent(1)), static_cast<int>(R.extent(1)))) {
      product(X, R, products, lapack::Transform::adjoint);
    }
    Real operator()(int i, int j) const { return squared_magnitude(products(i, j)); }
  };

  bool generalized() const { return b_.extent(0) > 0; }
  Real rank_tolerance() const { return 10 * static_cast<Real>(n_) * u; }
  /// Some values beyond the wanted ones tell the gap after the last.
  int guarded() const { return std::min(n_, wanted_ + std::max(4, wanted_ / 4)); }

  Matrix copy(Matrix const& M) const {
    Matrix const result = small_matrix<Scalar>(n_, n_);
    Kokkos::deep_copy(result, M);
    return result;
  }

  /// G := its Cholesky factor; false unless every pivot is well above the rounding of its row.
  bool definite(Matrix const& G) const {
    std::vector<Real> before;
    for (int i = 0; i < n_; ++i) before.push_back(real_part(G(i, i)));
    if (lapack::cholesky(G) != 0) return false;
    for (int i = 0; i < n_; ++i) {
      Real const pivot = real_part(G(i, i));
      if (!(pivot * pivot > rank_tolerance() * before[i])) return false;
    }
    return true;
  }

  bool lowest(Matrix const& C, std::vector<Real>& values, Matrix& vectors) const {
    if (eigen_) {
      for (int j = 0; j < n_; ++j)
        for (int i = 0; i < j; ++i) C(i, j) = conjugate(C(j, i));
      if (eigen_(C, values) != 0) return false;
      vectors = part(C, 0, n_, 0, guarded());
      values.resize(guarded());
      return true;
    }
    vectors = small_matrix<Scalar>(n_, guarded());
    return lapack::hermitian_eigen_lowest(C, guarded(), values, vectors) == 0;
  }

  bool standard() {
    Matrix const C = copy(a_);
    Pairs now;
    now.method = "eigensolver";
    if (!lowest(C, now.theta, now.vectors)) return false;
    Matrix const R = refine(now);
    finish(now, gap_radii(now.theta, norms_of(R), guarded() == n_, Couplings(now.vectors, R)));
    return true;
  }

  bool mass() {
    Matrix const L = copy(b_);
    if (!definite(L)) return false;
    Matrix const C = copy(a_);
    lapack::reduce_to_standard(C, L);
    Pairs now;
    now.method = "Cholesky factor of the mass";
    if (!lowest(C, now.theta, now.vectors)) return false;
    lapack::solve_lower(lapack::Transform::adjoint, L, now.vectors);
    Matrix const R = refine(now);
    Couplings const couplings(now.vectors, R);
    lapack::solve_lower(lapack::Transform::none, L, R);
    finish(now, gap_radii(now.theta, norms_of(R), guarded() == n_, couplings));
    return true;
  }

  /// True if the pairs by A + sigma B have the digits, or are the only ones that can be had.
  bool shifts(bool have_estimate) {
    Real const ratio = norm_a_ / norm_b_;
    bool const sound = have_estimate || !generalized() || semidefinite();
    if (!sound || !(ratio > 0) || !std::isfinite(ratio)) return false;
    if (try_shift(Real(0)) && enough()) return true;
    // Just enough to make the matrix definite where the lowest values are known, else by trial.
    Real sigma = have_estimate ? least_shift() : ratio * std::ldexp(Real(1), -30);
    bool found = false;
    for (; sigma <= ratio * 1024 && !found; sigma *= 32) found = try_shift(sigma);
    if (!found) return false;
    if (enough()) return true;
    Real const smaller = least_shift();
    if (smaller < sigma / 64) try_shift(smaller);
    return true;
  }

  Real least_shift() const {
    Real const first = best_.theta.front(), last = best_.theta[std::max(0, count() - 1)];
    Real const slack = best_.bound.front() + best_.noise.front();
    return 2 * (std::max(Real(0), -first) + slack) + std::abs(last);
  }

  /// Keeps the pairs by A + sigma B where that is positive definite.
  bool try_shift(Real sigma) {
    Matrix const F = copy(a_);
    if (sigma > 0)
      for (int j = 0; j < n_; ++j)
        for (int i = 0; i < n_; ++i)
          F(i, j) += sigma * (generalized() ? b_(i, j) : Scalar(i == j ? 1 : 0));
    if (!definite(F)) return false;
    Matrix const C = small_matrix<Scalar>(n_, n_);
    for (int j = 0; j < n_; ++j)
      for (int i = 0; i < n_; ++i) C(i, j) = generalized() ? -b_(i, j) : Scalar(i == j ? -1 : 0);
    lapack::reduce_to_standard(C, F);
    Pairs now;
    now.method = sigma > 0 ? "Cholesky factor of the matrix, shifted by the mass"
                           : "Cholesky factor of the matrix";
    if (!lowest(C, now.theta, now.vectors)) return false;
    keep_finite(now, sigma);
    if (now.theta.empty()) {
      best_ = now;
      return true;
    }
    lapack::solve_lower(lapack::Transform::adjoint, F, now.vectors);
    Matrix const R = refine(now);
    Couplings const couplings(now.vectors, R);
    lapack::solve_lower(lapack::Transform::none, F, R);
    finish(now, bounds_by_shift(now, norms_of(R), couplings, sigma));
    return true;
  }

  /// Bounds from residuals in the norm of F^-1, F = A + sigma B, by those of the Rayleigh quotients
  /// mu = 1 / (theta + sigma) of B x = mu F x: mu times the residual over ||x||_F = mu^-1/2.
  std::vector<Real> bounds_by_shift(Pairs const& now, std::vector<Real> bound,
                                    Couplings const& couplings, Real sigma) const {
    std::vector<Real> values, radius;  // of -mu, which ascend as theta does
    for (std::size_t j = 0; j < bound.size(); ++j) {
      values.push_back(-1 / (now.theta[j] + sigma));
      radius.push_back(bound[j] * std::pow(std::abs(values[j]), Real(1.5)));
    }
    bound = gap_radii(values, radius, infinite_ == 0 && guarded() == n_, [&](int i, int j) {
      Real const square = values[j] * values[j];
      return square * std::abs(values[i] * values[j]) * couplings(i, j);
    });
    for (std::size_t j = 0; j < bound.size(); ++j) {
      Real const mu = std::abs(values[j]), relative = bound[j] / mu;
      bound[j] = relative < Real(0.5) ? 2 * relative / mu : std::numeric_limits<Real>::infinity();
    }
    return bound;
  }

  /// From -mu (ascending) to theta, without what is infinite to rounding.
  void keep_finite(Pairs& now, Real sigma) {
    Real const top = -now.theta.front();
    Real const least = mass_definite_ ? Real(0) : rank_tolerance() * std::max(Real(0), top);
    std::size_t finite = 0;
    while (finite < now.theta.size() && -now.theta[finite] > least) ++finite;
    if (finite < now.theta.size()) infinite_ = n_ - static_cast<int>(finite);
    now.theta.resize(finite);
    for (Real& value : now.theta) value = -1 / value - sigma;
    now.vectors = part(now.vectors, 0, n_, 0, static_cast<int>(finite));
  }

  /// X := X L^-H with X^H B X = L L^H. LAPACK's vectors of a graded matrix are orthogonal to some
  /// hundred units; those of A + sigma B are in its metric, and their errors lie along vectors of
  /// smaller eigenvalues, which come before them.
  void orthonormalize(Matrix const& X) const {
    int const k = static_cast<int>(X.extent(1));
    Matrix const BX = generalized() ? small_matrix<Scalar>(n_, k) : X;
    if (generalized()) product(b_, X, BX);
    Matrix const L = small_matrix<Scalar>(k, k), adjoint = small_matrix<Scalar>(k, n_);
    product(X, BX, L, lapack::Transform::adjoint);
    if (lapack::cholesky(L) != 0) return;
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < n_; ++i) adjoint(j, i) = conjugate(X(i, j));
    lapack::solve_lower(lapack::Transform::none, L, adjoint);
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < n_; ++i) X(i, j) = conjugate(adjoint(j, i));
  }

  /// Vectors to x^H B x = 1, theta to their Rayleigh quotients, noise; returns the residuals, both
  /// in ascending order.
  Matrix refine(Pairs& now) const {
    int const k = static_cast<int>(now.theta.size());
    Matrix const R = small_matrix<Scalar>(n_, k);
    orthonormalize(now.vectors);
    now.noise.clear(), now.backward.clear();
    for (int j = 0; j < k; ++j) {
      std::vector<Wide> x;
      for (int i = 0; i < n_; ++i) x.push_back(ExtendedRows<Scalar>::wide(now.vectors(i, j)));
      auto const ax = rows_a_.times(x), bx = generalized() ? rows_b_->times(x) : x;
      long double const xax = inner(x, ax), xbx = inner(x, bx);
      long double const theta = xax / xbx, scale = 1 / std::sqrt(std::abs(xbx));
      Real energy = 0, squares = 0, length = 0;
      for (int i = 0; i < n_; ++i) {
        R(i, j) = ExtendedRows<Scalar>::narrow((ax[i] - theta * bx[i]) * scale);
        now.vectors(i, j) = ExtendedRows<Scalar>::narrow(x[i] * scale);
        Real const size = squared_magnitude(now.vectors(i, j));
        length += size, squares += squared_magnitude(R(i, j));
        // |x|^H |A| |x| is at most this
        energy += (sums_a_[i] +
                   (generalized() ? std::abs(static_cast<Real>(theta)) * sums_b_[i] : Real(0))) *
                  size;
      }
      now.theta[j] = static_cast<Real>(theta);
      Real const norms = norm_a_ + std::abs(now.theta[j]) * norm_b_;
      now.backward.push_back(squares > 0 ? std::sqrt(squares / length) / norms : Real(0));
      now.noise.push_back(10 * std::sqrt(static_cast<Real>(n_)) * u * energy);
    }
    return sorted(now, R);
  }

  Matrix sorted(Pairs& now, Matrix const& R) const {
    std::vector<int> order(now.theta.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int i, int j) { return now.theta[i] < now.theta[j]; });
    if (std::is_sorted(order.begin(), order.end())) return R;
    auto const old = now;
    now.vectors = small_matrix<Scalar>(n_, static_cast<int>(order.size()));
    Matrix const result = small_matrix<Scalar>(n_, static_cast<int>(order.size()));
    for (int j = 0; j < static_cast<int>(order.size()); ++j) {
      now.theta[j] = old.theta[order[j]];
      now.noise[j] = old.noise[order[j]];
      now.backward[j] = old.backward[order[j]];
      for (int i = 0; i < n_; ++i) {
        now.vectors(i, j) = old.vectors(i, order[j]);
        result(i, j) = R(i, order[j]);
      }
    }
    return result;
  }

  static long double inner(std::vector<Wide> const& x, std::vector<Wide> const& y) {
    long double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if constexpr (is_complex_v<Scalar>)
        sum += (std::conj(x[i]) * y[i]).real();
      else
        sum += x[i] * y[i];
    }
    return sum;
  }

  static std::vector<Real> norms_of(Matrix const& R) {
    std::vector<Real> norms;
    for (std::size_t j = 0; j < R.extent(1); ++j) {
      Real sum = 0;
      for (std::size_t i = 0; i < R.extent(0); ++i) sum += squared_magnitude(R(i, j));
      norms.push_back(std::sqrt(sum));
    }
    return norms;
  }

  /// Takes the pairs if they are better than what there is; in ascending order.
  void finish(Pairs& now, std::vector<Real> const& bound) {
    // Rounding of the quotients in extended precision, some sqrt(n) units (the noise has ten times
    // that; Higham and Mary 2019, doi:10.1137/18M1226312), and of the result.
    constexpr Real extended = std::numeric_limits<long double>::epsilon() / (2 * u) / 10;
    now.bound = bound;
    for (std::size_t j = 0; j < bound.size(); ++j)
      now.bound[j] += extended * now.noise[j] + 4 * u * std::abs(now.theta[j]);
    if (best_.theta.empty() || missing(now) <= missing(best_)) best_ = now;
  }

  /// Wanted pairs whose digits are not certain, and that are not zero, or whose backward error is
  /// too large.
  int missing(Pairs const& pairs) const {
    int result = 0;
    int const known = std::min(wanted_, static_cast<int>(pairs.theta.size()));
    for (int j = 0; j < known; ++j) {
      Real const value = pairs.theta[j], bound = pairs.bound[j];
      bool const certain =
          bound <= accuracy_ * std::abs(value) || is_zero_to_rounding(value, bound, pairs.noise[j]);
      if (!certain || pairs.backward[j] > tolerance_ / 10) ++result;
    }
    return result;
  }
  bool enough() const { return missing(best_) == 0; }
  // deflate_pencil.hpp
  bool semidefinite();
  Matrix scaled_by_mass(Matrix const& M) const;
  std::optional<Status> deflate();

  Matrix a_, b_;
  Eigensolver<Scalar> eigen_;
  int digits_;
  Real accuracy_, tolerance_;
  Real norm_a_ = 0, norm_b_ = 1;
  int n_, wanted_ = 0;
  int infinite_ = 0, undefined_ = 0;
  bool mass_definite_ = false;
  ExtendedRows<Scalar> rows_a_;
  std::optional<ExtendedRows<Scalar>> rows_b_;
  std::vector<Real> sums_a_, sums_b_;  ///< of the magnitudes of a row (A: row_sizes)
  Pairs best_;
  Matrix mass_vectors_;  ///< of the scaled B, once needed
  std::vector<Real> mass_values_, mass_scale_;
};

}  // namespace blockspan::detail

#include <blockspan/solvers/lobpcg/deflate_pencil.hpp>
