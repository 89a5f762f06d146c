#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/workspace.hpp>
#include <blockspan/operators/chebyshev_options.hpp>
#include <blockspan/operators/entries/check_blocks.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/operators/smoothers/chebyshev.hpp>
#include <blockspan/operators/spectral_bounds.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

/// Y = q(W A) W X: a fixed polynomial q of degree m - 1, for a Hermitian positive (semi-)definite
/// operator A and W = |D|^-1 with its diagonal D; an approximate inverse of A on the eigenvalues of
/// W A in [a, b]. On that interval 1 - t q(t) = T_m((c - t) / h) / T_m(c / h), with center c = (a +
/// b) / 2, half-width h = (b - a) / 2 and the Chebyshev polynomial T_m, and max |1 - t q(t)| is
/// minimal among all polynomials of this degree. Degree 1 is Jacobi times 2 / (a + b).
///
/// Hermitian, and positive definite as long as no eigenvalue of W A reaches a + b. Components of
/// eigenvalues between 0 and a are damped less, and left to the outer iteration. (Negative
/// eigenvalues t keep it positive definite, but it amplifies their components by a factor of order
/// |t|^(m-1): do not use it for an indefinite A. chebyshev_setup refuses A where a diagonal entry
/// or a Ritz value is negative.)
///
/// A product is one pass over X and m - 1 products of A with the whole block; no reductions. If A
/// has a fused kernel for the step (LinearOperator::apply_step), it reads Z_i-1, Z_i-2, X and n
/// weights and overwrites Z_i-2 by Z_i; otherwise a separate kernel follows the product and also
/// reads A Z_i-1. Scratch memory: one block like Y, two without the fused kernel; it grows to the
/// widest product so far and is kept.
///
/// Source: Golub and Varga 1961, doi:10.1007/BF01386013; Saad 2003, Iterative Methods for Sparse
/// Linear Systems, section 12.3; as a preconditioner of this kind: Adams, Brezina, Hu and Tuminaro
/// 2003, doi:10.1016/S0021-9991(03)00194-3.
template <class Scalar, class Exec>
class ChebyshevPreconditioner final : public LinearOperator<Scalar, Exec> {
 public:
  using Real = real_t<Scalar>;
  using Factors = typename JacobiPreconditioner<Scalar, Exec>::Factors;

  /// A: of order n, kept by reference. factors: n positive weights W, for instance jacobi(exec,
  /// matrix).factors(). [lower, upper]: 0 < lower < upper, finite; upper not below the largest
  /// eigenvalue of W A (see chebyshev_setup), which is not checked. Throws Error for other factors,
  /// intervals or degrees.
  ChebyshevPreconditioner(LinearOperator<Scalar, Exec> const& A, Factors factors, Real lower,
                          Real upper, int degree)
      : A_(&A), degree_(degree) {
    require(degree >= 1, where, "degree ", degree, "; the least is 1");
    refresh(std::move(factors), lower, upper);
  }

  ChebyshevPreconditioner(ChebyshevPreconditioner&&) = default;
  ChebyshevPreconditioner& operator=(ChebyshevPreconditioner&&) = default;

  /// Sets another interval and other weights, when the values of A have changed; memory is kept.
  /// Throws Error as the constructor, and then nothing has changed.
  void refresh(Factors factors, Real lower, Real upper) {
    require(static_cast<std::int64_t>(factors.extent(0)) == A_->rows(), where, "the operator has ",
            A_->rows(), " rows, there are ", factors.extent(0), " factors");
    require(lower > 0 && lower < upper && std::isfinite(upper), where, "the interval [", lower,
            ", ", upper, "] is not one of positive numbers");
    factors_ = std::move(factors);
    lower_ = lower;
    upper_ = upper;
    single_.forget();
  }

  std::int64_t rows() const override { return A_->rows(); }

