// What can go wrong in a linear solve, and that it is told as it is.
#include <cmath>
#include <limits>
#include <string>

#include "solvers/cg_solve.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

/// Grid of order 512, eigenvalues in (0.36, 11.7).
TestMatrix<double> shifted_grid(double shift) {
  auto A = grid7<double>(8);
  for (int i = 0; i < A.order(); ++i) A.add(i, i, shift);
  return A;
}

/// Multiplies columns of the image, or all of it, by NaN from call `first` to call `last`.
template <class Exec>
struct Spoil {
  Block<double, Exec> Y;
  int column;  ///< -1: all

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t j = 0; j < Y.extent(1); ++j)
      if (column < 0 || static_cast<int>(j) == column)
        Y(i, j) *= Kokkos::Experimental::quiet_NaN_v<double>;
  }
};

template <class Exec>
class SpoiltOperator : public LinearOperator<double, Exec> {
 public:
  SpoiltOperator(TestMatrix<double> const& A, int first, int last, int column = -1)
      : inner_(Exec(), A), first_(first), last_(last), column_(column) {}
  std::int64_t rows() const override { return inner_.rows(); }
  OperatorFacts<double, Exec> facts() const override {
    return {.norm_bound = inner_.facts().norm_bound};
  }
  void apply(Exec const& exec, ConstBlock<double, Exec> const& X,
             Block<double, Exec> const& Y) const override {
    inner_.apply(exec, X, Y);
    if (inner_.calls < first_ || inner_.calls > last_) return;
    Kokkos::parallel_for("Blockspan::test::spoil", Kokkos::RangePolicy<Exec>(exec, 0, rows()),
                         Spoil<Exec>{Y, column_});
  }

 private:
  TestOperator<double, Exec> inner_;
  int first_, last_, column_;
};

/// Multiplies the image by -1 in some calls.
template <class Exec>
struct Negate {
  Block<double, Exec> Y;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t j = 0; j < Y.extent(1); ++j) Y(i, j) = -Y(i, j);
  }
};

template <class Exec>
class FickleOperator : public LinearOperator<double, Exec> {
 public:
  FickleOperator(TestMatrix<double> const& A, std::vector<int> wrong_calls)
      : inner_(Exec(), A), wrong_calls_(std::move(wrong_calls)) {}
  std::int64_t rows() const override { return inner_.rows(); }
  OperatorFacts<double, Exec> facts() const override {
    return {.norm_bound = inner_.facts().norm_bound};
  }
  void apply(Exec const& exec, ConstBlock<double, Exec> const& X,
             Block<double, Exec> const& Y) const override {
    inner_.apply(exec, X, Y);
    for (int const call : wrong_calls_)
      if (inner_.calls == call)
        Kokkos::parallel_for("Blockspan::test::negate", Kokkos::RangePolicy<Exec>(exec, 0, rows()),
                             Negate<Exec>{Y});
  }

 private:
  TestOperator<double, Exec> inner_;
  std::vector<int> wrong_calls_;
};

constexpr int forever = std::numeric_limits<int>::max();

/// A solve with an operator of the test's choice; no preconditioner unless `change` sets one.
template <class Exec>
struct Run {
  CgReport<double> report;
  HostBlock<double> X;
  JudgedResiduals residual;

  Run(TestMatrix<double> const& matrix, LinearOperator<double, Exec> const& A,
      HostBlock<double> const& right, CgMethod method,
      std::function<void(CgOptions<double, Exec>&)> const& change = {}) {
    Exec const exec;
    auto const B = make_block(exec, Storage::right, right);
    auto const Y =
        make_block(exec, Storage::right, HostBlock<double>(right.rows(), right.columns(), 3.0));
    CgOptions<double, Exec> options;
    options.method = method;
    options.max_iterations = 2000;
    if (change) change(options);
    report = solve_spd<double, Exec>(exec, A, B.view, Y.view, options);
    X = Y.values();
    residual = judge_residuals(matrix, right, X);
    for (std::size_t j = 0; j < residual.value.size(); ++j) {
      auto const& column = report.columns[j];
      // Never worse than zero, and never other than reported.
      EXPECT_LE(residual.value[j], 1 + residual.rounding[j]) << j;
      EXPECT_LE(std::abs(residual.value[j] - column.residual),
                residual.rounding[j] + 1e-5L * residual.value[j])
          << j;
      EXPECT_TRUE(column.status != Status::converged || column.residual <= options.tolerance) << j;
    }
  }

  Status status(int j = 0) const { return report.columns[j].status; }
};

template <class Exec>
Run<Exec> run_case(TestMatrix<double> const& A, HostBlock<double> const& B, CgMethod method,
                   std::function<void(CgOptions<double, Exec>&)> const& change = {}) {
  TestOperator<double, Exec> const a(Exec(), A);
  return Run<Exec>(A, a, B, method, change);
}

