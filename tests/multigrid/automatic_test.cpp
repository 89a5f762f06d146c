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

TEST(MultigridAutomatic, SwitchesWhenTheSetupIsPaidForAndHalfTheDigitsAreMissing) {
  EXPECT_TRUE(is_time_to_switch(1, 1, 1.1e-4, 1e-8));
  EXPECT_FALSE(is_time_to_switch(1, 1, 0.9e-4, 1e-8));
  EXPECT_FALSE(is_time_to_switch(0.9, 1, 1, 1e-8));
  EXPECT_FALSE(is_time_to_switch(1e9, std::numeric_limits<double>::infinity(), 1, 1e-8));
}

}  // namespace
}  // namespace blockspan::test