  /// One product at a time: the scratch memory of an object is for one instance and one thread.
  /// Throws Error if X or Y is not n x k, or where memory is short, and what A throws.
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    auto const x = blocks::block_ref<Exec>(X);
    auto const y = blocks::block_ref<Exec>(Y);
    operators::require_blocks(where, rows(), x, y);
    if (x.columns == 0) return;
    Real const middle = (upper_ + lower_) / 2, half = (upper_ - lower_) / 2;
    Real const sigma = middle / half;
    Block<Scalar, Exec> other;
    if (degree_ > 1) other = scratch(exec, Workspace<Exec>::result, x.columns);
    // Z_i overwrites Z_i-2, and the last one must be in Y
    auto const z = [&](int i) { return (degree_ - i) % 2 == 0 ? Y : other; };
    operators::pass_of_step<Exec, Scalar>(
        exec, {false, false, Real(0), 1 / middle, factors_.data(), x, {}}, {},
        blocks::block_ref<Exec>(z(1)));
    auto const& A = x.columns == 1 && degree_ > 1 ? single_.next(exec, *A_) : *A_;
    Real rho = 1 / sigma;
    for (int i = 2; i <= degree_; ++i) {
      Real const next = 1 / (2 * sigma - rho);
      operators::take_step<Exec, Scalar>(
          exec, A, {X, factors_, 2 * next / half, next * rho, true, i > 2}, z(i - 1), z(i),
          [&] { return scratch(exec, Workspace<Exec>::product, x.columns); });
      rho = next;
    }
  }

  /// The name includes the interval, to three digits.
  OperatorFacts<Scalar, Exec> facts() const override {
    auto const of_a = A_->facts();
    std::ostringstream name;
    name.precision(3);
    name << "chebyshev of degree " << degree_ << " over jacobi on [" << lower_ << ", " << upper_
         << "]";
    return {.name = name.str(), .row_space = of_a.row_space, .replayable = of_a.replayable};
  }

  int degree() const { return degree_; }
  Real lower() const { return lower_; }
  Real upper() const { return upper_; }
  Factors const& factors() const { return factors_; }

 private:
  static constexpr char const* where = "blockspan::ChebyshevPreconditioner";

  Block<Scalar, Exec> scratch(Exec const& exec, typename Workspace<Exec>::Slot slot,
                              std::int64_t columns) const {
    return Block<Scalar, Exec>(workspace_.template device<Scalar>(exec, slot, rows() * columns),
                               static_cast<std::size_t>(rows()), static_cast<std::size_t>(columns));
  }

  LinearOperator<Scalar, Exec> const* A_;
  int degree_;
  Factors factors_;
  Real lower_ = 0, upper_ = 0;
  mutable Workspace<Exec> workspace_;
  mutable operators::ManyProducts<Scalar, Exec> single_;
};

/// Result of chebyshev_setup: the interval and weights of an operator, and whether a polynomial is
/// usable.
template <class Scalar, class Exec>
struct ChebyshevSetup {
  using Real = real_t<Scalar>;
  typename JacobiPreconditioner<Scalar, Exec>::Factors factors;  ///< W
  /// b: the smaller of row_sum_bound and 1.05 (estimate.largest + estimate.residual).
  Real upper = 0;
  SpectrumEstimate<Real> estimate;    ///< of W A
  std::optional<Real> row_sum_bound;  ///< largest row sum of |W A|, if the matrix is given
  std::int64_t indefinite_row = -1;   ///< as in RowMeasures, if the matrix is given
  /// Why the polynomial must not be used: the operator is indefinite (by a diagonal entry or a Ritz
  /// value), not finite, or zero. Empty: no reason was found.
  std::string fault;

  bool usable() const { return fault.empty(); }
};

