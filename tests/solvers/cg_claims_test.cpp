// What conjugate gradients claim of right-hand sides at the ends of the range, near the limit of
// the arithmetic, and of matrices that are indefinite, graded or almost singular.
#include <cmath>
#include <functional>

#include <blockspan/operators/matrix_operator.hpp>

#include "solvers/cg_solve.hpp"
#include "solvers/singular_graph.hpp"

namespace blockspan::test {
namespace {

template <class Scalar>
struct Claims {
  CgReport<double> report;
  HostBlock<Scalar> X;
};

/// A solve with the library's own operator, or with one that does not know its entries; each
/// success is judged in extended precision.
template <class Scalar, class Exec>
Claims<Scalar> solve_claims(TestMatrix<Scalar> const& A, HostBlock<Scalar> const& right,
                            std::function<void(CgOptions<Scalar, Exec>&)> const& change,
                            bool knows_entries = true) {
  Exec const exec;
  auto const matrix = matrix_operator(exec, blockspan::sparse::to_device(exec, host_csr_of(A)), 4);
  TestOperator<Scalar, Exec> const foreign(exec, A);
  auto const B = make_block(exec, Storage::right, right);
  auto const Y = make_block(exec, Storage::right, right);
  CgOptions<Scalar, Exec> options;
  change(options);
  LinearOperator<Scalar, Exec> const* op = &foreign;
  if (knows_entries) op = &matrix;
  Claims<Scalar> result{solve_spd<Scalar, Exec>(exec, *op, B.view, Y.view, options), Y.values()};
  auto const residual = judge_residuals(A, right, result.X);
  constexpr long double rounding = 1e-13L;  // of the norms
  for (std::size_t j = 0; j < residual.value.size(); ++j)
    if (result.report.columns[j].status == Status::converged) {
      EXPECT_LE(residual.value[j], options.tolerance * (1 + rounding)) << "column " << j;
    }
  return result;
}

template <class Config>
class CgClaims : public ::testing::Test {};
TYPED_TEST_SUITE(CgClaims, Backends, ConfigNames);

/// tridiag(-1, diagonal, -1)
template <class Scalar>
TestMatrix<Scalar> chain(std::vector<double> const& diagonal) {
  TestMatrix<Scalar> A(static_cast<std::int64_t>(diagonal.size()));
  for (int i = 0; i < A.order(); ++i) {
    A.add(i, i, Scalar(diagonal[static_cast<std::size_t>(i)]));
    if (i > 0) A.add(i, i - 1, Scalar(-1));
    if (i + 1 < A.order()) A.add(i, i + 1, Scalar(-1));
  }
  return A;
}

template <class Scalar, class Exec>
void expect_ends_of_the_range_disturb_nobody() {
  int const n = 50;
  auto const A = chain<Scalar>(std::vector<double>(n, 2.5));
  auto B = random_block<Scalar>(n, 5, 1);
  auto const plain = solve_claims<Scalar, Exec>(A, B, [](auto&) {});
  int const exponents[] = {0, -1030, 1020, -1060, 0};
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < n; ++i) B(i, j) *= std::ldexp(1.0, exponents[j] / 2);
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < n; ++i) B(i, j) *= std::ldexp(1.0, exponents[j] - exponents[j] / 2);
  for (CgMethod const method : every_method)
    for (bool const knows : {true, false}) {
      auto const wild = solve_claims<Scalar, Exec>(
          A, B, [&](auto& options) { options.method = method; }, knows);
      for (int const j : {0, 1, 2, 4})
        EXPECT_EQ(wild.report.columns[j].status, Status::converged) << j;
      // 14 bits of 2^-1060 hold four digits, if any
      EXPECT_EQ(wild.report.columns[3].status, Status::out_of_range);
      EXPECT_GT(wild.report.columns[3].residual, 1e-8);
      EXPECT_LE(wild.report.iterations, plain.report.iterations + 60);
    }
}

TYPED_TEST(CgClaims, RightHandSidesAtTheEndsOfTheRangeDisturbNobody) {
  expect_ends_of_the_range_disturb_nobody<double, TypeParam>();
  using Complex = Kokkos::complex<double>;
  if constexpr (has_scalar<Complex>) expect_ends_of_the_range_disturb_nobody<Complex, TypeParam>();
}

TYPED_TEST(CgClaims, ASolutionBeyondTheRangeIsToldAsSuch) {
  std::vector<double> const diagonal(20, 2.5);
  auto A = chain<double>(diagonal);
  for (auto& row : A.rows)
    for (auto& entry : row) entry.value *= 1e-10;
  auto B = random_block<double>(20, 3, 1);
  for (int i = 0; i < 20; ++i) B(i, 1) *= 1e305;
  for (CgMethod const method : every_method) {
    auto const solved =
        solve_claims<double, TypeParam>(A, B, [&](auto& options) { options.method = method; });
    EXPECT_EQ(solved.report.columns[0].status, Status::converged);
    EXPECT_EQ(solved.report.columns[1].status, Status::out_of_range);
    EXPECT_EQ(solved.report.columns[2].status, Status::converged);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(std::isfinite(solved.X(i, 1)));
  }
}

