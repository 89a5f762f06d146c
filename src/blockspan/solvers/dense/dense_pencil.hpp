#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/dense/eigensolver.hpp>
#include <blockspan/solvers/dense/extended_pencil.hpp>
#include <blockspan/solvers/lobpcg/accuracy/certain_digits.hpp>
#include <blockspan/solvers/lobpcg/thresholds.hpp>
#include <blockspan/solvers/status.hpp>

namespace blockspan::eigen {

/// The lowest eigenpairs of a dense Hermitian pencil A x = lambda B x (B empty: the identity), each
/// with a bound of its error. The first of these methods that gives the digits is taken:
///
///   mass    Cholesky of B, eigenpairs of L^-1 A L^-H: errors are some u ||L^-1 A L^-H||
///   shift   Cholesky of A + sigma B, sigma >= 0 as small as it may be, and the largest mu of
///           B x = mu (A + sigma B) x, lambda = 1 / mu - sigma: errors are some u (lambda + sigma),
///           however large other eigenvalues are; B may be singular
///   graded  all pairs by one-sided Jacobi: errors are some u |lambda + sigma| for every lambda,
///           where A + sigma B and B are far from singular once their diagonals are scaled to one
///   deflate B singular and no shift helps: null vectors of B and the constraints that they put on
///           the others are eliminated (the finite part of a pencil of index one or two)
///
/// Rayleigh quotients and residuals are computed in extended precision. Bounds are those of
/// Weinstein and Kato-Temple in the norm of B^-1, of the metric A + sigma B relative to lambda +
/// sigma (Parlett, The Symmetric Eigenvalue Problem, 1998, doi:10.1137/1.9781611971163; for graded
/// matrices Demmel and Veselic 1992, doi:10.1137/0613074). They hold for the eigenvalue of that
/// index: the list of values is cut where two of them are further apart than rounding can move
/// them (Weyl), and what comes before the cut is complete. O(n^3) time.
template <class Scalar>
class DensePencil {
 public:
  using Real = real_t<Scalar>;
  using Matrix = SmallMatrix<Scalar>;
  using WideValues = std::vector<long double>;  ///< in a range for squares of the values

  /// A, B: Hermitian, finite, both triangles; B of order 0: the identity. eigen: of a device, for
  /// all pairs of a matrix; empty: LAPACK, for those wanted. digits: wanted of every eigenvalue.
  /// tolerance: of the backward errors, where a better way can bring them there.
  DensePencil(Matrix A, Matrix B, Eigensolver<Scalar> eigen, int digits, Real tolerance = 1)
      : pencil_(std::move(A), std::move(B)),
        eigen_(std::move(eigen)),
        digits_(digits),
        accuracy_(std::pow(Real(10), Real(-digits))),
        tolerance_(tolerance),
        n_(pencil_.order()) {}

  /// The `wanted` lowest finite pairs, or all there are (see count()). A status where there
  /// is no answer: B not positive semidefinite, or LAPACK failed.
  std::optional<Status> solve(int wanted) {
    wanted_ = wanted;
    if (n_ == 0) return std::nullopt;
    guarded_ = std::min(n_, wanted + std::max(4, wanted / 4));
    bool by_mass = mass();
    // A cluster that goes on behind the list has no gap that shows it complete.
    while (by_mass && !enough() && cut_ < wanted && guarded_ < n_) {
      guarded_ = std::min(n_, 4 * guarded_);
      by_mass = mass();
    }
    if (by_mass && enough()) return std::nullopt;
    mass_definite_ = by_mass || !generalized();
    if (!mass_definite_) guarded_ = n_;  // the other end shows whether B is semidefinite
    bool const found = shifts(by_mass) || by_mass;
    if (found && enough()) return std::nullopt;
    if (mass_definite_ && !graded(Real(0)) && found) graded(least_shift());
    if (found) return std::nullopt;
    return generalized() ? deflate() : std::optional(Status::stagnated);
  }

