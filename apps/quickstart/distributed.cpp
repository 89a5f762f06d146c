// The rows of a matrix spread over ranks, as a program has them that is parallel already: each rank
// hands over its rows with the columns of the whole matrix, and local rows of the blocks. Then the
// same operator without a matrix, as a callable that exchanges what it needs by itself.
//
//   mpirun -n 4 blockspan-quickstart-distributed
#include <cstdio>

#include <blockspan/blockspan.hpp>

using Exec = Kokkos::DefaultExecutionSpace;
using Block = blockspan::Block<double, Exec>;
constexpr int edge = 60;  // the 5-point grid of 60 x 60 points; a rank has some of its lines

/// This rank's rows, with columns of the whole matrix.
static blockspan::LocalRows<double> grid_rows(int first, int last) {
  blockspan::LocalRows<double> rows;
  for (int i = first; i < last; ++i) {
    auto const add = [&](bool there, int column, double value) {
      if (!there) return;
      rows.columns.push_back(column);
      rows.values.push_back(value);
    };
    add(i >= edge, i - edge, -1), add(i % edge > 0, i - 1, -1), add(true, i, 4);
    add(i % edge < edge - 1, i + 1, -1), add(i + edge < edge * edge, i + edge, -1);
    rows.offsets.push_back(static_cast<std::int64_t>(rows.columns.size()));
  }
  return rows;
}

/// Z = X between a line of each neighbour, which MPI brings; zeros at the ends of the grid.
static Block with_neighbours(Exec const& exec, blockspan::Communicator const& ranks,
                             blockspan::ConstBlock<double, Exec> const& X) {
  auto const n = X.extent(0), k = X.extent(1);
  Block const Z("Z", n + 2 * edge, k);
  Kokkos::deep_copy(
      exec, Kokkos::subview(Z, std::pair<std::size_t, std::size_t>(edge, edge + n), Kokkos::ALL),
      X);
  exec.fence();
  if (ranks.size() == 1) return Z;
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Z);
  int const below = ranks.rank() > 0 ? ranks.rank() - 1 : MPI_PROC_NULL;
  int const above = ranks.rank() + 1 < ranks.size() ? ranks.rank() + 1 : MPI_PROC_NULL;
  int const count = edge * static_cast<int>(k);
  auto const line = [&](std::size_t row) { return host.data() + row * k; };
  MPI_Sendrecv(line(edge), count, MPI_DOUBLE, below, 0, line(edge + n), count, MPI_DOUBLE, above, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(line(n), count, MPI_DOUBLE, above, 1, line(0), count, MPI_DOUBLE, below, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Kokkos::deep_copy(exec, Z, host);
  exec.fence();
  return Z;
}

/// A row of the operator.
struct Stencil {
  Block Z, Y;
  KOKKOS_FUNCTION void operator()(int i) const {
    for (std::size_t j = 0; j < Y.extent(1); ++j) {
      double sum = 4 * Z(i + edge, j) - Z(i, j) - Z(i + 2 * edge, j);
      if (i % edge > 0) sum -= Z(i + edge - 1, j);
      if (i % edge < edge - 1) sum -= Z(i + edge + 1, j);
      Y(i, j) = sum;
    }
  }
};

static void multiply(Exec const& exec, blockspan::Communicator const& ranks,
                     blockspan::ConstBlock<double, Exec> const& X, Block const& Y) {
  auto const Z = with_neighbours(exec, ranks, X);
  Kokkos::parallel_for("stencil", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(X.extent(0))),
                       Stencil{Z, Y});
  exec.fence();  // Z ends here
}

int main(int argc, char** argv) {
  blockspan::MpiScope const mpi(argc, argv);  // a program's own: mpi_communicator(MPI_COMM_WORLD)
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Exec const exec;
  auto const& ranks = mpi.world();
  auto const first_of = [&](int rank) { return edge * (edge * rank / ranks.size()); };
  int const first = first_of(ranks.rank()), last = first_of(ranks.rank() + 1);

  auto const A = blockspan::distribute(exec, ranks, grid_rows(first, last));
  auto const A_op = blockspan::distributed_operator(exec, A);
  auto const T = blockspan::jacobi(exec, A->diagonal_block(exec));

  Block const X("X", last - first, 6), B("B", last - first, 2), Y("Y", last - first, 2);
  auto const pairs = blockspan::lobpcg(exec, A_op, X, {.wanted = 3, .preconditioner = &T});

  blockspan::fill_random(exec, B, 1, 0, A->row_space().first_row());
  blockspan::CgOptions<double, Exec> options;
  options.preconditioner = &T;
  auto const solve = blockspan::solve_spd(exec, A_op, B, Y, options);

  // solvers need to know which rows a rank has, and nothing of how the operator gets the others
  std::vector<std::int64_t> cuts;
  for (int r = 0; r <= ranks.size(); ++r) cuts.push_back(first_of(r));
  auto const own = blockspan::function_operator<double, Exec>(
      last - first,
      [&](Exec const& on, auto const& from, auto const& to) { multiply(on, ranks, from, to); },
      "5-point stencil", blockspan::RowSpace(ranks, cuts, 0));
  auto const again = blockspan::lobpcg(exec, own, X, {.wanted = 3});

  if (ranks.rank() == 0) {
    for (double const lambda : pairs.eigenvalues) std::printf("%.10f\n", lambda);
    std::printf("%s on %d ranks\n", solve.converged() ? "solved" : "not solved", ranks.size());
    for (double const lambda : again.eigenvalues) std::printf("%.10f\n", lambda);
  }
  return pairs.converged() && solve.converged() && again.converged() ? 0 : 1;
}
