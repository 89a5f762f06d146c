// Mixed precision: corrections in single precision, the accuracy and the verdicts of double.
#include <cmath>
#include <limits>
#include <string>

#include <blockspan/distributed/convert.hpp>
#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/solvers/single_precision.hpp>

#include "solvers/cg_solve.hpp"
#include "solvers/truth.hpp"
#include "sparse/dense.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

/// SinglePrecision with operators of the test's own that are made from any matrix.
template <class Scalar, class Exec>
struct Inner {
  using Single = single_t<Scalar>;

  explicit Inner(TestMatrix<Scalar> const& matrix, real_t<Scalar> factor = 1)
      : rounded(matrix.scaled(factor).template as<Single>()),
        A(Exec(), rounded),
        M(library_jacobi<Single, Exec>(rounded)),
        solver(A, &M, factor) {}

  TestMatrix<Single> rounded;
  TestOperator<Single, Exec> A;
  JacobiPreconditioner<Single, Exec> M;
  SinglePrecision<Scalar, Exec> solver;
};

template <class Scalar, class Exec>
CgSolved<Scalar> solve_mixed(TestMatrix<Scalar> const& A, HostBlock<Scalar> const& B,
                             CgMethod method, CorrectionSolver<Scalar, Exec> const& inner,
                             std::function<void(CgOptions<Scalar, Exec>&)> const& change = {},
                             HostBlock<Scalar> const& guess = {}) {
  return solve<Scalar>(CgCase<Scalar, Exec>{A, B, method, Preconditioner::jacobi,
                                            [&](auto& options) {
                                              options.inner = &inner;
                                              if (change) change(options);
                                            },
                                            guess});
}

template <class Scalar>
int fallen_back(CgSolved<Scalar> const& solved) {
  int count = 0;
  for (auto const& column : solved.report.columns) count += column.fell_back ? 1 : 0;
  return count;
}

/// Whether there is a single precision beneath a scalar, in this build.
template <class Scalar>
inline constexpr bool mixes =
    !std::is_same_v<Scalar, single_t<Scalar>> && has_scalar<single_t<Scalar>>;
template <class Scalar>
using Mixes = std::bool_constant<mixes<Scalar>>;

template <class Config>
class CgMixed : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!mixes<typename Config::Scalar>)
      GTEST_SKIP() << "this build has no scalar with one of single precision beneath it";
  }
};
using MixingConfigs = ConfigsWith<Mixes>;
TYPED_TEST_SUITE(CgMixed, MixingConfigs, ConfigNames);

TYPED_TEST(CgMixed, HasTheAccuracyOfTheWorkingPrecision) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  if constexpr (mixes<Scalar>) {
    auto const A = graded_grid<Scalar>(9);
    auto const B = random_block<Scalar>(A.order(), 7, 3);
    Inner<Scalar, Exec> const inner(A);
    for (CgMethod const method : both_methods)
      for (double const tolerance : {1e-8, 1e-13}) {
        auto const change = [&](auto& options) { options.tolerance = tolerance; };
        auto const plain =
            solve<Scalar>(CgCase<Scalar, Exec>{A, B, method, Preconditioner::jacobi, change, {}});
        auto const before = inner.A.calls, columns = inner.A.columns;
        auto const solved = solve_mixed<Scalar, Exec>(A, B, method, inner.solver, change);
        auto const& report = solved.report;
        EXPECT_TRUE(report.converged()) << to_string(report.status);
        EXPECT_EQ(fallen_back(solved), 0);
        EXPECT_THAT(report.reason, HasSubstr("corrections in single precision"));
        // A well-conditioned matrix: restarts cost some of what came before.
        EXPECT_LE(solved.most_iterations, 2 * plain.most_iterations);
        // Double precision multiplies to verify, and for nothing else.
        EXPECT_EQ(report.counters.operator_applications, report.counters.cycles);
        EXPECT_EQ(report.counters.cycles, report.counters.inner_cycles);
        EXPECT_EQ(report.counters.inner_operator_applications, inner.A.calls - before);
        EXPECT_EQ(report.counters.inner_operator_columns, inner.A.columns - columns);
        EXPECT_EQ(report.counters.inner_operator_applications,
                  report.iterations + report.counters.cycles);
        for (auto const& column : report.columns)
          EXPECT_EQ(column.iterations, column.inner_iterations);
        EXPECT_EQ(static_cast<int>(report.history.size()), report.iterations);
      }
  }
}

