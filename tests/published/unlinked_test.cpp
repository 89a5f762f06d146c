// A program without Blockspan::published: what is asked for by an id is refused by name, and plans
// choose among the other kernels.
#include <string>

#include <gtest/gtest.h>

#include <blockspan/sparse/generators.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/tuned_plan.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

template <class Exec>
class Unlinked : public ::testing::Test {};
TYPED_TEST_SUITE(Unlinked, Backends, ConfigNames);

TYPED_TEST(Unlinked, KernelsAreRefusedByName) {
  TypeParam const exec;
  auto const A = to_device(exec, band<double>(40));
  int refused = 0;
  for (auto const& variant : offered_variants<TypeParam>()) {
    std::string const id(variant.id);
    auto const message = message_of([&] { SpmmPlan const plan(exec, A, {.algorithm = id}); });
    if (!variant.is_published()) {
      EXPECT_THAT(message, HasSubstr("nothing was thrown")) << id;
      continue;
    }
    ++refused;
    EXPECT_EQ(message, "blockspan::SpmmPlan: " + id + " on " + TypeParam::name() +
                           " is a kernel of the component Blockspan::published, which this program "
                           "does not link");
  }
  EXPECT_EQ(refused, 11);
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
            expect_product(exec, Storages{storage, storage}, c, [&](auto const& X, auto const& Y) {
              spmm(exec, plan, op, c.alpha, A, X, c.beta, Y);
            });
          }
  }
}

TYPED_TEST(Unlinked, KernelsAreNotMeasured) {
  TypeParam const exec;
  auto const A = generate<double>(exec, "laplace7:8");
  auto const words = tuned_plan(exec, A, {.columns = 4}).explain(4);
  EXPECT_THAT(words, HasSubstr("measured with 4 columns: "));
  for (auto const& variant : spmm_variants) {
    if (!variant.is_published()) continue;
    EXPECT_THAT(words, Not(ContainsRegex(std::string(variant.id) + " [0-9]")));
  }
}

}  // namespace
}  // namespace blockspan::test