namespace operators {

inline constexpr int steps_of_setup = 12;  ///< products for the estimate

/// Why the bounds of a setup rule out the polynomial; empty if they do not.
template <class Scalar, class Exec>
std::string chebyshev_fault(ChebyshevSetup<Scalar, Exec> const& setup) {
  using Real = real_t<Scalar>;
  std::ostringstream fault;
  auto const& [smallest, largest, residual, steps, finite] = setup.estimate;
  // Ritz values of a semidefinite operator are negative only by rounding errors far below this.
  Real const negligible = std::max(Real(1e-10), 1000 * unit_roundoff<Scalar>) *
                          std::max(std::abs(largest), std::abs(smallest));
  if (setup.indefinite_row >= 0)
    fault << "the matrix is not positive semidefinite: the diagonal entry of row "
          << setup.indefinite_row + 1  // numbered from 1, as in files
          << " is negative, or zero in a row with other entries";
  else if (!finite || (setup.row_sum_bound && !std::isfinite(*setup.row_sum_bound)))
    fault << "the operator has entries that are not finite";
  else if (smallest < -negligible)
    fault << "the operator is not positive semidefinite: scaled to a unit diagonal it has the Ritz "
          << "value " << smallest << " (the largest is " << largest << ")";
  else if (!(setup.upper > 0) && setup.factors.extent(0) > 0)
    fault << "the operator is zero";
  return fault.str();
}

/// Adds the bounds from the rows of the matrix, of one rank or of all of them.
template <class Scalar, class Exec>
ChebyshevSetup<Scalar, Exec> bounded_by_rows(ChebyshevSetup<Scalar, Exec> setup,
                                             RowMeasures<Scalar> const& rows) {
  setup.row_sum_bound = rows.largest_sum;
  setup.upper = std::min(setup.upper, rows.largest_sum);
  setup.indefinite_row = rows.indefinite_row;
  setup.fault = chebyshev_fault(setup);
  return setup;
}

/// The public chebyshev_setup with memory from the arena and a given number of products.
template <class Scalar, class Exec>
ChebyshevSetup<Scalar, Exec> chebyshev_setup(
    Exec const& exec, Arena<Exec>& arena, LinearOperator<Scalar, Exec> const& A,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& factors,
    ChebyshevOptions const& options, int steps = steps_of_setup) {
  ChebyshevSetup<Scalar, Exec> setup;
  setup.factors = factors;
  setup.estimate = estimate_spectrum<Scalar, Exec>(exec, arena, A, factors, steps, options.seed);
  setup.upper = real_t<Scalar>(1.05) * (setup.estimate.largest + setup.estimate.residual);
  setup.fault = chebyshev_fault(setup);
  return setup;
}
template <class Scalar, class Exec, class Matrix>
requires requires(Matrix const& matrix) { matrix.graph; }
ChebyshevSetup<Scalar, Exec> chebyshev_setup(Exec const& exec, Arena<Exec>& arena,
                                             LinearOperator<Scalar, Exec> const& A,
                                             Matrix const& matrix, ChebyshevOptions const& options,
                                             int steps = steps_of_setup) {
  static_assert(std::is_same_v<scalar_t<Matrix>, Scalar>,
                "the matrix and the operator have the same scalar");
  auto setup =
      chebyshev_setup<Scalar, Exec>(exec, arena, A, jacobi(exec, matrix).factors(), options, steps);
  auto const rows =
      measure_rows(exec, matrix_ref<Exec>(matrix), std::as_const(setup.factors).data());
  return bounded_by_rows(std::move(setup), rows);
}

}  // namespace operators

/// Determines the interval for an operator A with weights W, approximate inverses of its diagonal
/// (n positive values; ones: no scaling). Costs 12 products with one column and memory for five
/// columns, freed on return; fences the instance. Numerical trouble is reported in `fault`, not
/// thrown. Throws Error if the number of factors is not n, or where memory is short.
template <class Scalar, class Exec>
ChebyshevSetup<Scalar, Exec> chebyshev_setup(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& factors,
    ChebyshevOptions const& options = {}) {
  support::Arena<Exec> arena("Blockspan::lanczos");
  return operators::chebyshev_setup<Scalar, Exec>(exec, arena, A, factors, options);
}

/// The same for A = the operator of `matrix`, from its diagonal (magnitudes, as in jacobi) and row
/// sums: O(nonzeros) more. Throws Error also if the matrix is not square or its order is not that
/// of A.
template <class Scalar, class Exec, class Matrix>
requires requires(Matrix const& matrix) { matrix.graph; }
ChebyshevSetup<Scalar, Exec> chebyshev_setup(Exec const& exec,
                                             LinearOperator<Scalar, Exec> const& A,
                                             Matrix const& matrix,
                                             ChebyshevOptions const& options = {}) {
  support::Arena<Exec> arena("Blockspan::lanczos");
  return operators::chebyshev_setup<Scalar, Exec>(exec, arena, A, matrix, options);
}

/// The preconditioner of an operator A (kept by reference) with options.degree and the interval
/// [b / options.ratio, b], b = setup.upper. Throws Error with setup.fault if there is one, and if
/// an option is out of range.
template <class Scalar, class Exec>
ChebyshevPreconditioner<Scalar, Exec> chebyshev(LinearOperator<Scalar, Exec> const& A,
                                                ChebyshevSetup<Scalar, Exec> const& setup,
                                                ChebyshevOptions const& options = {}) {
  using Real = real_t<Scalar>;
  require(options.ratio > 1, "blockspan::chebyshev", "ratio ", options.ratio, " is not above 1");
  if (!setup.usable()) fail(ErrorKind::not_definite, "blockspan::chebyshev", setup.fault);
  Real const upper = setup.factors.extent(0) > 0 ? setup.upper : Real(1);
  return {A, setup.factors, upper / static_cast<Real>(options.ratio), upper, options.degree};
}

/// Setup and preconditioner in one call: `of` is the matrix of the operator A, or the factors.
/// Fences the instance. Throws Error as both.
template <class Scalar, class Exec, class Source>
ChebyshevPreconditioner<Scalar, Exec> chebyshev(Exec const& exec,
                                                LinearOperator<Scalar, Exec> const& A,
                                                Source const& of,
                                                ChebyshevOptions const& options = {}) {
  return chebyshev(A, chebyshev_setup<Scalar, Exec>(exec, A, of, options), options);
}

}  // namespace blockspan
