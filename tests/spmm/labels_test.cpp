// What Kokkos Tools sees: every kernel of a product carries the label the plan names, on the
// instance that was given.
#include <string>

#include <gtest/gtest.h>

#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/launches.hpp"
#include "support/blocks.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Exec>
class Labels : public ::testing::Test {};
TYPED_TEST_SUITE(Labels, Backends, ConfigNames);

TYPED_TEST(Labels, AreWhatThePlanSaysOnTheGivenInstance) {
  using Exec = TypeParam;
  auto const instances = halves(Exec());
  for (Exec const& exec : instances) {
    auto const instance = Kokkos::Tools::Experimental::device_id(exec);
    auto const A = to_device(exec, arrow<double>(40));
    auto const X = make_block(exec, Storage::right, random_block<double>(40, 8, 1));
    auto const Y = make_block(exec, Storage::right, random_block<double>(40, 8, 2));
    for (auto const& variant : offered_variants<Exec>()) {
      SpmmPlan const plan(exec, A, {.algorithm = std::string(variant.id), .segment_length = 4});
      for (Op const op : {Op::none, Op::transpose}) {
        spmm(exec, plan, op, 1.0, A, X.view, 0.0, Y.view);  // the transpose is built here
        auto const seen = launches_of([&] { spmm(exec, plan, op, 1.0, A, X.view, 0.0, Y.view); });
        std::size_t const launches = variant.most_columns == 1 && !variant.vectorized ? 8 : 1;
        std::vector<std::string> wanted(launches, plan.kernel(8));
        if (variant.skips_empty_rows())
          wanted.insert(wanted.begin(), plan.kernel(8) + "::empty_rows");
        ASSERT_EQ(seen.size(), wanted.size());
        for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].label, wanted[i]);
        EXPECT_THAT(plan.explain(8), HasSubstr("runs " + plan.kernel(8) + " at 8"));
        for (auto const& launch : seen) EXPECT_EQ(launch.instance, instance) << launch.label;
      }
    }
  }
}

TYPED_TEST(Labels, OfSetupBeginWithTheHouse) {
  using Exec = TypeParam;
  auto const exec = halves(Exec())[1];
  auto const instance = Kokkos::Tools::Experimental::device_id(exec);
  auto const A = to_device(exec, arrow<double>(40));
  auto const X = make_block(exec, Storage::right, random_block<double>(40, 3, 1));
  auto const Y = make_block(exec, Storage::left, random_block<double>(40, 3, 2));
  auto const seen = launches_of([&] {
    SpmmPlan const plan(exec, A, {.algorithm = "segments", .segment_length = 4});
    spmm(exec, plan, Op::adjoint, 0.0, A, X.view, 2.0, Y.view);
    EXPECT_TRUE(plan.verify(exec, A));
  });
  EXPECT_FALSE(seen.empty());
  for (auto const& launch : seen) {
    EXPECT_EQ(launch.label.rfind("Blockspan::", 0), 0u) << launch.label;
    EXPECT_EQ(launch.instance, instance) << launch.label;
  }
}

}  // namespace
}  // namespace blockspan::test
