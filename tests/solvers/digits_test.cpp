// The default criterion: certain digits of every eigenvalue, of graded and penalised pencils too,
// zeros that are called zeros, and an honest limit where double precision has no more to give.
#include <cmath>
#include <numbers>
#include <random>

#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/generators.hpp>

#include "solvers/solve.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class Digits : public ::testing::Test {};
TYPED_TEST_SUITE(Digits, ConfigsWith<InDouble>, ConfigNames);

/// Stiffnesses of the springs of a chain of n masses between two walls: all 1 but the second.
std::vector<double> one_stiff_spring(int n, double stiff) {
  std::vector<double> springs(n + 1, 1.0);
  springs[1] = stiff;
  return springs;
}

/// The chain of these springs.
template <class Scalar>
TestMatrix<Scalar> chain(std::vector<double> const& springs) {
  int const n = static_cast<int>(springs.size()) - 1;
  TestMatrix<Scalar> A(n);
  for (int i = 0; i < n; ++i) {
    A.add(i, i, Scalar(springs[i] + springs[i + 1]));
    if (i == 0) continue;
    A.add(i, i - 1, Scalar(-springs[i])), A.add(i - 1, i, Scalar(-springs[i]));
  }
  return A;
}

/// Of unit springs.
template <class Scalar>
TestMatrix<Scalar> chain(int n) {
  return chain<Scalar>(one_stiff_spring(n, 1));
}

/// Sturm sequences in extended precision find the lowest eigenvalues of the chain itself, stiff or
/// not.
std::vector<double> chain_values(std::vector<double> const& springs, int count) {
  auto const below = [&](long double x) {
    int negative = 0;
    long double q = 1;
    for (std::size_t i = 0; i + 1 < springs.size(); ++i) {
      long double const left = springs[i], right = springs[i + 1];
      q = left + right - x - (i == 0 ? 0 : left * left / q);
      if (q == 0) q = 1e-4000L;
      if (q < 0) ++negative;
    }
    return negative;
  };
  std::vector<double> values;
  for (int k = 0; k < count; ++k) {
    long double low = 0, high = 4;
    for (int step = 0; step < 200; ++step) {
      long double const middle = (low + high) / 2;
      (below(middle) > k ? high : low) = middle;
    }
    values.push_back(static_cast<double>(low));
  }
  return values;
}

template <class Scalar, class Exec>
Solved<Scalar, Exec> solve_for_digits(TestMatrix<Scalar> const& A, TestMatrix<Scalar> const* B,
                                      int wanted, SolvePath path, int digits = 4) {
  return solve<Scalar, Exec>(A, B, wanted, [&](auto& options, auto const&) {
    options.path = path;
    options.criterion = Criterion::digits;
    options.digits = digits;
  });
}

/// Every claim holds: the bound is kept, and a converged pair has its digits.
template <class Report>
void expect_digits(Report const& report, std::vector<double> const& exact, int digits) {
  for (std::size_t j = 0; j < exact.size(); ++j) {
    double const error = std::abs(report.eigenvalues[j] - exact[j]);
    EXPECT_LE(error, report.error_bounds[j] + 1e-11 * std::abs(exact[j])) << "pair " << j;
    if (report.pair_status[j] == Status::converged) {
      EXPECT_LE(error, std::pow(10.0, -digits) * std::abs(exact[j])) << "pair " << j;
      EXPECT_GE(report.certain_digits[j], digits) << "pair " << j;
    }
  }
}

