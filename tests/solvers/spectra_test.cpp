#include <algorithm>
#include <cstdint>
#include <numeric>

#include "solvers/solve.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class Spectra : public ::testing::Test {};
TYPED_TEST_SUITE(Spectra, Backends);

TYPED_TEST(Spectra, OfTheSevenPointGridComeWithTheirMultiplicities) {
  auto const A = grid7<double>(10);
  auto const solved = solve<double, TypeParam>(
      A, nullptr, 10, [](auto& options, auto const&) { options.tolerance = 1e-11; });
  EXPECT_EQ(solved.report.status, Status::converged);
  EXPECT_EQ(solved.report.path, "iterative");
  expect_values(solved, grid7_spectrum(10), 12);
  EXPECT_LE(solved.found.orthogonality, 1e-12);
  for (int j = 0; j < 10; ++j) {
    EXPECT_EQ(solved.report.pair_status[j], Status::converged);
    EXPECT_LE(solved.found.backward[j], 1.001e-11);
    EXPECT_NEAR(solved.report.backward_errors[j], static_cast<double>(solved.found.backward[j]),
                1e-14);
  }
}

TYPED_TEST(Spectra, AreFoundFromTheTopToo) {
  auto const A = grid7<double>(9);
  auto const solved = solve<double, TypeParam>(A, nullptr, 7, [](auto& options, auto const&) {
    options.tolerance = 1e-10;
    options.which = Which::largest;
  });
  EXPECT_EQ(solved.report.status, Status::converged);
  auto exact = grid7_spectrum(9);
  std::reverse(exact.begin(), exact.end());
  expect_values(solved, exact, 12);
  EXPECT_LE(solved.found.orthogonality, 1e-12);
}

TYPED_TEST(Spectra, OfADiagonalMatrixKeepMultiplicitiesBeyondTheBlock) {
  std::vector<double> values(400, 1.0);
  for (int i = 30; i < 400; ++i) values[i] = 2 + i;
  auto const solved = solve<double, TypeParam>(diagonal_matrix<double>(values), nullptr, 10);
  EXPECT_EQ(solved.report.status, Status::converged);
  for (double const value : solved.report.eigenvalues) EXPECT_NEAR(value, 1.0, 1e-5);
  EXPECT_LE(solved.found.orthogonality, 1e-12);
}

TYPED_TEST(Spectra, OfAnIndefiniteMatrixStartAtItsMostNegativeValue) {
  std::vector<double> values(500);
  std::iota(values.begin(), values.end(), -250.0);
  auto const solved = solve<double, TypeParam>(
      diagonal_matrix<double>(values), nullptr, 6,
      [](auto& options, auto const&) { options.preconditioner = nullptr; });
  EXPECT_EQ(solved.report.status, Status::converged);
  expect_values(solved, values, 250);
}

/// A ring of `length` vertices each: as many zero eigenvalues as rings.
TestMatrix<double> rings(int count, int length) {
  TestMatrix<double> A(static_cast<std::int64_t>(count) * length);
  for (int i = 0; i < A.order(); ++i) {
    int const first = i / length * length, at = i - first;
    A.add(i, i, 2);
    A.add(i, first + (at + 1) % length, -1);
    A.add(i, first + (at + length - 1) % length, -1);
  }
  return A;
}

TYPED_TEST(Spectra, OfASemidefiniteMatrixBeginWithItsNullSpace) {
  auto const A = rings(7, 40);
  auto const solved = solve<double, TypeParam>(A, nullptr, 10);
  EXPECT_EQ(solved.report.status, Status::converged);
  double const second = 2 - 2 * std::cos(std::acos(-1.0) / 20);
  std::vector<double> exact(7, 0.0);
  exact.insert(exact.end(), 3, second);
  expect_values(solved, exact, 4);
}

TYPED_TEST(Spectra, OfAPencilAreThoseOfTheGeneralizedProblem) {
  // A = L^3 grid, B = A + 2 I: lambda = mu / (mu + 2), in the order of mu.
  auto const A = grid7<double>(9);
  auto B = A;
  for (int i = 0; i < B.order(); ++i) B.add(i, i, 2.0);
  auto const solved = solve<double, TypeParam>(
      A, &B, 8, [](auto& options, auto const&) { options.tolerance = 1e-11; });
  EXPECT_EQ(solved.report.status, Status::converged);
  EXPECT_LE(solved.found.orthogonality, 1e-12);
  auto const mu = grid7_spectrum(9);
  for (int j = 0; j < 8; ++j)
    EXPECT_NEAR(solved.report.eigenvalues[j], mu[j] / (mu[j] + 2), 1e-9) << j;
}