TYPED_TEST(CgMixed, AMatrixIsMadeReadyByOneFunction) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  if constexpr (mixes<Scalar>) {
    Exec const exec;
    for (double const scale : {1.0, 1e150, 1e-150}) {
      auto const A = graded_grid<Scalar>(6).scaled(scale);
      std::vector<int> offsets{0}, indices;
      std::vector<Scalar> values;
      for (auto const& row : A.rows) {
        for (auto const& e : row) indices.push_back(e.column), values.push_back(e.value);
        offsets.push_back(static_cast<int>(indices.size()));
      }
      auto const matrix = make_matrix<Scalar, Exec>(offsets, indices, values, A.order());
      auto const single = single_precision_rows(exec, *on_one_rank(exec, matrix));
      auto const op = distributed_operator(exec, single.matrix);
      EXPECT_GE(*op.facts().norm_bound, 0.5f);
      EXPECT_LE(*op.facts().norm_bound, 1.001f);
      EXPECT_EQ(std::ilogb(single.factor), std::ilogb(1 / A.infinity_norm()));
      auto const M = jacobi(exec, single.matrix->whole());
      SinglePrecision<Scalar, Exec> const inner(op, &M, single.factor);
      for (CgMethod const method : both_methods) {
        auto const solved =
            solve_mixed<Scalar, Exec>(A, random_block<Scalar>(A.order(), 4, 5), method, inner);
        EXPECT_TRUE(solved.report.converged()) << scale;
        EXPECT_EQ(fallen_back(solved), 0) << scale;
      }
    }
  }
}

TYPED_TEST(CgMixed, TakesOneReductionWhereItIsAskedFor) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  if constexpr (mixes<Scalar>) {
    auto const A = graded_grid<Scalar>(7);
    auto const B = random_block<Scalar>(A.order(), 5, 3);
    Inner<Scalar, Exec> const inner(A);
    auto const solved =
        solve_mixed<Scalar, Exec>(A, B, CgMethod::pseudo_block, inner.solver,
                                  [](auto& options) { options.single_reduction = true; });
    EXPECT_TRUE(solved.report.converged());
    EXPECT_EQ(fallen_back(solved), 0);
    // One product more a cycle.
    EXPECT_EQ(solved.report.counters.inner_operator_applications,
              solved.report.iterations + 2 * solved.report.counters.cycles);
  }
}

TYPED_TEST(CgMixed, SameInputSameBits) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  if constexpr (mixes<Scalar>) {
    auto const A = graded_grid<Scalar>(7);
    auto const B = random_block<Scalar>(A.order(), 5, 3);
    Inner<Scalar, Exec> const inner(A);
    for (CgMethod const method : both_methods)
      EXPECT_TRUE(same_bits((solve_mixed<Scalar, Exec>(A, B, method, inner.solver).X),
                            (solve_mixed<Scalar, Exec>(A, B, method, inner.solver).X)));
  }
}

template <class Exec>
class CgMixedFailures : public ::testing::Test {};
TYPED_TEST_SUITE(CgMixedFailures, Backends, ConfigNames);

TestMatrix<double> shifted_grid(double shift, int N = 8) {
  auto A = grid7<double>(N);
  for (int i = 0; i < A.order(); ++i) A.add(i, i, shift);
  return A;
}

TYPED_TEST(CgMixedFailures, AnInnerSolverThatIsWrongCostsTimeOnly) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 4, 1);
  auto with_nan = A;
  with_nan.rows[5][0].value = std::numeric_limits<double>::quiet_NaN();
  TestMatrix<double> none(A.order());
  for (auto const& wrong : {shifted_grid(-3.3), shifted_grid(50), A.scaled(-1), A.scaled(1e-30),
                            A.scaled(1e30), with_nan, none}) {
    Inner<double, TypeParam> const inner(wrong);
    for (CgMethod const method : both_methods) {
      auto const solved = solve_mixed<double, TypeParam>(A, B, method, inner.solver);
      EXPECT_TRUE(solved.report.converged());
      EXPECT_EQ(fallen_back(solved), 4);
      EXPECT_THAT(solved.report.reason, HasSubstr("4 of 4 columns went on in the working"));
      EXPECT_FALSE(solved.report.indefinite);
      EXPECT_TRUE(solved.report.trouble.empty());
      for (auto const& column : solved.report.columns)
        EXPECT_GT(column.iterations, column.inner_iterations);
    }
  }
}

