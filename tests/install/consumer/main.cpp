// Multiplies a small matrix by a block of two vectors, sees a bad call refused, and calls the
// components it was linked with.
#include <cstdio>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/error.hpp>

#ifdef BLOCKSPAN_HAS_DIRECT
#include <blockspan/operators/direct.hpp>
#endif
#ifdef BLOCKSPAN_HAS_KOKKOS_KERNELS
#include <blockspan/operators/gauss_seidel.hpp>
#endif

namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using Block = Kokkos::View<double**, Kokkos::LayoutRight, Exec>;
using Matrix = blockspan::CrsMatrix<double, Exec>;

// The 3 x 3 tridiagonal matrix with 2 on the diagonal and -1 next to it.
Matrix second_difference() {
  Matrix::row_map_type::non_const_type row_map("row_map", 4);
  Matrix::index_type::non_const_type columns("columns", 7);
  Matrix::values_type values("values", 7);
  int position = 0;
  for (int row = 0; row < 3; ++row) {
    for (int column = row - 1; column <= row + 1; ++column) {
      if (column < 0 || column > 2) continue;
      columns(position) = column;
      values(position++) = column == row ? 2.0 : -1.0;
    }
    row_map(row + 1) = position;
  }
  return Matrix("A", 3, 3, 7, values, row_map, columns);
}

/// By a plan with this algorithm; empty: without one.
bool multiplies_rightly(Matrix const& A, std::string const& algorithm = {}) {
  Exec const exec;
  Block const X("X", 3, 2);
  Block const Y("Y", 3, 2);
  for (int row = 0; row < 3; ++row) {
    X(row, 0) = 1.0;
    X(row, 1) = row;
  }
  if (algorithm.empty())
    blockspan::spmm(exec, blockspan::Op::none, 1.0, A, X, 0.0, Y);
  else
    blockspan::spmm(exec, blockspan::SpmmPlan(exec, A, {.algorithm = algorithm}),
                    blockspan::Op::none, 1.0, A, X, 0.0, Y);
  exec.fence();
  double const expected[3][2] = {{1.0, -1.0}, {0.0, 0.0}, {1.0, 3.0}};
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 2; ++column)
      if (Y(row, column) != expected[row][column]) return false;
  return true;
}

bool refuses_wrong_sizes(Matrix const& A) {
  Block const X("X", 2, 2);
  Block const Y("Y", 3, 2);
  try {
    blockspan::spmm(Exec(), blockspan::Op::none, 1.0, A, X, 0.0, Y);
  } catch (blockspan::Error const& error) {
    std::printf("refused, as it should be: %s\n", error.what());
    return true;
  }
  return false;
}

bool calls_components([[maybe_unused]] Matrix const& A) {
  [[maybe_unused]] Exec const exec;
  bool right = true;
#ifdef BLOCKSPAN_HAS_PUBLISHED
  right = right && multiplies_rightly(A, "merge");
#endif
#ifdef BLOCKSPAN_HAS_DIRECT
  right = right && blockspan::direct(exec, A).report().negative_pivots == 0;
#endif
#ifdef BLOCKSPAN_HAS_KOKKOS_KERNELS
  right = right && blockspan::gauss_seidel(exec, A)->rows() == 3;
#endif
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Matrix const A = second_difference();
  bool const right = multiplies_rightly(A) && refuses_wrong_sizes(A) && calls_components(A);
  std::printf("%s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