  int count() const { return std::min(static_cast<int>(best_.theta.size()), wanted_); }
  std::vector<Real> const& theta() const { return best_.theta; }  ///< ascending, with some guards
  Matrix const& vectors() const { return best_.vectors; }         ///< x^H B x = 1
  std::vector<Real> const& bounds() const { return best_.bound; }
  std::vector<Real> const& noise() const { return best_.noise; }
  char const* method() const { return best_.method; }
  Real orthogonality_loss() const { return best_.loss; }  ///< max |X^H B X - I|
  /// B is singular to working precision, with a vector that neither it nor A distinguishes from
  /// zero.
  bool doubtful() const { return best_.doubtful; }
  int infinite() const { return best_.infinite; }  ///< eigenvalues, where B is singular
  int undefined() const { return undefined_; }     ///< directions that A and B both annihilate

 private:
  using Pairs = DensePairs<Scalar>;
  static constexpr Real u = Thresholds<Real>::u;
  static constexpr Real infinite_bound = std::numeric_limits<Real>::infinity();
  /// Rows up to which all pairs by Jacobi take seconds.
  static constexpr int largest_graded = 500;

  /// |x_i^H r_j|^2 of vectors and their residuals.
  struct Couplings {
    Matrix products;
    std::vector<int> exponents;
    Couplings(Matrix const& X, ScaledColumns<Scalar> const& R)
        : products(small_matrix<Scalar>(static_cast<int>(X.extent(1)),
                                        static_cast<int>(R.part.extent(1)))),
          exponents(R.exponents) {
      product(X, R.part, products, lapack::Transform::adjoint);
    }
    long double operator()(int i, int j) const {
      long double const unit = std::ldexp(1.0L, exponents[j]);
      return std::norm(ExtendedRows<Scalar>::wide(products(i, j))) * unit * unit;
    }
  };

  /// The lowest values as the eigensolver gave them, ascending, and what they may be off by.
  struct Spectrum {
    std::vector<Real> values;
    Real error = 0;
  };

  bool generalized() const { return pencil_.generalized(); }
  Real rank_tolerance() const { return 10 * static_cast<Real>(n_) * u; }

  Matrix copy(Matrix const& M) const {
    Matrix const result = small_matrix<Scalar>(n_, n_);
    Kokkos::deep_copy(result, M);
    return result;
  }
  /// A + sigma B
  Matrix shifted(Real sigma) const {
    Matrix const F = copy(pencil_.a());
    for (int j = 0; j < n_ && sigma != 0; ++j)
      for (int i = 0; i < n_; ++i)
        F(i, j) += sigma * (generalized() ? pencil_.b()(i, j) : Scalar(i == j ? 1 : 0));
    return F;
  }

  /// G := its Cholesky factor. The least part of a diagonal entry that is left as pivot, some
  /// condition of G with a diagonal of ones; zero unless every pivot is well above the rounding of
  /// its row.
  Real factor(Matrix const& G) const {
    std::vector<Real> before;
    for (int i = 0; i < n_; ++i) before.push_back(real_part(G(i, i)));
    if (lapack::cholesky(G) != 0) return 0;
    Real least = 1;
    for (int i = 0; i < n_; ++i) {
      Real const pivot = real_part(G(i, i));
      least = std::min(least, pivot / before[i] * pivot);
    }
    return least > rank_tolerance() ? least : Real(0);
  }

  /// What rounding may do to an eigenvalue of L^-1 C L^-H, its lower triangle given, `pivot` as
  /// factor() gave it of L L^H: some sqrt(n) units of its norm, seen to be below a tenth of this.
  Real eigenvalue_error(Matrix const& C, Real pivot) const {
    std::vector<Real> sums(n_, 0);
    for (int j = 0; j < n_; ++j)
      for (int i = j; i < n_; ++i) {
        Real const size = Kokkos::abs(C(i, j));
        sums[i] += size;
        if (i > j) sums[j] += size;
      }
    Real const norm = *std::max_element(sums.begin(), sums.end());
    return 20 * std::sqrt(static_cast<Real>(n_)) * u * norm / pivot;
  }

