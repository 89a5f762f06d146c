#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/lobpcg.hpp>

#include "solvers/solve.hpp"
#include "spmm/battery.hpp"

namespace blockspan::test {
namespace {

using small_grid::N;
using small_grid::wanted;

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

/// What bounds take of the entries is in the scale of the solver: neither it nor the masses may be
/// out of range.
TYPED_TEST(Invariants, UnitsNearTheEndsOfTheRangeLeaveTheDigits) {
  TypeParam const exec;
  int const n = 300, pairs = 3;
  auto const chain = [&](double diagonal, double beside) {
    HostMatrix<double> A{"chain", n, n, {0}, {}, {}};
    for (int i = 0; i < n; ++i) {
      for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
        A.add(j, i == j ? diagonal : beside);
      A.end_row();
    }
    return MatrixOperator<double, TypeParam>(exec, to_device(exec, A), {});
  };
  LobpcgOptions<double, TypeParam> options;
  options.wanted = pairs, options.path = SolvePath::iterative;
  Block<double, TypeParam> const X("X", n, 8);
  for (auto const& [a, b] : {std::pair(1.0, 1.0),
                             {0x1p-1000, 0x1p-66},
                             {0x1p-100, 0x1p-1030},
                             {0x1p-1040, 0x1p-1000},
                             {0x1p1000, 0x1p66}}) {
    auto const report = lobpcg(exec, chain(2 * a, -a), chain(4 * b, b), X, options);
    EXPECT_EQ(report.status, Status::converged) << a << ' ' << b;
    for (int j = 0; j < pairs; ++j) {
      double const c = std::cos((j + 1) * std::acos(-1.0) / (n + 1)), value = (1 - c) / (2 + c);
      EXPECT_NEAR(report.eigenvalues[j] / (a / b), value, 1e-4 * value) << a << ' ' << b;
    }
  }
  auto const tiny = lobpcg(exec, chain(0x1p-1060, 0), X, options);
  for (Status const pair : tiny.pair_status) EXPECT_NE(pair, Status::zero_eigenvalue);

  // a vector of denormal entries is a constraint as any other
  auto const angle = [](int i) { return i * std::acos(-1.0) / (n + 1); };
  Block<double, TypeParam> const first("first", n, 1);
  auto const host = Kokkos::create_mirror_view(first);
  for (int i = 0; i < n; ++i) host(i, 0) = 0x1p-1040 * std::sin(angle(i + 1));
  Kokkos::deep_copy(first, host);
  options.constraints = first;
  auto const others = lobpcg(exec, chain(2, -1), X, options);
  EXPECT_EQ(others.status, Status::converged);
  for (int j = 0; j < pairs; ++j)
    EXPECT_NEAR(others.eigenvalues[j], 2 - 2 * std::cos(angle(j + 2)), 1e-7);
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

TYPED_TEST(Invariants, APermutationMovesTheVectorsOnly) {
  auto const A = grid7<double>(N);
  int const n = A.order();
  auto const moved_to = [n](int i) { return (i * 101 + 37) % n; };  // 101 has no factor of n
  TestMatrix<double> permuted(n);
  for (int i = 0; i < n; ++i)
    for (auto const& e : A.rows[i]) permuted.add(moved_to(i), moved_to(e.column), e.value);
  std::vector<int> came_from(n);
  for (int i = 0; i < n; ++i) came_from[moved_to(i)] = i;
  auto const noise = [](int i, int j) { return std::sin(1.0 + 13.7 * i + 101.3 * j); };
  auto const run = [&](TestMatrix<double> const& M, std::function<double(int, int)> const& start) {
    return solve<double, TypeParam>(M, nullptr, wanted, [&](auto& options, auto const& X) {
      options.guess_columns = static_cast<int>(X.extent(1));
      set_columns<double, TypeParam>(X, options.guess_columns, start);
      options.tolerance = 1e-11;
      options.probe = false;  // whose random columns know nothing of the permutation
    });
  };
  auto const plain = run(A, noise);
  auto const moved = run(permuted, [&](int i, int j) { return noise(came_from[i], j); });
  EXPECT_EQ(moved.report.status, Status::converged);
  EXPECT_NEAR(moved.report.iterations, plain.report.iterations, 2);
  auto const x = fetch<double, TypeParam>(plain.X, 1), y = fetch<double, TypeParam>(moved.X, 1);
  Extended overlap = 0;  // of the lowest vector, which is alone
  for (int i = 0; i < n; ++i) overlap += std::conj(x[0][i]) * y[0][moved_to(i)];
  EXPECT_NEAR(static_cast<double>(std::abs(overlap)), 1, 1e-12);
  for (int j = 0; j < wanted; ++j)
    EXPECT_NEAR(moved.report.eigenvalues[j], plain.report.eigenvalues[j], 1e-9) << j;
}

TYPED_TEST(Invariants, ConvergedColumnsLeaveTheProducts) {
  // Gaps that shrink: with the identity for T the pairs converge one after the other.
  std::vector<double> values(400);
  for (int i = 0; i < 400; ++i) values[i] = std::sqrt(1.0 + i);
  TestOperator<double, TypeParam> const T(TypeParam(),
                                          diagonal_matrix<double>(std::vector<double>(400, 1.0)));
  std::vector<double> errors;  // of all columns, in the iteration before
  std::int64_t columns = 0;
  int least = 12;
  auto const solved = solve<double, TypeParam>(
      diagonal_matrix<double>(values), nullptr, wanted, [&](auto& options, auto const&) {
        options.preconditioner = &T;
        options.probe = false;
        options.monitor = [&](LobpcgProgress<double> const& now) {
          auto const open = std::count_if(errors.begin(), errors.end(),
                                          [&](double error) { return error > 1e-8; });
          EXPECT_EQ(now.active, open) << now.iteration;
          if (now.iteration > 0) least = std::min(least, now.active);
          columns += now.active;
          errors = now.backward_errors;
          return true;
        };
      });
  EXPECT_EQ(solved.report.status, Status::converged);
  EXPECT_LE(least, 8) << "too few have converged early for this to mean anything";
  auto const& counters = solved.report.counters;
  EXPECT_EQ(counters.preconditioner_columns, columns);
  // in addition those of the check and of the start, and two blocks a verification
  EXPECT_LE(counters.operator_columns, columns + 12 * (2 + 2 * counters.verifications));
}

TYPED_TEST(Invariants, AnOperatorWithoutANormIsMeasured) {
  using Exec = TypeParam;
  auto const A = grid7<double>(N);
  TestOperator<double, Exec> const a(Exec(), A, false);
  auto const X = block_for<double, Exec>(A.order(), wanted);
  auto options = iteration_options<double, Exec>(wanted);
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