template <class Exec>
class CgFailures : public ::testing::Test {};
TYPED_TEST_SUITE(CgFailures, Backends, ConfigNames);

TYPED_TEST(CgFailures, AnOperatorThatGivesNaNIsNamed) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 4, 1);
  for (CgMethod const method : every_method)
    for (int const first : {1, 2, 9}) {
      SpoiltOperator<TypeParam> const broken(A, first, forever);
      Run<TypeParam> const solved(A, broken, B, method);
      for (int j = 0; j < 4; ++j) EXPECT_EQ(solved.status(j), Status::operator_not_finite);
    }
}

TYPED_TEST(CgFailures, ANaNInOneColumnStopsThatColumnOnly) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 4, 1);
  SpoiltOperator<TypeParam> const broken(A, 5, 5, 2);
  Run<TypeParam> const solved(A, broken, B, CgMethod::pseudo_block);
  for (int j : {0, 1, 3}) EXPECT_EQ(solved.status(j), Status::converged);
  EXPECT_EQ(solved.status(2), Status::operator_not_finite);
  EXPECT_EQ(solved.report.status, Status::operator_not_finite);
}

TYPED_TEST(CgFailures, ANaNAtTheVerificationIsNotASuccess) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 4, 1);
  for (CgMethod const method : both_methods) {
    int const calls =
        static_cast<int>(run_case<TypeParam>(A, B, method).report.counters.operator_applications);
    SpoiltOperator<TypeParam> const broken(A, calls, calls);
    Run<TypeParam> const solved(A, broken, B, method);
    for (int j = 0; j < 4; ++j) EXPECT_EQ(solved.status(j), Status::operator_not_finite);
  }
}

TYPED_TEST(CgFailures, NegativeCurvatureIsReportedAndNothingGetsWorse) {
  auto const A = shifted_grid(-1.5);  // some ten negative eigenvalues
  auto const B = random_block<double>(A.order(), 5, 1);
  for (CgMethod const method : every_method) {
    auto const solved = run_case<TypeParam>(A, B, method);
    EXPECT_TRUE(solved.report.indefinite);
    EXPECT_LT(solved.report.curvature, -1e-12);
    for (int j = 0; j < 5; ++j) EXPECT_EQ(solved.status(j), Status::negative_curvature);
    bool const block = method != CgMethod::automatic || on_host_v<TypeParam>;
    if (method != CgMethod::pseudo_block && block) {
      EXPECT_EQ(solved.report.method, "block, then pseudo_block");
      EXPECT_THAT(solved.report.reason, HasSubstr("indefinite"));
    }
  }
}

TYPED_TEST(CgFailures, OnlyTheColumnsThatMeetItAreBlamedForAnIndefiniteMatrix) {
  // Two unconnected parts, one of them indefinite; columns 0 and 2 live in the good one alone.
  auto const good = shifted_grid(0), bad = shifted_grid(-1.5);
  int const n = good.order();
  TestMatrix<double> A(2 * n);
  for (int i = 0; i < n; ++i) {
    for (auto const& e : good.rows[i]) A.add(i, e.column, e.value);
    for (auto const& e : bad.rows[i]) A.add(n + i, n + e.column, e.value);
  }
  auto B = random_block<double>(2 * n, 4, 1);
  for (int i = n; i < 2 * n; ++i) B(i, 0) = B(i, 2) = 0;
  for (CgMethod const method : every_method) {
    auto const solved = run_case<TypeParam>(A, B, method);
    EXPECT_TRUE(solved.report.indefinite);
    EXPECT_EQ(solved.status(0), Status::converged);
    EXPECT_EQ(solved.status(1), Status::negative_curvature);
    EXPECT_EQ(solved.status(2), Status::converged);
    EXPECT_EQ(solved.status(3), Status::negative_curvature);
  }
}

TYPED_TEST(CgFailures, ABlockWithoutConjugacyStartsAnewAndGivesWayTheSecondTime) {
  // Curvature that turns out positive when it is looked at again: call 7 is the look at call 6.
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 4, 1);
  FickleOperator<TypeParam> const once(A, {6});
  Run<TypeParam> const again(A, once, B, CgMethod::block);
  EXPECT_TRUE(again.report.converged());
  EXPECT_FALSE(again.report.indefinite);
  EXPECT_EQ(again.report.method, "block");
  EXPECT_EQ(again.report.counters.cycles, 2);
  FickleOperator<TypeParam> const twice(A, {6, 12});
  Run<TypeParam> const other(A, twice, B, CgMethod::block);
  EXPECT_TRUE(other.report.converged());
  EXPECT_EQ(other.report.method, "block, then pseudo_block");
  EXPECT_THAT(other.report.reason, HasSubstr("conjugacy"));
}

