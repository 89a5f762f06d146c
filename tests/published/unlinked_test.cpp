// A program without Blockspan::published: its kernels are not on the menu, the error says where
// they are, and plans choose among the others.
#include <string>

#include <gtest/gtest.h>

#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/tuned_plan.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Exec>
class Unlinked : public ::testing::Test {};
TYPED_TEST_SUITE(Unlinked, Backends, ConfigNames);

TYPED_TEST(Unlinked, KernelsAreNotOnTheMenu) {
  TypeParam const exec;
  auto const A = to_device(exec, band<double>(40));
  for (auto const& variant : offered_variants<TypeParam>()) {
    std::string const id(variant.id);
    EXPECT_EQ(variant.component, nullptr) << id;
    EXPECT_THAT(message_of([&] { SpmmPlan const plan(exec, A, {.algorithm = id}); }),
                HasSubstr("nothing was thrown"))
        << id;
  }
  for (std::string const id : {"thread_per_row", "merge", "dense"})
    EXPECT_THAT(message_of([&] { SpmmPlan const plan(exec, A, {.algorithm = id}); }),
                AllOf(HasSubstr("unknown algorithm \"" + id + "\""),
                      HasSubstr("Blockspan::published, which this program does not link")));
}

/// Of staged tiles the library has those that teams fetch ahead; the others are the paper's.
TYPED_TEST(Unlinked, StagedTilesThatNoTeamSharesAreRefusedByTheProduct) {
  TypeParam const exec;
  auto const A = to_device(exec, band<double>(40));
  SpmmPlan const plan(exec, A, {.algorithm = "shared_tiles"});
  auto const X = make_block(exec, right, random_block<double>(40, 3, 1));
  auto const Y = make_block(exec, right, random_block<double>(40, 3, 2));
  EXPECT_THAT(message_of([&] { spmm(exec, plan, Op::none, 1.0, A, X.view, 0.0, Y.view); }),
              HasSubstr("shared_tiles on " + std::string(TypeParam::name()) +
                        " is a kernel of the component Blockspan::published"));
}

/// Whatever the rows, the width and the layout: no plan needs what is not there.
TYPED_TEST(Unlinked, PlansServeEveryMatrix) {
  TypeParam const exec;
  for (auto const& host : battery<double>()) {
    auto const A = to_device(exec, host);
    for (auto const& plan : {SpmmPlan(exec, A), tuned_plan(exec, A, {.columns = 4})})
      for (Op const op : {Op::none, Op::transpose})
        for (int const width : {1, 3, 8, 33})
          for (Storage const storage : {right, left}) {
            ProductCase<double> const c{host, op, width, 1.5, -1.0};
            expect_spmm(exec, plan, A, c, Storages{storage, storage});
          }
  }
}

}  // namespace
}  // namespace blockspan::test
