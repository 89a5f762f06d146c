// Pseudo-block conjugate gradients with one reduction an iteration: what two reductions find, with
// fewer kernels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "solvers/cg_solve.hpp"
#include "solvers/truth.hpp"
#include "support/observed.hpp"

namespace blockspan::test {
namespace {

/// A solve with one reduction, or with two.
template <class Scalar, class Exec>
CgSolved<Scalar> solve_with(int reductions, TestMatrix<Scalar> const& A, HostBlock<Scalar> const& B,
                            Preconditioner preconditioner = Preconditioner::jacobi,
                            std::function<void(CgOptions<Scalar, Exec>&)> const& change = {}) {
  return solve<Scalar>(CgCase<Scalar, Exec>{A,
                                            B,
                                            CgMethod::pseudo_block,
                                            preconditioner,
                                            [&](auto& options) {
                                              options.single_reduction = reductions == 1;
                                              if (change) change(options);
                                            },
                                            {}});
}

template <class Config>
class CgSingleReduction : public ::testing::Test {};
TYPED_TEST_SUITE(CgSingleReduction, Configs, ConfigNames);

TYPED_TEST(CgSingleReduction, TakesTheSameStepsUpToRounding) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  auto const A = hermitian_grid<Scalar>(8);
  for (int const k : {1, 5, 12})
    for (auto const preconditioner : {Preconditioner::none, Preconditioner::jacobi}) {
      auto const B = random_block<Scalar>(A.order(), k, 3);
      auto const one = solve_with<Scalar, Exec>(1, A, B, preconditioner);
      auto const two = solve_with<Scalar, Exec>(2, A, B, preconditioner);
      EXPECT_TRUE(one.report.converged());
      auto const& counters = one.report.counters;
      // One product more a cycle than steps and verifications need.
      EXPECT_EQ(counters.operator_applications, one.report.iterations + 2 * counters.cycles);
      EXPECT_LE(std::abs(one.most_iterations - two.most_iterations), 1);
      for (std::size_t i = 0; i < 5; ++i)
        for (int j = 0; j < k; ++j)
          EXPECT_NEAR(one.report.history[i].residuals[j], two.report.history[i].residuals[j],
                      1e4 * unit_roundoff<Scalar>);
    }
}

TYPED_TEST(CgSingleReduction, HasFourKernelsAndOneWait) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  Exec const exec;
  auto const matrix = hermitian_grid<Scalar>(9);
  TestOperator<Scalar, Exec> const A(exec, matrix);
  auto const jacobi = library_jacobi<Scalar, Exec>(matrix);
  for (bool const preconditioned : {false, true})
    for (int const columns : {1, 8}) {
      auto const B =
          make_block(exec, Storage::right, random_block<Scalar>(matrix.order(), columns, 3));
      auto const X = make_block(exec, Storage::right, HostBlock<Scalar>(matrix.order(), columns));
      CgOptions<Scalar, Exec> options;
      options.method = CgMethod::pseudo_block;
      options.single_reduction = true;
      options.compact = false;
      if (preconditioned) options.preconditioner = &jacobi;
      struct Counts {
        std::size_t allocations, fences, kernels;
      };
      std::vector<Counts> seen;
      options.monitor = [&](auto const&) {
        auto const& now = observed_so_far();
        seen.push_back({now.allocations.size(), now.fences.size(), now.labels.size()});
        return true;
      };
      observed([&] {
        EXPECT_TRUE((solve_spd<Scalar, Exec>(exec, A, B.view, X.view, options).converged()));
      });
      ASSERT_GT(seen.size(), 6u);
      for (std::size_t i = 2; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].allocations, seen[1].allocations) << i;
        EXPECT_EQ(seen[i].fences - seen[i - 1].fences, 1u) << i;
        EXPECT_EQ(seen[i].kernels - seen[i - 1].kernels, 4u) << i;
      }
    }
}

