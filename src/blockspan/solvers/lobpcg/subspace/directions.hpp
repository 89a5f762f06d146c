#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <blockspan/solvers/lobpcg/subspace/residuals.hpp>
#include <blockspan/solvers/lobpcg/subspace/subspace.hpp>

namespace blockspan::eigen {

/// Norms of the directions and their products with the unit residuals they came from.
template <class Scalar, class Exec>
std::vector<real_t<Scalar>> measure_directions(Problem<Scalar, Exec>& problem,
                                               Block<Scalar, Exec> const& R,
                                               Block<Scalar, Exec> const& W) {
  DirectionTerms<Scalar> const terms{row_major_ref<Exec>(R), row_major_ref<Exec>(W)};
  return problem.fold("Blockspan::lobpcg::directions", terms, W.extent(1));
}

/// Scales the columns of W to entries near 1, where squares neither overflow nor underflow: for a
/// preconditioner of an extreme scale (the inverse of a matrix near 1e-200).
template <class Scalar, class Exec>
void rescale_directions(Problem<Scalar, Exec>& problem, Block<Scalar, Exec> const& W) {
  using Real = real_t<Scalar>;
  auto factors = problem.largest_entries(W);
  constexpr int most = std::numeric_limits<Real>::max_exponent - 1;
  for (Real& value : factors)
    value = std::isfinite(value) && value > 0
                ? std::ldexp(Real(1), std::min(most, -std::ilogb(value)))
                : Real(1);
  problem.scale_each(W, factors);
}

/// Squares of this size neither overflow nor underflow in what follows.
template <class Real>
bool squares_representable(Real square) {
  Real const huge = std::ldexp(Real(1), 4 * Thresholds<Real>::range);
  return square > 1 / huge && square < huge;
}

/// W := the active columns of `steps`, which holds T R for all columns of X. Nothing moves where
/// all of them are active and already in place.
template <class Scalar, class Exec>
void take_steps(Subspace<Scalar, Exec>& space, Residuals<real_t<Scalar>> const& norms,
                std::vector<int> const& active, Block<Scalar, Exec> const& steps) {
  using Real = real_t<Scalar>;
  auto& problem = space.problem;
  auto& basis = space.basis;
  auto const timer = problem.time(problem.seconds.residual);
  auto const W = basis.dirs();
  bool representable = true;
  std::vector<Real> factors;
  for (int const j : active) {
    representable = representable && squares_representable(norms.w[j] * norms.w[j]);
    factors.push_back(1 / norms.w[j]);
  }
  bool const in_s = steps.data() == basis.spare(1).data();
  if (representable && in_s && basis.w == basis.m && basis.p == basis.m) {
    basis.w_norms = norms.w;
    return;
  }
  if (!representable) factors.assign(active.size(), Real(1));
  auto const target = in_s ? basis.a_spare(basis.w) : W;  // columns of S would overlap
  problem.select_scaled(block_ref<Exec>(steps), active, factors, target);
  if (in_s) Kokkos::deep_copy(problem.exec, W, target);
  if (representable) return;
  rescale_directions(problem, W);
  auto const sums = measure_directions(problem, W, W);
  for (int j = 0; j < basis.w; ++j) factors[j] = 1 / std::sqrt(sums[j]);
  problem.scale_each(W, factors);
}

/// W := T R for unit residuals of the active columns, or R itself in every column where T R is
/// useless (not finite, or not an acute angle to R: T is not positive definite there), all of unit
/// norm. `residuals` holds R for all columns of X, outside the place of W. Returns the first column
/// of T R that was not finite; -1: all are.
template <class Scalar, class Exec>
int precondition(Subspace<Scalar, Exec>& space, Residuals<real_t<Scalar>> const& norms,
                 std::vector<int> const& active, Block<Scalar, Exec> const& residuals) {
  using Real = real_t<Scalar>;
  auto& problem = space.problem;
  auto& basis = space.basis;
  int const w = basis.w;
  auto const R = problem.preconditioned() ? basis.a_spare(w) : basis.dirs();
  auto const W = basis.dirs();
  std::vector<Real> factors;
  for (int const j : active) factors.push_back(1 / norms.r[j]);
  problem.select_scaled(block_ref<Exec>(residuals), active, factors, R);
  if (!problem.preconditioned()) {
    for (int pass = 0; pass < 2; ++pass) problem.constrain(W);
    return -1;
  }
  problem.apply_t(R, W);
  problem.constrain(W);
  auto const timer = problem.time(problem.seconds.preconditioner);
  auto sums = measure_directions(problem, R, W);
  if (!std::all_of(sums.begin(), sums.begin() + w, squares_representable<Real>)) {
    rescale_directions(problem, W);
    sums = measure_directions(problem, R, W);
  }
  int faulty = -1;
  for (int j = 0; j < w; ++j) {
    Real const size = std::sqrt(sums[j]), product = sums[w + j], r = std::sqrt(sums[2 * w + j]);
    if (std::isfinite(size) && product > Thresholds<Real>::direction * size * r) {
      factors[j] = 1 / size;
    } else {
      factors[j] = 1;
      if (!std::isfinite(size) && faulty < 0) faulty = j;
      ++problem.counters.preconditioner_rejected;
      Kokkos::deep_copy(problem.exec, column_range(W, j, 1), column_range(R, j, 1));
    }
  }
  problem.scale_each(W, factors);
  problem.constrain(W);  // again: of a column that lost most of its length, rounding is left
  return faulty;
}

/// The directions W of the active columns, from what the residual pass left in `from`: T R where
/// problem.steps_with_residuals(), else R. Returns the first column that the preconditioner made
/// not finite, and for which R is used instead; -1: none.
template <class Scalar, class Exec>
int build_directions(Subspace<Scalar, Exec>& space, Residuals<real_t<Scalar>> const& norms,
                     std::vector<int> const& active, Block<Scalar, Exec> const& from) {
  space.basis.w = static_cast<int>(active.size());
  space.basis.w_norms.clear();
  if (active.empty()) return -1;
  if (!space.problem.steps_with_residuals()) return precondition(space, norms, active, from);
  take_steps(space, norms, active, from);
  return -1;
}

}  // namespace blockspan::eigen
