#include <cmath>
#include <limits>
#include <vector>

#include <blockspan/solvers/lobpcg_mixed.hpp>

#include "solvers/solve.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

constexpr int N = 12, wanted = 6;

template <class Scalar, class Exec>
struct Mixed {
  LobpcgMixedReport<real_t<Scalar>> report;
  Block<Scalar, Exec> X;
  Judgement found;
};

/// A problem in two precisions: what single precision is told may be something else than A.
template <class Scalar, class Exec>
struct MixedProblem {
  using Single = single_t<Scalar>;
  using Options = LobpcgOptions<Scalar, Exec>;

  TestMatrix<Scalar> A = grid7<Scalar>(N);
  TestMatrix<Scalar> B{0};     ///< of order 0: the identity
  TestMatrix<Single> told{0};  ///< of order 0: A
  int pairs = wanted;

  Mixed<Scalar, Exec> solve(std::function<void(Options&)> const& change = nullptr) const {
    Exec const exec;
    TestOperator<Scalar, Exec> const a(exec, A), t(exec, jacobi_matrix(A));
    TestMatrix<Single> const A_single = told.order() > 0 ? told : A.template as<Single>();
    TestOperator<Single, Exec> const low(exec, A_single), low_t(exec, jacobi_matrix(A_single));
    bool const generalized = B.order() > 0;
    TestMatrix<Scalar> const& mass = generalized ? B : A;
    TestOperator<Scalar, Exec> const b(exec, mass);
    TestOperator<Single, Exec> const low_b(exec, mass.template as<Single>());
    Mixed<Scalar, Exec> result;
    result.X = block_for<Scalar, Exec>(A.order(), pairs);
    Options options = iteration_options<Scalar, Exec>(pairs);
    options.preconditioner = &t;
    if (change) change(options);
    result.report = generalized ? lobpcg_mixed(exec, {low, &low_b, &low_t}, a, b, result.X, options)
                                : lobpcg_mixed(exec, {low, nullptr, &low_t}, a, result.X, options);
    EXPECT_EQ(result.report.counters.operator_applications, a.calls);
    EXPECT_EQ(result.report.single.counters.operator_applications, low.calls);
    result.found =
        judge<Scalar, Exec>(A, generalized ? &B : nullptr, result.X, result.report.eigenvalues);
    return result;
  }
};

template <class Scalar, class Exec>
void expect_accepted(Mixed<Scalar, Exec> const& solved) {
  EXPECT_EQ(solved.report.status, Status::converged);
  for (long double const error : solved.found.backward) EXPECT_LE(error, 1.01e-8);
  EXPECT_LE(solved.found.orthogonality, 1e-12);
}

template <class Scalar, class Exec>
void expect_spectrum(Mixed<Scalar, Exec> const& solved, std::vector<double> const& exact) {
  expect_accepted(solved);
  for (std::size_t j = 0; j < solved.report.eigenvalues.size(); ++j)
    EXPECT_NEAR(solved.report.eigenvalues[j], exact[j], 1e-6) << "pair " << j;
}

template <class Exec>
class MixedLobpcg : public ::testing::Test {
 protected:
  using Problem = MixedProblem<double, Exec>;
};
TYPED_TEST_SUITE(MixedLobpcg, Backends);

TYPED_TEST(MixedLobpcg, FindsThePairsInAboutAsManyIterations) {
  typename TestFixture::Problem const problem;
  auto const solved = problem.solve();
  expect_spectrum(solved, grid7_spectrum(N));
  auto const& report = solved.report;
  EXPECT_TRUE(report.single.used);
  EXPECT_EQ(report.single.status, Status::converged);
  EXPECT_GE(3 * report.single.iterations, report.iterations) << "single precision did little";
  auto const plain = solve<double, TypeParam>(problem.A, nullptr, wanted);
  EXPECT_LE(report.iterations, 1.3 * plain.report.iterations + 5);
  ASSERT_EQ(static_cast<int>(report.history.size()), report.iterations + 1);
  for (std::size_t k = 0; k < report.history.size(); ++k)
    EXPECT_EQ(report.history[k].iteration, static_cast<int>(k));
}

