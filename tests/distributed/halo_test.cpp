// Which rows a rank needs of which other, and who reads only its own: by ranks that are threads.
#include <algorithm>
#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include <blockspan/distributed/halo.hpp>

#include "support/messages.hpp"
#include "support/random.hpp"
#include "support/thread_ranks.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

struct Rows {
  std::vector<std::int64_t> offsets{0}, columns;
  void add(std::vector<std::int64_t> const& row) {
    columns.insert(columns.end(), row.begin(), row.end());
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
};

/// The columns of a row of a 3-D grid of `edge` points a side and 7 points.
std::vector<std::int64_t> grid_row(std::int64_t row, std::int64_t edge, std::int64_t rows) {
  std::vector<std::int64_t> result;
  for (std::int64_t const step :
       {-edge * edge, -edge, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, edge, edge * edge})
    if (row + step >= 0 && row + step < rows) result.push_back(row + step);
  return result;
}

std::vector<std::int64_t> ghosts_of(SplitRows const& split) {
  std::vector<std::int64_t> ghosts(split.packed.begin(), split.packed.begin() + split.lower);
  ghosts.insert(ghosts.end(), split.packed.begin() + split.lower + split.own, split.packed.end());
  return ghosts;
}

/// Splits `rows` of every rank, makes the exchanges, and checks all that must hold of them.
template <class RowsOf>
void expect_sound(RowPartition const& partition, RowsOf const& rows_of) {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::vector<std::int64_t>> wanted, given;  // (to, from)
  ThreadRanks::run(partition.ranks(), [&](Communicator const& ranks) {
    int const me = ranks.rank();
    Rows const rows = rows_of(me);
    auto const split = split_rows(partition, me, rows.offsets, rows.columns);
    auto const ghosts = ghosts_of(split);
    std::int64_t const first = partition.first(me), last = partition.last(me);
    // places lead back to the columns, in order
    ASSERT_TRUE(std::is_sorted(split.packed.begin(), split.packed.end()));
    for (std::int64_t i = 0; i < last - first; ++i)
      for (auto k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
        bool const inside = i >= split.head && i < split.tail;
        auto const place = split.columns[static_cast<std::size_t>(k)];
        ASSERT_EQ(inside ? first + place : split.packed[static_cast<std::size_t>(place)],
                  rows.columns[static_cast<std::size_t>(k)]);
      }
    for (std::size_t p = 0; p < split.packed.size(); ++p) {
      auto const place = static_cast<std::int64_t>(p);
      bool const own = place >= split.lower && place < split.lower + split.own;
      ASSERT_EQ(own, split.packed[p] >= first && split.packed[p] < last);
    }
    auto const halo = make_halo_exchange(ranks, partition, ghosts);
    ASSERT_EQ(halo.rows, ghosts);
    std::lock_guard const lock(mutex);
    for (auto const& part : halo.receives) {
      ASSERT_NE(part.rank, me);
      ASSERT_GT(part.count, 0);
      for (auto p = part.first; p < part.first + part.count; ++p) {
        ASSERT_EQ(partition.owner(halo.rows[static_cast<std::size_t>(p)]), part.rank);
        wanted[{me, part.rank}].push_back(halo.rows[static_cast<std::size_t>(p)]);
      }
    }
    for (auto const& part : halo.sends)
      for (auto p = part.first; p < part.first + part.count; ++p)
        given[{part.rank, me}].push_back(halo.sent[static_cast<std::size_t>(p)] + first);
  });
  EXPECT_EQ(wanted, given);
}

TEST(Halo, MatchesPairwiseForGridsOnAnyNumberOfRanks) {
  std::int64_t const edge = 9, n = edge * edge * edge;
  for (int const ranks : {1, 2, 3, 7, 16, 64}) {
    std::vector<std::int64_t> weights(static_cast<std::size_t>(n), 1);
    auto const partition = cut_by_weight(weights, n, 1, ranks);
    expect_sound(partition, [&](int r) {
      Rows rows;
      for (auto row = partition.first(r); row < partition.last(r); ++row)
        rows.add(grid_row(row, edge, n));
      return rows;
    });
  }
}

TEST(Halo, MatchesPairwiseForRandomRowsEmptyRanksAndUnsortedRepeatedColumns) {
  Random random(11);
  for (auto const& cuts :
       {std::vector<std::int64_t>{0, 0, 5, 40, 40, 41, 60}, {0, 60}, {0, 30, 60}}) {
    RowPartition const partition(cuts);
    std::vector<Rows> all;
    for (int r = 0; r < partition.ranks(); ++r) {
      Rows rows;
      for (auto row = partition.first(r); row < partition.last(r); ++row) {
        std::vector<std::int64_t> columns;
        for (int e = 0; e < row % 7; ++e) columns.push_back(random.below(60));
        if (row % 7 == 3) columns.push_back(columns.front());
        rows.add(columns);
      }
      all.push_back(rows);
    }
    expect_sound(partition, [&](int r) { return all[static_cast<std::size_t>(r)]; });
  }
}

/// A grid of 4000^3 = 6.4e10 points on 640,000 ranks, of which those around the middle are played,
/// one after the other.
TEST(Halo, CountsRowsBeyond32Bits) {
  std::int64_t const edge = 4000, n = edge * edge * edge, each = 100000;
  int const ranks = static_cast<int>(n / each);
  std::vector<std::int64_t> cuts(static_cast<std::size_t>(ranks) + 1);
  for (int r = 0; r <= ranks; ++r) cuts[static_cast<std::size_t>(r)] = r * each;
  RowPartition const partition(std::move(cuts));
  int const middle = ranks / 2;
  auto const split_of = [&](int r) {
    Rows rows;
    for (auto row = partition.first(r); row < partition.last(r); ++row)
      rows.add(grid_row(row, edge, n));
    return split_rows(partition, r, rows.offsets, rows.columns);
  };
  auto const parts = parts_by_owner(partition, ghosts_of(split_of(middle)));
  int const plane = static_cast<int>(edge * edge / each);
  std::vector<int> neighbours;
  std::vector<std::int64_t> counts;
  for (auto const& part : parts) neighbours.push_back(part.rank), counts.push_back(part.count);
  EXPECT_EQ(neighbours, (std::vector<int>{middle - plane, middle - 1, middle + 1, middle + plane}));
  EXPECT_EQ(counts, (std::vector<std::int64_t>{each, edge, edge, each}));
  // what this rank wants of a neighbour is what that one, whose pattern is symmetric, wants of it
  for (auto const& part : parts) {
    auto const theirs = parts_by_owner(partition, ghosts_of(split_of(part.rank)));
    auto const back = std::find_if(theirs.begin(), theirs.end(),
                                   [&](HaloPart const& p) { return p.rank == middle; });
    ASSERT_NE(back, theirs.end());
    EXPECT_EQ(back->count, part.count);
  }
}

TEST(Halo, TheInteriorIsTheLongestRunThatReadsItsOwnRows) {
  RowPartition const partition({0, 4, 12, 16});
  Rows rows;
  for (std::int64_t row = 4; row < 12; ++row)
    rows.add(row == 4   ? std::vector<std::int64_t>{2, 4}
             : row == 7 ? std::vector<std::int64_t>{7, 15}
                        : std::vector<std::int64_t>{row});
  auto const split = split_rows(partition, 1, rows.offsets, rows.columns);
  EXPECT_EQ(split.head, 4);
  EXPECT_EQ(split.tail, 8);
  EXPECT_EQ(split.packed, (std::vector<std::int64_t>{2, 4, 5, 6, 7, 15}));
  EXPECT_EQ(split.lower, 1);
  EXPECT_EQ(split.own, 4);
}

TEST(Halo, RefusesColumnsOutsideTheMatrix) {
  RowPartition const partition({0, 2, 4});
  for (std::int64_t const column : {std::int64_t{-1}, std::int64_t{4}}) {
    std::vector<std::int64_t> const offsets{0, 1, 2}, columns{0, column};
    EXPECT_THAT(message_of([&] { split_rows(partition, 1, offsets, columns); }),
                ::testing::HasSubstr("row 4 has an entry in column " + std::to_string(column + 1)));
  }
}

}  // namespace
}  // namespace blockspan::test
