#include "solvers/solve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace blockspan::test {

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

template <class Scalar, class Exec>
Solved<Scalar, Exec> solve(
    TestMatrix<Scalar> const& A, TestMatrix<Scalar> const* B, int wanted,
    std::function<void(LobpcgOptions<Scalar, Exec>&, Block<Scalar, Exec>&)> const& prepare) {
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

template <class Scalar, class Exec>
void set_columns(Block<Scalar, Exec> const& X, int columns,
                 std::function<Scalar(int, int)> const& f) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X);
  for (std::size_t i = 0; i < X.extent(0); ++i)
    for (int j = 0; j < columns; ++j) host(i, j) = f(static_cast<int>(i), j);
  Kokkos::deep_copy(X, host);
}

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

#define INSTANTIATE(Scalar, Exec)                                                       \
  template void expect_invariants(TestMatrix<Scalar> const&, TestMatrix<Scalar> const*, \
                                  LobpcgOptions<Scalar, Exec> const&,                   \
                                  Solved<Scalar, Exec> const&);                         \
  template Solved<Scalar, Exec> solve(                                                  \
      TestMatrix<Scalar> const&, TestMatrix<Scalar> const*, int,                        \
      std::function<void(LobpcgOptions<Scalar, Exec>&, Block<Scalar, Exec>&)> const&);  \
  template void set_columns<Scalar, Exec>(Block<Scalar, Exec> const&, int,              \
                                          std::function<Scalar(int, int)> const&);      \
  template long double value_bound(Solved<Scalar, Exec> const&, long double);           \
  template void expect_values(Solved<Scalar, Exec> const&, std::vector<double> const&, long double);
BLOCKSPAN_TEST_EACH(INSTANTIATE)
#undef INSTANTIATE

}  // namespace blockspan::test
