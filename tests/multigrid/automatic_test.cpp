// When multigrid is advised, and when it is time to switch to it.
#include <limits>

#include <gtest/gtest.h>

#include <blockspan/multigrid/automatic.hpp>

#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using When = MultigridAdvice::When;

TEST(MultigridAutomatic, IsNeverForFewRowsOrDominantDiagonals) {
  for (auto const kind : {SolveKind::system, SolveKind::eigenpairs}) {
    auto const advice = advise_multigrid(19999, kind, 1e6);
    EXPECT_EQ(advice.when, When::never);
    EXPECT_THAT(advice.reason, HasSubstr("19999 rows are too few"));
  }
  auto const dominant = advise_multigrid(1000000, SolveKind::eigenpairs, 29);
  EXPECT_EQ(dominant.when, When::never);
  EXPECT_THAT(dominant.reason, HasSubstr("the diagonal dominates (Ritz values of ratio 29)"));
}

TEST(MultigridAutomatic, IsAtOnceForManyEigenpairsAndLateForTheRest) {
  EXPECT_EQ(advise_multigrid(50000, SolveKind::eigenpairs, 30).when, When::at_once);
  EXPECT_EQ(advise_multigrid(49999, SolveKind::eigenpairs, 30).when, When::late);
  EXPECT_EQ(advise_multigrid(20000, SolveKind::system, 2).when, When::late);
  EXPECT_EQ(advise_multigrid(1000000, SolveKind::system, 1e9).when, When::late);
}

TEST(MultigridAutomatic, SwitchesWhereThePaceLeavesMoreThanASetup) {
  // a quarter of the digits in 100 iterations: 300 are left
  EXPECT_DOUBLE_EQ(iterations_left(100, 1e-2, 1e-8), 300);
  EXPECT_EQ(iterations_left(100, 1e-9, 1e-8), 0);
  EXPECT_EQ(iterations_left(100, 1, 1e-8), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(is_time_to_switch(100, 299, 1e-2, 1e-8));
  EXPECT_FALSE(is_time_to_switch(100, 301, 1e-2, 1e-8));
  EXPECT_FALSE(is_time_to_switch(100, 801, 1, 1e-8)) << "too early to say";
  EXPECT_TRUE(is_time_to_switch(101, 801, 1, 1e-8));
}

TEST(MultigridAutomatic, CountsASetupInIterationsOfAllColumns) {
  EXPECT_EQ(multigrid_setup_iterations(1), 251);
  EXPECT_EQ(multigrid_setup_iterations(4), 126);
  EXPECT_GT(multigrid_setup_iterations(10000), 0);
}

TEST(MultigridAutomatic, TakesAWeakHierarchyForManyIterationsOnly) {
  MultigridReport report;
  report.status = MultigridStatus::weak;
  report.products = 5;
  report.predicted_iterations = 40;
  EXPECT_TRUE(weak_multigrid_pays(report, 161));  // 40 x 6 products for 1.5 x 161
  EXPECT_FALSE(weak_multigrid_pays(report, 159));
  report.status = MultigridStatus::no_coarsening;
  EXPECT_FALSE(weak_multigrid_pays(report, 1e9));
}

}  // namespace
}  // namespace blockspan::test
