#include <gtest/gtest.h>

#include <blockspan/spmm/tuned_plan.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/error.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Exec>
class TunedPlan : public ::testing::Test {};
TYPED_TEST_SUITE(TunedPlan, Backends, ConfigNames);

TYPED_TEST(TunedPlan, MultipliesEveryMatrix) {
  TypeParam const exec;
  for (auto const& host : battery<double>()) {
    auto const A = to_device(exec, host);
    auto const plan = tuned_plan(exec, A, {.columns = 4});
    EXPECT_NE(find_spmm_variant(plan.algorithm()), nullptr);
    for (Op const op : {Op::none, Op::transpose})
      for (int const width : {1, 4, 7}) {
        ProductCase<double> const c{host, op, width, 1.5, -1.0};
        expect_spmm(exec, plan, A, c);
      }
  }
}

TYPED_TEST(TunedPlan, SaysWhatItMeasured) {
  TypeParam const exec;
  auto const A = to_device(exec, band<double>(200));
  auto const plan = tuned_plan(exec, A, {.columns = 4});
  auto const words = plan.explain(4);
  EXPECT_THAT(words, HasSubstr("measured with 4 columns: "));
  for (auto const* id : {"rows", "segments_sorted", "nonempty_rows"})
    EXPECT_THAT(words, HasSubstr(std::string(id) + " "));
  for (auto const* id : {"thread_per_row", "balanced", "dense"})  // linked, but not for plans
    EXPECT_THAT(words, ::testing::Not(HasSubstr(std::string(id) + " 0")));
}

TYPED_TEST(TunedPlan, RefusesAnAlgorithmAskedFor) {
  TypeParam const exec;
  auto const A = to_device(exec, band<double>(20));
  EXPECT_THROW(tuned_plan(exec, A, {.algorithm = "segments"}), Error);
  EXPECT_THROW(tuned_plan(exec, A, {.columns = 0}), Error);
}

#ifdef KOKKOS_ENABLE_CUDA
/// One row is all the work of one thread, or of many: no noise hides that.
TEST(TunedPlanOnCuda, CutsALongRow) {
  Kokkos::Cuda const exec;
  auto const A = to_device(
      exec, random_matrix<double>("one row", 1, 1000, [](std::int64_t) { return 200000; }));
  auto const plan = tuned_plan(exec, A, {.columns = 8});
  auto const& variant = *find_spmm_variant(plan.algorithm());
  EXPECT_TRUE(variant.lists_segments() || variant.lists_tiles()) << plan.explain(8);
}
#endif

}  // namespace
}  // namespace blockspan::test
