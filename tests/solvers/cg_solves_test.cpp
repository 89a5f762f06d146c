// What conjugate gradients solve: every backend, scalar, method, layout and preconditioner.
#include <algorithm>
#include <cmath>

#include "solvers/cg_solve.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

constexpr Preconditioner all_preconditioners[] = {Preconditioner::none, Preconditioner::jacobi,
                                                  Preconditioner::foreign};

/// A^-1 B by Gaussian elimination with pivoting in extended precision.
template <class Scalar>
std::vector<std::vector<std::complex<long double>>> dense_solve(TestMatrix<Scalar> const& A,
                                                                HostBlock<Scalar> const& B) {
  using Number = std::complex<long double>;
  int const n = A.order(), k = static_cast<int>(B.columns());
  std::vector<std::vector<Number>> M(n, std::vector<Number>(n + k));
  for (int i = 0; i < n; ++i) {
    for (auto const& e : A.rows[i]) M[i][e.column] += wide(e.value);
    for (int j = 0; j < k; ++j) M[i][n + j] = wide(B(i, j));
  }
  for (int p = 0; p < n; ++p) {
    int best = p;
    for (int i = p; i < n; ++i)
      if (std::abs(M[i][p]) > std::abs(M[best][p])) best = i;
    std::swap(M[p], M[best]);
    for (int i = 0; i < n; ++i) {
      if (i == p) continue;
      Number const factor = M[i][p] / M[p][p];
      for (int j = p; j < n + k; ++j) M[i][j] -= factor * M[p][j];
    }
  }
  std::vector<std::vector<Number>> X(n, std::vector<Number>(k));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < k; ++j) X[i][j] = M[i][n + j] / M[i][i];
  return X;
}

template <class Config>
using CaseOf = CgCase<typename Config::Scalar, typename Config::Exec>;

template <class Config>
class CgSolves : public ::testing::Test {};
TYPED_TEST_SUITE(CgSolves, EveryConfig, ConfigNames);

TYPED_TEST(CgSolves, EveryMethodAgreesWithADenseSolve) {
  using Scalar = typename TypeParam::Scalar;
  auto const A = graded_grid<Scalar>(4);
  for (int const k : {1, 2, 5, 8}) {
    auto const B = random_block<Scalar>(A.order(), k, 3);
    auto const exact = dense_solve(A, B);
    for (CgMethod const method : both_methods)
      for (Preconditioner const preconditioner : all_preconditioners) {
        auto const solved = solve<Scalar>(CaseOf<TypeParam>{A, B, method, preconditioner, {}, {}});
        ASSERT_TRUE(solved.report.converged());
        for (int j = 0; j < k; ++j) {
          // ||x - x*|| <= ||A^-1|| ||r||; the least eigenvalue of the grid is above 1.1
          long double error = 0, size = 0;
          for (int i = 0; i < A.order(); ++i) {
            error += std::norm(wide(solved.X(i, j)) - exact[i][j]);
            size += std::norm(wide(B(i, j)));
          }
          EXPECT_LE(std::sqrt(error / size),
                    solved.residual.value[j] / 1.1L + 50 * unit_roundoff<Scalar>);
        }
      }
  }
}

TYPED_TEST(CgSolves, AnyNumberOfColumnsInAnyLayout) {
  using Scalar = typename TypeParam::Scalar;
  auto const A = graded_grid<Scalar>(7);
  for (Storage const storage : all_storages)
    for (int const k : {1, 3, 33})
      for (CgMethod const method : {CgMethod::automatic, CgMethod::pseudo_block, CgMethod::block}) {
        auto const B = random_block<Scalar>(A.order(), k, 5);
        auto const solved =
            solve<Scalar>(CaseOf<TypeParam>{A, B, method, Preconditioner::jacobi, {}, {}, storage});
        EXPECT_TRUE(solved.report.converged());
        bool const chosen = method == CgMethod::automatic && k > 1 && on_host_v<TypeParam>;
        bool const block = method == CgMethod::block || chosen;  // small ones on devices: none
        EXPECT_EQ(solved.report.method, block ? "block" : "pseudo_block");
        // of up to 32 columns, or the 16 that automatic takes on hosts
        EXPECT_EQ(solved.report.counters.groups, !block || k < 33 ? 1 : chosen ? 3 : 2);
        EXPECT_FALSE(solved.report.reason.empty());
      }
}

