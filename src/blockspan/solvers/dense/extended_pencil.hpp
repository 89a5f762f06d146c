#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/dense/extended_rows.hpp>
#include <blockspan/solvers/lobpcg/thresholds.hpp>

namespace blockspan::eigen {

/// Pairs of a dense pencil, ascending, and what is known of them.
template <class Scalar>
struct DensePairs {
  using Real = real_t<Scalar>;
  std::vector<Real> theta;
  std::vector<Real> bound;     ///< of |lambda_j - theta_j|
  std::vector<Real> noise;     ///< values below are not distinguished from zero
  std::vector<Real> rounding;  ///< of the Rayleigh quotients
  std::vector<Real> backward;  ///< ||r|| / ((||A|| + |theta| ||B||) ||x||)
  SmallMatrix<Scalar> vectors;
  Real loss = 0;          ///< max |X^H B X - I|
  bool doubtful = false;  ///< B has a direction that is negative for its size in A + sigma B
  int infinite = 0;       ///< eigenvalues, where B is singular
  char const* method = "";
};

/// Columns j of `part` times 2^exponents[j], in a range that Scalar may not have: the residuals of
/// pairs whose values lie many powers of ten apart.
template <class Scalar>
struct ScaledColumns {
  SmallMatrix<Scalar> part;
  std::vector<int> exponents;
};

/// A dense Hermitian pencil (A, B) with its entries in extended precision, in which approximate
/// pairs of it are measured: Rayleigh quotients, residuals, and how far a whole set of vectors is
/// from diagonalizing it.
template <class Scalar>
class ExtendedPencil {
 public:
  using Real = real_t<Scalar>;
  using Matrix = SmallMatrix<Scalar>;
  using Pairs = DensePairs<Scalar>;

  /// B of order 0: the identity.
  ExtendedPencil(Matrix A, Matrix B)
      : a_(std::move(A)), b_(std::move(B)), n_(static_cast<int>(a_.extent(0))), rows_a_(a_) {
    norm_a_ = infinity_norm(a_);
    auto const sums = row_sums(a_);
    for (Real const sum : sums)
      if (sum > 0 && (least_row_ == 0 || sum < least_row_)) least_row_ = sum;
    for (int i = 0; i < n_; ++i)
      if (sums[i] == 0) empty_rows_.push_back(i);
    if (!generalized()) return;
    norm_b_ = infinity_norm(b_);
    rows_b_.emplace(b_);
  }

  Matrix const& a() const { return a_; }
  Matrix const& b() const { return b_; }
  int order() const { return n_; }
  bool generalized() const { return b_.extent(0) > 0; }
  Real norm_a() const { return norm_a_; }
  Real norm_b() const { return norm_b_; }

  /// X := X L^-H with X^H B X = L L^H, twice. LAPACK's vectors of a graded matrix are orthogonal to
  /// some hundred units; those of A + sigma B are in its metric, and their errors lie along vectors
  /// of smaller eigenvalues, which come before them. Returns max |X^H B X - I|.
  Real orthonormalize(Matrix const& X) const {
    int const k = static_cast<int>(X.extent(1));
    Matrix const L = small_matrix<Scalar>(k, k), adjoint = small_matrix<Scalar>(k, n_);
    for (int pass = 0;; ++pass) {
      product(X, generalized() ? mass_image(X) : X, L, lapack::Transform::adjoint);
      Real const loss = defect_from_diagonal(L);
      if (pass == 2 || !(loss < std::numeric_limits<Real>::infinity())) return loss;
      if (pass == 1 && loss < 10 * static_cast<Real>(k) * u) return loss;
      if (lapack::cholesky(L) != 0) return loss;
      copy_adjoint(X, adjoint);
      lapack::solve_lower(lapack::Transform::none, L, adjoint);
      copy_adjoint(adjoint, X);
    }
  }

  /// max |X^H B X - I|
  Real orthogonality_loss(Matrix const& X) const {
    int const k = static_cast<int>(X.extent(1));
    Matrix const G = small_matrix<Scalar>(k, k);
    product(X, generalized() ? mass_image(X) : X, G, lapack::Transform::adjoint);
    return defect_from_diagonal(G);
  }

