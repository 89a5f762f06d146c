// Uneven rows: tiles of many short rows and parts of long ones; which matrices plans cut into them.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/spmm/kernels/adaptive/adaptive_choice.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/planned.hpp"
#include "spmm/product_case.hpp"
#include "spmm/stored_values.hpp"
#include "support/compare.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using products::AdaptiveChoice;
using products::tuning::adaptive_alone;
using products::tuning::adaptive_by_warp;
using products::tuning::adaptive_tile_work;

template <class Config>
class Adaptive : public ::testing::Test {};
TYPED_TEST_SUITE(Adaptive, Configs, ConfigNames);

/// Lengths about the bounds of tiles, of teams and of parts; rows without entries between them, and
/// more neighbours of those than a tile has entries.
template <class Scalar>
HostMatrix<Scalar> at_the_bounds(std::int64_t longest) {
  std::int64_t const special[] = {0,
                                  1,
                                  adaptive_by_warp,
                                  adaptive_by_warp + 1,
                                  127,
                                  adaptive_alone,
                                  adaptive_alone + 1,
                                  adaptive_tile_work - 1,
                                  adaptive_tile_work,
                                  adaptive_tile_work + 1,
                                  2 * adaptive_tile_work,
                                  longest,
                                  0,
                                  longest};
  constexpr std::int64_t count = sizeof(special) / sizeof(special[0]);
  return random_matrix<Scalar>(
      "at the bounds of tiles, " + std::to_string(longest), 3000, 20011, [&](std::int64_t i) {
        if (i % 100 < count && i < 1000) return special[i % 100];
        return i < 2000 ? i % 9 : i == 2999 ? std::int64_t{1} : std::int64_t{0};
      });
}

TYPED_TEST(Adaptive, IsRightAtTheBoundsOfTiles) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (on_host_v<Exec>) GTEST_SKIP() << "a kernel of devices whose lanes exchange values";
  Exec const exec;
  for (std::int64_t const longest : {AdaptiveChoice::least_part - 1, AdaptiveChoice::least_part,
                                     3 * AdaptiveChoice::least_part + 1}) {
    auto const host = at_the_bounds<Scalar>(longest);
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A, {.columns = 1, .algorithm = "adaptive"});
    for (Op const op : all_ops)
      for (Scalar const beta : {Scalar(0), Scalar(-0.5)})
        for (int const columns : {1, 2, 3, 8, 12, 140})
          for (Storages const storages : {Storages{right, right}, Storages{left, strided}}) {
            ProductCase<Scalar> const c{host, op, columns, Scalar(1.5), beta};
            expect_spmm(exec, plan, A, c, storages);
          }
  }
}

TYPED_TEST(Adaptive, HasTheSameBitsInEveryRun) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (on_host_v<Exec>) GTEST_SKIP() << "a kernel of devices whose lanes exchange values";
  Exec const exec;
  auto const host = at_the_bounds<Scalar>(20000);  // in parts, which end in any order
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A, {.algorithm = "adaptive"});
  for (int const columns : {1, 8, 40, 140}) {
    EXPECT_THAT(plan.explain(columns), ::testing::HasSubstr("runs Blockspan::spmm::adaptive"));
    ProductCase<Scalar> const c{host, Op::none, columns};
    auto const first = product(exec, plan, A, c);
    for (int run = 0; run < 20; ++run)
      ASSERT_TRUE(same_bits(product(exec, plan, A, c), first)) << columns << ", run " << run;
  }
}

// The choice, from facts on any host.

/// rows, nonzeros, longest row, entries that eight neighbours in step walk, groups on a diagonal.
RowStatistics rows_of(std::int64_t rows, std::int64_t nonzeros, std::int64_t longest,
                      double imbalance, std::int64_t diagonal_groups, std::int64_t empty = 0) {
  RowStatistics of;
  of.rows = of.columns = rows;
  of.nonzeros = nonzeros;
  of.longest = longest;
  of.empty_rows = empty;
  of.group_work = static_cast<std::int64_t>(imbalance * static_cast<double>(nonzeros));
  of.diagonal_groups = diagonal_groups;
  return of;
}

std::string kernel_at(int columns, RowStatistics const& rows) {
  auto const planned = plan({.rows = rows}, columns, f64, devices::h200);
  return std::string(decide(planned, blocks(columns, f64), devices::h200).first().variant->id);
}

TEST(AdaptiveChoice, RunsOneColumnOfUnevenRows) {
  auto const wells = rows_of(81000, 1790000, 1500, 1.1, 9000);  // even but for a few rows
  EXPECT_EQ(kernel_at(1, wells), "adaptive");
  auto const attachment = rows_of(200000, 3398164, 7893, 1.4, 0);
  EXPECT_EQ(kernel_at(1, attachment), "adaptive");
  auto const hypersparse_with_a_long_row = rows_of(4000000, 1200000, 60000, 3.0, 0, 3000000);
  EXPECT_EQ(kernel_at(1, hypersparse_with_a_long_row), "adaptive");
}