TYPED_TEST(CgSolves, TheLayoutDoesNotChangeTheBits) {
  using Scalar = typename TypeParam::Scalar;
  auto const A = graded_grid<Scalar>(6);
  auto const B = random_block<Scalar>(A.order(), 6, 5),
             guess = random_block<Scalar>(A.order(), 6, 6);
  for (CgMethod const method : both_methods) {
    CaseOf<TypeParam> c{A, B, method, Preconditioner::jacobi, {}, guess};
    auto const plain = solve<Scalar>(c);
    for (Storage const storage : all_storages) {
      c.storage = storage;
      EXPECT_TRUE(same_bits(solve<Scalar>(c).X, plain.X)) << to_string(storage);
    }
  }
}

TYPED_TEST(CgSolves, PseudoBlockGivesAColumnTheSameBitsWhoeverStandsBesideIt) {
  using Scalar = typename TypeParam::Scalar;
  auto const A = graded_grid<Scalar>(6);
  auto const B = random_block<Scalar>(A.order(), 11, 5);
  CaseOf<TypeParam> c{A, B, CgMethod::pseudo_block, Preconditioner::jacobi, {}, {}};
  auto const together = solve<Scalar>(c);
  for (int j : {0, 6, 10}) {
    c.B = HostBlock<Scalar>(A.order(), 1);
    for (int i = 0; i < A.order(); ++i) c.B(i, 0) = B(i, j);
    auto const alone = solve<Scalar>(c);
    EXPECT_EQ(alone.most_iterations, together.report.columns[j].iterations);
    for (int i = 0; i < A.order(); ++i)
      ASSERT_EQ(alone.X(i, 0), together.X(i, j)) << i << ", " << j;
  }
}

TYPED_TEST(CgSolves, ManyColumnsInGroupsOfChosenWidth) {
  using Scalar = typename TypeParam::Scalar;
  auto const A = graded_grid<Scalar>(5);
  auto const B = random_block<Scalar>(A.order(), 100, 5);
  for (CgMethod const method : both_methods) {
    auto const solved = solve<Scalar>(CaseOf<TypeParam>{
        A, B, method, Preconditioner::jacobi, [](auto& o) { o.widest_block = 12; }, {}});
    EXPECT_TRUE(solved.report.converged());
    EXPECT_EQ(solved.report.counters.groups, 9);
  }
}

TYPED_TEST(CgSolves, TolerancesAreKeptColumnByColumn) {
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  auto const A = graded_grid<Scalar>(8);
  auto const B = random_block<Scalar>(A.order(), 4, 5);
  for (CgMethod const method : both_methods) {
    auto const relative = solve<Scalar>(
        CaseOf<TypeParam>{A,
                          B,
                          method,
                          Preconditioner::jacobi,
                          [](auto& o) {
                            o.tolerances = {Real(1e-1), Real(1e-4), Real(1e-2), Real(1e-3)};
                          },
                          {}});
    EXPECT_TRUE(relative.report.converged());
    EXPECT_LT(relative.report.columns[0].iterations, relative.report.columns[1].iterations);
    double const absolute[] = {1e-1, 1e-3, 3e-2, 1e-2};
    auto const solved =
        solve<Scalar>(CaseOf<TypeParam>{A,
                                        B,
                                        method,
                                        Preconditioner::jacobi,
                                        [&](auto& o) {
                                          o.tolerance = 0;
                                          for (double const a : absolute)
                                            o.absolute_tolerances.push_back(static_cast<Real>(a));
                                        },
                                        {}});
    EXPECT_TRUE(solved.report.converged());
    for (int j = 0; j < 4; ++j) {
      long double size = 0;
      for (int i = 0; i < A.order(); ++i) size += std::norm(wide(B(i, j)));
      EXPECT_LE((solved.residual.value[j] - solved.residual.rounding[j]) * std::sqrt(size),
                absolute[j]);
    }
  }
}

