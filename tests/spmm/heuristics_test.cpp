#include <gtest/gtest.h>

#include <blockspan/spmm/heuristics.hpp>

namespace blockspan::test {
namespace {

std::string_view choice(std::int64_t rows, std::int64_t nonzeros) {
  return row_split_or_merge({.rows = rows, .columns = 7, .nonzeros = nonzeros});
}

TEST(RowSplitOrMerge, FollowsTheMeanRow) {
  EXPECT_EQ(choice(1000, 9349), "merge");
  EXPECT_EQ(choice(1000, 9351), "row_split");
  EXPECT_EQ(choice(3, 27), "merge");
  EXPECT_EQ(choice(3, 30), "row_split");
  EXPECT_EQ(choice(1, 1'000'000'000'000), "row_split");
}

/// "Fewer than" is strict: 9.35 itself is not merged.
TEST(RowSplitOrMerge, SplitsRowsAtTheThreshold) {
  EXPECT_EQ(choice(20, 187), "row_split");
  EXPECT_EQ(choice(20, 186), "merge");
}

TEST(RowSplitOrMerge, MergesWhatHasNoEntriesOrNoRows) {
  EXPECT_EQ(choice(5, 0), "merge");
  EXPECT_EQ(choice(0, 0), "merge");
}

}  // namespace
}  // namespace blockspan::test