  /// Vectors to x^H B x = 1, theta to their Rayleigh quotients, with noise, rounding and backward
  /// errors; returns the residuals, all in ascending order.
  ScaledColumns<Scalar> measure(Pairs& now) const {
    int const k = static_cast<int>(now.vectors.extent(1));
    ScaledColumns<Scalar> R{small_matrix<Scalar>(n_, k), std::vector<int>(k)};
    std::vector<Wide> r(n_);
    now.theta.assign(k, 0), now.noise.assign(k, 0);
    now.rounding.assign(k, 0), now.backward.assign(k, 0);
    for (int j = 0; j < k; ++j) {
      auto const x = column(now.vectors, j);
      auto const ax = rows_a_.times(x), bx = generalized() ? rows_b_->times(x) : x;
      long double const xax = inner(x, ax), xbx = inner(x, bx);
      long double const theta = xax / xbx, scale = 1 / std::sqrt(std::abs(xbx));
      long double squares = 0, length = 0, empty = 0;
      for (int i = 0; i < n_; ++i) {
        r[i] = (ax[i] - theta * bx[i]) * scale;
        now.vectors(i, j) = ExtendedRows<Scalar>::narrow(x[i] * scale);
        squares += std::norm(r[i]), length += std::norm(x[i] * scale);
      }
      R.exponents[j] = squares > 0 && std::isfinite(squares) ? std::ilogb(squares) / 2 : 0;
      long double const unit = std::ldexp(1.0L, -R.exponents[j]);
      for (int i = 0; i < n_; ++i) R.part(i, j) = ExtendedRows<Scalar>::narrow(r[i] * unit);
      // rows without entries have no size of their own
      for (int const i : empty_rows_) empty += std::norm(x[i] * scale);
      long double const of_b = (generalized() ? rows_b_->energy(x) : std::abs(xbx)) * scale * scale;
      long double const energy = rows_a_.energy(x) * scale * scale +
                                 static_cast<long double>(least_row_) * empty +
                                 std::abs(theta) * of_b;
      now.theta[j] = static_cast<Real>(theta);
      long double const norms = norm_a_ + std::abs(theta) * norm_b_;
      now.backward[j] = static_cast<Real>(squares > 0 ? std::sqrt(squares / length) / norms : 0);
      // Sums of n terms round to some sqrt(n) units (Higham and Mary 2019, doi:10.1137/18M1226312).
      long double const terms = std::sqrt(static_cast<long double>(n_)) * energy;
      now.rounding[j] = static_cast<Real>(terms * extended) + 4 * u * std::abs(now.theta[j]);
      now.noise[j] = static_cast<Real>(of_b > most_cancellation ? 0 : 10 * terms * u);
    }
    return sorted(now, R);
  }

  /// A bound e < 1 with |lambda_j - theta_j| <= e |theta_j + sigma| for all n eigenvalues, the
  /// columns of X being n approximate eigenvectors and theta_j their Rayleigh quotients: X^H (A +
  /// sigma B) X and X^H B X, scaled to a diagonal of magnitude one, are diagonal to that. Nothing
  /// where there is no such bound. For the first matrix Barlow and Demmel 1990
  /// (doi:10.1137/0727045), for the second Ostrowski's theorem. O(n^3) in extended precision.
  std::optional<Real> relative_error(Matrix const& X, Real sigma) const {
    std::vector<std::vector<Wide>> x, ax, bx;
    for (int j = 0; j < n_; ++j) {
      x.push_back(column(X, j));
      ax.push_back(rows_a_.times(x[j]));
      bx.push_back(generalized() ? rows_b_->times(x[j]) : x[j]);
      for (int i = 0; i < n_; ++i) ax[j][i] += static_cast<long double>(sigma) * bx[j][i];
    }
    std::vector<long double> f, g;  // the diagonals
    for (int j = 0; j < n_; ++j) f.push_back(inner(x[j], ax[j])), g.push_back(inner(x[j], bx[j]));
    // what rounding leaves open of them, entry by entry at most this (Cauchy and Schwarz)
    std::vector<long double> rounding_f, rounding_g;
    long double const unit = static_cast<long double>(n_ + 8) * extended;
    for (int j = 0; j < n_; ++j) {
      long double const of_b = generalized() ? rows_b_->energy(x[j]) : g[j];
      rounding_g.push_back(std::sqrt(unit * of_b / g[j]));
      rounding_f.push_back(std::sqrt(
          unit * (rows_a_.energy(x[j]) + std::abs(static_cast<long double>(sigma)) * of_b) /
          std::abs(f[j])));
    }
    long double worst_f = 0, worst_g = 0;
    std::vector<long double> sums_f(n_, 0), sums_g(n_, 0);
    for (int j = 0; j < n_; ++j)
      for (int i = 0; i <= j; ++i) {
        long double of_f = rounding_f[i] * rounding_f[j], of_g = rounding_g[i] * rounding_g[j];
        if (i < j) {
          of_f +=
              std::abs(dot(x[i], ax[j])) / std::sqrt(std::abs(f[i])) / std::sqrt(std::abs(f[j]));
          of_g += std::abs(dot(x[i], bx[j])) / std::sqrt(g[i]) / std::sqrt(g[j]);
          sums_f[j] += of_f, sums_g[j] += of_g;
        }
        sums_f[i] += of_f, sums_g[i] += of_g;
      }
    for (int j = 0; j < n_; ++j) {
      if (!(sums_f[j] < 0.1L) || !(sums_g[j] < 0.1L)) return std::nullopt;  // NaN as well
      worst_f = std::max(worst_f, sums_f[j]), worst_g = std::max(worst_g, sums_g[j]);
    }
    return static_cast<Real>(worst_f / (1 - worst_f) + 2 * worst_g / (1 - worst_g)) + 8 * u;
  }