TYPED_TEST(Digits, OfAChainWithAStiffSpringAreRightOnBothPaths) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  int const n = 120;
  auto const identity = diagonal_matrix<Scalar>(std::vector<double>(n, 1.0));
  for (double const stiff : {1e4, 1e6, 1e8})
    // With a spring of 1e8 the small matrices of the iteration have no more digits to give.
    for (SolvePath const path :
         {stiff > 1e7 ? SolvePath::automatic : SolvePath::iterative, SolvePath::dense})
      for (TestMatrix<Scalar> const* mass :
           {static_cast<TestMatrix<Scalar> const*>(nullptr), &identity}) {
        auto const springs = one_stiff_spring(n, stiff);
        auto const A = chain<Scalar>(springs);
        auto const solved = solve_for_digits<Scalar, Exec>(A, mass, 4, path);
        EXPECT_EQ(solved.report.status, Status::converged) << stiff;
        expect_digits(solved.report, chain_values(springs, 4), 4);
      }
}

TYPED_TEST(Digits, AreIteratedForUntilTheyAreThoseOfTheReport) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  // Rounding couples the vectors here: what is measured once more at the end leaves fewer digits
  // than an iteration sees.
  std::vector<double> springs(121, 1.0);
  for (std::size_t i = 2; i < springs.size(); i += 4) springs[i] = 1e6;
  auto const A = chain<Scalar>(springs);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    auto const solved = solve<Scalar, Exec>(A, nullptr, 6, [&](auto& options, auto const&) {
      options.criterion = Criterion::digits;
      options.digits = 5;
      options.probe = false;  // it brings digits that nobody asked for
      options.seed = seed;
    });
    EXPECT_EQ(solved.report.status, Status::converged) << seed;
    expect_digits(solved.report, chain_values(springs, 6), 5);
  }
}

TYPED_TEST(Digits, OfPenaltiesAndGradedMassesComeDensely) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  int const n = 60;
  for (double const penalty : {1e10, 1e14, 1e30}) {
    // a penalty on the first mass fixes it: a chain of one mass less remains
    auto A = chain<Scalar>(n);
    A.add(0, 0, Scalar(penalty));
    auto const solved = solve_for_digits<Scalar, Exec>(A, nullptr, 5, SolvePath::automatic);
    EXPECT_EQ(solved.report.status, Status::converged) << penalty;
    EXPECT_EQ(solved.report.path, "dense");
    for (int k = 0; k < 5; ++k) {
      double const exact = 2 - 2 * std::cos((k + 1) * std::numbers::pi / n);
      EXPECT_NEAR(solved.report.eigenvalues[k], exact, (2 / penalty + 1e-8) * exact);
    }
  }
}

TYPED_TEST(Digits, SpreadOverTwelveDecades) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  // Congruence of a known matrix by powers of ten: D A D and D^2 have the spectrum of A
  int const n = 40;
  auto const plain = chain<Scalar>(n);
  TestMatrix<Scalar> A(n), B(n);
  auto const factor = [&](int i) { return std::ldexp(1.0, (i * 7) % 40 - 20); };
  for (int i = 0; i < n; ++i) {
    B.add(i, i, Scalar(factor(i) * factor(i)));
    for (auto const& e : plain.rows[i])
      A.add(i, e.column, Scalar(factor(i) * factor(e.column)) * e.value);
  }
  auto const solved = solve_for_digits<Scalar, Exec>(A, &B, 6, SolvePath::dense);
  for (int k = 0; k < 6; ++k) {
    double const exact = 2 - 2 * std::cos((k + 1) * std::numbers::pi / (n + 1));
    EXPECT_NEAR(solved.report.eigenvalues[k], exact, 1e-11 * exact);
    EXPECT_GE(solved.report.certain_digits[k], 10);
  }
}