TEST(AdaptiveChoice, RunsBlocksOfShortRowsAmongLongOnes) {
  auto const circuit = rows_of(300000, 1606216, 5000, 2.1, 0);
  for (int const columns : {1, 2, 8, 64}) EXPECT_EQ(kernel_at(columns, circuit), "adaptive");
  EXPECT_NE(kernel_at(7, circuit), "adaptive");  // no whole vectors
  auto const wells = rows_of(81000, 1790000, 1500, 1.1, 9000);
  EXPECT_EQ(kernel_at(8, wells), "adaptive");
  EXPECT_NE(kernel_at(64, wells), "adaptive");
  auto const attachment = rows_of(200000, 3398164, 7893, 1.4, 0);
  EXPECT_EQ(kernel_at(8, attachment), "adaptive");
  EXPECT_NE(kernel_at(16, attachment), "adaptive");
  auto const power_law = rows_of(200000, 1211718, 47345, 5.8, 0);  // long rows of all lengths
  for (int const columns : {2, 8, 64}) EXPECT_EQ(kernel_at(columns, power_law), "adaptive");
  auto const rmat = rows_of(262144, 3940503, 15844, 3.4, 0);
  EXPECT_NE(kernel_at(16, rmat), "adaptive");
  auto const few_rows = rows_of(23133, 186936, 280, 2.0, 0);
  EXPECT_EQ(kernel_at(1, few_rows), "adaptive");
  for (int const columns : {2, 8, 32}) EXPECT_NE(kernel_at(columns, few_rows), "adaptive");
}

/// One thread would walk all entries of a group.
TEST(AdaptiveChoice, TakesLongRowsFromGroups) {
  EXPECT_TRUE(
      products::GroupsChoice::may_pay(rows_of(81000, 1790000, 30, 1.1, 9000), devices::h200));
  auto const wells = rows_of(81000, 1790000, 1500, 1.1, 9000);
  EXPECT_FALSE(products::GroupsChoice::may_pay(wells, devices::h200));
  EXPECT_TRUE(products::GroupsChoice::may_pay(wells, devices::host));
}

TEST(AdaptiveChoice, RunsOneColumnAndFourVectorsOfShortScatteredRows) {
  auto const random = rows_of(500000, 4000000, 8, 1.0, 0);
  for (int const columns : {1, 8}) EXPECT_EQ(kernel_at(columns, random), "adaptive");
  for (int const columns : {2, 4, 16}) EXPECT_NE(kernel_at(columns, random), "adaptive");
  auto const longer = rows_of(154548, 2249742, 15, 1.01, 0);
  EXPECT_EQ(kernel_at(1, longer), "row_pairs");
  EXPECT_EQ(kernel_at(8, longer), "adaptive");
  EXPECT_NE(kernel_at(8, rows_of(500000, 15000000, 30, 1.0, 0)), "adaptive");
  // neighbours that share columns read the same lines of one column
  auto chain = plan({.rows = random}, 1, f64, devices::h200);
  chain.A.neighbours = {168, 144};
  EXPECT_EQ(decide(chain, blocks(1, f64), devices::h200).first().kernel(), SpmmKernelId::row_pairs);
  EXPECT_EQ(decide(chain, blocks(8, f64), devices::h200).first().kernel(), SpmmKernelId::adaptive);
}

/// Never more than they hold, and for even rows no second round for a few of them.
TEST(AdaptiveChoice, FillsRoundsOfTeamsWithEvenRows) {
  for (double mean = 1; mean < 128; mean += 0.37) {
    auto const rows = rows_of(100000, static_cast<std::int64_t>(1e5 * mean), 130, 1.0, 0);
    auto const work = AdaptiveChoice::tile_work(rows);
    EXPECT_LE(work, adaptive_tile_work);
    double const in_tile = static_cast<double>(work) / (rows.mean() + 2);
    bool const one = in_tile <= AdaptiveChoice::rows_of_round;
    EXPECT_TRUE(one || in_tile >= 1.5 * AdaptiveChoice::rows_of_round) << mean;
    EXPECT_GE(work, adaptive_tile_work / 2);
  }
}

TEST(AdaptiveChoice, LeavesEvenAndLongRowsToOthers) {
  auto const grid = rows_of(2097152, 14581760, 7, 1.01, 260000);
  EXPECT_EQ(kernel_at(1, grid), "row_pairs");
  auto const hypersparse = rows_of(4000000, 1200000, 8, 3.0, 0, 3000000);
  EXPECT_EQ(kernel_at(1, hypersparse), "row_pairs");
  auto const layer = rows_of(4096, 1974582, 2800, 1.7, 0);  // 482 a row
  EXPECT_NE(kernel_at(1, layer), "adaptive");
}

TEST(AdaptiveChoice, CutsLongRowsIntoFewParts) {
  for (std::int64_t const longest : {std::int64_t{1}, std::int64_t{5000}, std::int64_t{1} << 30}) {
    RowStatistics rows;
    rows.longest = longest;
    auto const part = AdaptiveChoice::longest_part(rows);
    EXPECT_GE(part, AdaptiveChoice::least_part);
    EXPECT_LE(longest / part, AdaptiveChoice::most_parts);
  }
}

}  // namespace
}  // namespace blockspan::test