TYPED_TEST(CgFailures, APreconditionerThatIsNotDefiniteIsRefused) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 4, 1);
  auto const refused = [&](TestMatrix<double> const& inverse) {
    TestOperator<double, TypeParam> const M(TypeParam(), inverse);
    for (CgMethod const method : every_method) {
      auto const solved =
          run_case<TypeParam>(A, B, method, [&](auto& options) { options.preconditioner = &M; });
      for (int j = 0; j < 4; ++j)
        EXPECT_EQ(solved.status(j), Status::preconditioner_not_spd) << static_cast<int>(method);
    }
  };
  std::vector<double> negative(A.order(), -0.1), signs(A.order(), 1.0);
  refused(diagonal_matrix<double>(negative));
  refused(diagonal_matrix<double>(std::vector<double>(A.order(), 0.0)));
  for (int i = 0; i < A.order(); i += 3) signs[i] = -1;
  refused(diagonal_matrix<double>(signs));
}

TYPED_TEST(CgFailures, APreconditionerThatGivesNaNIsNamed) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 4, 1);
  for (CgMethod const method : every_method)
    for (int const first : {1, 6}) {
      SpoiltOperator<TypeParam> const M(jacobi_matrix(A), first, forever);
      auto const solved =
          run_case<TypeParam>(A, B, method, [&](auto& options) { options.preconditioner = &M; });
      for (int j = 0; j < 4; ++j) EXPECT_EQ(solved.status(j), Status::operator_not_finite);
      EXPECT_THAT(solved.report.trouble, HasSubstr("preconditioner"));
    }
}

TYPED_TEST(CgFailures, AMatrixThatIsNotSymmetricIsRefusedByTheBlock) {
  auto A = shifted_grid(0);
  A.add(3, 400, 1.0);
  auto const B = random_block<double>(A.order(), 4, 1);
  for (CgMethod const method : {CgMethod::block, CgMethod::automatic}) {
    if (method == CgMethod::automatic && !on_host_v<TypeParam>) continue;  // too small for a block
    auto const solved = run_case<TypeParam>(A, B, method);
    for (int j = 0; j < 4; ++j) EXPECT_EQ(solved.status(j), Status::operator_not_hermitian);
    EXPECT_EQ(solved.report.iterations, 0);
  }
}

TYPED_TEST(CgFailures, AnOperatorThatIsNotHermitianIsFoundColumnByColumnToo) {
  auto A = shifted_grid(0);
  for (int i = 0; i + 1 < A.order(); ++i) A.add(i, i + 1, i % 2 == 0 ? 0.9 : -0.9);
  auto skew = shifted_grid(-6);  // no curvature at all
  for (int i = 0; i + 2 < A.order(); ++i) skew.add(i, i + 2, 5.0), skew.add(i + 2, i, -5.0);
  for (auto const& matrix : {A, skew})
    for (int const columns : {1, 3}) {
      auto const B = random_block<double>(A.order(), columns, 1);
      auto const solved = run_case<TypeParam>(matrix, B, CgMethod::pseudo_block);
      for (int j = 0; j < columns; ++j) EXPECT_EQ(solved.status(j), Status::operator_not_hermitian);
      EXPECT_LE(solved.report.iterations, 200);
      EXPECT_FALSE(solved.report.indefinite);
    }
}

TYPED_TEST(CgFailures, AnUnattainableToleranceEndsAtTheLimitOfTheArithmetic) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 4, 1);
  for (CgMethod const method : both_methods) {
    auto const solved = run_case<TypeParam>(A, B, method, [](auto& o) { o.tolerance = 0; });
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(solved.status(j), Status::attainable_limit);
      EXPECT_LE(solved.report.columns[j].backward_error, 4 * unit_roundoff<double>);
    }
  }
}

TYPED_TEST(CgFailures, LimitsAndTheMonitorEndTheSolve) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 4, 1);
  for (CgMethod const method : both_methods) {
    auto const check = [&](Status status, auto const& change) {
      auto const solved = run_case<TypeParam>(A, B, method, change);
      for (int j = 0; j < 4; ++j) EXPECT_EQ(solved.status(j), status);
      return solved.report.iterations;
    };
    EXPECT_EQ(check(Status::max_iterations, [](auto& o) { o.max_iterations = 5; }), 5);
    EXPECT_EQ(check(Status::max_iterations, [](auto& o) { o.max_iterations = 0; }), 0);
    EXPECT_EQ(check(Status::time_limit, [](auto& o) { o.time_limit = 0; }), 0);
    EXPECT_EQ(check(Status::stopped_by_monitor,
                    [](auto& o) { o.monitor = [](auto const& p) { return p.iteration < 7; }; }),
              7);
  }
}

