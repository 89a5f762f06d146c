// Rows are cut into ranges of about equal weight.
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include <blockspan/communication/row_space.hpp>
#include <blockspan/distributed/row_partition.hpp>

#include "support/messages.hpp"
#include "support/random.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

TEST(RowPartition, FindsTheOwnerOfEveryRow) {
  RowPartition const partition({0, 3, 3, 4, 9});
  EXPECT_EQ(partition.ranks(), 4);
  std::vector<int> owners;
  for (std::int64_t row = 0; row < 9; ++row) owners.push_back(partition.owner(row));
  EXPECT_EQ(owners, (std::vector<int>{0, 0, 0, 2, 3, 3, 3, 3, 3}));
  EXPECT_EQ(partition.rows(1), 0);
}

TEST(RowPartition, CountsBeyond32Bits) {
  std::int64_t const slab = std::int64_t{3} << 30;
  std::vector<std::int64_t> cuts;
  for (int r = 0; r <= 1000; ++r) cuts.push_back(r * slab);
  RowPartition const partition(cuts, slab);
  EXPECT_EQ(partition.global_rows(), 1000 * slab);
  for (int const r : {0, 1, 2, 499, 998, 999}) {
    EXPECT_EQ(partition.owner(partition.first(r)), r);
    EXPECT_EQ(partition.owner(partition.last(r) - 1), r);
  }
}

TEST(RowPartition, IsBalancedToAUnitForAnyWeights) {
  Random random(9);
  for (int const ranks : {1, 2, 3, 4, 7, 64})
    for (std::int64_t const units : {1, 5, 64, 1000}) {
      std::vector<std::int64_t> weights;
      for (std::int64_t u = 0; u < units; ++u)
        weights.push_back(static_cast<std::int64_t>(1000 * std::abs(random.value<double>())));
      std::int64_t const total = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
      std::int64_t const heaviest = *std::max_element(weights.begin(), weights.end());
      auto const partition = cut_by_weight(weights, units * 8 - 3, 8, ranks);
      ASSERT_EQ(partition.ranks(), ranks);
      EXPECT_EQ(partition.global_rows(), units * 8 - 3);
      for (int r = 0; r < ranks; ++r) {
        std::int64_t weight = 0;
        for (auto u = partition.first(r) / 8; 8 * u < partition.last(r); ++u)
          weight += weights[static_cast<std::size_t>(u)];
        EXPECT_LE(std::abs(static_cast<double>(weight) - static_cast<double>(total) / ranks),
                  static_cast<double>(heaviest))
            << ranks << " ranks, " << units << " units, rank " << r;
      }
    }
}

TEST(RowPartition, WithoutWeightsCountsRows) {
  auto const partition = cut_by_weight(std::vector<std::int64_t>(12, 0), 12, 1, 4);
  EXPECT_EQ(partition.cuts(), (std::vector<std::int64_t>{0, 3, 6, 9, 12}));
}

TEST(RowPartition, UnitsFitIntoTheSumsOfARank) {
  for (std::int64_t rows = 1; rows < (std::int64_t{1} << 42); rows = 3 * rows + 1)
    for (int const ranks : {1, 2, 7, 1000}) {
      std::int64_t const unit = unit_of_cuts(rows, 1024, ranks);
      EXPECT_EQ(unit % 1024, 0);
      EXPECT_EQ(unit & (unit - 1), 0);
      auto const each = rows / ranks / unit;
      EXPECT_LE(each, RowSpace::most_units / 2);
      EXPECT_TRUE(unit == 1024 || each >= RowSpace::most_units / 8) << rows << ", " << ranks;
    }
}

TEST(RowPartition, RefusesWhatIsNone) {
  using ::testing::HasSubstr;
  EXPECT_THAT(message_of([] { RowPartition({0, 4, 2}); }), HasSubstr("begins at row 4"));
  EXPECT_THAT(message_of([] { RowPartition({0, 4, 9}, 3); }), HasSubstr("multiple of 3"));
  EXPECT_THAT(message_of([] { RowPartition({1, 4}); }), HasSubstr("from row 0"));
  EXPECT_THAT(message_of([] { cut_by_weight(std::vector<std::int64_t>(2), 30, 10, 2); }),
              HasSubstr("2 weights of 3 units"));
}

}  // namespace
}  // namespace blockspan::test