TYPED_TEST(CgMixedFailures, OnlyColumnsThatNeedItFallBack) {
  // Two unconnected parts; single precision knows a wrong matrix for the second one. Columns 0 and
  // 2 live in the first part alone.
  auto const part = shifted_grid(0, 6), wrong = shifted_grid(9, 6);
  int const n = part.order();
  TestMatrix<double> A(2 * n), other(2 * n);
  for (int i = 0; i < n; ++i) {
    for (auto const& e : part.rows[i]) {
      A.add(i, e.column, e.value), A.add(n + i, n + e.column, e.value);
      other.add(i, e.column, e.value);
    }
    for (auto const& e : wrong.rows[i]) other.add(n + i, n + e.column, e.value);
  }
  auto B = random_block<double>(2 * n, 4, 1);
  for (int i = n; i < 2 * n; ++i) B(i, 0) = B(i, 2) = 0;
  Inner<double, TypeParam> const inner(other);
  // (A block would carry residuals of the others into the second part of these two.)
  auto const solved = solve_mixed<double, TypeParam>(A, B, CgMethod::pseudo_block, inner.solver);
  EXPECT_TRUE(solved.report.converged());
  for (int j = 0; j < 4; ++j) {
    auto const& column = solved.report.columns[j];
    EXPECT_EQ(column.fell_back, j % 2 == 1) << j;
    EXPECT_EQ(column.iterations == column.inner_iterations, j % 2 == 0) << j;
  }
}

TYPED_TEST(CgMixedFailures, TheWorkingPrecisionSaysWhatIsWrong) {
  auto const B = random_block<double>(512, 3, 1);
  auto const indefinite = shifted_grid(-1.5);
  auto broken = shifted_grid(0);
  broken.rows[100][0].value = std::numeric_limits<double>::quiet_NaN();
  for (CgMethod const method : both_methods) {
    Inner<double, TypeParam> const of_indefinite(indefinite), of_broken(broken);
    auto const negative =
        solve_mixed<double, TypeParam>(indefinite, B, method, of_indefinite.solver);
    EXPECT_TRUE(negative.report.indefinite);
    for (auto const& column : negative.report.columns)
      EXPECT_EQ(column.status, Status::negative_curvature);
    CgOptions<double, TypeParam> options;
    options.inner = &of_broken.solver;
    options.method = method;
    TestOperator<double, TypeParam> const A(TypeParam(), broken);
    auto const X = make_block(TypeParam(), Storage::right, HostBlock<double>(512, 3));
    auto const report = solve_spd<double, TypeParam>(
        TypeParam(), A, make_block(TypeParam(), Storage::right, B).view, X.view, options);
    for (auto const& column : report.columns) {
      EXPECT_EQ(column.status, Status::operator_not_finite);
      EXPECT_EQ(column.residual, 1);
    }
    EXPECT_TRUE(same_bits(X.values(), HostBlock<double>(512, 3)));
  }
}

TYPED_TEST(CgMixedFailures, UnitsZerosAndNaNAreNoEvent) {
  auto const A = shifted_grid(0);
  auto B = random_block<double>(A.order(), 6, 1);
  for (int i = 0; i < A.order(); ++i) {
    B(i, 1) = 0;
    B(i, 2) *= 1e-200;
    B(i, 3) *= 1e200;
    B(i, 5) = B(i, 0);
  }
  B(7, 4) = std::numeric_limits<double>::quiet_NaN();
  Inner<double, TypeParam> const inner(A);
  Status const wanted[] = {Status::converged, Status::zero_rhs,      Status::converged,
                           Status::converged, Status::nonfinite_rhs, Status::converged};
  for (CgMethod const method : both_methods) {
    auto const solved = solve_mixed<double, TypeParam>(A, B, method, inner.solver);
    for (int j = 0; j < 6; ++j) EXPECT_EQ(solved.report.columns[j].status, wanted[j]) << j;
    EXPECT_EQ(fallen_back(solved), 0);
  }
}