TYPED_TEST(CgSolves, GuessesHelpOrAreRejected) {
  using Scalar = typename TypeParam::Scalar;
  auto const A = graded_grid<Scalar>(8);
  auto const B = random_block<Scalar>(A.order(), 5, 5);
  for (CgMethod const method : both_methods) {
    CaseOf<TypeParam> c{A, B, method, Preconditioner::jacobi, {}, {}};
    auto const cold = solve<Scalar>(c);
    c.guess = cold.X;  // solved before it starts
    auto const solved = solve<Scalar>(c);
    EXPECT_EQ(solved.report.iterations, 0);
    EXPECT_EQ(solved.report.counters.operator_applications, 1);
    EXPECT_TRUE(same_bits(solved.X, cold.X));

    for (int i = 0; i < A.order(); ++i) c.guess(i, 1) *= static_cast<real_t<Scalar>>(1.001);
    auto const warm = solve<Scalar>(c);
    EXPECT_TRUE(warm.report.converged());
    EXPECT_GT(warm.report.columns[1].iterations, 0);
    EXPECT_LT(warm.report.columns[1].iterations, cold.report.columns[1].iterations);
    EXPECT_EQ(warm.report.columns[0].iterations, 0);

    c.guess = cold.X;
    for (int i = 0; i < A.order(); ++i)
      for (int j = 0; j < 5; ++j) c.guess(i, j) *= static_cast<real_t<Scalar>>(j == 2 ? 1e10 : 0.5);
    auto const bad = solve<Scalar>(c);
    EXPECT_TRUE(bad.report.converged());
    EXPECT_EQ(bad.report.counters.guesses_rejected, 1);
    EXPECT_LE(bad.most_iterations, cold.most_iterations + 3);
  }
}

TYPED_TEST(CgSolves, GuessesWithNaNOrInfAreRefused) {
  using Scalar = typename TypeParam::Scalar;
  auto const A = graded_grid<Scalar>(8);
  auto B = random_block<Scalar>(A.order(), 5, 5);
  for (CgMethod const method : both_methods) {
    CaseOf<TypeParam> c{A, B, method, Preconditioner::jacobi, {}, B};
    c.guess(7, 3) = not_a_number<Scalar>();
    EXPECT_THAT(message_of([&] { solve<Scalar>(c); }),
                ::testing::HasSubstr("row 7, column 3 of the start X (both from 0) is NaN"));
    // it is not read where the right-hand side cannot be solved for
    c.B(9, 3) = not_a_number<Scalar>();
    EXPECT_EQ(solve<Scalar>(c).report.columns[3].status, Status::nonfinite_rhs);
  }
}

/// ||x - x*||_A of each column, for known x*.
template <class Scalar>
std::vector<long double> energy_errors(TestMatrix<Scalar> const& A, HostBlock<Scalar> const& X,
                                       HostBlock<Scalar> const& exact) {
  std::vector<long double> result;
  for (std::int64_t j = 0; j < X.columns(); ++j) {
    long double sum = 0;
    for (int i = 0; i < A.order(); ++i) {
      auto const d = wide(X(i, j)) - wide(exact(i, j));
      for (auto const& e : A.rows[i])
        sum += (std::conj(d) * wide(e.value) * (wide(X(e.column, j)) - wide(exact(e.column, j))))
                   .real();
    }
    result.push_back(std::sqrt(std::max(0.0L, sum)));
  }
  return result;
}

TYPED_TEST(CgSolves, TheEnergyNormOfTheErrorFallsAndFallsFasterInABlock) {
  using Scalar = typename TypeParam::Scalar;
  auto const A = graded_grid<Scalar>(6);
  auto const exact = random_block<Scalar>(A.order(), 4, 5);
  HostBlock<Scalar> B(A.order(), 4);
  for (int i = 0; i < A.order(); ++i)
    for (auto const& e : A.rows[i])
      for (int j = 0; j < 4; ++j) B(i, j) += e.value * exact(e.column, j);
  std::vector<std::vector<long double>> errors[2];
  for (CgMethod const method : both_methods)
    for (int steps = 0; steps <= 12; ++steps) {
      auto const solved = solve<Scalar>(CaseOf<TypeParam>{
          A, B, method, Preconditioner::jacobi, [&](auto& o) { o.max_iterations = steps; }, {}});
      errors[method == CgMethod::block].push_back(energy_errors(A, solved.X, exact));
    }
  for (int j = 0; j < 4; ++j) {
    long double const slack = 1e-6L + 10 * unit_roundoff<Scalar>, floor = slack * errors[0][0][j];
    for (int steps = 0; steps <= 12; ++steps) {
      EXPECT_LE(errors[1][steps][j], errors[0][steps][j] * (1 + slack) + floor) << steps;
      for (auto const& of : errors)
        EXPECT_LE(of[steps][j], of[std::max(0, steps - 1)][j] * (1 + slack) + floor) << steps;
    }
  }
}

}  // namespace
}  // namespace blockspan::test
