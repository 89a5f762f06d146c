#include <cmath>

#include "solvers/grid_vectors.hpp"
#include "solvers/solve.hpp"

// More pairs than the block holds.
namespace blockspan::test {
namespace {

template <class Scalar, class Exec>
Solved<Scalar, Exec> solve_in_batches(
    TestMatrix<Scalar> const& A, TestMatrix<Scalar> const* B, int wanted, int block,
    std::function<void(LobpcgOptions<Scalar, Exec>&)> const& change = nullptr) {
  return solve<Scalar, Exec>(A, B, wanted, [&](auto& options, auto const&) {
    options.block = block;
    if (change) change(options);
  });
}

template <class Config>
class Batches : public ::testing::Test {};
TYPED_TEST_SUITE(Batches, EveryConfig, ConfigNames);

TYPED_TEST(Batches, FindAllLowPairsOfAGridWithItsMultiplicities) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  constexpr int N = 8, wanted = 60, block = 16;
  bool constexpr single = sizeof(real_t<Scalar>) == 4;
  auto const A = grid7<double>(N).template as<Scalar>();
  double const tolerance = single ? 1e-4 : 1e-8;
  auto const solved = solve_in_batches<Scalar, Exec>(A, nullptr, wanted, block, [&](auto& options) {
    options.tolerance = static_cast<real_t<Scalar>>(tolerance);
  });
  EXPECT_EQ(solved.report.status, Status::converged);
  EXPECT_GE(solved.report.counters.batches, 5);  // at most 12 pairs with 4 guards
  auto const exact = grid7_spectrum(N);
  for (int j = 0; j < wanted; ++j) {
    EXPECT_LE(solved.found.backward[j], 1.01 * tolerance) << j;
    EXPECT_NEAR(static_cast<double>(solved.report.eigenvalues[j]), exact[j],
                static_cast<double>(value_bound(solved, A.infinity_norm())))
        << j;
  }
  EXPECT_LE(solved.found.orthogonality, 1000 * unit_roundoff<Scalar>);
}

template <class Exec>
class LockedPairs : public ::testing::Test {};
TYPED_TEST_SUITE(LockedPairs, Backends);

TYPED_TEST(LockedPairs, TheLargestPairsOfAPencilComeInOrder) {
  constexpr int N = 7, wanted = 30;
  auto const A = grid7<double>(N);
  std::vector<double> mass(A.order());
  for (int i = 0; i < A.order(); ++i) mass[i] = 1 + 0.5 * std::sin(i);
  auto const B = diagonal_matrix<double>(mass);
  auto const largest = [](auto& options) { options.which = Which::largest; };
  auto const whole = solve_in_batches<double, TypeParam>(A, &B, wanted, 0, largest);
  auto const batches = solve_in_batches<double, TypeParam>(A, &B, wanted, 12, largest);
  ASSERT_EQ(whole.report.status, Status::converged);
  EXPECT_EQ(batches.report.status, Status::converged);
  EXPECT_EQ(whole.report.counters.batches, 1);
  for (int j = 0; j < wanted; ++j) {
    EXPECT_NEAR(batches.report.eigenvalues[j], whole.report.eigenvalues[j], 1e-6) << j;
    EXPECT_LE(batches.found.backward[j], 1.01e-8) << j;
    if (j > 0) {
      EXPECT_LE(batches.report.eigenvalues[j], batches.report.eigenvalues[j - 1]);
    }
  }
  EXPECT_LE(batches.found.orthogonality, 1e-12);
}

TYPED_TEST(LockedPairs, AStartWiderThanTheBlockServesTheLaterBatches) {
  constexpr int N = 8, wanted = 20;
  GridVectors const vectors(N);
  auto const from = [&](int given) {
    return solve<double, TypeParam>(grid7<double>(N), nullptr, wanted,
                                    [&](auto& options, auto const& X) {
                                      set_columns<double, TypeParam>(X, given, vectors);
                                      options.guess_columns = given;
                                      options.block = 12;
                                      options.probe = false;
                                    });
  };
  auto const exact = from(wanted), half = from(12);
  for (auto const& solved : {exact, half}) EXPECT_EQ(solved.report.status, Status::converged);
  EXPECT_GE(exact.report.counters.batches, 2);
  EXPECT_EQ(exact.report.iterations, 0);
  EXPECT_GT(half.report.iterations, 0);
}

TYPED_TEST(LockedPairs, AreTwoHundredWithABlockOfThirtyTwo) {
  constexpr int N = 12, wanted = 200, block = 32;
  auto const A = grid7<double>(N);
  auto const solved = solve_in_batches<double, TypeParam>(A, nullptr, wanted, block);
  EXPECT_EQ(solved.report.status, Status::converged);
  EXPECT_EQ(solved.report.path, "iterative");
  expect_values(solved, grid7_spectrum(N), A.infinity_norm());
}

TYPED_TEST(LockedPairs, AClusterWiderThanABatchIsFoundWhole) {
  // 25 equal lowest values, blocks of 8 with 4 pairs each.
  std::vector<double> values(400);
  for (int i = 0; i < 400; ++i) values[i] = i < 25 ? 1 : 2 + 0.1 * (i - 25);
  auto const solved =
      solve_in_batches<double, TypeParam>(diagonal_matrix<double>(values), nullptr, 30, 8,
                                          [](auto& options) { options.preconditioner = nullptr; });
  EXPECT_EQ(solved.report.status, Status::converged);
  for (int j = 0; j < 30; ++j) EXPECT_NEAR(solved.report.eigenvalues[j], values[j], 1e-6) << j;
  EXPECT_LE(solved.found.orthogonality, 1e-12);
}

/// Two chains that nothing connects: every value is double.
TestMatrix<double> two_chains(int length) {
  TestMatrix<double> A(2 * length);
  for (int i = 0; i < 2 * length; ++i) {
    A.add(i, i, 2);
    if (i % length > 0) A.add(i, i - 1, -1);
    if (i % length + 1 < length) A.add(i, i + 1, -1);
  }
  return A;
}

TYPED_TEST(LockedPairs, ThatLeaveOthersUncertainAreIteratedFurther) {
  constexpr int length = 74, wanted = 10;
  auto const A = two_chains(length);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto const solved = solve_in_batches<double, TypeParam>(A, nullptr, wanted, 5, [&](auto& o) {
      o.preconditioner = nullptr;
      o.which = Which::largest;
      o.criterion = Criterion::digits;
      o.tolerance = 1e-3;  // of a batch, the bounds of digits ask for little more
      o.probe = false;
      o.seed = seed;
    });
    EXPECT_EQ(solved.report.status, Status::converged) << seed;
    for (int j = 0; j < wanted; ++j) {
      double const exact = 2 + 2 * std::cos((j / 2 + 1) * std::acos(-1.0) / (length + 1));
      EXPECT_NEAR(solved.report.eigenvalues[j], exact, 1e-4 * exact) << seed << ", pair " << j;
    }
  }
}