TYPED_TEST(CgClaims, RoundingErrorsOfAResidualCountAgainstTheTolerance) {
  // Samples of which every third is there twice, by a Gaussian kernel with a nugget.
  int const n = 48;
  std::vector<double> x;
  for (int i = 0; i < n; ++i) x.push_back(0.02 * (i % 3 == 2 ? i - 1 : i));
  for (double const nugget : {1e-6, 1e-8, 1e-10}) {
    TestMatrix<double> A(n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        A.add(i, j, std::exp(-30 * std::pow(x[i] - x[j], 2)) + (i == j ? nugget : 0));
    int converged = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed)
      for (double const tolerance : {1e-6, 1e-8, 1e-9, 1e-10})
        for (bool const knows : {true, false})
          for (CgMethod const method : {CgMethod::pseudo_block, CgMethod::block}) {
            auto const solved = solve_claims<double, TypeParam>(
                A, random_block<double>(n, 2, seed),
                [&](auto& options) {
                  options.method = method;
                  options.tolerance = tolerance;
                  options.max_iterations = 2000;
                },
                knows);
            for (auto const& column : solved.report.columns) converged += column.success();
          }
    EXPECT_TRUE(converged > 0 || nugget < 1e-9) << nugget;
  }
}

/// No column is called singular, and each that is not solved met a negative curvature.
template <class Scalar, class Exec>
void expect_indefinite(TestMatrix<Scalar> const& A, HostBlock<Scalar> const& B) {
  for (CgMethod const method : every_method)
    for (bool const single : {false, true}) {
      if (single && method != CgMethod::pseudo_block) continue;
      auto const solved = solve_claims<Scalar, Exec>(A, B, [&](auto& options) {
        options.method = method;
        options.single_reduction = single;
      });
      for (auto const& column : solved.report.columns)
        EXPECT_TRUE(column.success() || column.status == Status::negative_curvature)
            << to_string(column.status);
    }
}

template <class Scalar>
HostBlock<Scalar> unit_columns(int n, std::vector<int> const& rows) {
  HostBlock<Scalar> B(n, static_cast<std::int64_t>(rows.size()), Scalar(0));
  for (std::size_t j = 0; j < rows.size(); ++j) B(rows[j], static_cast<std::int64_t>(j)) = 1;
  return B;
}

TYPED_TEST(CgClaims, AnIndefiniteMatrixIsNotCalledSingular) {
  using Complex = Kokkos::complex<double>;
  for (int const n : {5, 21}) {
    std::vector<double> wilkinson;
    for (int i = 0; i < n; ++i) wilkinson.push_back(std::abs(i - n / 2));
    auto const W = chain<double>(wilkinson);
    expect_indefinite<double, TypeParam>(W, unit_columns<double>(n, {n / 2}));
    expect_indefinite<double, TypeParam>(W, unit_columns<double>(n, {n / 2, 0, n - 1}));
    if constexpr (has_scalar<Complex>)
      expect_indefinite<Complex, TypeParam>(chain<Complex>(wilkinson),
                                            unit_columns<Complex>(n, {n / 2, 1}));
  }
  TestMatrix<double> swap(2);
  swap.add(0, 1, 1), swap.add(1, 0, 1);
  expect_indefinite<double, TypeParam>(swap, unit_columns<double>(2, {0}));
  expect_indefinite<double, TypeParam>(swap, unit_columns<double>(2, {0, 1}));
  expect_indefinite<double, TypeParam>(diagonal_matrix<double>({1, -1}),
                                       HostBlock<double>(2, 1, 1.0));
}

/// In any units, where squares of images and of solutions leave the range.
TYPED_TEST(CgClaims, TheUnitsOfAMatrixChangeNoVerdict) {
  int const n = 30;
  std::vector<double> one_zero(n, 1.0), one_negative(n, 1.0);
  one_zero[3] = 0, one_negative[3] = -1;
  std::pair<TestMatrix<double>, Status> const cases[] = {
      {chain<double>(std::vector<double>(n, 2.1)), Status::converged},
      {chain<double>(std::vector<double>(n, 0.9)), Status::negative_curvature},
      {diagonal_matrix<double>(one_negative), Status::negative_curvature},
      {diagonal_matrix<double>(one_zero), Status::inconsistent}};
  for (double const unit : {1e-300, 1e-200, 1.0, 1e200, 1e300})
    for (auto const& [A, status] : cases)
      for (int const columns : {1, 3})
        for (CgMethod const method : every_method)
          for (bool const preconditioned : {false, true}) {
            if (preconditioned && status == Status::inconsistent) continue;  // no weight for a zero
            auto const scaled = A.scaled(unit);
            auto const M = library_jacobi<double, TypeParam>(scaled);
            auto const solved = solve_claims<double, TypeParam>(
                scaled, random_block<double>(n, columns, 1), [&](auto& options) {
                  options.method = method;
                  if (preconditioned) options.preconditioner = &M;
                });
            for (auto const& column : solved.report.columns)
              EXPECT_EQ(column.status, status) << unit << ' ' << preconditioned;
          }
}

