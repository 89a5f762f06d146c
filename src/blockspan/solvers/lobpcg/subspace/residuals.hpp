#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/lobpcg/subspace/basis.hpp>

namespace blockspan::eigen {

/// Norms of the residuals of all columns of X, and the errors made of them.
template <class Real>
struct Residuals {
  std::vector<Real> r, x, bx;  ///< ||r_j||, ||x_j||, ||B x_j||
  std::vector<Real> w;         ///< ||D r_j||, D the weights
  std::vector<Real> dual;      ///< (sum_i |r_ij|^2 / b_ii)^1/2, ||r_j|| without the diagonal of B
  /// What a projection removed from the residual, in the norm of `dual` and at most; zeros without
  /// one.
  std::vector<Real> constrained;
  std::vector<Real> backward;  ///< ||r|| / ((a + |theta| b) ||x||)
  std::vector<Real> relative;  ///< ||r|| / (|theta| ||B x||), infinite for theta = 0
  bool finite = true;

  Real largest_x() const {
    Real largest = 0;
    for (Real const value : x) largest = std::max(largest, value);
    return largest;
  }
};

/// The sums of ResidualTerms, five a column; without B some of them coincide.
template <class Scalar, class Exec>
std::vector<real_t<Scalar>> residual_sums(Problem<Scalar, Exec>& problem,
                                          Images<Scalar, Exec> const& images,
                                          real_t<Scalar> const* theta, Block<Scalar, Exec> const& W,
                                          real_t<Scalar> const* weights) {
  std::size_t const m = images.X.extent(1);
  constexpr char const* label = "Blockspan::lobpcg::residuals";
  auto const X = row_major_ref<Exec>(images.X), AX = row_major_ref<Exec>(images.AX),
             BX = row_major_ref<Exec>(images.BX);
  auto const to = row_major_ref<Exec>(W);
  if (problem.generalized())
    return problem.fold(label,
                        ResidualTerms<Scalar, true>{X, AX, BX, to, weights, problem.mass_weights(),
                                                    theta, problem.sign},
                        m);
  auto sums = problem.fold(
      label, ResidualTerms<Scalar, false>{X, AX, BX, to, weights, nullptr, theta, problem.sign}, m);
  sums.resize(5 * m);
  auto const number = [&](std::size_t q) {
    return sums.begin() + static_cast<std::ptrdiff_t>(q * m);
  };
  std::copy(number(1), number(2), number(3));
  std::copy(number(0), number(1), number(4));
  return sums;
}

/// Sums of squares that underflow are no zeros: those of columns with an entry become at least what
/// their squares may have lost. A pass over R only where there are such sums.
template <class Scalar, class Exec>
void keep_underflow(Problem<Scalar, Exec>& problem, Block<Scalar, Exec> const& R,
                    std::vector<real_t<Scalar>>& sums) {
  using Real = real_t<Scalar>;
  auto const m = R.extent(1);
  Real const least = static_cast<Real>(problem.global_rows()) * std::numeric_limits<Real>::min();
  auto const lost = [&](Real sum) { return sum < least; };
  if (std::none_of(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(m), lost)) return;
  auto const largest = problem.largest_entries(R);
  for (std::size_t j = 0; j < m; ++j)
    if (lost(sums[j]) && largest[j] > 0)
      for (std::size_t const number : {j, 2 * m + j, 4 * m + j})
        sums[number] = std::max(sums[number], least);
}

/// D R with R = sign AX - BX Theta into `W` (n x m), D a diagonal of `weights` where Exec computes
/// or the identity, and norms of the columns. With deflated vectors, which do not go with weights,
/// R and its norms are those of the projected problem, P^H R. One pass; fences exec.
template <class Scalar, class Exec>
Residuals<real_t<Scalar>> residuals(Problem<Scalar, Exec>& problem,
                                    Images<Scalar, Exec> const& images,
                                    std::vector<real_t<Scalar>> const& theta,
                                    Block<Scalar, Exec> const& W,
                                    real_t<Scalar> const* weights = nullptr) {
  using Real = real_t<Scalar>;
  auto const timer = problem.time(problem.seconds.residual);
  int const m = static_cast<int>(images.X.extent(1));
  auto sums = residual_sums(problem, images, problem.on_device(theta), W, weights);
  Residuals<Real> out;
  out.constrained.assign(m, Real(0));
  if (!problem.deflation.empty()) {
    for (int j = 0; j < m; ++j) out.constrained[j] = std::sqrt(sums[4 * m + j]);
    problem.deflation.project_residual(problem.exec, W, problem.workspace);
    DualNormTerms<Scalar> const projected{row_major_ref<Exec>(W), problem.mass_weights()};
    auto const squares = problem.fold("Blockspan::lobpcg::residuals", projected, m);
    std::copy(squares.begin(), squares.begin() + m, sums.begin());
    std::copy(squares.begin() + m, squares.end(), sums.begin() + 4 * m);
  }
  keep_underflow(problem, W, sums);

  for (int j = 0; j < m; ++j) {
    out.r.push_back(std::sqrt(sums[j]));
    out.x.push_back(std::sqrt(sums[m + j]));
    out.w.push_back(std::sqrt(sums[2 * m + j]));
    out.bx.push_back(std::sqrt(sums[3 * m + j]));
    out.dual.push_back(std::sqrt(sums[4 * m + j]));
    Real const size = std::abs(theta[j]);
    Real const scale = (problem.norm_a + size * problem.norm_b) * out.x[j];
    out.backward.push_back(out.r[j] == 0 ? Real(0) : out.r[j] / scale);
    out.relative.push_back(out.r[j] / (size * out.bx[j]));
    if (!(size * out.bx[j] > 0)) out.relative[j] = std::numeric_limits<Real>::infinity();
    if (!std::isfinite(out.backward[j]) || !(out.x[j] > 0)) out.finite = false;
  }
  return out;
}

/// Rayleigh quotients from X^H R of these theta: what the small eigenproblem left of them is of the
/// size of u ||A||, however small they are. Their products follow.
template <class Scalar>
void correct_quotients(SmallMatrix<Scalar> const& products, std::vector<real_t<Scalar>>& theta) {
  for (std::size_t j = 0; j < theta.size(); ++j) {
    theta[j] += real_part(products(j, j));
    products(j, j) = Scalar(0);
  }
}

}  // namespace blockspan::eigen
