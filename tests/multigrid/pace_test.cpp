// How many iterations are left, and what they are worth, by counts and residuals.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <blockspan/multigrid/automatic.hpp>

namespace blockspan::test {
namespace {

/// The pace of a solve whose error falls by a constant factor a step.
SolvePace steady(SolveKind kind, int iterations, double error) {
  SolvePace pace(kind, 1e-8);
  for (int k = 0; k <= iterations; ++k) pace.see(k, std::pow(error, double(k) / iterations));
  return pace;
}

TEST(MultigridAutomatic, SeesHowManyIterationsAreLeft) {
  // a quarter of the digits in 100 iterations: 300 are left
  EXPECT_DOUBLE_EQ(iterations_left(100, 1e-2, 1e-8), 300);
  EXPECT_EQ(iterations_left(100, 1e-9, 1e-8), 0);
  EXPECT_EQ(iterations_left(100, 1, 1e-8), std::numeric_limits<double>::infinity());
  for (auto const kind : {SolveKind::system, SolveKind::eigenpairs})
    EXPECT_NEAR(steady(kind, 100, 1e-2).left(), 300, 1e-9);
}

TEST(MultigridAutomatic, SwitchesASystemWhereMoreIsLeftThanMultigridTakes) {
  auto const pace = steady(SolveKind::system, 40, 1e-1);  // 280 are left
  EXPECT_TRUE(pace.is_time_to_switch(279));
  EXPECT_FALSE(pace.is_time_to_switch(281));
  EXPECT_TRUE(pace.is_time_to_switch(139, 2));
  EXPECT_FALSE(pace.is_time_to_switch(141, 2));
  EXPECT_TRUE(pace.is_time_to_switch(599, 1, 1)) << "another group takes 320";
  EXPECT_FALSE(pace.is_time_to_switch(601, 1, 1));
  auto const idle = steady(SolveKind::system, 40, 1);
  EXPECT_TRUE(idle.is_time_to_switch(1600));
  EXPECT_FALSE(idle.is_time_to_switch(1601)) << "too early to say";
  EXPECT_FALSE(steady(SolveKind::system, 1, 1).is_time_to_switch(1));
  EXPECT_FALSE(steady(SolveKind::system, 100, 1e-2).is_time_to_switch(301)) << "too late to gain";
}

/// Random right-hand sides: fast at first, then slow, and fast again in the end.
TEST(MultigridAutomatic, TakesTheMeanOfBothPacesOfASystem) {
  SolvePace slower(SolveKind::system, 1e-8), standing(SolveKind::system, 1e-8);
  for (int k = 1; k <= 20; ++k) {
    slower.see(k, std::pow(0.1, std::min(k, 10) / 10.0 + std::max(k - 10, 0) / 20.0));
    standing.see(k, std::pow(0.1, std::min(k, 10) / 10.0) * (k > 15 ? 3 : 1));
  }
  // 1.5 digits in 20 steps, half a digit in the last 10; 6.5 digits are left
  EXPECT_NEAR(slower.left(), std::sqrt((20 * 6.5 / 1.5) * (10 * 6.5 / 0.5)), 1e-9);
  // nothing in the last 10; what an error rises to is forgotten
  EXPECT_NEAR(standing.left(), 2 * (20 * 7.0), 1e-9);
}

/// The first steps of an eigensolver are as fast for an easy problem as for a hard one.
TEST(MultigridAutomatic, JudgesEigenpairsByTheSecondHalfOfTheSteps) {
  SolvePace easy(SolveKind::eigenpairs, 1e-8), hard(SolveKind::eigenpairs, 1e-8);
  for (int k = 0; k <= 3; ++k) easy.see(k, std::pow(0.2, k)), hard.see(k, std::pow(0.2, k));
  double const half = std::pow(0.2, 3);
  for (int k = 4; k <= 7; ++k) {
    EXPECT_FALSE(hard.is_time_to_switch(1)) << k;
    easy.see(k, half * std::pow(0.4, k - 3));
    hard.see(k, half * std::pow(0.9, k - 3));
  }
  EXPECT_NEAR(easy.left(), std::log(1e-8 / half) / std::log(0.4) - 4, 1e-9);
  EXPECT_NEAR(hard.left(), std::log(1e-8 / half) / std::log(0.9) - 4, 1e-9);
  EXPECT_FALSE(easy.is_time_to_switch(11));
  EXPECT_TRUE(hard.is_time_to_switch(11));
  EXPECT_FALSE(hard.is_time_to_switch(200)) << "a setup is more than what is left";
}

TEST(MultigridAutomatic, BeginsAnewWhereTheIterationDoes) {
  auto pace = steady(SolveKind::eigenpairs, 20, 1e-1);
  EXPECT_TRUE(pace.is_time_to_switch(11));
  pace.see(0, 1e-1);
  EXPECT_FALSE(pace.is_time_to_switch(11));
}

TEST(MultigridAutomatic, CountsASetupInIterationsOfAllColumns) {
  EXPECT_EQ(multigrid_work(SolveKind::system, 1), 67);   // 54.7 + 12
  EXPECT_EQ(multigrid_work(SolveKind::system, 8), 28);   // 15.0 + 12
  EXPECT_EQ(multigrid_work(SolveKind::system, 16), 21);  // 8.2 + 12
  EXPECT_EQ(multigrid_work(SolveKind::system, 16, 2), 33);
  EXPECT_EQ(multigrid_work(SolveKind::eigenpairs, 16), 11);
  for (auto const kind : {SolveKind::system, SolveKind::eigenpairs})
    EXPECT_GT(multigrid_work(kind, 10000), 0);
}

TEST(MultigridAutomatic, TakesAWeakHierarchyForManyIterationsOnly) {
  MultigridReport report;
  report.status = MultigridStatus::weak;
  report.products = 5;
  report.predicted_iterations = 40;
  EXPECT_TRUE(weak_multigrid_pays(report, 31));  // 40 x 6 products: 8 x 31
  EXPECT_FALSE(weak_multigrid_pays(report, 29));
  report.status = MultigridStatus::no_coarsening;
  EXPECT_FALSE(weak_multigrid_pays(report, 1e9));
}

TEST(MultigridAutomatic, GivesFactorsTheMemoryOfWorkThatIsSaved) {
  // e entries cost e^2 / (3 rows), a step of one column 8 (entries + 10 vectors), 16 bytes an entry
  double const rows = 1e6, entries = std::sqrt(3 * rows * 8 * (5e6 + 10 * rows) * 300);
  EXPECT_EQ(factors_worth(1'000'000, 5'000'000, 1, 300), static_cast<std::int64_t>(16 * entries));
  EXPECT_GE(factors_worth(100, 300, 1, 1), 1 << 24) << "what costs no time";
  EXPECT_EQ(factors_worth(100, 300, 1, std::numeric_limits<double>::infinity()), 0) << "no limit";
}

}  // namespace
}  // namespace blockspan::test