  bool lowest(Matrix const& C, std::vector<Real>& values, Matrix& vectors) const {
    if (eigen_) {
      for (int j = 0; j < n_; ++j)
        for (int i = 0; i < j; ++i) C(i, j) = conjugate(C(j, i));
      if (eigen_(C, values) != 0) return false;
      vectors = part(C, 0, n_, 0, guarded_);
      values.resize(guarded_);
      return true;
    }
    vectors = small_matrix<Scalar>(n_, guarded_);
    return lapack::hermitian_eigen_lowest(C, guarded_, values, vectors) == 0;
  }

  /// By the Cholesky factor of B, and of the identity.
  bool mass() {
    Matrix const L = generalized() ? copy(pencil_.b()) : Matrix(), C = copy(pencil_.a());
    Real pivot = 1;
    if (generalized()) {
      if (!((pivot = factor(L)) > 0)) return false;
      lapack::reduce_to_standard(C, L);
    }
    Pairs now;
    now.method = generalized() ? "Cholesky factor of the mass" : "eigensolver";
    Spectrum seen{{}, eigenvalue_error(C, pivot)};
    if (!lowest(C, seen.values, now.vectors)) return false;
    if (generalized()) lapack::solve_lower(lapack::Transform::adjoint, L, now.vectors);
    auto const R = measured(now);
    Couplings const couplings(now.vectors, R);
    if (generalized()) lapack::solve_lower(lapack::Transform::none, L, R.part);
    for (long double const bound :
         bounds(widened(now.theta), norms_of(R), widened(now.rounding), seen, couplings))
      now.bound.push_back(rounded_up<Real>(bound));
    finish(now);
    return true;
  }

  ScaledColumns<Scalar> measured(Pairs& now) const {
    now.loss = pencil_.orthonormalize(now.vectors);
    return pencil_.measure(now);
  }

  static WideValues widened(std::vector<Real> const& values) {
    return WideValues(values.begin(), values.end());
  }

  /// Bounds of the errors of Rayleigh quotients with residuals of norm `radius`, themselves known
  /// to `slack`: by gaps before the last cut of the spectrum, and by Weyl's theorem.
  template <class Coupling>
  WideValues bounds(WideValues const& theta, WideValues const& radius, WideValues const& slack,
                    Spectrum const& seen, Coupling const& couplings) {
    int const known = static_cast<int>(theta.size());
    auto const gap = [&](int cut) { return seen.values[cut] - seen.values[cut - 1]; };
    long double beyond = infinite_bound;
    cut_ = known;
    if (known < n_) {
      for (--cut_; cut_ > 0 && !(gap(cut_) > 4 * seen.error);) --cut_;
      if (cut_ > 0) beyond = seen.values[cut_] - seen.error;
    }
    WideValues prior;  // by Weyl's theorem
    for (int j = 0; j < known; ++j)
      prior.push_back(seen.error + std::abs(theta[j] - seen.values[j]));
    auto const leading = [cut = cut_](WideValues const& values) {
      return WideValues(values.begin(), values.begin() + cut);
    };
    auto result = gap_radii(leading(theta), leading(radius), leading(prior), leading(slack), beyond,
                            couplings);
    result.insert(result.end(), prior.begin() + cut_, prior.end());
    return result;
  }