TYPED_TEST(CgSingleReduction, AColumnGetsTheSameBitsWhoeverStandsBesideItAndWhenTheyLeave) {
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  using Exec = typename TypeParam::Exec;
  auto const A = hermitian_grid<Scalar>(7);
  auto const B = random_block<Scalar>(A.order(), 11, 5);
  auto const change = [](bool compact) {
    return [compact](auto& options) {
      options.compact = compact;
      for (int j = 0; j < 11; ++j)
        options.tolerances.push_back(static_cast<Real>(j % 3 ? 1e-2 : 1e-5));
    };
  };
  auto const together = solve_with<Scalar, Exec>(1, A, B, Preconditioner::jacobi, change(true));
  auto const resting = solve_with<Scalar, Exec>(1, A, B, Preconditioner::jacobi, change(false));
  EXPECT_GT(together.report.counters.compactions, 0);
  EXPECT_EQ(resting.report.counters.compactions, 0);
  EXPECT_TRUE(same_bits(together.X, resting.X));
  for (int const j : {0, 6, 10}) {
    HostBlock<Scalar> b(A.order(), 1);
    for (int i = 0; i < A.order(); ++i) b(i, 0) = B(i, j);
    auto const alone = solve_with<Scalar, Exec>(
        1, A, b, Preconditioner::jacobi,
        [j](auto& options) { options.tolerance = static_cast<Real>(j % 3 ? 1e-2 : 1e-5); });
    EXPECT_EQ(alone.most_iterations, together.report.columns[j].iterations);
    for (int i = 0; i < A.order(); ++i) ASSERT_EQ(alone.X(i, 0), together.X(i, j)) << i;
  }
}

TYPED_TEST(CgSingleReduction, WithAnotherPreconditionerThereAreTwo) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  auto const A = hermitian_grid<Scalar>(6);
  auto const B = random_block<Scalar>(A.order(), 3, 5);
  EXPECT_TRUE(same_bits((solve_with<Scalar, Exec>(1, A, B, Preconditioner::foreign).X),
                        (solve_with<Scalar, Exec>(2, A, B, Preconditioner::foreign).X)));
}

template <class Exec>
class CgSingleReductionHard : public ::testing::Test {};
TYPED_TEST_SUITE(CgSingleReductionHard, Backends, ConfigNames);

TYPED_TEST(CgSingleReductionHard, APredictionThatCancelsWaitsForTheTruth) {
  // The first step takes the residual to some 1e-5 of its size, its square to 1e-10.
  int const n = 600;
  std::vector<double> values(n);
  for (int i = 0; i < n; ++i) values[i] = 1 + 1e-5 * i / n;
  auto const A = diagonal_matrix<double>(values);
  auto const B = random_block<double>(n, 5, 1);
  auto const change = [](auto& options) { options.tolerance = 1e-13; };
  CgSolved<double> one;
  auto const seen =
      observed([&] { one = solve_with<double, TypeParam>(1, A, B, Preconditioner::none, change); });
  auto const two = solve_with<double, TypeParam>(2, A, B, Preconditioner::none, change);
  EXPECT_TRUE(one.report.converged());
  EXPECT_GT(one.most_iterations, 1);
  EXPECT_LE(std::abs(one.most_iterations - two.most_iterations), 1);
  EXPECT_GT(std::count(seen.labels.begin(), seen.labels.end(), "Blockspan::cg::direction"), 0);
}

TYPED_TEST(CgSingleReductionHard, ADiagonalMatrixTakesOneStep) {
  auto const A = diagonal_matrix<double>({3, 1, 4, 1, 5, 9, 2, 6});
  auto const solved = solve_with<double, TypeParam>(1, A, random_block<double>(8, 3, 1));
  EXPECT_TRUE(solved.report.converged());
  EXPECT_EQ(solved.most_iterations, 1);
}

TYPED_TEST(CgSingleReductionHard, TheScaleOfTheMatrixDoesNotMatter) {
  auto const A = grid7<double>(8);
  auto const B = random_block<double>(A.order(), 3, 1);
  for (auto const preconditioner : {Preconditioner::none, Preconditioner::jacobi}) {
    int const plain = solve_with<double, TypeParam>(1, A, B, preconditioner).most_iterations;
    for (double const scale : {1e-150, 1e-40, 1e40, 1e150}) {
      auto const solved = solve_with<double, TypeParam>(1, A.scaled(scale), B, preconditioner);
      EXPECT_TRUE(solved.report.converged()) << scale;
      EXPECT_LE(std::abs(solved.most_iterations - plain), 1) << scale;
    }
  }
}

/// Two unconnected grids, the second one shifted by `shift`.
TestMatrix<double> two_parts(double shift) {
  auto const part = grid7<double>(6);
  int const n = part.order();
  TestMatrix<double> A(2 * n);
  for (int i = 0; i < n; ++i) {
    for (auto const& e : part.rows[i])
      A.add(i, e.column, e.value), A.add(n + i, n + e.column, e.value);
    A.add(n + i, n + i, shift);
  }
  return A;
}

