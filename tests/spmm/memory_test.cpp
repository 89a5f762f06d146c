// Scratch that products ask for, and where memory is short: an Error, and a plan that serves as
// before.
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/launch/copies.hpp>
#include <blockspan/spmm/prepared/row_panels.hpp>
#include <blockspan/spmm/run/run.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "spmm/stored_values.hpp"
#include "support/compare.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace kernels = blockspan::products;

/// More than any machine has.
constexpr std::size_t many = std::size_t{1} << 60;

template <class Exec>
class ShortMemory : public ::testing::Test {};
TYPED_TEST_SUITE(ShortMemory, Backends, ConfigNames);
template <class Exec>
class Scratch : public ::testing::Test {};
TYPED_TEST_SUITE(Scratch, Backends, ConfigNames);

TYPED_TEST(ShortMemory, LeavesAPoolThatGrowsAgain) {
  TypeParam const exec;
  for (auto const fill : {kernels::Fill::nothing, kernels::Fill::zero}) {
    kernels::ScratchPool<TypeParam> pool(fill);
    for (std::size_t const bytes : {0, 16}) {  // at first, and when it has some
      EXPECT_EQ(pool.reserve(exec, bytes) == nullptr, bytes == 0);
      EXPECT_THAT(message_of([&] { pool.reserve(exec, many); }),
                  StartsWith("Blockspan::spmm::scratch: out of memory: cannot allocate "
                             "1152921504606846976 bytes (1 EiB)"));
    }
    void* const memory = pool.reserve(exec, 16);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(pool.reserve(exec, 12), memory);
    if (fill == kernels::Fill::nothing) continue;
    Kokkos::View<char*, typename TypeParam::memory_space> const on_device(
        static_cast<char*>(memory), 16);
    auto const bytes = Kokkos::create_mirror_view(on_device);
    Kokkos::deep_copy(exec, bytes, on_device);
    exec.fence("Blockspan::test");
    for (int i = 0; i < 16; ++i) EXPECT_EQ(bytes(i), 0);
  }
}

/// All the scratch that products ask for, in the middle of some that have enough.
TYPED_TEST(ShortMemory, LeavesAPlanThatServesAsBefore) {
  TypeParam const exec;
  auto const host = arrow<double>(48);
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A, {.algorithm = "segments", .segment_length = 5});
  ProductCase<double> const c{host, Op::none, 6, 1.5, -0.5};
  auto const before = product(exec, plan, A, c);
  auto& state = plan.panels().first();
  auto const columns = static_cast<std::int64_t>(many / sizeof(double));
  EXPECT_THAT(message_of([&] {
                kernels::reserve_carry<double>(exec, state.carry, state.plain.list, columns / 8);
              }),
              HasSubstr("out of memory"));
  EXPECT_TRUE(same_bits(product(exec, plan, A, c), before));
  for (auto* const pool : {&state.x_copy, &state.y_copy, &state.dense, &state.dots})
    EXPECT_THAT(message_of([&] { kernels::row_major_scratch<double>(exec, *pool, 1, columns); }),
                HasSubstr("out of memory"));
  EXPECT_TRUE(same_bits(product(exec, plan, A, c), before));
}

/// The last of the panels that a block is multiplied in may be the widest.
TYPED_TEST(Scratch, HasRoomForTheSumsOfEveryLaunch) {
  TypeParam const exec;
  auto const host = arrow<double>(48);
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A, {.algorithm = "segments", .segment_length = 5});
  auto& state = plan.panels().first();
  auto const& list = state.plain.list;
  ASSERT_GT(list.slots, 0);
  kernels::Decision decision;
  for (std::int64_t const columns : {4, 4, 7}) {
    kernels::Launch launch;
    launch.variant = &spmm_variant(SpmmKernelId::segments);
    launch.columns = columns;
    decision.launches.push_back(launch);
  }
  auto const X = make_block(exec, right, random_block<double>(48, 15, 1)),
             Y = make_block(exec, right, random_block<double>(48, 15, 2));
  kernels::Product<double> const product{Op::none, 1.0,
                                         blockspan::blocks::block_ref<TypeParam>(X.const_view()),
                                         0.0, blockspan::blocks::block_ref<TypeParam>(Y.view)};
  kernels::Factor<TypeParam, double, int> const factor{state.plain, A.values.data(), Op::none};
  kernels::for_each_launch(
      exec, &state, decision, factor, product, [&](auto const& call, std::int64_t) {
        auto const columns = static_cast<std::size_t>(call.launch.columns);
        auto const sums = static_cast<std::size_t>(list.slots) * columns * sizeof(double),
                   arrived = static_cast<std::size_t>(list.cut_rows) * columns * sizeof(int);
        EXPECT_EQ(state.carry.sums.reserve(exec, sums), call.carry.sums) << columns;
        EXPECT_EQ(state.carry.arrived.reserve(exec, arrived), call.carry.arrived) << columns;
      });
}

TYPED_TEST(ShortMemory, LeavesValuesThatAreNotHeld) {
  TypeParam const exec;
  auto const host = random_matrix<double>("random", 40, 40, [](std::int64_t i) { return i % 7; });
  auto const A = to_device(exec, host);
  SpmmPlan plan(exec, A);
  ProductCase<double> const plain{host, Op::none, 4}, transposed{host, Op::transpose, 4};
  auto const first = product(exec, plan, A, plain), second = product(exec, plan, A, transposed);
  plan.hold_transpose(exec, A);
  auto& stored = plan.panels().first().cached;
  EXPECT_THAT(message_of([&] { stored.transposed.resize(exec, many); }),
              StartsWith("Blockspan::spmm_plan::stored values: out of memory"));
  EXPECT_EQ(stored.transposed.bytes(), 0u);
  stored.has_transpose = false;  // as hold_transpose leaves it
  EXPECT_TRUE(same_bits(product(exec, plan, A, plain), first));
  EXPECT_TRUE(same_bits(product(exec, plan, A, transposed), second));
}

}  // namespace
}  // namespace blockspan::test
