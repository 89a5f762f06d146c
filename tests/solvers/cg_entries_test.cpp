// Null vectors that the entries of a matrix show: right-hand sides outside the range are found
// within tens of iterations, and a matrix that is only almost singular is never called singular.
#include <cmath>
#include <string>

#include <blockspan/operators/matrix_operator.hpp>

#include "solvers/cg_solve.hpp"
#include "solvers/singular_graph.hpp"

namespace blockspan::test {
namespace {

template <class Scalar, class Exec>
CrsMatrix<Scalar, Exec> library_matrix(Exec const& exec, TestMatrix<Scalar> const& A) {
  return blockspan::sparse::to_device(exec, host_csr_of(A));
}

/// A solve with the library's own operator and Jacobi.
template <class Scalar, class Exec>
CgReport<real_t<Scalar>> solve_matrix(TestMatrix<Scalar> const& A, HostBlock<Scalar> const& right,
                                      CgMethod method, bool jacobi) {
  Exec const exec;
  auto const op = matrix_operator(exec, library_matrix(exec, A), 4);
  auto const M = library_jacobi<Scalar, Exec>(A);
  auto const B = make_block(exec, Storage::right, right);
  auto const X = make_block(exec, Storage::right, right);
  CgOptions<Scalar, Exec> options;
  options.method = method;
  if (jacobi) options.preconditioner = &M;
  return solve_spd<Scalar, Exec>(exec, op, B.view, X.view, options);
}

template <class Config>
class CgEntries : public ::testing::Test {};
TYPED_TEST_SUITE(CgEntries, Backends, ConfigNames);

/// Every third column is consistent; the others are told within tens of iterations.
template <class Scalar, class Exec>
void expect_found_soon(SingularGraph<Scalar> const& graph, int columns, bool jacobi) {
  auto B = random_block<Scalar>(graph.A.order(), columns, 1);
  for (int j = 1; j < columns; j += 3) graph.make_consistent(B, j);
  for (CgMethod const method : every_method) {
    auto const report = solve_matrix<Scalar, Exec>(graph.A, B, method, jacobi);
    EXPECT_EQ(report.null_vectors, graph.components);
    for (int j = 0; j < columns; ++j) {
      auto const& column = report.columns[j];
      EXPECT_EQ(column.status, j % 3 == 1 ? Status::converged : Status::inconsistent) << j;
      if (j % 3 == 1) continue;
      EXPECT_NEAR(column.outside, graph.outside(B, j), 1e-6 * column.outside) << j;
      EXPECT_LT(column.iterations, 100) << j;
    }
  }
}

TYPED_TEST(CgEntries, ScaledLaplaciansOfGridsAndChainsAreFoundWithinTensOfIterations) {
  if constexpr (on_host_v<TypeParam>) {  // devices look at entries later
    for (int const columns : {1, 5})
      for (bool const jacobi : {false, true}) {
        expect_found_soon<double, TypeParam>(grid_graphs<double>(30, 25, 1, 0.3), columns, jacobi);
        expect_found_soon<double, TypeParam>(grid_graphs<double>(300, 1, 1, 0.5), columns, jacobi);
        expect_found_soon<double, TypeParam>(grid_graphs<double>(14, 12, 3, 0.3), columns, jacobi);
      }
    using Complex = Kokkos::complex<double>;
    if constexpr (has_scalar<Complex>)
      expect_found_soon<Complex, TypeParam>(grid_graphs<Complex>(20, 20, 2, 0.3), 4, true);
  }
}

TYPED_TEST(CgEntries, EveryComponentOfALaplacianCountsBeforeTheFirstIteration) {
  if constexpr (on_host_v<TypeParam>) {
    auto const graph = grid_graphs<double>(9, 8, 4, 0);
    auto const B = random_block<double>(graph.A.order(), 3, 1);
    for (CgMethod const method : every_method) {
      auto const report = solve_matrix<double, TypeParam>(graph.A, B, method, true);
      EXPECT_EQ(report.null_vectors, 4);
      EXPECT_EQ(report.iterations, 0);
      for (int j = 0; j < 3; ++j)
        EXPECT_NEAR(report.columns[j].outside, graph.outside(B, j), 1e-12) << j;
    }
  }
}

/// Euler's beam with free ends, two unknowns a node: rigid motions are its null vectors, and its
/// eigenvalues spread over nine orders of magnitude. A spring at one node may hold it.
TestMatrix<double> beam(int elements, double spring, double torsion) {
  TestMatrix<double> A(2 * elements + 2);
  double const k[4][4] = {{12, 6, -12, 6}, {6, 4, -6, 2}, {-12, -6, 12, -6}, {6, 2, -6, 4}};
  for (int e = 0; e < elements; ++e)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) A.add(2 * e + i, 2 * e + j, k[i][j]);
  A.add(0, 0, spring);
  A.add(1, 1, torsion);
  return A;
}

TYPED_TEST(CgEntries, AFreeBeamIsFound) {
  if constexpr (on_host_v<TypeParam>) {
    auto const A = beam(60, 0, 0);
    auto const B = random_block<double>(A.order(), 3, 1);
    for (CgMethod const method : every_method) {
      auto const report = solve_matrix<double, TypeParam>(A, B, method, true);
      EXPECT_EQ(report.null_vectors, 2);
      for (auto const& column : report.columns) {
        EXPECT_EQ(column.status, Status::inconsistent);
        EXPECT_LT(column.iterations, 100);
      }
    }
  }
}

/// No claim of a part outside the range, whatever else becomes of it.
template <class Exec>
void expect_not_called_singular(TestMatrix<double> const& A, std::string const& name) {
  for (int const columns : {1, 4}) {
    auto const B = random_block<double>(A.order(), columns, 1);
    for (CgMethod const method : every_method)
      for (bool const jacobi : {false, true}) {
        auto const report = solve_matrix<double, Exec>(A, B, method, jacobi);
        EXPECT_EQ(report.null_vectors, 0) << name;
        for (auto const& column : report.columns) {
          EXPECT_NE(column.status, Status::inconsistent) << name;
          EXPECT_EQ(column.outside, 0) << name;
        }
      }
  }
}

TYPED_TEST(CgEntries, MatricesThatAreAlmostSingularAreNotCalledSingular) {
  for (double const shift : {1e-6, 1e-9, 1e-11, 1e-12}) {
    std::string const name = std::to_string(std::log10(shift));
    for (double const spread : {0.0, 0.5}) {  // the least eigenvalue of D (L + shift I) D^H
      auto const graph = grid_graphs<double>(16, 15, 1, spread);
      auto A = graph.A;
      for (int i = 0; i < A.order(); ++i) A.add(i, i, shift * graph.d[i] * graph.d[i]);
      expect_not_called_singular<TypeParam>(A, "grid " + name);
    }
    auto anchored = grid_graphs<double>(200, 1, 1, 0).A;  // least eigenvalue shift / 200
    anchored.add(0, 0, 200 * shift);
    expect_not_called_singular<TypeParam>(anchored, "chain anchored at its end " + name);
  }
  for (double const spring : {1e-3, 1e-6, 1e-8})
    expect_not_called_singular<TypeParam>(beam(40, spring, spring), "beam");
}

}  // namespace
}  // namespace blockspan::test