TYPED_TEST(CgSingleReductionHard, TheColumnThatMeetsNegativeCurvatureIsNamed) {
  auto const A = two_parts(-1.5);
  auto B = random_block<double>(A.order(), 4, 1);
  for (int i = A.order() / 2; i < A.order(); ++i) B(i, 0) = B(i, 2) = 0;
  auto const solved = solve_with<double, TypeParam>(1, A, B, Preconditioner::none);
  EXPECT_TRUE(solved.report.indefinite);
  EXPECT_LT(solved.report.curvature, -1e-12);
  for (int j = 0; j < 4; ++j) {
    EXPECT_EQ(solved.report.columns[j].status,
              j % 2 ? Status::negative_curvature : Status::converged);
    EXPECT_LE(solved.report.columns[j].residual, 1);
  }
}

TYPED_TEST(CgSingleReductionHard, ANaNOfTheOperatorIsNamedAndXIsZero) {
  auto A = two_parts(0);
  A.rows[A.order() - 1][0].value = std::numeric_limits<double>::quiet_NaN();
  auto const B = random_block<double>(A.order(), 3, 1);
  TestOperator<double, TypeParam> const op(TypeParam(), A);
  CgOptions<double, TypeParam> options;
  options.method = CgMethod::pseudo_block;
  options.single_reduction = true;
  auto const b = make_block(TypeParam(), Storage::right, B);
  auto const x = make_block(TypeParam(), Storage::right, HostBlock<double>(A.order(), 3, 7.0));
  auto const report = solve_spd<double, TypeParam>(TypeParam(), op, b.view, x.view, options);
  for (auto const& column : report.columns) {
    EXPECT_EQ(column.status, Status::operator_not_finite);
    EXPECT_EQ(column.residual, 1);
  }
  EXPECT_TRUE(same_bits(x.values(), HostBlock<double>(A.order(), 3)));
}

TYPED_TEST(CgSingleReductionHard, LimitsAreKept) {
  auto const A = grid7<double>(8);
  auto const B = random_block<double>(A.order(), 3, 1);
  for (int const most : {0, 1, 2, 9}) {
    auto const change = [most](auto& options) { options.max_iterations = most; };
    auto const one = solve_with<double, TypeParam>(1, A, B, Preconditioner::jacobi, change);
    auto const two = solve_with<double, TypeParam>(2, A, B, Preconditioner::jacobi, change);
    EXPECT_EQ(one.report.status, Status::max_iterations);
    EXPECT_EQ(one.report.iterations, most);
    for (int j = 0; j < 3; ++j)
      EXPECT_NEAR(one.report.columns[j].residual, two.report.columns[j].residual, 1e-12);
  }
}

TYPED_TEST(CgSingleReductionHard, RealMatricesTakeTheirCounts) {
  if (!matrix_folder()) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR is not set";
  struct Wanted {
    std::string matrix;
    Preconditioner preconditioner;
    int iterations;
  };
  for (auto const& wanted : {Wanted{"nos3", Preconditioner::none, 264},
                             {"nos3", Preconditioner::jacobi, 230},
                             {"bcsstk09", Preconditioner::none, 302},
                             {"bcsstk09", Preconditioner::jacobi, 273},
                             {"1138_bus", Preconditioner::jacobi, 1017}}) {
    auto const A = read_test_matrix<double>(*matrix_folder(), wanted.matrix);
    auto const B = random_block<double>(A.order(), 8, 77);
    auto const solved = solve_with<double, TypeParam>(1, A, B, wanted.preconditioner);
    EXPECT_TRUE(solved.report.converged()) << wanted.matrix;
    EXPECT_NEAR(solved.most_iterations, wanted.iterations, 0.05 * wanted.iterations + 3)
        << wanted.matrix;
  }
  for (std::string const name : {"494_bus", "662_bus", "nos5", "bcsstk08", "bcsstk10", "LF10"}) {
    auto const A = read_test_matrix<double>(*matrix_folder(), name);
    auto const solved = solve_with<double, TypeParam>(1, A, random_block<double>(A.order(), 8, 77));
    EXPECT_TRUE(solved.report.converged()) << name << " " << to_string(solved.report.status);
  }
}

}  // namespace
}  // namespace blockspan::test
