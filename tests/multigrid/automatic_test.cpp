// When a plain method has shown that another one has less work, by counts and residuals.
#include <cmath>
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
  auto const pace = steady(SolveKind::system, 40, 1e-1);
  EXPECT_TRUE(pace.is_time_to_switch(279));
  EXPECT_FALSE(pace.is_time_to_switch(281)) << "280 are left";
  auto const idle = steady(SolveKind::system, 40, 1);
  EXPECT_TRUE(idle.is_time_to_switch(400));
  EXPECT_FALSE(idle.is_time_to_switch(401)) << "too early to say";
  EXPECT_FALSE(steady(SolveKind::system, 100, 1e-2).is_time_to_switch(200)) << "too late to gain";
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
  EXPECT_EQ(multigrid_setup_iterations(SolveKind::system, 1), 361);
  EXPECT_EQ(multigrid_setup_iterations(SolveKind::system, 8), 181);
  EXPECT_EQ(multigrid_setup_iterations(SolveKind::eigenpairs, 16), 11);
  for (auto const kind : {SolveKind::system, SolveKind::eigenpairs})
    EXPECT_GT(multigrid_setup_iterations(kind, 10000), 0);
}

TEST(MultigridAutomatic, TakesAWeakHierarchyForManyIterationsOnly) {
  MultigridReport report;
  report.status = MultigridStatus::weak;
  report.products = 5;
  report.predicted_iterations = 40;
  EXPECT_TRUE(weak_multigrid_pays(report, SolveKind::system, 161));  // 40 x 6 products: 1.5 x 161
  EXPECT_FALSE(weak_multigrid_pays(report, SolveKind::system, 159));
  EXPECT_TRUE(weak_multigrid_pays(report, SolveKind::eigenpairs, 31));  // 8 x 31
  EXPECT_FALSE(weak_multigrid_pays(report, SolveKind::eigenpairs, 29));
  report.status = MultigridStatus::no_coarsening;
  EXPECT_FALSE(weak_multigrid_pays(report, SolveKind::system, 1e9));
}

}  // namespace
}  // namespace blockspan::test
