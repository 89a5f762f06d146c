#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "solvers/solve.hpp"

namespace blockspan::test {
namespace {

/// What a broken operator does to the image of the right one.
enum class Fault { none, zero, negative, nan, infinite, unsymmetric };

template <class Exec>
struct Break {
  Block<double, Exec> Y;
  ConstBlock<double, Exec> X;
  Fault fault;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const n = static_cast<std::int64_t>(Y.extent(0));
    for (std::size_t j = 0; j < Y.extent(1); ++j) {
      double& y = Y(i, j);
      if (fault == Fault::zero) y = 0;
      if (fault == Fault::negative) y = -y;
      if (fault == Fault::nan) y = Kokkos::Experimental::quiet_NaN_v<double>;
      if (fault == Fault::infinite && i == n / 2) y = Kokkos::Experimental::infinity_v<double>;
      if (fault == Fault::unsymmetric) y += 0.05 * X((i * 7 + 3) % n, j) * (i % 3 == 0 ? 1 : -1);
    }
  }
};

/// Breaks the operator of A from call `first` (counted from 1) to call `last`.
template <class Exec>
class BrokenOperator : public LinearOperator<double, Exec> {
 public:
  BrokenOperator(TestMatrix<double> const& A, Fault fault, int first = 1,
                 int last = std::numeric_limits<int>::max())
      : inner_(Exec(), A), fault_(fault), first_(first), last_(last) {}
  std::int64_t rows() const override { return inner_.rows(); }
  OperatorFacts<double, Exec> facts() const override {
    return {.norm_bound = inner_.facts().norm_bound};
  }
  void apply(Exec const& exec, ConstBlock<double, Exec> const& X,
             Block<double, Exec> const& Y) const override {
    inner_.apply(exec, X, Y);
    if (inner_.calls < first_ || inner_.calls > last_) return;
    Kokkos::parallel_for("Blockspan::test::break", Kokkos::RangePolicy<Exec>(exec, 0, Y.extent(0)),
                         Break<Exec>{Y, X, fault_});
  }

 private:
  TestOperator<double, Exec> inner_;
  Fault fault_;
  int first_, last_;
};

template <class Exec>
struct Average {
  ConstBlock<double, Exec> X;
  Block<double, Exec> Y;

  KOKKOS_FUNCTION void operator()(std::size_t j) const {
    double sum = 0;
    for (std::size_t i = 0; i < X.extent(0); ++i) sum += X(i, j);
    for (std::size_t i = 0; i < X.extent(0); ++i) Y(i, j) = sum / static_cast<double>(X.extent(0));
  }
};

/// Positive semidefinite of rank one: it takes all residuals to one direction.
template <class Exec>
class AveragingOperator : public LinearOperator<double, Exec> {
 public:
  explicit AveragingOperator(std::int64_t rows) : rows_(rows) {}
  std::int64_t rows() const override { return rows_; }
  void apply(Exec const& exec, ConstBlock<double, Exec> const& X,
             Block<double, Exec> const& Y) const override {
    Kokkos::parallel_for("Blockspan::test::average",
                         Kokkos::RangePolicy<Exec>(exec, 0, X.extent(1)), Average<Exec>{X, Y});
  }

