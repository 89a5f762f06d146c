#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/lobpcg/directions.hpp>
#include <blockspan/solvers/lobpcg/grams.hpp>
#include <blockspan/solvers/lobpcg/rayleigh_ritz.hpp>
#include <blockspan/solvers/lobpcg/start_block.hpp>

namespace blockspan::detail {

/// What became of an attempt to extend [X P] by the new directions W.
enum class Extension {
  ready,            ///< Gram matrices and factor are there for Rayleigh-Ritz
  ill_conditioned,  ///< (fused path) W is intact: take the robust path
  empty,            ///< no direction is left, and there is no P
  drifted,          ///< X or its images are not what they should be
  not_finite,       ///< a Gram matrix has NaN or Inf
  mass_not_positive_definite,
};

/// True if the X part of the Gram matrices says that X is no longer orthonormal, or AX no longer A
/// X.
template <class Scalar, class Exec>
bool has_drifted(Problem<Scalar, Exec> const& problem, Grams<Scalar, Exec> const& grams, int m,
                 std::vector<real_t<Scalar>> const& theta, real_t<Scalar> largest_x) {
  using Real = real_t<Scalar>;
  using Limits = Thresholds<Real>;
  Real const size = std::max(Real(1), largest_x * largest_x);
  Real const rounding = 100 * Limits::u * problem.norm_b * size;
  return defect_from_diagonal(part(grams.G(), 0, m, 0, m)) > Limits::gram_defect + rounding ||
         defect_from_diagonal(part(grams.H(), 0, m, 0, m), theta) >
             Limits::image_defect * problem.norm_a * size;
}

/// Few passes: W as it is, one pair of Gram matrices of the raw basis, Cholesky.
template <class Scalar, class Exec>
Extension extend_fused(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec> const& basis,
                       Grams<Scalar, Exec>& grams, RayleighRitz<Scalar>& ritz,
                       std::vector<real_t<Scalar>> const& theta, real_t<Scalar> largest_x) {
  using Real = real_t<Scalar>;
  if (basis.w > 0) {
    problem.apply_a(basis.dirs(), basis.a_dirs());
    if (problem.generalized()) problem.apply_b(basis.dirs(), basis.b_dirs());
  }
  grams.compute(problem, basis, basis.order());
  if (!grams.finite()) return Extension::not_finite;
  auto const G = grams.G();
  for (int j = 0; j < basis.w; ++j) {
    int const at = basis.m + basis.p + j;
    Real const size = basis.w_norms.empty() ? Real(1) : basis.w_norms[j];
    if (real_part(G(at, at)) < -Thresholds<Real>::indefinite * problem.norm_b * size * size)
      return Extension::mass_not_positive_definite;
  }
  if (has_drifted(problem, grams, basis.m, theta, largest_x)) return Extension::drifted;
  auto const timer = problem.time(problem.seconds.dense);
  return ritz.factor_cholesky(G, Thresholds<Real>::fused_pivot) ? Extension::ready
                                                                : Extension::ill_conditioned;
}

/// Drops the listed columns of W (moved through the place of A W).
template <class Scalar, class Exec>
void drop_directions(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec>& basis,
                     std::vector<int> const& dropped) {
  std::vector<int> kept;
  for (int j = 0; j < basis.w; ++j)
    if (std::find(dropped.begin(), dropped.end(), j) == dropped.end()) kept.push_back(j);
  int const count = static_cast<int>(kept.size());
  if (count > 0) {
    for (auto const& pair :
         {std::pair(basis.dirs(), basis.a_dirs()), std::pair(basis.b_dirs(), basis.a_dirs())}) {
      auto const to = basis.columns(pair.second, 0, count);
      blockspan::copy_columns(problem.exec, pair.first, kept, to);
      Kokkos::deep_copy(problem.exec, basis.columns(pair.first, 0, count), to);
    }
  }
  basis.w = count;
}

/// W := an orthonormal basis of what W has beyond [X P]: projected twice, orthonormalized,
/// projected and orthonormalized again; columns that add nothing are dropped. Returns what
/// is wrong with B, if anything is.
template <class Scalar, class Exec>
std::optional<Extension> orthonormalize_directions(Problem<Scalar, Exec>& problem,
                                                   Basis<Scalar, Exec>& basis) {
  for (int round = 0; round < 2 && basis.w > 0; ++round) {
    for (int pass = 0; pass < 2 - round; ++pass) {
      problem.constrain(basis.dirs());
      blockspan::project_out(problem.exec, basis.xp(), basis.bxp(), basis.dirs(),
                             problem.workspace);
    }
    if (problem.generalized()) {
      problem.apply_b(basis.dirs(), basis.b_dirs());
      std::vector<int> null_columns;
      if (auto const trouble =
              trouble_of_mass(problem, basis.dirs(), basis.b_dirs(), &null_columns))
        return *trouble == Status::operator_not_finite ? Extension::not_finite
                                                       : Extension::mass_not_positive_definite;
      if (!null_columns.empty()) drop_directions(problem, basis, null_columns);
    }
    if (basis.w > 0) basis.w = problem.orthonormalize(basis.dirs(), basis.b_dirs());
  }
  return std::nullopt;
}

/// The robust path: an orthonormal basis to rounding, A W anew.
template <class Scalar, class Exec>
Extension extend_robust(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec>& basis,
                        Grams<Scalar, Exec>& grams, RayleighRitz<Scalar>& ritz,
                        std::vector<real_t<Scalar>> const& theta, real_t<Scalar> largest_x) {
  using Limits = Thresholds<real_t<Scalar>>;
  ++problem.counters.robust_iterations;
  int const offered = basis.w;
  if (auto const trouble = orthonormalize_directions(problem, basis)) return *trouble;
  problem.counters.columns_dropped += offered - basis.w;
  if (basis.order() == basis.m) return Extension::empty;
  if (basis.w > 0) problem.apply_a(basis.dirs(), basis.a_dirs());
  grams.compute(problem, basis, basis.order());
  if (!grams.finite()) return Extension::not_finite;
  if (has_drifted(problem, grams, basis.m, theta, largest_x)) return Extension::drifted;
  auto const timer = problem.time(problem.seconds.dense);
  auto const G = grams.G();
  if (defect_from_diagonal(G) <= Limits::gram_defect)
    ritz.factor_identity(basis.order());
  else if (!ritz.factor_cholesky(G, Limits::fused_pivot) && !ritz.factor_svqb(G))
    return Extension::drifted;
  return Extension::ready;
}

}  // namespace blockspan::detail