TYPED_TEST(CgMixedFailures, LimitsHoldAndNothingGetsWorse) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 3, 1);
  Inner<double, TypeParam> const inner(A);
  for (CgMethod const method : both_methods) {
    for (int const most : {0, 1, 2, 7, 20}) {
      auto const solved = solve_mixed<double, TypeParam>(
          A, B, method, inner.solver, [&](auto& options) { options.max_iterations = most; });
      EXPECT_EQ(solved.report.status, Status::max_iterations);
      EXPECT_LE(solved.report.iterations, most);
      for (auto const& column : solved.report.columns) {
        EXPECT_LE(column.residual, 1);
        EXPECT_LE(column.inner_iterations, most / 2);
      }
    }
    auto const stopped = solve_mixed<double, TypeParam>(
        A, B, method, inner.solver,
        [](auto& options) { options.monitor = [](auto const& now) { return now.iteration < 9; }; });
    EXPECT_EQ(stopped.report.iterations, 9);
    EXPECT_EQ(stopped.report.status, Status::stopped_by_monitor);
    EXPECT_LT(stopped.report.columns[0].residual, 1);
    auto const late = solve_mixed<double, TypeParam>(A, B, method, inner.solver,
                                                     [](auto& options) { options.time_limit = 0; });
    EXPECT_EQ(late.report.status, Status::time_limit);
  }
}

TYPED_TEST(CgMixedFailures, AGuessIsStartedFrom) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 3, 1);
  Inner<double, TypeParam> const inner(A);
  for (CgMethod const method : both_methods) {
    auto const cold = solve_mixed<double, TypeParam>(A, B, method, inner.solver);
    auto const warm = solve_mixed<double, TypeParam>(A, B, method, inner.solver, {}, cold.X);
    EXPECT_EQ(warm.report.iterations, 0);
    EXPECT_TRUE(same_bits(warm.X, cold.X));
    auto const better = solve_mixed<double, TypeParam>(
        A, B, method, inner.solver, [](auto& options) { options.tolerance = 1e-12; }, cold.X);
    EXPECT_TRUE(better.report.converged());
    EXPECT_LT(better.most_iterations, cold.most_iterations);
  }
}

TYPED_TEST(CgMixedFailures, BadArgumentsAreNamed) {
  using Exec = TypeParam;
  TestOperator<float, Exec> const small(Exec(), grid7<float>(3)), A(Exec(), grid7<float>(4));
  TestOperator<double, Exec> const working(Exec(), grid7<double>(4));
  auto const refused = [&](auto const& make, std::string const& why) {
    EXPECT_THAT(message_of(make), HasSubstr(why));
  };
  using Solver = SinglePrecision<double, Exec>;
  refused([&] { Solver(A, &small); }, "the preconditioner has order 27, A has order 64");
  refused([&] { Solver(A, nullptr, 0); }, "factor is 0");
  refused([&] { Solver(A, nullptr, HUGE_VAL); }, "factor is inf");
  refused([&] { Solver(A, nullptr, 1, 1); }, "reduction is 1");
  Solver const other(small);
  Block<double, Exec> const B("B", 64, 2), X("X", 64, 2);
  refused(
      [&] {
        CgOptions<double, Exec> options;
        options.inner = &other;
        solve_spd<double, Exec>(Exec(), working, B, X, options);
      },
      "the inner solver has order 27, A has order 64");
}

TYPED_TEST(CgMixedFailures, RealMatricesAreSolvedAsWithoutIt) {
  if (!matrix_folder()) GTEST_SKIP() << "BLOCKSPAN_MATRIX_DIR is not set";
  for (std::string const name : {"494_bus", "662_bus", "1138_bus", "nos3", "nos5", "bcsstk01",
                                 "bcsstk08", "bcsstk10", "LF10", "mesh1e1", "Chem97ZtZ"}) {
    auto const A = read_test_matrix<double>(*matrix_folder(), name);
    auto const B = random_block<double>(A.order(), 8, 77);
    Inner<double, TypeParam> const inner(A, std::ldexp(1.0, -std::ilogb(A.infinity_norm())));
    for (CgMethod const method : both_methods) {
      // solve() judges every claim; here all of them claim success
      auto const solved = solve_mixed<double, TypeParam>(A, B, method, inner.solver);
      EXPECT_TRUE(solved.report.converged()) << name << " " << to_string(solved.report.status);
    }
  }
}

}  // namespace
}  // namespace blockspan::test
