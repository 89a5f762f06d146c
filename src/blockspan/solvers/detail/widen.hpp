#pragma once

#include <limits>
#include <vector>

#include <blockspan/solvers/detail/start_block.hpp>

namespace blockspan::detail {

/// A basis with `columns` columns in X: the same X and P with their images, and more guards, random
/// and orthonormal to both. theta gets Rayleigh quotients for them. X is not a block of Ritz
/// vectors until the next Rayleigh-Ritz. Nothing changes, and false is returned, if the new columns
/// do not survive their orthonormalization.
template <class Scalar, class Exec>
bool widen_basis(Problem<Scalar, Exec>& problem, Basis<Scalar, Exec>& basis, int columns,
                 std::vector<real_t<Scalar>>& theta) {
  using Wide = Basis<Scalar, Exec>;
  int const m = basis.m, p = basis.p, added = columns - m;
  Wide wide(problem.exec, problem.rows(), columns, problem.generalized());
  auto const move = [&](auto const& from, auto const& to) {
    Kokkos::deep_copy(problem.exec, Wide::columns(to, 0, m), Wide::columns(from, 0, m));
    if (p > 0)
      Kokkos::deep_copy(problem.exec, Wide::columns(to, columns, p), Wide::columns(from, m, p));
  };
  move(basis.s, wide.s);
  move(basis.as, wide.as);
  if (problem.generalized()) move(basis.bs, wide.bs);

  auto const V = Wide::columns(wide.s, m, added), BV = Wide::columns(wide.bs, m, added);
  problem.randomize(V);
  for (int round = 0; round < 2; ++round) {
    for (int pass = 0; pass < 2 - round; ++pass) {
      problem.constrain(V);
      blockspan::project_out(problem.exec, basis.x(), basis.bx(), V, problem.workspace);
      if (p > 0)
        blockspan::project_out(problem.exec, Wide::columns(wide.s, columns, p),
                               Wide::columns(wide.bs, columns, p), V, problem.workspace);
    }
    if (problem.generalized()) problem.apply_b(V, BV);
    if (problem.orthonormalize(V, BV) < added) return false;
  }
  auto const AV = Wide::columns(wide.as, m, added);
  problem.apply_a(V, AV);
  DirectionTerms<Scalar> const terms{row_major_ref<Exec>(AV), row_major_ref<Exec>(V)};
  auto const sums =
      problem.fold(problem.exec, "Blockspan::lobpcg::quotients", terms, V.extent(0), added);
  for (int j = 0; j < added; ++j) theta.push_back(problem.sign * sums[added + j]);
  wide.p = p;
  basis = wide;
  return true;
}

}  // namespace blockspan::detail
