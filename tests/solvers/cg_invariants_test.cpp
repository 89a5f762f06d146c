// What must hold of conjugate gradients whatever the numbers: section by section of the theory.
#include <algorithm>
#include <cmath>
#include <limits>

#include <blockspan/support/backend.hpp>

#include "solvers/cg_solve.hpp"

namespace blockspan::test {
namespace {

/// A diffusion matrix whose coefficients jump between 1 and 100: a few hundred iterations alone.
TestMatrix<double> jumping_grid(int N) {
  auto A = grid7<double>(N);
  auto const factor = [N](int i) {
    return ((i % N) / 3 + (i / N % N) / 3 + i / (N * N) / 3) % 2 ? 10.0 : 1.0;
  };
  for (int i = 0; i < A.order(); ++i)
    for (auto& e : A.rows[i]) e.value *= factor(i) * factor(e.column);
  return A;
}

template <class Exec>
CgSolved<double> run(TestMatrix<double> const& A, HostBlock<double> const& B, CgMethod method,
                     std::function<void(CgOptions<double, Exec>&)> const& change = {},
                     Preconditioner preconditioner = Preconditioner::jacobi) {
  return solve<double>(CgCase<double, Exec>{A, B, method, preconditioner, change, {}});
}

HostBlock<double> columns_of(HostBlock<double> const& B, std::vector<int> const& chosen,
                             std::vector<double> const& factors = {}) {
  HostBlock<double> result(B.rows(), static_cast<std::int64_t>(chosen.size()));
  for (std::int64_t i = 0; i < B.rows(); ++i)
    for (std::size_t c = 0; c < chosen.size(); ++c)
      result(i, static_cast<std::int64_t>(c)) =
          B(i, chosen[c]) * (factors.empty() ? 1.0 : factors[c]);
  return result;
}

bool same_column(HostBlock<double> const& X, int i, HostBlock<double> const& Y, int j) {
  return same_bits(columns_of(X, {i}), columns_of(Y, {j}));
}

TestMatrix<double> const& grid() {
  static auto const A = jumping_grid(9);
  return A;
}
HostBlock<double> const& rhs() {
  static auto const B = random_block<double>(grid().order(), 8, 21);
  return B;
}

template <class Exec>
class CgInvariants : public ::testing::Test {};
TYPED_TEST_SUITE(CgInvariants, Backends, ConfigNames);

TYPED_TEST(CgInvariants, ZeroAndNaNNeighboursChangeNothing) {
  auto spoilt = rhs();
  for (int i = 0; i < grid().order(); ++i) spoilt(i, 1) = 0;
  spoilt(17, 4) = std::numeric_limits<double>::quiet_NaN();
  spoilt(20, 6) = -std::numeric_limits<double>::infinity();
  for (CgMethod const method : both_methods) {
    auto const plain = run<TypeParam>(grid(), columns_of(rhs(), {0, 2, 3, 5, 7}), method);
    auto const mixed = run<TypeParam>(grid(), spoilt, method);
    EXPECT_EQ(mixed.report.columns[1].status, Status::zero_rhs);
    EXPECT_EQ(mixed.report.columns[4].status, Status::nonfinite_rhs);
    EXPECT_EQ(mixed.report.columns[6].status, Status::nonfinite_rhs);
    EXPECT_EQ(mixed.report.status, Status::nonfinite_rhs);
    EXPECT_TRUE(std::isnan(mixed.X(3, 4)));  // as it was given
    int const place[] = {0, 2, 3, 5, 7};
    for (int c = 0; c < 5; ++c) {
      EXPECT_EQ(mixed.report.columns[place[c]].status, Status::converged);
      EXPECT_EQ(mixed.report.columns[place[c]].iterations, plain.report.columns[c].iterations);
      // The block method's kernels depend on how rows are aligned, and so on the width given.
      if (method == CgMethod::pseudo_block) {
        EXPECT_TRUE(same_column(mixed.X, place[c], plain.X, c)) << c;
      }
    }
  }
}

TYPED_TEST(CgInvariants, PseudoBlockSolvesEachColumnAsIfAlone) {
  auto const together = run<TypeParam>(grid(), rhs(), CgMethod::pseudo_block);
  for (int j = 0; j < 8; ++j) {
    auto const alone = run<TypeParam>(grid(), columns_of(rhs(), {j}), CgMethod::pseudo_block);
    EXPECT_EQ(alone.report.columns[0].iterations, together.report.columns[j].iterations);
    EXPECT_TRUE(same_column(alone.X, 0, together.X, j)) << j;
  }
}

TYPED_TEST(CgInvariants, PseudoBlockSolvesEachColumnAsInAWideBlock) {
  auto const wide = random_block<double>(grid().order(), 21, 22);
  auto const together = run<TypeParam>(grid(), wide, CgMethod::pseudo_block);
  for (int const j : {0, 11, 20}) {
    auto const few = run<TypeParam>(grid(), columns_of(wide, {j, 3}), CgMethod::pseudo_block);
    EXPECT_EQ(few.report.columns[0].iterations, together.report.columns[j].iterations);
    EXPECT_TRUE(same_column(few.X, 0, together.X, j)) << j;
  }
}

TYPED_TEST(CgInvariants, CompactionDoesNotChangeABit) {
  auto const change = [](bool compact) {
    return [compact](auto& o) {
      o.compact = compact;
      o.tolerances = {1e-2, 1e-9, 1e-4, 1e-6, 1e-7, 1e-3, 1e-8, 1e-5};
    };
  };
  for (auto const preconditioner : {Preconditioner::jacobi, Preconditioner::foreign}) {
    auto const with =
        run<TypeParam>(grid(), rhs(), CgMethod::pseudo_block, change(true), preconditioner);
    auto const without =
        run<TypeParam>(grid(), rhs(), CgMethod::pseudo_block, change(false), preconditioner);
    EXPECT_TRUE(with.report.converged());
    EXPECT_GT(with.report.counters.compactions, 3);
    EXPECT_EQ(without.report.counters.compactions, 0);
    EXPECT_LT(with.report.counters.operator_columns, without.report.counters.operator_columns);
    EXPECT_TRUE(same_bits(with.X, without.X));
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(with.report.columns[j].iterations, without.report.columns[j].iterations);
  }
}

TYPED_TEST(CgInvariants, OneColumnTakesTheSameStepsInBothMethods) {
  auto const b = columns_of(rhs(), {3});
  int const p = run<TypeParam>(grid(), b, CgMethod::pseudo_block).most_iterations;
  int const d = run<TypeParam>(grid(), b, CgMethod::block).most_iterations;
  EXPECT_LE(std::abs(p - d), std::max(2, p / 50));
}

TYPED_TEST(CgInvariants, ABlockNeedsFewerIterations) {
  int const p = run<TypeParam>(grid(), rhs(), CgMethod::pseudo_block).most_iterations;
  int const d = run<TypeParam>(grid(), rhs(), CgMethod::block).most_iterations;
  EXPECT_LT(d, p);
}

/// Nearly unconnected lines: every column sees the same contraction.
TestMatrix<double> lines(int points) {
  auto A = grid7<double>(points);
  double const face[] = {1, 1e-2, 1e-4};
  for (int i = 0; i < A.order(); ++i)
    for (auto& e : A.rows[i]) {
      int const step = std::abs(e.column - i);
      e.value *= step == 0 ? 1.0101 / 3 : face[step == 1 ? 0 : step == points ? 1 : 2];
    }
  return A;
}

TYPED_TEST(CgInvariants, ABlockThatGainsNothingGivesWay) {
  auto const A = lines(28);
  auto const B = random_block<double>(A.order(), 8, 3);
  auto const chosen = run<TypeParam>(A, B, CgMethod::automatic);
  EXPECT_TRUE(chosen.report.converged());
  EXPECT_EQ(chosen.report.method,
            on_host_v<TypeParam> ? "block, then pseudo_block" : "pseudo_block");
  EXPECT_LT(chosen.report.largest_condition, 1.2);
  auto const block = run<TypeParam>(A, B, CgMethod::block);
  EXPECT_EQ(block.report.method, "block");  // asked for
  EXPECT_LE(chosen.most_iterations, 1.2 * block.most_iterations);
  EXPECT_EQ(run<TypeParam>(grid(), rhs(), CgMethod::automatic).report.method,
            on_host_v<TypeParam> ? "block" : "pseudo_block");
}

TYPED_TEST(CgInvariants, ANarrowBlockOfManyColumnsStays) {
  // Dependent columns: two directions cost little more than two columns, whatever they gain.
  auto const A = lines(16);
  auto const B = columns_of(random_block<double>(A.order(), 2, 3), {0, 1, 0, 1, 0, 1, 0, 1});
  auto const chosen = run<TypeParam>(A, B, CgMethod::automatic);
  EXPECT_TRUE(chosen.report.converged());
  EXPECT_EQ(chosen.report.method, on_host_v<TypeParam> ? "block" : "pseudo_block");
}

TYPED_TEST(CgInvariants, ABlockOfManyRowsThatGainsStays) {
  // With this number of rows random right-hand sides look the same for long, whatever the block
  // will gain.
  auto const A = grid7<double>(48);
  auto const B = random_block<double>(A.order(), 8, 3);
  auto const chosen = run<TypeParam>(A, B, CgMethod::automatic);
  EXPECT_TRUE(chosen.report.converged());
  EXPECT_EQ(chosen.report.method, "block");
  EXPECT_LT(chosen.report.largest_condition, 1.35);
}

TYPED_TEST(CgInvariants, ADiagonalMatrixTakesOneIteration) {
  std::vector<double> d;
  for (int i = 0; i < 200; ++i) d.push_back(std::pow(10.0, i % 12 - 6));
  auto const A = diagonal_matrix<double>(d);
  auto const B = random_block<double>(200, 4, 1);
  for (CgMethod const method : both_methods)
    EXPECT_EQ(run<TypeParam>(A, B, method).most_iterations, 1);
}

TYPED_TEST(CgInvariants, ABlockAsWideAsTheMatrixTakesAtMostTwo) {
  auto const A = jumping_grid(3);
  for (int const k : {27, 31}) {
    auto const solved = run<TypeParam>(A, random_block<double>(27, k, 1), CgMethod::block);
    EXPECT_TRUE(solved.report.converged());
    EXPECT_LE(solved.most_iterations, 2);
    EXPECT_EQ(solved.report.counters.smallest_block <= 27, true);
  }
}

TYPED_TEST(CgInvariants, DependentRightHandSidesAreNoEvent) {
  auto const count = [&](HostBlock<double> const& B) {
    auto const solved = run<TypeParam>(grid(), B, CgMethod::block);
    EXPECT_TRUE(solved.report.converged());
    EXPECT_EQ(solved.report.counters.cycles, 1);
    return std::pair(solved.most_iterations, solved.report.counters.smallest_block);
  };
  auto const [plain, rank] = count(columns_of(rhs(), {0, 1, 2, 3}));
  EXPECT_EQ(rank, 4);
  auto const [twice, of_twice] = count(columns_of(rhs(), {0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_LE(std::abs(twice - plain), 2);
  EXPECT_EQ(of_twice, 4);
  auto const [multiples, of_multiples] =
      count(columns_of(rhs(), {0, 1, 0, 2, 3, 3}, {1, 1, -7, 1, 1, 1e-12}));
  EXPECT_LE(std::abs(multiples - plain), 2);
  EXPECT_EQ(of_multiples, 4);

  auto sums = columns_of(rhs(), {0, 1, 2, 3, 0, 0, 0});
  for (int i = 0; i < grid().order(); ++i) {
    sums(i, 4) = sums(i, 0) + sums(i, 1);
    sums(i, 5) = sums(i, 2) - 3 * sums(i, 3);
    sums(i, 6) = sums(i, 0) + 1e-3 * sums(i, 3);
  }
  auto const [combined, of_combined] = count(sums);
  EXPECT_LE(std::abs(combined - plain), std::max(2, plain / 12));
  EXPECT_EQ(of_combined, 4);

  auto const [one, of_one] = count(columns_of(rhs(), {5, 5, 5}, {1, 2, 1e-3}));
  EXPECT_EQ(of_one, 1);
  int const alone =
      run<TypeParam>(grid(), columns_of(rhs(), {5}), CgMethod::pseudo_block).most_iterations;
  EXPECT_LE(std::abs(one - alone), 2);
}

TYPED_TEST(CgInvariants, ScalesAndOrderOfRightHandSidesDoNotMatter) {
  auto const scaled =
      columns_of(rhs(), {0, 1, 2, 3, 4, 5, 6, 7}, {1, 1e200, 1e-200, 1e100, 3e-7, 1e-100, 1e5, 1});
  auto const turned = columns_of(rhs(), {7, 3, 1, 0, 2, 6, 5, 4});
  for (CgMethod const method : both_methods) {
    auto const plain = run<TypeParam>(grid(), rhs(), method);
    auto const wild = run<TypeParam>(grid(), scaled, method);
    auto const permuted = run<TypeParam>(grid(), turned, method);
    EXPECT_TRUE(wild.report.converged() && permuted.report.converged());
    EXPECT_LE(std::abs(wild.most_iterations - plain.most_iterations), 2);
    EXPECT_LE(std::abs(permuted.most_iterations - plain.most_iterations), 2);
  }
}

TYPED_TEST(CgInvariants, TheScaleOfAMatrixDoesNotMatter) {
  for (auto const preconditioner : {Preconditioner::jacobi, Preconditioner::none})
    for (CgMethod const method : both_methods) {
      int const plain = run<TypeParam>(grid(), rhs(), method, {}, preconditioner).most_iterations;
      for (double const scale : {1e40, 1e-40, 1e150, 1e-150}) {
        auto const solved = run<TypeParam>(grid().scaled(scale), rhs(), method, {}, preconditioner);
        EXPECT_TRUE(solved.report.converged()) << scale;
        EXPECT_LE(std::abs(solved.most_iterations - plain), 2) << scale;
      }
    }
}

TYPED_TEST(CgInvariants, TheScaleOfAPreconditionerDoesNotMatter) {
  TypeParam const exec;
  TestOperator<double, TypeParam> const A(exec, grid());
  auto const B = make_block(exec, Storage::right, rhs()),
             X = make_block(exec, Storage::right, rhs());
  CgOptions<double, TypeParam> options;
  auto const iterations = [&](LinearOperator<double, TypeParam> const& M) {
    options.preconditioner = &M;
    auto const report = solve_spd<double, TypeParam>(exec, A, B.view, X.view, options);
    EXPECT_TRUE(report.converged()) << to_string(report.status);
    return report.most_iterations();
  };
  for (CgMethod const method : both_methods)
    for (bool const single : {false, true}) {
      options.method = method, options.single_reduction = single;
      int const plain = iterations(library_jacobi<double, TypeParam>(grid()));
      for (double const scale : {0x1p-1000, 0x1p-700, 0x1p700, 0x1p1000}) {
        auto const fused = library_jacobi<double, TypeParam>(grid().scaled(1 / scale));
        TestOperator<double, TypeParam> const foreign(exec, jacobi_matrix(grid()).scaled(scale));
        EXPECT_LE(std::abs(iterations(fused) - plain), 2) << scale;
        EXPECT_LE(std::abs(iterations(foreign) - plain), single ? 5 : 2) << scale;
      }
    }
}

TYPED_TEST(CgInvariants, APreconditionerFromOutsideDoesWhatTheFusedOneDoes) {
  for (CgMethod const method : both_methods) {
    auto const fused = run<TypeParam>(grid(), rhs(), method);
    auto const foreign = run<TypeParam>(grid(), rhs(), method, {}, Preconditioner::foreign);
    EXPECT_EQ(fused.report.counters.preconditioner_applications, 0);
    EXPECT_GE(foreign.report.counters.preconditioner_applications, foreign.report.iterations);
    EXPECT_LE(std::abs(fused.most_iterations - foreign.most_iterations), 1);
  }
}

TYPED_TEST(CgInvariants, APreconditionerIsAppliedOnceAnIteration) {
  auto const solved = run<TypeParam>(grid(), columns_of(rhs(), {5}), CgMethod::pseudo_block, {},
                                     Preconditioner::foreign);
  EXPECT_EQ(solved.report.counters.cycles, 1);
  int const at_the_goal = support::runs_on_host_v<TypeParam> ? 0 : 1;  // devices do not wait to see
  EXPECT_EQ(solved.report.counters.preconditioner_applications,
            solved.report.iterations + at_the_goal);
}

TYPED_TEST(CgInvariants, SameInputSameBits) {
  for (CgMethod const method : both_methods) {
    auto const first = run<TypeParam>(grid(), rhs(), method);
    auto const again = run<TypeParam>(grid(), rhs(), method);
    EXPECT_TRUE(same_bits(first.X, again.X));
    ASSERT_EQ(first.report.history.size(), again.report.history.size());
    for (std::size_t i = 0; i < first.report.history.size(); ++i)
      EXPECT_EQ(first.report.history[i].residuals, again.report.history[i].residuals);
  }
}

TYPED_TEST(CgInvariants, TheCountsAddUp) {
  for (CgMethod const method : both_methods) {
    auto const solved = run<TypeParam>(grid(), rhs(), method);
    auto const& report = solved.report;
    EXPECT_EQ(report.counters.operator_applications, report.iterations + report.counters.cycles);
    EXPECT_EQ(static_cast<int>(report.history.size()), report.iterations);
    EXPECT_EQ(report.history.back().iteration, report.iterations);
    int const syncs = method == CgMethod::block ? 2 : 1;
    EXPECT_LE(report.counters.synchronizations, syncs * report.iterations + 40);
    for (auto const& column : report.columns) {
      ASSERT_EQ(static_cast<int>(column.cycle_residuals.size()), report.counters.cycles + 1);
      EXPECT_DOUBLE_EQ(column.cycle_residuals.front(), 1);
      EXPECT_DOUBLE_EQ(column.cycle_residuals.back(), column.residual);
    }
    // The recurrence told the truth, or else there would have been another cycle.
    for (int j = 0; j < 8; ++j)
      EXPECT_NEAR(report.history.back().residuals[j], report.columns[j].residual, 1e-12);
  }
}

TYPED_TEST(CgInvariants, TheBackwardErrorIsThatOfTheDefinition) {
  auto const solved = run<TypeParam>(grid(), rhs(), CgMethod::block);
  EXPECT_EQ(solved.report.norm_a, grid().infinity_norm());
  for (int j = 0; j < 8; ++j) {
    double b = 0, x = 0;
    for (int i = 0; i < grid().order(); ++i)
      b += rhs()(i, j) * rhs()(i, j), x += solved.X(i, j) * solved.X(i, j);
    double const wanted = static_cast<double>(solved.residual.value[j]) * std::sqrt(b) /
                          (grid().infinity_norm() * std::sqrt(x) + std::sqrt(b));
    EXPECT_NEAR(solved.report.columns[j].backward_error, wanted, 1e-5 * wanted);
  }
}

TYPED_TEST(CgInvariants, AnOperatorWithoutANormIsMeasured) {
  for (CgMethod const method : both_methods) {
    CgCase<double, TypeParam> c{grid(), rhs(), method, Preconditioner::none, {}, {}};
    c.tell_norm = false;
    auto const solved = solve<double>(c);
    EXPECT_TRUE(solved.report.converged());
    EXPECT_GT(solved.report.norm_a, 0.1 * grid().infinity_norm());
    EXPECT_LE(solved.report.norm_a, grid().infinity_norm() * 1.0001);
  }
}

}  // namespace
}  // namespace blockspan::test