TYPED_TEST(MixedLobpcg, IsAsExactWhateverSinglePrecisionSays) {
  // Another matrix, one without any relation to A, and one that is not finite.
  typename TestFixture::Problem problem;
  auto const exact = grid7_spectrum(N);
  int const n = problem.A.order();
  std::vector<float> falling(n), infinite(n, std::numeric_limits<float>::infinity());
  for (int i = 0; i < n; ++i) falling[i] = static_cast<float>(n - i);
  for (auto const& told :
       {grid7<float>(N).scaled(-1), diagonal_matrix<float>(falling), TestMatrix<float>(n)}) {
    problem.told = told;
    auto const solved = problem.solve();
    expect_spectrum(solved, exact);
    EXPECT_TRUE(solved.report.single.used);
  }
  problem.told = diagonal_matrix<float>(infinite);
  auto const solved = problem.solve();
  expect_spectrum(solved, exact);
  EXPECT_FALSE(solved.report.single.used);
  EXPECT_EQ(solved.report.single.status, Status::operator_not_finite);
  EXPECT_EQ(solved.report.single.fault.operator_name, "A");
  EXPECT_TRUE(solved.report.fault.operator_name.empty());
}

TYPED_TEST(MixedLobpcg, FallsBackToTheStartGivenWhereSinglePrecisionFails) {
  typename TestFixture::Problem problem;
  int const n = problem.A.order();
  auto const exact = problem.solve();
  problem.told =
      diagonal_matrix<float>(std::vector<float>(n, std::numeric_limits<float>::quiet_NaN()));
  auto const again = problem.solve([&](auto& options) {
    options.guess_columns = 0;
    options.probe = false;
  });
  auto const plain = solve<double, TypeParam>(
      problem.A, nullptr, wanted, [](auto& options, auto const&) { options.probe = false; });
  EXPECT_EQ(again.report.iterations, plain.report.iterations);
  EXPECT_EQ(again.report.eigenvalues, plain.report.eigenvalues);
  expect_accepted(exact);
}

TYPED_TEST(MixedLobpcg, SolvesPencilsAndTheUpperEnd) {
  typename TestFixture::Problem problem;
  std::vector<double> mass;
  for (int i = 0; i < problem.A.order(); ++i) mass.push_back(1 + 0.5 * std::sin(i));
  problem.B = diagonal_matrix<double>(mass);
  expect_accepted(problem.solve());
  EXPECT_LE(problem.solve().found.orthogonality, 1e-12);
  problem.B = TestMatrix<double>(0);
  auto const largest = problem.solve([](auto& options) {
    options.which = Which::largest;
    options.preconditioner = nullptr;
  });
  expect_accepted(largest);
  auto const values = grid7_spectrum(N);
  for (int j = 0; j < wanted; ++j)
    EXPECT_NEAR(largest.report.eigenvalues[j], values[values.size() - 1 - j], 1e-6);
}

TYPED_TEST(MixedLobpcg, HandsAllPairsOfABatchedSolveOver) {
  typename TestFixture::Problem problem;
  problem.pairs = 20;
  auto const in_batches = [](auto& options) {
    options.block = 12;
    options.probe = false;  // its iterations are the same in both
  };
  auto const solved = problem.solve(in_batches);
  expect_spectrum(solved, grid7_spectrum(N));
  auto const plain = solve<double, TypeParam>(
      problem.A, nullptr, problem.pairs, [&](auto& options, auto const&) { in_batches(options); });
  EXPECT_GT(plain.report.counters.batches, 1);
  int const second_stage = solved.report.iterations - solved.report.single.iterations;
  EXPECT_LE(4 * second_stage, 3 * plain.report.iterations) << "the later batches began anew";
}

TYPED_TEST(MixedLobpcg, MeetsTheRelativeCriterion) {
  typename TestFixture::Problem const problem;
  auto const solved = problem.solve([](auto& options) { options.criterion = Criterion::relative; });
  expect_accepted(solved);
  for (double const error : solved.report.relative_residuals) EXPECT_LE(error, 1e-8);
}

TYPED_TEST(MixedLobpcg, CountsIterationsAndTimeOfBothStages) {
  typename TestFixture::Problem const problem;
  auto const whole = problem.solve();
  int const first = whole.report.single.iterations;
  for (int const most : {0, 1, first - 1, first, first + 1, first + 3}) {
    auto const solved = problem.solve([&](auto& options) { options.max_iterations = most; });
    EXPECT_EQ(solved.report.status, Status::max_iterations);
    EXPECT_EQ(solved.report.iterations, most);
    EXPECT_EQ(solved.report.single.iterations, std::min(first, most));
    for (int j = 0; j < wanted; ++j)
      EXPECT_NEAR(static_cast<double>(solved.found.backward[j]), solved.report.backward_errors[j],
                  1e-12);
  }
  auto const late = problem.solve([](auto& options) { options.time_limit = 0; });
  EXPECT_EQ(late.report.status, Status::time_limit);
  EXPECT_EQ(late.report.iterations, 0);
}

