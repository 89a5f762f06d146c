#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <blockspan/solvers/detail/grams.hpp>
#include <blockspan/solvers/detail/rayleigh_ritz.hpp>

namespace blockspan::detail {

/// Scales the first `given` columns of X to unit norm, by their largest entry first so that nothing
/// over- or underflows; columns without a direction (zero, NaN) and all others become random.
template <class Scalar, class Exec>
void repair_start(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec> const& basis, int given) {
  using Real = real_t<Scalar>;
  if (given > 0) {
    auto const X = basis.columns(basis.s, 0, given);
    auto const largest = problem.largest_entries(X);
    std::vector<Real> factors(given, Real(1));
    std::vector<int> lost;
    for (int j = 0; j < given; ++j) {
      if (std::isfinite(largest[j]) && largest[j] >= std::numeric_limits<Real>::min())
        factors[j] = std::ldexp(Real(1), -std::ilogb(largest[j]));
      else
        lost.push_back(j);
    }
    problem.scale_each(X, factors);
    for (int const j : lost) problem.randomize(basis.columns(basis.s, j, 1));
  }
  if (given < basis.m) problem.randomize(basis.columns(basis.s, given, basis.m - given));
}

/// A status if v^H B v is not finite, or negative beyond rounding, for a column v of V: B is then
/// indefinite.
template <class Scalar, class Exec>
std::optional<Status> trouble_of_mass(Problem<Scalar, Exec>& problem, Block<Scalar, Exec> const& V,
                                      Block<Scalar, Exec> const& BV,
                                      std::vector<int>* null_columns = nullptr) {
  using Real = real_t<Scalar>;
  std::int64_t const k = V.extent(1);
  DirectionTerms<Scalar> const terms{row_major_ref<Exec>(BV), row_major_ref<Exec>(V)};
  auto const sums = problem.fold(problem.exec, "Blockspan::lobpcg::mass", terms, V.extent(0), k);
  for (std::int64_t j = 0; j < k; ++j) {
    Real const size = std::sqrt(sums[j]), product = sums[k + j], image = std::sqrt(sums[2 * k + j]);
    if (!std::isfinite(product)) return Status::operator_not_finite;
    if (product < -Thresholds<Real>::indefinite * size * image)
      return Status::mass_not_positive_definite;
    if (null_columns && !(product > Thresholds<Real>::u * problem.norm_b * size * size))
      null_columns->push_back(static_cast<int>(j));
  }
  return std::nullopt;
}

/// X := a B-orthonormal block of m columns that spans X, filled up with random columns where X has
/// lower rank; BX goes along. A status if that cannot be done.
template <class Scalar, class Exec>
std::optional<Status> orthonormal_x(Problem<Scalar, Exec>& problem,
                                    Basis<Scalar, Exec> const& basis) {
  // An ill-conditioned X magnifies what is left of Y: one more round takes it away.
  int rounds = problem.deflation.empty() ? 1 : 2;
  for (int attempt = 0; attempt < 6; ++attempt) {
    for (int pass = 0; pass < 2; ++pass) problem.constrain(basis.x());
    if (problem.generalized()) {
      problem.apply_b(basis.x(), basis.bx());
      if (auto const trouble = trouble_of_mass(problem, basis.x(), basis.bx())) return trouble;
    }
    int const rank = problem.orthonormalize(basis.x(), basis.bx());
    if (rank == basis.m && --rounds == 0) return std::nullopt;
    if (rank == basis.m) continue;
    problem.counters.columns_dropped += basis.m - rank;
    auto const missing = basis.columns(basis.s, rank, basis.m - rank);
    problem.randomize(missing);
    if (rank > 0)
      blockspan::project_out(problem.exec, basis.columns(basis.s, 0, rank),
                             basis.columns(basis.bs, 0, rank), missing, problem.workspace);
  }
  return Status::basis_collapsed;
}

/// Rayleigh-Ritz on X alone: X, AX, BX := times C. A status if the images are not finite.
template <class Scalar, class Exec>
std::optional<Status> rotate_x(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec>& basis,
                               Grams<Scalar, Exec>& grams, RayleighRitz<Scalar>& ritz,
                               std::vector<real_t<Scalar>>& theta) {
  using Real = real_t<Scalar>;
  basis.p = basis.w = 0;
  grams.compute(problem, basis, basis.m);
  if (!grams.finite()) return Status::operator_not_finite;
  {
    auto const timer = problem.time(problem.seconds.dense);
    if (!ritz.factor_cholesky(grams.G(), Thresholds<Real>::svqb_drop))
      ritz.factor_identity(basis.m);
    if (!ritz.solve(grams.H(), basis.m)) return Status::basis_collapsed;
    theta.assign(ritz.theta().begin(), ritz.theta().begin() + basis.m);
  }
  update_basis(problem, basis, ritz.coefficients(), 0);
  return std::nullopt;
}

/// [X P] := S C, and the images by the same coefficients; C has m + p columns. One pass a block.
template <class Scalar, class Exec>
void update_basis(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec>& basis,
                  SmallMatrix<Scalar> const& C, int p) {
  auto const timer = problem.time(problem.seconds.update);
  auto const on_device = problem.small_on_device(C);
  blockspan::combine_in_place(problem.exec, basis.all(), on_device, problem.workspace);
  blockspan::combine_in_place(problem.exec, basis.a_all(), on_device, problem.workspace);
  if (problem.generalized())
    blockspan::combine_in_place(problem.exec, basis.b_all(), on_device, problem.workspace);
  basis.p = p;
  basis.w = 0;
}

/// Everything about X anew from A and B themselves: B-orthonormal X, Ritz pairs, P and W dropped.
/// With `exact`, AX and BX are applications of the operators to the final X, not rotated ones.
template <class Scalar, class Exec>
std::optional<Status> refresh(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec>& basis,
                              Grams<Scalar, Exec>& grams, RayleighRitz<Scalar>& ritz,
                              std::vector<real_t<Scalar>>& theta, bool exact) {
  basis.p = basis.w = 0;
  if (auto const trouble = orthonormal_x(problem, basis)) return trouble;
  problem.apply_a(basis.x(), basis.ax());
  if (auto const trouble = rotate_x(problem, basis, grams, ritz, theta)) return trouble;
  if (exact) {
    problem.apply_a(basis.x(), basis.ax());
    if (problem.generalized()) problem.apply_b(basis.x(), basis.bx());
  }
  return std::nullopt;
}

}  // namespace blockspan::detail
