#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include <blockspan/solvers/lobpcg/residuals.hpp>
#include <blockspan/solvers/lobpcg/subspace.hpp>

namespace blockspan::detail {

/// How far one step along every column of D takes the Rayleigh quotients down:
/// |d^H r|^2 / d^H (A - theta B) d, infinite along negative curvature. AD, BD are overwritten.
template <class Scalar, class Exec>
std::vector<real_t<Scalar>> descent(Problem<Scalar, Exec>& problem,
                                    std::vector<real_t<Scalar>> const& theta,
                                    Block<Scalar, Exec> const& R, Block<Scalar, Exec> const& D,
                                    Block<Scalar, Exec> const& AD, Block<Scalar, Exec> const& BD) {
  using Real = real_t<Scalar>;
  std::size_t const m = D.extent(1);
  using Dots = Kokkos::View<Scalar*, Kokkos::HostSpace>;
  Dots const dr("dr", m), ad("ad", m), bd("bd", m);
  blockspan::column_dots(problem.exec, D, R, dr, problem.workspace);
  problem.apply_a(D, AD);
  blockspan::column_dots(problem.exec, D, AD, ad, problem.workspace);
  if (problem.generalized()) problem.apply_b(D, BD);
  blockspan::column_dots(problem.exec, D, problem.generalized() ? BD : D, bd, problem.workspace);
  std::vector<Real> result;
  for (std::size_t j = 0; j < m; ++j) {
    Real const along = squared_magnitude(dr(j));
    Real const curvature = problem.sign * real_part(ad(j)) - theta[j] * real_part(bd(j));
    result.push_back(curvature > 0 ? along / curvature : std::numeric_limits<Real>::infinity());
  }
  return result;
}

/// Whether the residuals themselves would take most of the leading `wanted` Ritz values further
/// down than T R does, by a factor of four: T then favours another part of the spectrum. Overwrites
/// the places of P and W. Two products with a block.
template <class Scalar, class Exec>
bool preconditioner_harms(Subspace<Scalar, Exec>& space, int wanted) {
  auto& problem = space.problem;
  auto const& basis = space.basis;
  auto const& theta = space.theta;
  int const m = basis.m;
  auto const place = [&](Block<Scalar, Exec> const& block, int section) {
    return basis.columns(block, section * m, m);
  };
  auto const R = place(basis.s, 2), W = place(basis.as, 2);
  residuals(problem, basis.x_and_images(), theta, R);
  problem.apply_t(R, W);
  problem.constrain(W);
  space.drop_directions();  // the place of P holds the images
  auto const AD = place(basis.as, 1), BD = place(basis.generalized() ? basis.bs : basis.as, 1);
  auto const plain = descent(problem, theta, R, R, AD, BD);
  auto const with_t = descent(problem, theta, R, W, AD, BD);
  int worse = 0;
  for (int j = 0; j < wanted; ++j)
    if (!(4 * with_t[j] >= plain[j])) ++worse;
  return 2 * worse > wanted;
}

}  // namespace blockspan::detail