TYPED_TEST(Digits, NullVectorsAreZerosAndSaidToBe) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  // three rings that do not touch: three null vectors
  int const ring = 30, n = 3 * ring;
  TestMatrix<Scalar> A(n);
  for (int i = 0; i < n; ++i) {
    int const next = i % ring == ring - 1 ? i - ring + 1 : i + 1;
    A.add(i, i, Scalar(1)), A.add(next, next, Scalar(1));
    A.add(i, next, Scalar(-1)), A.add(next, i, Scalar(-1));
  }
  for (SolvePath const path : {SolvePath::iterative, SolvePath::dense}) {
    auto const solved = solve_for_digits<Scalar, Exec>(A, nullptr, 5, path);
    EXPECT_EQ(solved.report.status, Status::converged);
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(solved.report.pair_status[j], Status::zero_eigenvalue) << j;
      EXPECT_LE(std::abs(solved.report.eigenvalues[j]), 1e-12);
      EXPECT_LE(solved.report.error_bounds[j], 1e-12);
    }
    double const exact = 2 - 2 * std::cos(2 * std::numbers::pi / ring);
    for (int j = 3; j < 5; ++j) {
      EXPECT_EQ(solved.report.pair_status[j], Status::converged) << j;
      EXPECT_NEAR(solved.report.eigenvalues[j], exact, 1e-4 * exact);
    }
  }
}

/// Points of a graph without edges have rows without entries, which tell nothing of their size.
TYPED_TEST(Digits, EmptyRowsGiveZeros) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  int const path = 90, empty = 8, n = path + empty;
  for (double const size : {1.0, 1e-20, 1e20}) {
    TestMatrix<Scalar> A(n);
    auto const place = [&](int i) { return i + std::min(i / 10 + 1, empty); };  // one in eleven
    for (int i = 0; i + 1 < path; ++i) {
      A.add(place(i), place(i), Scalar(size)), A.add(place(i + 1), place(i + 1), Scalar(size));
      A.add(place(i), place(i + 1), Scalar(-size)), A.add(place(i + 1), place(i), Scalar(-size));
    }
    for (SolvePath const way : {SolvePath::iterative, SolvePath::dense}) {
      auto const solved = solve_for_digits<Scalar, Exec>(A, nullptr, empty + 3, way);
      EXPECT_EQ(solved.report.status, Status::converged) << size;
      for (int j = 0; j <= empty; ++j) {
        EXPECT_EQ(solved.report.pair_status[j], Status::zero_eigenvalue) << j << ", " << size;
        EXPECT_LE(std::abs(solved.report.eigenvalues[j]), 1e-12 * size);
      }
      for (int j = empty + 1; j < empty + 3; ++j) {
        double const exact = size * (2 - 2 * std::cos((j - empty) * std::numbers::pi / path));
        EXPECT_EQ(solved.report.pair_status[j], Status::converged) << j << ", " << size;
        EXPECT_NEAR(solved.report.eigenvalues[j], exact, 1e-4 * exact);
      }
    }
  }
}

/// A diagonal over eleven decades, with zeros: their rows are eigenvectors, which a weight of one
/// would leave behind the rows of small entries, whose weights are large.
TYPED_TEST(Digits, ZeroRowsAreFoundBesideSmallEntries) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  Exec const exec;
  int const n = 50, wanted = 3;
  auto const matrix = generate<Scalar>(exec, "laplace7:50x1x1");
  auto const values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matrix.values);
  auto const columns =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matrix.graph.entries);
  auto const rows = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matrix.graph.row_map);
  for (int i = 0; i < n; ++i)
    for (int k = rows(i); k < rows(i + 1); ++k) {
      bool const is_zero = columns(k) != i || i % 10 == 8;  // five rows
      values(k) = is_zero ? Scalar(0) : Scalar(std::pow(10.0, i % 12 - 5));
    }
  Kokkos::deep_copy(matrix.values, values);
  auto const a = matrix_operator(exec, matrix);
  auto const t = jacobi(exec, matrix);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto const X = block_for<Scalar, Exec>(n, 8);
    auto options = iteration_options<Scalar, Exec>(wanted);
    options.tolerance = 1e-8;
    options.preconditioner = &t;
    options.seed = seed;
    auto const report = lobpcg(exec, a, X, options);
    EXPECT_EQ(report.status, Status::converged) << seed;
    for (int j = 0; j < wanted; ++j) EXPECT_LE(std::abs(report.eigenvalues[j]), 1e-7) << seed;
  }
}