 private:
  std::int64_t rows_;
};

using small_grid::N;
using small_grid::wanted;

template <class Exec>
LobpcgReport<double> run(LinearOperator<double, Exec> const& A,
                         LinearOperator<double, Exec> const* T = nullptr,
                         bool check_hermitian = true) {
  auto const X = block_for<double, Exec>(A.rows(), wanted);
  auto options = iteration_options<double, Exec>(wanted);
  options.max_iterations = check_hermitian ? 500 : 40;
  options.preconditioner = T;
  options.check_hermitian = check_hermitian;
  return lobpcg(Exec(), A, X, options);
}

void expect_grid_values(LobpcgReport<double> const& report) {
  auto const exact = grid7_spectrum(N);
  EXPECT_EQ(report.status, Status::converged);
  for (int j = 0; j < wanted; ++j) EXPECT_NEAR(report.eigenvalues[j], exact[j], 1e-6) << j;
}

template <class Exec>
class Failures : public ::testing::Test {};
TYPED_TEST_SUITE(Failures, Backends);

TYPED_TEST(Failures, AnOperatorThatGivesNaNIsNamed) {
  for (Fault const fault : {Fault::nan, Fault::infinite})
    for (int const first : {1, 4, 12}) {
      BrokenOperator<TypeParam> const A(grid7<double>(N), fault, first);
      auto const report = run<TypeParam>(A);
      EXPECT_EQ(report.status, Status::operator_not_finite) << "from call " << first;
      EXPECT_EQ(report.fault.operator_name, "A");
      EXPECT_EQ(report.fault.column, 0);
      EXPECT_EQ(report.fault.iteration, std::max(0, first - 3)) << "from call " << first;
      for (Status const pair : report.pair_status) EXPECT_EQ(pair, Status::not_converged);
    }
}

TYPED_TEST(Failures, ASingleNaNIsSurvivedAndTold) {
  for (int const call : {1, 2, 3, 5, 9}) {
    BrokenOperator<TypeParam> const A(grid7<double>(N), Fault::nan, call, call);
    auto const report = run<TypeParam>(A);
    expect_grid_values(report);
    if (call > 1) {  // the first call is asked for once more before anything begins
      EXPECT_EQ(report.fault.operator_name, "A") << call;
    }
  }
}

TYPED_TEST(Failures, AMassMatrixThatGivesNaNIsNamed) {
  using Exec = TypeParam;
  auto const A = grid7<double>(N);
  TestOperator<double, Exec> const a(Exec(), A);
  for (int const first : {1, 30}) {  // at once, and after the checks
    BrokenOperator<Exec> const B(diagonal_matrix<double>(std::vector<double>(A.order(), 2.0)),
                                 Fault::nan, first);
    auto const X = block_for<double, Exec>(A.order(), wanted);
    auto const report = lobpcg(Exec(), a, B, X, iteration_options<double, Exec>(wanted));
    EXPECT_EQ(report.status, Status::operator_not_finite) << first;
    EXPECT_EQ(report.fault.operator_name, "B") << first;
  }
}

TYPED_TEST(Failures, AnUnsymmetricOperatorIsRefused) {
  BrokenOperator<TypeParam> const A(grid7<double>(N), Fault::unsymmetric);
  EXPECT_EQ(run<TypeParam>(A).status, Status::operator_not_hermitian);
  auto const report = run<TypeParam>(A, nullptr, false);  // on request it runs, without a crash
  EXPECT_NE(report.status, Status::operator_not_hermitian);
}

TYPED_TEST(Failures, AUselessPreconditionerIsReplaced) {
  auto const A = grid7<double>(N);
  TestOperator<double, TypeParam> const a(TypeParam(), A);
  for (Fault const fault : {Fault::zero, Fault::negative, Fault::nan, Fault::infinite}) {
    BrokenOperator<TypeParam> const T(jacobi_matrix(A), fault);
    auto const report = run<TypeParam>(a, &T);
    expect_grid_values(report);
    EXPECT_GT(report.counters.preconditioner_rejected, 0);
    bool const finite = fault == Fault::zero || fault == Fault::negative;
    EXPECT_EQ(report.fault.operator_name, finite ? "" : "preconditioner");
    EXPECT_EQ(report.fault.column, finite ? -1 : 0);
    EXPECT_EQ(report.fault.iteration, finite ? -1 : 0);
  }
  BrokenOperator<TypeParam> const T(jacobi_matrix(A), Fault::unsymmetric);
  expect_grid_values(run<TypeParam>(a, &T));
}

TYPED_TEST(Failures, APreconditionerThatGivesNaNOnceIsNamedWhereItDid) {
  auto const A = grid7<double>(N);
  TestOperator<double, TypeParam> const a(TypeParam(), A);
  BrokenOperator<TypeParam> const T(jacobi_matrix(A), Fault::nan, 6, 6);
  auto const report = run<TypeParam>(a, &T);
  expect_grid_values(report);
  EXPECT_EQ(report.fault.operator_name, "preconditioner");
  EXPECT_EQ(report.fault.iteration, 5);
}

TYPED_TEST(Failures, TheOperatorThatEndsASolveIsNamedBeforeThePreconditioner) {
  BrokenOperator<TypeParam> const A(grid7<double>(N), Fault::nan, 12);
  BrokenOperator<TypeParam> const T(jacobi_matrix(grid7<double>(N)), Fault::nan);
  auto const report = run<TypeParam>(A, &T);
  EXPECT_EQ(report.status, Status::operator_not_finite);
  EXPECT_EQ(report.fault.operator_name, "A");
  EXPECT_EQ(report.fault.iteration, 9);
}

TYPED_TEST(Failures, APreconditionerThatLeavesNoDirectionsIsDropped) {
  auto const A = grid7<double>(N);
  TestOperator<double, TypeParam> const a(TypeParam(), A);
  AveragingOperator<TypeParam> const T(A.order());
  auto const report = run<TypeParam>(a, &T);
  expect_grid_values(report);
  EXPECT_GT(report.counters.columns_dropped, 0);
  EXPECT_GE(report.counters.restarts, 2);
  EXPECT_LT(report.counters.preconditioner_applications, report.iterations);
}

struct Trouble {};

/// Throws in its call number `at` (counted from 1).
template <class Exec>
class ThrowingOperator : public LinearOperator<double, Exec> {
 public:
  ThrowingOperator(TestMatrix<double> const& A, int at) : inner_(Exec(), A), at_(at) {}
  std::int64_t rows() const override { return inner_.rows(); }
  OperatorFacts<double, Exec> facts() const override {
    return {.norm_bound = inner_.facts().norm_bound};
  }
  void apply(Exec const& exec, ConstBlock<double, Exec> const& X,
             Block<double, Exec> const& Y) const override {
    inner_.apply(exec, X, Y);
    if (inner_.calls == at_) throw Trouble();
  }