 private:
  using Wide = typename ExtendedRows<Scalar>::Wide;
  static constexpr Real u = Thresholds<Real>::u;
  static constexpr long double extended = std::numeric_limits<long double>::epsilon();
  /// |x|^H |B| |x| over x^H B x of an x so close to a null vector of B that the rounding of its
  /// entries is no measure for zeros.
  static constexpr long double most_cancellation = 1000;

  std::vector<Wide> column(Matrix const& X, int j) const {
    std::vector<Wide> x;
    for (int i = 0; i < n_; ++i) x.push_back(ExtendedRows<Scalar>::wide(X(i, j)));
    return x;
  }

  Matrix mass_image(Matrix const& X) const {
    Matrix const result = small_matrix<Scalar>(n_, static_cast<int>(X.extent(1)));
    for (int j = 0; j < static_cast<int>(X.extent(1)); ++j) {
      auto const bx = rows_b_->times(column(X, j));
      for (int i = 0; i < n_; ++i) result(i, j) = ExtendedRows<Scalar>::narrow(bx[i]);
    }
    return result;
  }

  static Wide dot(std::vector<Wide> const& x, std::vector<Wide> const& y) {
    Wide sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if constexpr (is_complex_v<Scalar>)
        sum += std::conj(x[i]) * y[i];
      else
        sum += x[i] * y[i];
    }
    return sum;
  }
  static long double inner(std::vector<Wide> const& x, std::vector<Wide> const& y) {
    return std::real(dot(x, y));
  }

  ScaledColumns<Scalar> sorted(Pairs& now, ScaledColumns<Scalar> const& R) const {
    std::vector<int> order(now.theta.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int i, int j) { return now.theta[i] < now.theta[j]; });
    if (std::is_sorted(order.begin(), order.end())) return R;
    auto const permute = [&](auto& values) {
      auto const old = values;
      for (std::size_t j = 0; j < order.size(); ++j) values[j] = old[order[j]];
    };
    permute(now.theta), permute(now.noise), permute(now.rounding), permute(now.backward);
    auto const columns = [&](Matrix const& M) {
      Matrix const result = small_matrix<Scalar>(n_, static_cast<int>(order.size()));
      for (std::size_t j = 0; j < order.size(); ++j)
        for (int i = 0; i < n_; ++i) result(i, j) = M(i, order[j]);
      return result;
    };
    now.vectors = columns(now.vectors);
    ScaledColumns<Scalar> result{columns(R.part), R.exponents};
    permute(result.exponents);
    return result;
  }

  Matrix a_, b_;
  int n_;
  ExtendedRows<Scalar> rows_a_;
  std::optional<ExtendedRows<Scalar>> rows_b_;
  Real norm_a_ = 0, norm_b_ = 1, least_row_ = 0;  ///< least_row_: of the row sums above zero
  std::vector<int> empty_rows_;                   ///< of A
};

}  // namespace blockspan::eigen