TYPED_TEST(Digits, ThatDoublePrecisionDoesNotHaveAreNotClaimed) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  // A dense orthogonal similarity of diag(1e-11, 2e-11, 1, 2, ...): rounding the entries alone
  // moves the small values by some 1e-16.
  int const n = 90;
  std::vector<double> v(n);
  std::mt19937 random(5);
  double square = 0;
  for (double& x : v) x = std::normal_distribution<>()(random), square += x * x;
  TestMatrix<Scalar> A(n);
  auto const d = [&](int k) { return k < 2 ? (k + 1) * 1e-11 : k - 1.0; };
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      long double sum = 0;
      for (int k = 0; k < n; ++k)
        sum += ((i == k) - 2 * v[i] * v[k] / square) * d(k) *
               static_cast<long double>((j == k) - 2 * v[j] * v[k] / square);
      A.add(i, j, Scalar(static_cast<double>(sum)));
      if (i != j) A.add(j, i, Scalar(static_cast<double>(sum)));
    }
  auto const solved = solve_for_digits<Scalar, Exec>(A, nullptr, 4, SolvePath::iterative, 8);
  EXPECT_EQ(solved.report.status, Status::attainable_limit);
  for (int j = 0; j < 2; ++j) {
    EXPECT_FALSE(is_done(solved.report.pair_status[j])) << j;
    EXPECT_LT(solved.report.certain_digits[j], 8) << j;
    EXPECT_LE(std::abs(solved.report.eigenvalues[j] - d(j)), solved.report.error_bounds[j] + 1e-13);
  }
  for (int j = 2; j < 4; ++j) EXPECT_EQ(solved.report.pair_status[j], Status::converged) << j;
}

TYPED_TEST(Digits, AllZeroMatricesConvergeToZero) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  int const n = 64;
  TestMatrix<Scalar> const zero(n);
  auto const mass = diagonal_matrix<Scalar>(std::vector<double>(n, 2.0));
  for (SolvePath const path : {SolvePath::iterative, SolvePath::dense})
    for (TestMatrix<Scalar> const* B : {static_cast<TestMatrix<Scalar> const*>(nullptr), &mass}) {
      auto const solved = solve_for_digits<Scalar, Exec>(zero, B, 3, path);
      EXPECT_EQ(solved.report.status, Status::converged);
      for (double const value : solved.report.eigenvalues) EXPECT_EQ(value, 0);
    }
}

TYPED_TEST(Digits, SurviveTheEndsOfTheRange) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  int const n = 80;
  for (double const unit : {1e-307, 1e-200, 1e150, 1e300, 4e307})
    for (SolvePath const path : {SolvePath::iterative, SolvePath::dense}) {
      Exec const exec;
      // by the library's own operator, which knows its norm
      auto const matrix = generate<Scalar>(exec, "laplace7:80x1x1");
      auto const values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matrix.values);
      for (std::size_t k = 0; k < values.extent(0); ++k) values(k) *= unit / 8;
      Kokkos::deep_copy(matrix.values, values);
      auto const a = matrix_operator(exec, matrix);
      auto const t = jacobi(exec, matrix);
      auto const X = block_for<Scalar, Exec>(n, 3);
      LobpcgOptions<Scalar, Exec> options;
      options.wanted = 3;
      options.path = path;
      options.preconditioner = &t;
      auto const report = lobpcg(exec, a, X, options);
      EXPECT_EQ(report.status, Status::converged) << unit;
      for (int k = 0; k < 3; ++k) {
        double const exact = (6 - 2 * std::cos((k + 1) * std::numbers::pi / (n + 1))) / 8;
        EXPECT_NEAR(report.eigenvalues[k] / unit, exact, 1e-4 * exact) << unit;
      }
    }
}

}  // namespace
}  // namespace blockspan::test