 private:
  TestOperator<double, Exec> inner_;
  int at_;
};

TYPED_TEST(Failures, AnErrorInAnOperatorReachesTheCallerAndLeavesX) {
  using Exec = TypeParam;
  auto const matrix = grid7<double>(N);
  auto const mass = diagonal_matrix<double>(std::vector<double>(matrix.order(), 2.0));
  constexpr int never = -1;
  for (int const at : {1, 4, 15})
    for (int who = 0; who < 3; ++who) {
      SCOPED_TRACE(std::to_string(who) + " in call " + std::to_string(at));
      ThrowingOperator<Exec> const A(matrix, who == 0 ? at : never), B(mass, who == 1 ? at : never),
          T(jacobi_matrix(matrix), who == 2 ? at : never);
      auto const X = block_for<double, Exec>(matrix.order(), wanted);
      Kokkos::deep_copy(X, 7.0);
      auto options = iteration_options<double, Exec>(wanted);
      options.preconditioner = &T;
      EXPECT_THROW(lobpcg(Exec(), A, B, X, options), Trouble);
      for (auto const& column : fetch<double, Exec>(X, wanted))
        for (auto const& entry : column) ASSERT_EQ(entry, Extended(7.0L));
      // nothing is left behind: the same operators, which throw no more, solve the problem
      auto const report = lobpcg(Exec(), A, B, X, options);
      EXPECT_EQ(report.status, Status::converged);
      for (int j = 0; j < wanted; ++j)
        EXPECT_NEAR(2 * report.eigenvalues[j], grid7_spectrum(N)[j], 1e-6) << j;
    }
}

TYPED_TEST(Failures, AnIndefiniteDiagonalPreconditionerIsRejectedWhereItPointsAway) {
  auto const A = grid7<double>(N);
  TestMatrix<double> signs(A.order());
  for (int i = 0; i < A.order(); ++i) signs.add(i, i, i % 2 ? -1.0 : 1.0);
  TestOperator<double, TypeParam> const a(TypeParam(), A), T(TypeParam(), signs);
  auto const report = run<TypeParam>(a, &T);
  expect_grid_values(report);
  EXPECT_GT(report.counters.preconditioner_rejected, 0);
}

TYPED_TEST(Failures, AnIndefiniteMassMatrixIsRefused) {
  auto const A = grid7<double>(N);
  std::vector<double> mass(A.order(), 1.0);
  mass[100] = -0.05;  // one mildly negative direction
  auto const B = diagonal_matrix<double>(mass);
  EXPECT_EQ((solve<double, TypeParam>(A, &B, wanted).report.status),
            Status::mass_not_positive_definite);
}

TYPED_TEST(Failures, ASingularMassMatrixStillGivesTheFiniteValues) {
  // B = I on all but the last 40 unknowns of a diagonal problem.
  std::vector<double> a(400), b(400, 1.0);
  for (int i = 0; i < 400; ++i) a[i] = 1 + 0.5 * i;
  for (int i = 360; i < 400; ++i) b[i] = 0;
  auto const B = diagonal_matrix<double>(b);
  auto const solved = solve<double, TypeParam>(diagonal_matrix<double>(a), &B, wanted);
  EXPECT_EQ(solved.report.status, Status::converged);
  for (int j = 0; j < wanted; ++j) EXPECT_NEAR(solved.report.eigenvalues[j], a[j], 1e-4);
}

TYPED_TEST(Failures, LimitsAndTheMonitorEndTheSolveWithTrueResiduals) {
  auto const A = grid7<double>(N);
  auto const check = [&](Status status, auto const& change) {
    auto const solved = solve<double, TypeParam>(
        A, nullptr, wanted, [&](auto& options, auto const&) { change(options); });
    EXPECT_EQ(solved.report.status, status);
    EXPECT_LE(solved.found.orthogonality, 1e-12);
    for (int j = 0; j < wanted; ++j)
      EXPECT_NEAR(solved.report.backward_errors[j], static_cast<double>(solved.found.backward[j]),
                  1e-14);
    return solved.report.iterations;
  };
  EXPECT_EQ(check(Status::max_iterations, [](auto& o) { o.max_iterations = 5; }), 5);
  EXPECT_EQ(check(Status::time_limit, [](auto& o) { o.time_limit = 0; }), 0);
  EXPECT_EQ(check(Status::stopped_by_monitor,
                  [](auto& o) { o.monitor = [](auto const& p) { return p.iteration < 7; }; }),
            7);
}

TYPED_TEST(Failures, AnUnattainableToleranceEndsAtTheLimitOfTheArithmetic) {
  auto const solved =
      solve<double, TypeParam>(grid7<double>(N), nullptr, wanted,
                               [](auto& options, auto const&) { options.tolerance = 1e-18; });
  EXPECT_EQ(solved.report.status, Status::attainable_limit);
  for (int j = 0; j < wanted; ++j) {
    EXPECT_EQ(solved.report.pair_status[j], Status::attainable_limit);
    EXPECT_LE(solved.found.backward[j], 50 * unit_roundoff<double>);
  }
}

TYPED_TEST(Failures, BadArgumentsThrow) {
  using Exec = TypeParam;
  TestOperator<double, Exec> const A(Exec(), grid7<double>(N)), small(Exec(), grid7<double>(4));
  auto const X = block_for<double, Exec>(A.rows(), wanted);
  auto const bad = [&](auto const& change) {
    auto options = iteration_options<double, Exec>(wanted);
    change(options);
    EXPECT_THROW(lobpcg(Exec(), A, X, options), Error);
  };
  bad([](auto& o) { o.wanted = 0; });
  bad([](auto& o) { o.wanted = 13; });
  bad([](auto& o) { o.tolerance = 0; });
  bad([](auto& o) { o.tolerance = 1; });
  bad([](auto& o) { o.tolerance = std::numeric_limits<double>::quiet_NaN(); });
  bad([](auto& o) { o.max_iterations = -1; });
  bad([](auto& o) { o.guess_columns = 13; });
  bad([](auto& o) { o.stagnation_window = 0; });
  bad([](auto& o) { o.time_limit = -1; });
  bad([&](auto& o) { o.preconditioner = &small; });
  EXPECT_THROW(lobpcg(Exec(), A, small, X, {.wanted = wanted}), Error);
  EXPECT_THROW(lobpcg(Exec(), small, X, {.wanted = wanted}), Error);
}

}  // namespace
}  // namespace blockspan::test