  /// True if the pairs by A + sigma B have the digits, or are the only ones that can be had.
  bool shifts(bool have_estimate) {
    Real const ratio = pencil_.norm_a() / pencil_.norm_b();
    bool const sound = have_estimate || !generalized() || semidefinite();
    if (!sound || !(ratio > 0) || !std::isfinite(ratio)) return false;
    if (try_shift(Real(0)) && enough()) return true;
    // Just enough to make the matrix definite where the lowest values are known, else by trial.
    Real sigma = have_estimate ? least_shift() : ratio * std::ldexp(Real(1), -30);
    if (!(sigma > 0)) return false;
    bool found = false;
    for (; sigma <= ratio * 1024 && !found; sigma *= 32) found = try_shift(sigma);
    if (!found) return false;
    if (best_.theta.empty() || enough()) return true;
    Real const smaller = least_shift();
    if (smaller < sigma / 64) try_shift(smaller);
    return true;
  }

  Real least_shift() const {
    Real const first = best_.theta.front(), last = best_.theta[std::max(0, count() - 1)];
    Real const bound = best_.bound.front(), slack = best_.rounding.front() + best_.noise.front();
    return 2 * (std::max(Real(0), -first) + slack + (std::isfinite(bound) ? bound : Real(0))) +
           std::abs(last);
  }

  /// Keeps the pairs by A + sigma B where that is positive definite.
  bool try_shift(Real sigma) {
    Matrix const F = shifted(sigma);
    Real const pivot = factor(F);
    if (!(pivot > 0)) return false;
    Matrix const C = small_matrix<Scalar>(n_, n_);
    for (int j = 0; j < n_; ++j)
      for (int i = 0; i < n_; ++i)
        C(i, j) = generalized() ? -pencil_.b()(i, j) : Scalar(i == j ? -1 : 0);
    lapack::reduce_to_standard(C, F);
    Pairs now;
    now.method = sigma > 0 ? "Cholesky factor of the matrix, shifted by the mass"
                           : "Cholesky factor of the matrix";
    Spectrum seen{{}, eigenvalue_error(C, pivot)};
    if (!lowest(C, seen.values, now.vectors)) return false;
    now.doubtful = !mass_definite_ && seen.values.back() > seen.error;
    keep_finite(now, seen);
    if (now.vectors.extent(1) == 0) {
      if (!mass_definite_) best_ = now;
      return !mass_definite_;
    }
    lapack::solve_lower(lapack::Transform::adjoint, F, now.vectors);
    auto const R = measured(now);
    Couplings const couplings(now.vectors, R);
    lapack::solve_lower(lapack::Transform::none, F, R.part);
    now.bound = bounds_by_shift(now, norms_of(R), seen, couplings, sigma);
    finish(now);
    return true;
  }

  /// Bounds from residuals in the norm of F^-1, F = A + sigma B, by those of the Rayleigh quotients
  /// mu = 1 / (theta + sigma) of B x = mu F x: mu times the residual over ||x||_F = mu^-1/2.
  std::vector<Real> bounds_by_shift(Pairs const& now, WideValues radius, Spectrum const& seen,
                                    Couplings const& couplings, Real sigma) {
    WideValues values, slack;  // of -mu, which ascend as theta does
    for (std::size_t j = 0; j < radius.size(); ++j) {
      values.push_back(-1 / (static_cast<long double>(now.theta[j]) + sigma));
      radius[j] *= std::pow(std::abs(values[j]), 1.5L);
      slack.push_back(values[j] * values[j] * now.rounding[j]);
    }
    auto const of_mu = bounds(values, radius, slack, seen, [&](int i, int j) {
      return values[j] * values[j] * std::abs(values[i] * values[j]) * couplings(i, j);
    });
    std::vector<Real> result;
    for (std::size_t j = 0; j < of_mu.size(); ++j) {
      long double const mu = std::abs(values[j]), relative = of_mu[j] / mu;
      result.push_back(relative < 0.5L ? rounded_up<Real>(2 * relative / mu) : infinite_bound);
    }
    return result;
  }

