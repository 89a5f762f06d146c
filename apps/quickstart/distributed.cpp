// The rows of a matrix spread over ranks, as a program has them that is parallel already: each rank
// hands over its rows with the columns of the whole matrix, and local rows of the blocks.
//
//   mpirun -n 4 blockspan-quickstart-distributed
#include <cstdio>

#include <blockspan/blockspan.hpp>

int main(int argc, char** argv) {
  blockspan::MpiScope const mpi(argc, argv);  // a program's own: mpi_communicator(MPI_COMM_WORLD)
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;
  auto const& ranks = mpi.world();

  // the 5-point grid of 60 x 60 points: this rank has rows [first, last)
  int const edge = 60, n = edge * edge;
  int const first = n * ranks.rank() / ranks.size(), last = n * (ranks.rank() + 1) / ranks.size();
  blockspan::LocalRows<double> rows;
  for (int i = first; i < last; ++i) {
    auto const add = [&](bool there, int column, double value) {
      if (!there) return;
      rows.columns.push_back(column);
      rows.values.push_back(value);
    };
    add(i >= edge, i - edge, -1), add(i % edge > 0, i - 1, -1), add(true, i, 4);
    add(i % edge < edge - 1, i + 1, -1), add(i + edge < n, i + edge, -1);
    rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
  }
  auto const A = blockspan::distribute(exec, ranks, rows);
  auto const A_op = blockspan::distributed_operator(exec, A);
  auto const T = blockspan::jacobi(exec, A->diagonal_block(exec));

  blockspan::Block<double, Exec> X("X", last - first, 6), B("B", last - first, 2),
      Y("Y", last - first, 2);
  auto const pairs = blockspan::lobpcg(exec, A_op, X, {.wanted = 3, .preconditioner = &T});

  blockspan::fill_random(exec, B, 1, 0, A->row_space().first_row());
  blockspan::CgOptions<double, Exec> options;
  options.preconditioner = &T;
  auto const solve = blockspan::conjugate_gradient(exec, A_op, B, Y, options);

  if (ranks.rank() == 0) {
    for (double const lambda : pairs.eigenvalues) std::printf("%.10f\n", lambda);
    std::printf("%s on %d ranks\n", solve.converged() ? "solved" : "not solved", ranks.size());
  }
  return pairs.converged() && solve.converged() ? 0 : 1;
}