TYPED_TEST(MixedLobpcg, ShowsTheMonitorEveryIterationOnceAndObeysIt) {
  typename TestFixture::Problem const problem;
  std::vector<int> seen;
  auto const whole = problem.solve([&](auto& options) {
    options.monitor = [&](auto const& now) {
      seen.push_back(now.iteration);
      return true;
    };
  });
  ASSERT_EQ(static_cast<int>(seen.size()), whole.report.iterations + 1);
  for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k], static_cast<int>(k));
  int const first = whole.report.single.iterations;
  for (int const stop : {0, 2, first - 1, first, first + 2}) {
    auto const solved = problem.solve([&](auto& options) {
      options.monitor = [&](auto const& now) { return now.iteration < stop; };
    });
    EXPECT_EQ(solved.report.status, Status::stopped_by_monitor) << stop;
    EXPECT_EQ(solved.report.iterations, stop);
    for (double const error : solved.report.backward_errors) EXPECT_TRUE(std::isfinite(error));
  }
}

TYPED_TEST(MixedLobpcg, IsCertifiedInTheWorkingPrecision) {
  typename TestFixture::Problem const problem;
  auto const solved = problem.solve([](auto& options) { options.certify = true; });
  EXPECT_TRUE(solved.report.single.used);
  auto const& certificate = solved.report.certificate;
  EXPECT_TRUE(certificate.rigorous);
  ASSERT_EQ(certificate.radius.size(), static_cast<std::size_t>(wanted));
  auto const exact = grid7_spectrum(N);
  for (int j = 0; j < wanted; ++j) {
    double const error = std::abs(solved.report.eigenvalues[j] - exact[j]);
    EXPECT_LE(error, certificate.gap_radius[j]) << j;
    EXPECT_LE(certificate.radius[j], 1.01e-8 * 24) << j;
  }
  EXPECT_LE(certificate.orthogonality_loss, 1e-12);
}

TYPED_TEST(MixedLobpcg, HasTheSameBitsTwice) {
  typename TestFixture::Problem const problem;
  auto const first = problem.solve(), second = problem.solve();
  EXPECT_EQ(first.report.iterations, second.report.iterations);
  EXPECT_EQ(first.report.eigenvalues, second.report.eigenvalues);
  EXPECT_EQ((fetch<double, TypeParam>(first.X, wanted)),
            (fetch<double, TypeParam>(second.X, wanted)));
}

TYPED_TEST(MixedLobpcg, LeavesSmallProblemsToTheDensePath) {
  typename TestFixture::Problem problem;
  problem.A = grid7<double>(3);
  auto const solved = problem.solve();
  EXPECT_EQ(solved.report.path, "dense");
  EXPECT_EQ(solved.report.single.iterations, 0);
  EXPECT_FALSE(solved.report.single.used);
  expect_accepted(solved);
}

TYPED_TEST(MixedLobpcg, RefusesOperatorsThatDoNotBelongTogether) {
  using Exec = TypeParam;
  Exec const exec;
  TestOperator<double, Exec> const a(exec, grid7<double>(6));
  TestOperator<float, Exec> const same(exec, grid7<float>(6)), smaller(exec, grid7<float>(5));
  auto const X = block_for<double, Exec>(a.rows(), wanted);
  auto options = iteration_options<double, Exec>(wanted);
  auto const message = [&](auto const&... operators) {
    return message_of([&] { lobpcg_mixed(exec, {operators...}, a, X, options); });
  };
  EXPECT_THAT(message(smaller), HasSubstr("A has order 216, but in single precision 125"));
  EXPECT_THAT(message(same, &same), HasSubstr("one of the two precisions only"));
  EXPECT_THAT(message_of([&] { lobpcg_mixed(exec, {same}, a, a, X, options); }),
              HasSubstr("one of the two precisions only"));
  options.guess_columns = 13;
  EXPECT_THAT(message(same), HasSubstr("guess_columns is 13, but X has 12 columns"));
}

TYPED_TEST(MixedLobpcg, SolvesComplexProblems) {
  using Scalar = Kokkos::complex<double>;
  if constexpr (has_scalar<Scalar> && has_scalar<single_t<Scalar>>) {
    // A unitary diagonal similarity keeps the spectrum and makes the entries complex.
    MixedProblem<Scalar, TypeParam> problem;
    auto const phase = [](int i) { return Scalar(std::cos(0.7 * i), std::sin(0.7 * i)); };
    for (int i = 0; i < problem.A.order(); ++i)
      for (auto& e : problem.A.rows[i]) e.value *= phase(i) * blockspan::conjugate(phase(e.column));
    auto const solved = problem.solve();
    expect_spectrum(solved, grid7_spectrum(N));
    EXPECT_TRUE(solved.report.single.used);
  } else {
    GTEST_SKIP() << "this build has no complex scalar in both precisions";
  }
}

}  // namespace
}  // namespace blockspan::test