  /// Without what is infinite to rounding; with a definite mass nothing is, but what comes after
  /// has no digits here.
  void keep_finite(Pairs& now, Spectrum& seen) {
    Real const top = -seen.values.front();
    Real const least = mass_definite_ ? seen.error : rank_tolerance() * std::max(Real(0), top);
    std::size_t finite = 0;
    while (finite < seen.values.size() && -seen.values[finite] > least) ++finite;
    if (finite < seen.values.size() && !mass_definite_)
      now.infinite = n_ - static_cast<int>(finite);
    seen.values.resize(finite);
    now.vectors = part(now.vectors, 0, n_, 0, static_cast<int>(finite));
  }

  /// What underflows of a column that is not zero is counted.
  static WideValues norms_of(ScaledColumns<Scalar> const& R) {
    WideValues norms;
    for (std::size_t j = 0; j < R.part.extent(1); ++j) {
      long double sum = 0;
      for (std::size_t i = 0; i < R.part.extent(0); ++i)
        sum += std::norm(ExtendedRows<Scalar>::wide(R.part(i, j)));
      long double const least =
          static_cast<long double>(R.part.extent(0)) * std::numeric_limits<Real>::min();
      long double const norm = sum > 0 ? std::sqrt(sum) + least : 0;
      norms.push_back(std::ldexp(norm, R.exponents[j]));
    }
    return norms;
  }

  /// Takes the pairs if they are better than what there is, or of both those of the smaller bounds.
  /// The theorems behind the bounds speak of orthonormal vectors.
  void finish(Pairs& now) {
    Real const loss = now.loss * static_cast<Real>(now.theta.size());
    for (std::size_t j = 0; j < now.bound.size(); ++j) {
      now.bound[j] = now.bound[j] * (1 + 4 * loss) + now.rounding[j];
      if (now.doubtful || !(now.loss <= Thresholds<Real>::orthonormality_loss))
        now.bound[j] = infinite_bound;
    }
    if (best_.theta.empty()) {
      best_ = std::move(now);
      return;
    }
    Pairs both = merged(best_, now);
    if (missing(now) <= missing(best_)) best_ = std::move(now);
    if (missing(both) < missing(best_)) best_ = std::move(both);
  }

  /// Wanted pairs that are not there, whose digits are not certain, and that are not zero, or whose
  /// backward error is too large.
  int missing(Pairs const& pairs) const {
    int const known = std::min(wanted_, static_cast<int>(pairs.theta.size()));
    int result = mass_definite_ ? std::min(wanted_, n_) - known : 0;
    if (!(pairs.loss <= Thresholds<Real>::orthonormality_loss)) return wanted_ + result;
    for (int j = 0; j < known; ++j) {
      Real const value = pairs.theta[j], bound = pairs.bound[j];
      bool const certain =
          bound <= accuracy_ * std::abs(value) || is_zero_to_rounding(value, bound, pairs.noise[j]);
      if (!certain || pairs.backward[j] > tolerance_ / 10) ++result;
    }
    return result;
  }
  bool enough() const { return !best_.theta.empty() && missing(best_) == 0; }
  // graded_pencil.hpp
  bool graded(Real sigma);
  Pairs merged(Pairs const& one, Pairs const& other) const;
  // deflate_pencil.hpp
  bool semidefinite();
  Matrix scaled_by_mass(Matrix const& M) const;
  std::optional<Status> deflate();

  ExtendedPencil<Scalar> pencil_;
  Eigensolver<Scalar> eigen_;
  int digits_;
  Real accuracy_, tolerance_;
  int n_, wanted_ = 0;
  int guarded_ = 0;  ///< pairs computed: some beyond the wanted ones give the gap after the last
  int cut_ = 0;      ///< pairs of the last list that were seen to be the lowest
  int undefined_ = 0;
  bool mass_definite_ = false;
  Pairs best_;
  Matrix mass_vectors_;  ///< of the scaled B, once needed
  std::vector<Real> mass_values_, mass_scale_;
};

}  // namespace blockspan::eigen

#include <blockspan/solvers/dense/deflate_pencil.hpp>
#include <blockspan/solvers/dense/graded_pencil.hpp>
