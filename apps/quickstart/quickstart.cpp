// The ten lines of the README: a matrix times a block of vectors, then its lowest eigenpairs.
#include <cstdio>

#include <blockspan/blockspan.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;

  auto const A = blockspan::generate<double>(exec, "laplace7:20x20x20");
  blockspan::Block<double, Exec> X("X", A.numRows(), 8), Y("Y", A.numRows(), 8);
  blockspan::fill_random(exec, X, 1);

  blockspan::SpmmPlan const plan(exec, A, {.columns = 8});              // looks at the pattern once
  blockspan::spmm(exec, plan, blockspan::Op::none, 1.0, A, X, 0.0, Y);  // Y = A X

  auto const A_op = blockspan::matrix_operator(exec, A);
  auto const T = blockspan::jacobi(exec, A);
  auto const report = blockspan::lobpcg(exec, A_op, X, {.wanted = 4, .preconditioner = &T});

  for (double const lambda : report.eigenvalues) std::printf("%.10f\n", lambda);
  return report.converged() ? 0 : 1;
}