TYPED_TEST(CgClaims, AGradedMatrixIsNotCalledSingular) {
  for (double const large : {1e12, 1e15, 1e17, 1e20})
    for (CgMethod const method : every_method) {
      auto const solved = solve_claims<double, TypeParam>(
          chain<double>({large, 2, 2, 2}), unit_columns<double>(4, {1, 3}),
          [&](auto& options) { options.method = method; });
      EXPECT_TRUE(solved.report.converged()) << large << " " << to_string(solved.report.status);
      EXPECT_EQ(solved.report.null_vectors, 0);
    }
}

TYPED_TEST(CgClaims, AMatrixThatMayBeRegularIsNotWithoutASolution) {
  for (int const n : {9, 12, 13, 14}) {
    TestMatrix<double> A(n);  // Hilbert's: condition numbers from 5e11 to 2e17
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) A.add(i, j, 1.0 / (i + j + 1));
    for (int const columns : {1, 3})
      for (CgMethod const method : every_method) {
        auto const solved =
            solve_claims<double, TypeParam>(A, random_block<double>(n, columns, 1),
                                            [&](auto& options) { options.method = method; });
        for (auto const& column : solved.report.columns)
          EXPECT_NE(column.status, Status::inconsistent) << n;
      }
  }
}

TYPED_TEST(CgClaims, EmptyRowsAreANullSpace) {
  int const n = 6;
  TestMatrix<double> A(n);
  for (int i = 0; i < 4; ++i) {
    A.add(i, i, 2);
    if (i > 0) A.add(i, i - 1, -1);
    if (i < 3) A.add(i, i + 1, -1);
  }
  for (int const columns : {1, 2, 3, 5}) {
    auto B = random_block<double>(n, columns, 1);
    for (int j = 0; j < columns; j += 2) B(4, j) = B(5, j) = 0;
    for (CgMethod const method : every_method) {
      // as factors of a shifted matrix: what is null comes back 1e10 times larger
      auto const M = diagonal_matrix<double>({1, 1, 1, 1, 1e10, 1e10});
      TestOperator<double, TypeParam> const enlarges(TypeParam(), M);
      for (bool const preconditioned : {false, true}) {
        auto const solved = solve_claims<double, TypeParam>(A, B, [&](auto& options) {
          options.method = method;
          if (preconditioned) options.preconditioner = &enlarges;
        });
        for (int j = 0; j < columns; ++j)
          EXPECT_EQ(solved.report.columns[j].status,
                    j % 2 == 0 ? Status::converged : Status::inconsistent)
              << j << " of " << columns;
      }
    }
  }
}

/// Pairs of rows [w, -w; -w, w] and empty rows: directions end on few rows, whose curvature is
/// nothing but rounding errors.
TYPED_TEST(CgClaims, ASemidefiniteMatrixHasNoNegativeCurvature) {
  int const n = 48;
  for (double const weight : {3.0, 0.1}) {
    TestMatrix<double> A(n);
    for (int i = 0; i + 1 < 32; i += 2)
      for (int const a : {i, i + 1})
        for (int const b : {i, i + 1}) A.add(a, b, (a == b ? 1 : -1) * weight * (1 + i));
    for (std::uint64_t seed = 1; seed <= 8; ++seed)
      for (int const columns : {1, 3})
        for (CgMethod const method : every_method) {
          auto const solved =
              solve_claims<double, TypeParam>(A, random_block<double>(n, columns, seed),
                                              [&](auto& options) { options.method = method; });
          for (auto const& column : solved.report.columns)
            EXPECT_NE(column.status, Status::negative_curvature) << seed;
          EXPECT_FALSE(solved.report.indefinite) << seed;
        }
  }
}

TYPED_TEST(CgClaims, ANullVectorMayHaveTheRoundingErrorsOfAnEigensolver) {
  auto const A = diagonal_matrix<double>({1, 0});
  for (double const error : {1e-16, 1e-12}) {
    TypeParam const exec;
    Block<double, TypeParam> const N("N", 2, 1);
    auto const host = Kokkos::create_mirror_view(N);
    host(0, 0) = error, host(1, 0) = 1;
    Kokkos::deep_copy(exec, N, host);
    exec.fence();
    auto const run = [&] {
      return solve_claims<double, TypeParam>(A, HostBlock<double>(2, 1, 1.0), [&](auto& options) {
        options.null_space = N;
        options.tolerance = 0.9;  // the judge's residual is that of all of b
      });
    };
    if (error > 1e-14) {
      EXPECT_THROW(run(), Error);
      continue;
    }
    auto const solved = run();
    EXPECT_TRUE(solved.report.converged());
    EXPECT_NEAR(solved.X(0, 0), 1, 1e-12);
  }
}

}  // namespace
}  // namespace blockspan::test
