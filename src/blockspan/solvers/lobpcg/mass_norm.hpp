#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/operators/detail/matrix_measures.hpp>
#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/lobpcg/basis.hpp>

namespace blockspan::detail {

/// What Lanczos tells of the lower end of an operator's spectrum.
template <class Real>
struct LowerEnd {
  Real ritz = 0;      ///< the least Ritz value: no eigenvalue is certain to be above it
  Real residual = 0;  ///< some eigenvalue is within this of it
  Real top = 0;       ///< the largest Ritz value
};

/// About twenty steps of Lanczos with full orthogonalization from a random vector on
/// image(V, W): W = Op V, Hermitian. Uses S, BS and a column of AS. Nothing if a number is not
/// finite.
template <class Scalar, class Exec, class Image>
std::optional<LowerEnd<real_t<Scalar>>> lower_end(Problem<Scalar, Exec>& problem,
                                                  Basis<Scalar, Exec> const& basis,
                                                  Image const& image) {
  using Real = real_t<Scalar>;
  int const most =
      static_cast<int>(std::min<std::int64_t>({20, 3 * basis.m - 1, problem.global_rows() - 1}));
  auto const V = [&](int first, int count) { return basis.columns(basis.s, first, count); };
  auto const W = [&](int first, int count) { return basis.columns(basis.bs, first, count); };
  problem.randomize(V(0, 1));
  blockspan::orthonormalize(problem.exec, V(0, 1), problem.workspace);
  int steps = 0;
  for (bool grows = true; grows && steps < most;) {
    image(V(steps, 1), W(steps, 1));
    Kokkos::deep_copy(problem.exec, V(steps + 1, 1), W(steps, 1));
    ++steps;
    for (int pass = 0; pass < 2; ++pass)
      blockspan::project_out(problem.exec, V(0, steps), V(0, steps), V(steps, 1),
                             problem.workspace);
    // What is left of a vector that lay in the span is rounding, and would not be orthogonal to it.
    Real const left = problem.norms(V(steps, 1))[0];
    Real const image_norm = problem.norms(W(steps - 1, 1))[0];
    grows = left > std::sqrt(Thresholds<Real>::u) * image_norm &&
            blockspan::orthonormalize(problem.exec, V(steps, 1), problem.workspace).rank == 1;
  }
  auto const T = small_matrix<Scalar>(steps, steps), squares = small_matrix<Scalar>(steps, steps);
  blockspan::gram(problem.exec, V(0, steps), W(0, steps), T, problem.workspace);
  blockspan::gram(problem.exec, W(0, steps), W(0, steps), squares, problem.workspace);
  if (!all_finite(T) || !all_finite(squares)) return std::nullopt;
  symmetrize(T, Real(1));
  std::vector<Real> ritz;
  if (lapack::hermitian_eigen(T, ritz) != 0) return std::nullopt;
  // ||Op v - ritz v||^2 = ||Op v||^2 - ritz^2 of the Ritz vector v
  Real square = 0;
  for (int j = 0; j < steps; ++j)
    for (int i = 0; i < steps; ++i)
      square += real_part(conjugate(T(i, 0)) * squares(i, j) * T(j, 0));
  Real const residual = std::sqrt(std::max(Real(0), square - ritz[0] * ritz[0]));
  return LowerEnd<Real>{ritz[0], residual, ritz.back()};
}

/// Prepares the norm of B^-1: weights 1 / b_ii where B tells its diagonal, and a factor from the
/// least eigenvalue of B with its diagonal scaled to one, by Lanczos (an estimate, low by its
/// residual; exact for a diagonal B). A status where B is not positive definite.
template <class Scalar, class Exec>
std::optional<Status> measure_mass(Problem<Scalar, Exec>& problem,
                                   Basis<Scalar, Exec> const& basis) {
  using Real = real_t<Scalar>;
  using Limits = Thresholds<Real>;
  auto const trouble = problem.take_mass_diagonal();
  if (trouble) return trouble;
  Real const* const roots = problem.mass_roots();
  auto const image = [&](Block<Scalar, Exec> const& V, Block<Scalar, Exec> const& W) {
    if (!problem.knows_mass_diagonal()) return problem.apply_b(V, W);
    auto const scaled = basis.columns(basis.as, 0, 1);
    detail::scale_rows<Exec, Scalar>(problem.exec, roots, block_ref<Exec>(V),
                                     block_ref<Exec>(scaled));
    problem.apply_b(scaled, W);
    detail::scale_rows<Exec, Scalar>(problem.exec, roots, block_ref<Exec>(W), block_ref<Exec>(W));
  };
  auto const end = lower_end(problem, basis, image);
  if (!end) return std::nullopt;
  Real const top = problem.knows_mass_diagonal() ? end->top : problem.norm_b;
  if (end->ritz < -Limits::indefinite * top) return Status::mass_not_positive_definite;
  Real const least = std::max(end->ritz - end->residual, end->ritz / 4);
  problem.set_mass_norm(least > 0 ? 1 / std::sqrt(least) : std::numeric_limits<Real>::infinity());
  return std::nullopt;
}

}  // namespace blockspan::detail
