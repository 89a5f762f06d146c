#include <cmath>

#include "solvers/solve.hpp"

namespace blockspan::test {
namespace {

constexpr int N = 8, wanted = 6;

template <class Exec>
class Invariants : public ::testing::Test {};
TYPED_TEST_SUITE(Invariants, Backends);

TYPED_TEST(Invariants, RitzValuesAscendAndNeverRise) {
  auto const solved = solve<double, TypeParam>(
      grid7<double>(N), nullptr, wanted,
      [](auto& options, auto const&) { options.tolerance = 1e-12, options.probe = false; });
  auto const& history = solved.report.history;
  ASSERT_EQ(static_cast<int>(history.size()), solved.report.iterations + 1);
  for (std::size_t k = 0; k < history.size(); ++k) {
    EXPECT_EQ(history[k].iteration, static_cast<int>(k));
    for (int j = 0; j < wanted; ++j) {
      if (j > 0) {
        EXPECT_LE(history[k].eigenvalues[j - 1], history[k].eigenvalues[j]);
      }
      if (k > 0) {
        EXPECT_LE(history[k].eigenvalues[j], history[k - 1].eigenvalues[j] + 12e-11);
      }
    }
  }
}

TYPED_TEST(Invariants, ScalingTheMatrixScalesTheValuesOnly) {
  auto const A = grid7<double>(N);
  auto const plain = solve<double, TypeParam>(A, nullptr, wanted);
  for (double const scale : {0x1p-664, 0x1p-40, 0x1p40, 0x1p660}) {  // 1e-200 to 5e198
    auto const scaled = solve<double, TypeParam>(A.scaled(scale), nullptr, wanted);
    EXPECT_EQ(scaled.report.status, Status::converged);
    EXPECT_EQ(scaled.report.iterations, plain.report.iterations) << scale;
    for (int j = 0; j < wanted; ++j)
      EXPECT_DOUBLE_EQ(scaled.report.eigenvalues[j] / scale, plain.report.eigenvalues[j]);
  }
  auto const odd = solve<double, TypeParam>(A.scaled(1e200), nullptr, wanted);
  EXPECT_EQ(odd.report.status, Status::converged);
  for (int j = 0; j < wanted; ++j)
    EXPECT_NEAR(odd.report.eigenvalues[j] / 1e200, plain.report.eigenvalues[j], 1e-7);
}

TYPED_TEST(Invariants, ScalingThePencilScalesTheValuesOnly) {
  auto const A = grid7<double>(N);
  auto B = grid7<double>(N);
  for (int i = 0; i < B.order(); ++i) B.add(i, i, 2.0);
  auto const plain = solve<double, TypeParam>(A, &B, wanted);
  ASSERT_EQ(plain.report.status, Status::converged);
  for (double const scale : {0x1p-400, 0x1p400}) {
    auto const C = B.scaled(scale);
    auto const scaled = solve<double, TypeParam>(A, &C, wanted);
    EXPECT_EQ(scaled.report.status, Status::converged);
    for (int j = 0; j < wanted; ++j)
      EXPECT_NEAR(scaled.report.eigenvalues[j] * scale, plain.report.eigenvalues[j], 1e-7);
    EXPECT_LE(scaled.found.orthogonality, 1e-12);
  }
}

TYPED_TEST(Invariants, AShiftMovesTheValuesOnly) {
  auto const A = grid7<double>(N);
  auto shifted = A;
  for (int i = 0; i < A.order(); ++i) shifted.add(i, i, 5.0);
  auto const prepare = [](auto& options, auto const&) { options.tolerance = 1e-11; };
  auto const plain = solve<double, TypeParam>(A, nullptr, wanted, prepare);
  auto const moved = solve<double, TypeParam>(shifted, nullptr, wanted, prepare);
  for (int j = 0; j < wanted; ++j)
    EXPECT_NEAR(moved.report.eigenvalues[j] - 5, plain.report.eigenvalues[j], 1e-9);
}

TYPED_TEST(Invariants, AnOperatorWithoutANormIsMeasured) {
  using Exec = TypeParam;
  auto const A = grid7<double>(N);
  TestOperator<double, Exec> const a(Exec(), A, false);
  auto const X = block_for<double, Exec>(A.order(), wanted);
  LobpcgOptions<double, Exec> options;
  options.wanted = wanted;
  auto const report = lobpcg(Exec(), a, X, options);
  EXPECT_EQ(report.status, Status::converged);
  EXPECT_GE(report.norm_a, 6.0);
  EXPECT_LE(report.norm_a, 24.0);
}

TYPED_TEST(Invariants, TheRelativeCriterionGivesDigitsOfSmallValues) {
  // Graded: the smallest values are far below 1e-8 ||A||.
  std::vector<double> values(300);
  for (int i = 0; i < 300; ++i) values[i] = std::pow(10.0, -9 + i / 30.0);
  auto A = diagonal_matrix<double>(values);
  for (int i = 0; i + 1 < 300; ++i) {
    double const e = 0.1 * values[i];
    A.add(i, i + 1, e), A.add(i + 1, i, e);
  }
  auto const solved = solve<double, TypeParam>(A, nullptr, 4, [](auto& options, auto const&) {
    options.criterion = Criterion::relative;
    options.tolerance = 1e-6;
  });
  EXPECT_EQ(solved.report.status, Status::converged);
  for (int j = 0; j < 4; ++j)
    EXPECT_LE(solved.found.residual[j],
              1.01e-6L * std::abs(solved.report.eigenvalues[j]) * solved.found.size[j]);
}

}  // namespace
}  // namespace blockspan::test
