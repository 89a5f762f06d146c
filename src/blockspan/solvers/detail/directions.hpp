#pragma once

#include <cmath>
#include <vector>

#include <blockspan/solvers/detail/residuals.hpp>
#include <blockspan/solvers/detail/select_columns.hpp>

namespace blockspan::detail {

/// Norms of the directions and their products with the unit residuals they came from.
template <class Scalar, class Exec>
std::vector<real_t<Scalar>> measure_directions(Problem<Scalar, Exec>& problem,
                                               Block<Scalar, Exec> const& R,
                                               Block<Scalar, Exec> const& W) {
  DirectionTerms<Scalar> const terms{block_ref<Exec>(R), block_ref<Exec>(W)};
  return problem.fold(problem.exec, "Blockspan::lobpcg::directions", terms, W.extent(0),
                      W.extent(1));
}

/// A preconditioner of an extreme scale (the inverse of a matrix near 1e-200): brings its columns
/// to entries near 1, where squares neither overflow nor vanish. Only called when they might.
template <class Scalar, class Exec>
void tame_directions(Problem<Scalar, Exec>& problem, Block<Scalar, Exec> const& W) {
  using Real = real_t<Scalar>;
  auto factors = problem.largest_entries(W);
  for (Real& value : factors)
    value = std::isfinite(value) && value >= std::numeric_limits<Real>::min()
                ? std::ldexp(Real(1), -std::ilogb(value))
                : Real(1);
  problem.scale_each(W, factors);
}

/// W := unit directions for the active columns: T R, or R itself without T and in every column
/// where T R is useless (not finite, or not an acute angle to R: T is not positive definite there).
/// On entry the residuals stand in the last m columns of S (with T) or AS (without).
template <class Scalar, class Exec>
void build_directions(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec>& basis,
                      Residuals<real_t<Scalar>> const& norms, std::vector<int> const& active) {
  using Real = real_t<Scalar>;
  int const w = basis.w = static_cast<int>(active.size());
  if (w == 0) return;
  std::vector<Real> numbers;
  for (int const j : active) numbers.push_back(Real(1) / norms.r[j]);
  numbers.insert(numbers.end(), active.begin(), active.end());
  bool const preconditioned = problem.preconditioned();
  auto const from = preconditioned ? basis.spare(basis.m) : basis.a_spare(basis.m);
  auto const R = preconditioned ? basis.a_spare(w) : basis.dirs();
  SelectScaled<Scalar, Exec>{block_ref<Exec>(from), block_ref<Exec>(R), problem.on_device(numbers)}
      .launch(problem.exec);
  auto const W = basis.dirs();
  if (!preconditioned) {
    for (int pass = 0; pass < 2; ++pass) problem.constrain(W);
    return;
  }
  problem.apply_t(R, W);
  problem.constrain(W);
  auto const timer = problem.time(problem.seconds.preconditioner);
  auto sums = measure_directions(problem, R, W);
  Real const huge = std::ldexp(Real(1), 4 * Thresholds<Real>::range), tiny = Real(1) / huge;
  for (int j = 0; j < w; ++j)
    if (!(sums[j] > tiny && sums[j] < huge)) {
      tame_directions(problem, W);
      sums = measure_directions(problem, R, W);
      break;
    }
  std::vector<Real> factors(w, Real(1));
  for (int j = 0; j < w; ++j) {
    Real const size = std::sqrt(sums[j]), product = sums[w + j], r = std::sqrt(sums[2 * w + j]);
    if (std::isfinite(size) && product > Thresholds<Real>::direction * size * r) {
      factors[j] = Real(1) / size;
    } else {
      ++problem.counters.preconditioner_rejected;
      Kokkos::deep_copy(problem.exec, basis.columns(W, j, 1), basis.columns(R, j, 1));
    }
  }
  problem.scale_each(W, factors);
  problem.constrain(W);  // again: of a column that lost most of its length, rounding is left
}

}  // namespace blockspan::detail