TYPED_TEST(LockedPairs, TheWholeSpectrumIsDense) {
  constexpr int N = 5;
  auto const A = grid7<double>(N);
  auto const solved = solve_in_batches<double, TypeParam>(A, nullptr, A.order(), 16);
  EXPECT_EQ(solved.report.path, "dense");
  EXPECT_EQ(solved.report.status, Status::converged);
  expect_values(solved, grid7_spectrum(N), A.infinity_norm());
}

TYPED_TEST(LockedPairs, AnEarlyEndTellsWhichPairsAreKnown) {
  constexpr int N = 8, wanted = 50, block = 12;
  auto const A = grid7<double>(N);
  int first_batch = 0;
  auto const solved =
      solve_in_batches<double, TypeParam>(A, nullptr, wanted, block, [&](auto& options) {
        options.monitor = [&](LobpcgProgress<double> const& now) {
          EXPECT_EQ(now.wanted, wanted);
          EXPECT_GE(now.converged, now.locked);
          if (now.locked > 0 && first_batch == 0) first_batch = now.iteration;
          return first_batch == 0 || now.iteration < first_batch + 3;
        };
      });
  auto const& report = solved.report;
  EXPECT_EQ(report.status, Status::stopped_by_monitor);
  int converged = 0, known = 0;
  for (int j = 0; j < wanted; ++j) {
    if (report.pair_status[j] == Status::converged) {
      ++converged;
      EXPECT_LE(solved.found.backward[j], 1.01e-8) << j;
    }
    if (std::isfinite(report.eigenvalues[j])) ++known;
    EXPECT_EQ(std::isfinite(report.eigenvalues[j]), std::isfinite(report.backward_errors[j]));
  }
  EXPECT_GE(converged, 6);
  EXPECT_EQ(known, converged < wanted ? 8 + block : wanted);  // one batch of 8, then the block
  auto const exact = grid7_spectrum(N);
  for (int j = 0; j < converged; ++j) EXPECT_NEAR(report.eigenvalues[j], exact[j], 1e-6);
  EXPECT_EQ(report.history.back().eigenvalues.size(), 16u);  // locked, then the batch
}

TYPED_TEST(LockedPairs, TheHistoryHoldsBackwardErrorsUnderEitherCriterion) {
  constexpr double tolerance = 1e-6;
  auto const A = grid7<double>(8);
  auto const solved = solve_in_batches<double, TypeParam>(A, nullptr, 24, 12, [](auto& options) {
    options.criterion = Criterion::relative;
    options.tolerance = tolerance;
  });
  EXPECT_EQ(solved.report.status, Status::converged);
  // ||r|| <= tolerance lambda ||x||, over (||A|| + lambda) ||x||
  auto const& last = solved.report.history.back();
  int locked = 0;
  for (std::size_t j = 0; j + 8 < last.eigenvalues.size(); ++j, ++locked) {
    double const lambda = last.eigenvalues[j];
    EXPECT_LE(last.backward_errors[j], tolerance * lambda / (A.infinity_norm() + lambda)) << j;
  }
  EXPECT_GE(locked, 8);
}

TYPED_TEST(LockedPairs, ConstraintsAndBatchesGoTogether) {
  constexpr int N = 8, wanted = 24;
  auto const A = grid7<double>(N);
  // The lowest eigenvector of the grid: a product of three half waves.
  Block<double, TypeParam> const Y("Y", A.order(), 1);
  set_columns<double, TypeParam>(Y, 1, [](int i, int) {
    double product = 1;
    for (int const at : {i % N, i / N % N, i / (N * N)})
      product *= std::sin((at + 1) * std::acos(-1.0) / (N + 1));
    return product;
  });
  auto const solved = solve_in_batches<double, TypeParam>(
      A, nullptr, wanted, 12, [&](auto& options) { options.constraints = Y; });
  EXPECT_EQ(solved.report.status, Status::converged);
  auto const all = grid7_spectrum(N);
  expect_values(solved, {all.begin() + 1, all.end()}, A.infinity_norm());
}

}  // namespace
}  // namespace blockspan::test
