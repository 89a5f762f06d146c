// The program of the README runs and prints what the README says.
#include <cmath>
#include <numbers>
#include <sstream>

#include <gtest/gtest.h>

#include "apps/process.hpp"

namespace blockspan::test {
namespace {

TEST(Quickstart, PrintsTheFourLowestEigenvaluesOfTheGrid) {
  Outcome const outcome = run_app("quickstart", {});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  auto const axis = [](int k) { return 2 - 2 * std::cos(k * std::numbers::pi / 21); };
  for (double const expected :
       {3 * axis(1), axis(2) + 2 * axis(1), axis(2) + 2 * axis(1), axis(2) + 2 * axis(1)}) {
    double value = 0;
    ASSERT_TRUE(lines >> value);
    EXPECT_NEAR(value, expected, 2e-9);
  }
  std::string rest;
  EXPECT_FALSE(lines >> rest) << rest;
}

}  // namespace
}  // namespace blockspan::test
