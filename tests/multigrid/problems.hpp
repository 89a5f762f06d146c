#pragma once

#include <filesystem>

#include <blockspan/multigrid/exchange.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/multivector/fill_random.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/sparse/generators.hpp>

namespace blockspan::test {

/// Where the nodes of elasticity:N are, in the order of its rows.
template <class Real, class Exec>
ConstBlock<Real, Exec> brick_nodes(Exec const& exec, int N, bool clamped = true) {
  int const first = clamped ? 1 : 0;
  Block<Real, Exec> const nodes("Blockspan::test", static_cast<std::size_t>((N - first) * N * N),
                                3);
  auto const host = Kokkos::create_mirror_view(nodes);
  std::size_t i = 0;
  for (int z = 0; z < N; ++z)
    for (int y = 0; y < N; ++y)
      for (int x = first; x < N; ++x, ++i)
        host(i, 0) = static_cast<Real>(x), host(i, 1) = static_cast<Real>(y),
                host(i, 2) = static_cast<Real>(z);
  Kokkos::deep_copy(exec, nodes, host);
  exec.fence("Blockspan::test");
  return nodes;
}

/// Writes A0.mtx, P0.mtx, A1.mtx, P1.mtx, ... of a hierarchy, in double precision, into a folder.
template <class Scalar, class Exec>
void write_hierarchy(std::filesystem::path const& folder, Multigrid<Scalar, Exec> const& M) {
  auto const& levels = M.hierarchy().levels;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    auto const file = [&](char letter) {
      return (folder / blockspan::levels::level_file(letter, l)).string();
    };
    write_matrix_market(file('A'), levels[l].A);
    if (l + 1 < levels.size()) write_matrix_market(file('P'), levels[l].P_matrix());
  }
}

/// Iterations of conjugate gradients to 1e-8 for a random right-hand side; in the range of A, if
/// it is singular. -1: it did not get there.
template <class Scalar, class Exec>
int iterations(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
               LinearOperator<Scalar, Exec> const* M, bool singular = false, int columns = 1) {
  auto const op = matrix_operator(exec, A);
  auto const n = static_cast<std::size_t>(A.numRows());
  auto const k = static_cast<std::size_t>(columns);
  Block<Scalar, Exec> const B("Blockspan::test", n, k), X("Blockspan::test", n, k);
  fill_random(exec, B, 7);
  if (singular) {
    op.apply(exec, B, X);
    Kokkos::deep_copy(exec, B, X);
  }
  CgOptions<Scalar, Exec> options;
  options.method = CgMethod::pseudo_block;
  options.preconditioner = M;
  options.max_iterations = 500;
  auto const report = solve_spd(exec, op, B, X, options);
  return report.converged() ? report.iterations : -1;
}

}  // namespace blockspan::test
