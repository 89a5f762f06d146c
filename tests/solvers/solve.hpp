#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "solvers/judge.hpp"
#include "support/types.hpp"

namespace blockspan::test {

/// A solve and all that a test may want to look at afterwards.
template <class Scalar, class Exec>
struct Solved {
  LobpcgReport<real_t<Scalar>> report;
  Block<Scalar, Exec> X;
  Judgement found;  ///< by the test's own arithmetic
};

/// What holds of every accepted pair of every solve: its residual, by the test's own arithmetic,
/// and that its value is the Rayleigh quotient of its vector; of an answer, that its vectors are
/// orthonormal.
template <class Scalar, class Exec>
void expect_invariants(TestMatrix<Scalar> const& A, TestMatrix<Scalar> const* B,
                       LobpcgOptions<Scalar, Exec> const& options,
                       Solved<Scalar, Exec> const& solved) {
  auto const& [report, X, found] = solved;
  constexpr long double eps = 2 * unit_roundoff<Scalar>;
  long double const a = A.infinity_norm(), b = B ? B->infinity_norm() : 1;
  long double largest = 0;
  for (std::size_t j = 0; j < report.eigenvalues.size(); ++j) {
    if (!is_done(report.pair_status[j])) continue;
    long double const size = found.size[j];
    long double const lambda = std::abs(static_cast<long double>(report.eigenvalues[j]));
    largest = std::max(largest, size);
    // with constraints the residuals are those of the projected problem
    if (options.constraints.extent(1) == 0 && options.criterion != Criterion::relative) {
      EXPECT_LE(found.backward[j], 1.01L * options.tolerance + 10 * eps) << "pair " << j;
    }
    EXPECT_LE(found.rayleigh[j], 50 * eps * (a + lambda * b) * size * size) << "pair " << j;
  }
  if (report.status != Status::converged) return;
  auto const k = static_cast<long double>(report.eigenvalues.size());
  EXPECT_LE(found.orthogonality, 50 * eps * k * std::max(1.0L, b * largest * largest));
}

/// Options of tests that are about the iteration: no dense solve takes the problem away, and the
/// residual alone decides.
template <class Scalar, class Exec>
LobpcgOptions<Scalar, Exec> iteration_options(int wanted) {
  LobpcgOptions<Scalar, Exec> options;
  options.wanted = wanted;
  options.path = SolvePath::iterative;
  options.criterion = Criterion::backward;
  return options;
}

/// Solves with the operators of test code; `prepare` may change options and the start in X.
template <class Scalar, class Exec>
Solved<Scalar, Exec> solve(TestMatrix<Scalar> const& A, TestMatrix<Scalar> const* B, int wanted,
                           std::function<void(LobpcgOptions<Scalar, Exec>&,
                                              Block<Scalar, Exec>&)> const& prepare = nullptr) {
  Exec const exec;
  TestOperator<Scalar, Exec> const a(exec, A), t(exec, jacobi_matrix(A));
  std::optional<TestOperator<Scalar, Exec>> b;
  if (B) b.emplace(exec, *B);
  Solved<Scalar, Exec> result;
  result.X = block_for<Scalar, Exec>(A.order(), wanted);
  auto options = iteration_options<Scalar, Exec>(wanted);
  options.preconditioner = &t;
  if (prepare) prepare(options, result.X);
  result.report = B ? lobpcg(exec, a, *b, result.X, options) : lobpcg(exec, a, result.X, options);
  EXPECT_EQ(result.report.counters.operator_applications, a.calls);
  EXPECT_EQ(result.report.counters.operator_columns, a.columns);
  if (b) {
    EXPECT_EQ(result.report.counters.mass_applications, b->calls);
    EXPECT_EQ(result.report.counters.mass_columns, b->columns);
  }
  result.found = judge<Scalar, Exec>(A, B, result.X, result.report.eigenvalues);
  expect_invariants(A, B, options, result);
  return result;
}

/// Fills columns of X from f(row, column).
template <class Scalar, class Exec>
void set_columns(Block<Scalar, Exec> const& X, int columns,
                 std::function<Scalar(int, int)> const& f) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X);
  for (std::size_t i = 0; i < X.extent(0); ++i)
    for (int j = 0; j < columns; ++j) host(i, j) = f(static_cast<int>(i), j);
  Kokkos::deep_copy(X, host);
}

/// ||A|| sqrt(wanted) times the largest recomputed backward error, plus rounding: how far a Ritz
/// value of an orthonormal block may be from its eigenvalue.
template <class Scalar, class Exec>
long double value_bound(Solved<Scalar, Exec> const& solved, long double norm_a) {
  long double worst = 0;
  for (long double const r : solved.found.residual) worst = std::max(worst, r);
  return std::sqrt(static_cast<long double>(solved.found.residual.size())) * worst +
         100 * unit_roundoff<Scalar> * norm_a;
}

template <class Scalar, class Exec>
void expect_values(Solved<Scalar, Exec> const& solved, std::vector<double> const& exact,
                   long double norm_a) {
  for (std::size_t j = 0; j < solved.report.eigenvalues.size(); ++j)
    EXPECT_NEAR(static_cast<double>(solved.report.eigenvalues[j]), exact[j],
                static_cast<double>(value_bound(solved, norm_a)))
        << "pair " << j;
}

}  // namespace blockspan::test