/// Y = factor X on an N^3 grid, or the 7-point matrix of the grid, without a matrix.
template <class Exec>
struct OnGrid {
  ConstBlock<double, Exec> X;
  Block<double, Exec> Y;
  int N;
  bool stencil;
  double factor;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const strides[3] = {1, N, std::int64_t(N) * N};
    for (std::size_t j = 0; j < Y.extent(1); ++j) {
      double sum = (stencil ? 6 : factor) * X(i, j);
      for (int d = 0; stencil && d < 3; ++d) {
        auto const at = i / strides[d] % N;
        if (at > 0) sum -= X(i - strides[d], j);
        if (at < N - 1) sum -= X(i + strides[d], j);
      }
      Y(i, j) = sum;
    }
  }
};

TYPED_TEST(Spectra, OfFunctionsAreThoseOfTheirMatrices) {
  using Exec = TypeParam;
  constexpr int N = 8, n = N * N * N, wanted = 6;
  auto const on_grid = [](bool stencil, double factor) {
    return function_operator<double, Exec>(
        n, [=](Exec const& exec, ConstBlock<double, Exec> const& X, Block<double, Exec> const& Y) {
          Kokkos::parallel_for("Blockspan::test::grid", Kokkos::RangePolicy<Exec>(exec, 0, n),
                               OnGrid<Exec>{X, Y, N, stencil, factor});
        });
  };
  auto const A = on_grid(true, 0), B = on_grid(false, 2), T = on_grid(false, 1.0 / 6);
  auto const X = block_for<double, Exec>(n, wanted);
  auto options = iteration_options<double, Exec>(wanted);
  options.preconditioner = &T;
  auto const report = lobpcg(Exec(), A, B, X, options);
  EXPECT_EQ(report.status, Status::converged);
  auto const matrix = grid7<double>(N);
  auto const mass = diagonal_matrix<double>(std::vector<double>(n, 2.0));
  auto const found = judge<double, Exec>(matrix, &mass, X, report.eigenvalues);
  auto const exact = grid7_spectrum(N);
  for (int j = 0; j < wanted; ++j) {
    EXPECT_NEAR(report.eigenvalues[j], exact[j] / 2, 1e-6) << j;
    // the norms are estimates here, twice the largest image of random vectors
    EXPECT_LE(found.backward[j], 2e-8) << j;
  }
}

TYPED_TEST(Spectra, AreTheSameInComplexArithmetic) {
  using Complex = Kokkos::complex<double>;
  if constexpr (has_scalar<Complex>) {
    auto const A = grid7<double>(9).template as<Complex>();
    auto const solved = solve<Complex, TypeParam>(A, nullptr, 7);
    EXPECT_EQ(solved.report.status, Status::converged);
    expect_values(solved, grid7_spectrum(9), 12);
    EXPECT_LE(solved.found.orthogonality, 1e-12);
  } else {
    GTEST_SKIP() << needs_complex;
  }
}

TYPED_TEST(Spectra, OfAComplexHermitianMatrixAreFound) {
  // D^H G D with a diagonal of phases D: the spectrum of the grid G.
  using Complex = Kokkos::complex<double>;
  if constexpr (has_scalar<Complex>) {
    auto A = grid7<double>(9).template as<Complex>();
    auto const phase = [](int i) { return Complex(std::cos(0.7 * i), std::sin(0.7 * i)); };
    for (int i = 0; i < A.order(); ++i)
      for (auto& e : A.rows[i])
        if (e.column != i) e.value = blockspan::conjugate(phase(i)) * e.value * phase(e.column);
    auto const solved = solve<Complex, TypeParam>(
        A, nullptr, 7, [](auto& options, auto const&) { options.tolerance = 1e-10; });
    EXPECT_EQ(solved.report.status, Status::converged);
    expect_values(solved, grid7_spectrum(9), 12);
  } else {
    GTEST_SKIP() << needs_complex;
  }
}

TYPED_TEST(Spectra, AreFoundInSinglePrecision) {
  if constexpr (has_scalar<float>) {
    auto const A = grid7<float>(8);
    auto const solved = solve<float, TypeParam>(
        A, nullptr, 6, [](auto& options, auto const&) { options.tolerance = 1e-5f; });
    EXPECT_EQ(solved.report.status, Status::converged);
    expect_values(solved, grid7_spectrum(8), 12);
    EXPECT_LE(solved.found.orthogonality, 1e-5);
  } else {
    GTEST_SKIP() << "the library is not compiled for float";
  }
}

}  // namespace
}  // namespace blockspan::test