/// Right-hand sides are solved in units of their own; an exception leaves X in those of the caller.
TYPED_TEST(CgFailures, AnErrorInTheMonitorLeavesTheBestIterates) {
  struct Trouble {};
  auto const A = shifted_grid(0);
  auto right = random_block<double>(A.order(), 3, 1);
  for (int i = 0; i < A.order(); ++i) right(i, 0) *= 0x1p40, right(i, 1) *= 0x1p-40;
  TypeParam const exec;
  TestOperator<double, TypeParam> const a(exec, A);
  auto const B = make_block(exec, Storage::right, right);
  for (CgMethod const method : every_method)
    for (int const at : {1, 9}) {
      CgOptions<double, TypeParam> options;
      options.method = method;
      options.tolerance = 1e-2;
      auto const X = make_block(exec, Storage::right, right);
      solve_spd<double, TypeParam>(exec, a, B.view, X.view, options);
      auto const start = X.values();
      options.tolerance = 1e-10, options.use_guess = true;
      options.monitor = [&](auto const& now) {
        if (now.iteration == at) throw Trouble();
        return true;
      };
      EXPECT_THROW((solve_spd<double, TypeParam>(exec, a, B.view, X.view, options)), Trouble);
      auto const before = judge_residuals(A, right, start),
                 after = judge_residuals(A, right, X.values());
      for (int j = 0; j < 3; ++j) EXPECT_LE(after.value[j], before.value[j] * (1 + 1e-9L)) << j;
    }
}

TYPED_TEST(CgFailures, ALimitOfIterationsIsOneOfEachGroup) {
  auto const A = shifted_grid(0);
  auto const B = random_block<double>(A.order(), 6, 1);
  auto const solved = run_case<TypeParam>(A, B, CgMethod::block, [](auto& o) {
    o.max_iterations = 5;
    o.widest_block = 3;
  });
  EXPECT_EQ(solved.report.iterations, 10);
  for (auto const& column : solved.report.columns) EXPECT_EQ(column.iterations, 5);
}

TYPED_TEST(CgFailures, BadArgumentsThrow) {
  using Exec = TypeParam;
  Exec const exec;
  TestOperator<double, Exec> const A(exec, grid7<double>(4)), small(exec, grid7<double>(3));
  Block<double, Exec> const B("B", 64, 3), X("X", 64, 3), narrow("X", 64, 2), low("B", 60, 3);
  auto const bad = [&](std::string const& words, auto const& change) {
    CgOptions<double, Exec> options;
    change(options);
    EXPECT_THAT(message_of([&] { solve_spd<double, Exec>(exec, A, B, X, options); }),
                HasSubstr(words));
  };
  bad("tolerance is -1", [](auto& o) { o.tolerance = -1; });
  bad("tolerance is 1", [](auto& o) { o.tolerance = 1; });
  bad("tolerance is nan", [](auto& o) { o.tolerance = std::nan(""); });
  bad("absolute_tolerance is -2", [](auto& o) { o.absolute_tolerance = -2; });
  bad("tolerances has 2 entries", [](auto& o) { o.tolerances = {0.1, 0.1}; });
  bad("tolerance is 7", [](auto& o) { o.tolerances = {0.1, 7, 0.1}; });
  bad("absolute_tolerances has 1 entries", [](auto& o) { o.absolute_tolerances = {0.1}; });
  bad("max_iterations is -1", [](auto& o) { o.max_iterations = -1; });
  bad("max_cycles is 0", [](auto& o) { o.max_cycles = 0; });
  bad("widest_block is -3", [](auto& o) { o.widest_block = -3; });
  bad("time_limit is -1", [](auto& o) { o.time_limit = -1; });
  bad("preconditioner has order 27", [&](auto& o) { o.preconditioner = &small; });
  EXPECT_THAT(message_of([&] { solve_spd<double, Exec>(exec, A, B, narrow); }),
              HasSubstr("X is 64 x 2, B is 64 x 3"));
  EXPECT_THAT(message_of([&] { solve_spd<double, Exec>(exec, A, low, X); }),
              HasSubstr("B has 60 rows, A has order 64"));
}

TYPED_TEST(CgFailures, NothingToSolveIsSolved) {
  using Exec = TypeParam;
  TestOperator<double, Exec> const A(Exec(), grid7<double>(4));
  Block<double, Exec> const none("B", 64, 0);
  auto const report = solve_spd<double, Exec>(Exec(), A, none, none);
  EXPECT_TRUE(report.converged());
  EXPECT_TRUE(report.columns.empty());
}

}  // namespace
}  // namespace blockspan::test
