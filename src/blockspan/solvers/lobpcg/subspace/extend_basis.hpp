#pragma once

#include <optional>
#include <vector>

#include <blockspan/solvers/lobpcg/subspace/directions.hpp>
#include <blockspan/solvers/lobpcg/subspace/subspace.hpp>

namespace blockspan::eigen {

/// What became of an attempt to extend [X P] by the new directions W.
enum class Extension {
  ready,            ///< Gram matrices and factor are there for Rayleigh-Ritz
  ill_conditioned,  ///< (fused path) W is intact: take the robust path
  empty,            ///< no direction is left, and there is no P
  drifted,          ///< X or its images are not what they should be
  not_finite,       ///< a Gram matrix has NaN or Inf
  mass_not_positive_definite,
};

/// Whether the X part of the Gram matrices says that X is no longer orthonormal, or AX not A X.
template <class Scalar, class Exec>
bool has_drifted(Subspace<Scalar, Exec> const& space) {
  using Real = real_t<Scalar>;
  using Limits = Thresholds<Real>;
  auto const& problem = space.problem;
  int const m = space.m();
  Real const size = std::max(Real(1), space.largest_x * space.largest_x);
  Real const rounding = 100 * Limits::u * problem.norm_b * size;
  return defect_from_diagonal(part(space.grams.G(), 0, m, 0, m)) > Limits::gram_defect + rounding ||
         defect_from_diagonal(part(space.grams.H(), 0, m, 0, m), space.theta) >
             Limits::image_defect * problem.norm_a * size;
}

/// Few passes: W as it is, one pair of Gram matrices of the raw basis, Cholesky.
template <class Scalar, class Exec>
Extension extend_fused(Subspace<Scalar, Exec>& space) {
  using Real = real_t<Scalar>;
  auto& problem = space.problem;
  auto const& basis = space.basis;
  if (basis.w > 0) {
    problem.apply_a(basis.dirs(), basis.a_dirs());
    if (problem.generalized()) problem.apply_b(basis.dirs(), basis.b_dirs());
  }
  space.grams.compute(problem, basis, basis.order());
  if (!space.grams.finite()) return Extension::not_finite;
  auto const G = space.grams.G();
  for (int j = 0; j < basis.w; ++j) {
    int const at = basis.m + basis.p + j;
    Real const size = basis.w_norms.empty() ? Real(1) : basis.w_norms[j];
    if (real_part(G(at, at)) < -Thresholds<Real>::indefinite * problem.norm_b * size * size)
      return Extension::mass_not_positive_definite;
  }
  if (has_drifted(space)) return Extension::drifted;
  auto const timer = problem.time(problem.seconds.dense);
  return space.ritz.factor_cholesky(G, Thresholds<Real>::fused_pivot) ? Extension::ready
                                                                      : Extension::ill_conditioned;
}

/// Removes the listed columns of W (moved through the place of A W).
template <class Scalar, class Exec>
void remove_directions(Subspace<Scalar, Exec>& space, std::vector<int> const& dropped) {
  auto& basis = space.basis;
  std::vector<int> kept;
  for (int j = 0; j < basis.w; ++j)
    if (std::find(dropped.begin(), dropped.end(), j) == dropped.end()) kept.push_back(j);
  int const count = static_cast<int>(kept.size());
  if (count > 0) {
    for (auto const& pair :
         {std::pair(basis.dirs(), basis.a_dirs()), std::pair(basis.b_dirs(), basis.a_dirs())}) {
      auto const to = column_range(pair.second, 0, count);
      blockspan::copy_columns(space.problem.exec, pair.first, kept, to);
      Kokkos::deep_copy(space.problem.exec, column_range(pair.first, 0, count), to);
    }
  }
  basis.w = count;
}

/// W := an orthonormal basis of what W has beyond [X P]: projected twice, orthonormalized,
/// projected and orthonormalized again; columns that add nothing are dropped. Returns what
/// is wrong with B, if anything is.
template <class Scalar, class Exec>
std::optional<Extension> orthonormalize_directions(Subspace<Scalar, Exec>& space) {
  auto& problem = space.problem;
  auto& basis = space.basis;
  for (int round = 0; round < 2 && basis.w > 0; ++round) {
    for (int pass = 0; pass < 2 - round; ++pass) {
      problem.constrain(basis.dirs());
      blockspan::project_out(problem.exec, basis.xp(), basis.bxp(), basis.dirs(),
                             problem.workspace);
    }
    if (problem.generalized()) {
      problem.apply_b(basis.dirs(), basis.b_dirs());
      std::vector<int> null_columns;
      if (auto const trouble = problem.trouble_of_mass(basis.dirs(), basis.b_dirs(), &null_columns))
        return *trouble == Status::operator_not_finite ? Extension::not_finite
                                                       : Extension::mass_not_positive_definite;
      if (!null_columns.empty()) remove_directions(space, null_columns);
    }
    if (basis.w > 0) basis.w = problem.orthonormalize(basis.dirs(), basis.b_dirs());
  }
  return std::nullopt;
}

/// The robust path: an orthonormal basis to rounding, A W anew.
template <class Scalar, class Exec>
Extension extend_robust(Subspace<Scalar, Exec>& space) {
  using Limits = Thresholds<real_t<Scalar>>;
  auto& problem = space.problem;
  auto& basis = space.basis;
  ++problem.counters.robust_iterations;
  int const offered = basis.w;
  if (auto const trouble = orthonormalize_directions(space)) return *trouble;
  problem.counters.columns_dropped += offered - basis.w;
  if (basis.order() == basis.m) return Extension::empty;
  if (basis.w > 0) problem.apply_a(basis.dirs(), basis.a_dirs());
  space.grams.compute(problem, basis, basis.order());
  if (!space.grams.finite()) return Extension::not_finite;
  if (has_drifted(space)) return Extension::drifted;
  auto const timer = problem.time(problem.seconds.dense);
  auto const G = space.grams.G();
  auto& ritz = space.ritz;
  if (defect_from_diagonal(G) <= Limits::gram_defect)
    ritz.factor_identity(basis.order());
  else if (!ritz.factor_cholesky(G, Limits::fused_pivot) && !ritz.factor_svqb(G))
    return Extension::drifted;
  return Extension::ready;
}

}  // namespace blockspan::eigen
