// Sums over rows that are spread over ranks: the tree of the whole, whoever has which rows.
#include <cmath>
#include <limits>
#include <span>

#include <gtest/gtest.h>

#include <blockspan/communication/row_space.hpp>
#include <blockspan/support/error.hpp>

#include "support/messages.hpp"
#include "support/random.hpp"
#include "support/thread_ranks.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

struct Add {
  static void fold(double& total, double term) { total += term; }
};
/// NaN-safe.
struct Largest {
  static void fold(double& total, double term) {
    if (term > total || term != term) total = term;
  }
};

/// The node of leaves [first, first + 2^level), of which only the first `count` of all are there.
template <class Fold>
double node(std::vector<double> const& leaves, std::int64_t first, int level) {
  if (level == 0) return leaves[static_cast<std::size_t>(first)];
  std::int64_t const middle = first + (std::int64_t{1} << (level - 1));
  double value = node<Fold>(leaves, first, level - 1);
  if (middle < static_cast<std::int64_t>(leaves.size()))
    Fold::fold(value, node<Fold>(leaves, middle, level - 1));
  return value;
}
template <class Fold>
double root(std::vector<double> const& leaves, std::int64_t first, std::int64_t last) {
  std::vector<double> const part(leaves.begin() + first, leaves.begin() + last);
  int level = 0;
  while (std::int64_t{1} << level < last - first) ++level;
  return node<Fold>(part, 0, level);
}

/// As devices fold: as many numbers of every rank, those beyond its nodes never read.
template <class Fold>
double folded_where_padded(Communicator const& ranks, RowSpace const& rows,
                           std::vector<double> const& numbers) {
  if (rows.nodes_of_all() == 0) return 0;
  auto const most = static_cast<std::size_t>(rows.most_nodes_of_rank());
  auto const size = static_cast<std::size_t>(ranks.size());
  std::vector<double> mine(most, std::numeric_limits<double>::quiet_NaN()), all(most * size);
  for (std::size_t k = 0; k < rows.nodes().size(); ++k)
    mine[k] = numbers[2 * (static_cast<std::size_t>(rows.my_first_node()) + k)];
  auto const bytes = static_cast<std::int64_t>(most * sizeof(double));
  ranks.gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)),
               std::vector<std::int64_t>(size, bytes));
  for (auto const& [into, from] : rows.padded_joins())
    Fold::fold(all[static_cast<std::size_t>(into)], all[static_cast<std::size_t>(from)]);
  return all[static_cast<std::size_t>(rows.padded_root())];
}

/// What every rank has after a fold, the leaves being `unit` rows each.
template <class Fold>
std::vector<double> folded(std::vector<double> const& leaves, std::vector<std::int64_t> const& cuts,
                           std::int64_t unit) {
  int const size = static_cast<int>(cuts.size()) - 1;
  std::vector<double> result(static_cast<std::size_t>(size));
  ThreadRanks::run(size, [&](Communicator const& ranks) {
    auto in_rows = cuts;
    std::int64_t const all = std::max<std::int64_t>(10 * cuts.back() - 3, 0);
    for (auto& cut : in_rows) cut = std::min(10 * cut, all);  // the last leaf is not full
    RowSpace const rows(ranks, in_rows, unit);
    std::vector<double> numbers(
        static_cast<std::size_t>(std::max<std::int64_t>(rows.nodes_of_all(), 1) * 2), -7.0);
    auto const first = cuts[static_cast<std::size_t>(ranks.rank())];
    auto place = static_cast<std::size_t>(rows.my_first_node() * 2);
    for (auto const& [begin, end] : rows.nodes()) {
      numbers[place] = root<Fold>(leaves, first + begin / 10, first + (end + 9) / 10);
      numbers[place + 1] = 2 * numbers[place];
      place += 2;
    }
    double const padded = folded_where_padded<Fold>(ranks, rows, numbers);
    rows.fold<Fold>(numbers.data(), 2);
    EXPECT_TRUE(padded == numbers[0] || (std::isnan(padded) && std::isnan(numbers[0])));
    EXPECT_TRUE(numbers[1] == 2 * numbers[0] || std::isnan(numbers[0]));
    result[static_cast<std::size_t>(ranks.rank())] = numbers[0];
  });
  return result;
}

std::vector<double> hard_to_sum(std::int64_t count) {
  Random random(5);
  std::vector<double> leaves;
  for (std::int64_t i = 0; i < count; ++i)
    leaves.push_back(random.value<double>() * (i % 5 == 2 ? 1e9 : 1));
  return leaves;
}

TEST(RowSpace, RanksCutAtUnitsHaveTheBitsOfOneForEveryCut) {
  for (std::int64_t count = 1; count <= 40; ++count) {
    auto const leaves = hard_to_sum(count);
    double const whole = root<Add>(leaves, 0, count);
    for (std::int64_t a = 0; a <= count; ++a)
      for (std::int64_t b = a; b <= count; b += 1 + (count > 10 ? count / 4 : 0))
        EXPECT_EQ(folded<Add>(leaves, {0, a, b, count}, 10), std::vector<double>(3, whole))
            << count << " cut at " << a << ", " << b;
  }
  auto const leaves = hard_to_sum(40);
  for (int const size : {1, 2, 7, 13, 40, 64}) {
    std::vector<std::int64_t> cuts;
    for (int r = 0; r <= size; ++r) cuts.push_back(40 * r / size);
    EXPECT_EQ(folded<Add>(leaves, cuts, 10),
              std::vector<double>(static_cast<std::size_t>(size), root<Add>(leaves, 0, 40)))
        << size;
  }
}

TEST(RowSpace, ANaNOfAnyRankReachesAll) {
  for (std::int64_t place = 0; place < 9; ++place) {
    std::vector<double> leaves(9, 1.0);
    leaves[static_cast<std::size_t>(place)] = std::numeric_limits<double>::quiet_NaN();
    for (double const value : folded<Largest>(leaves, {0, 2, 2, 7, 9}, 10))
      EXPECT_TRUE(std::isnan(value)) << place;
  }
}

TEST(RowSpace, OtherCutsGiveANodeARank) {
  auto const leaves = hard_to_sum(11);
  std::vector<std::int64_t> const cuts{0, 3, 3, 8, 11};
  double const expected =
      (root<Add>(leaves, 0, 3) + root<Add>(leaves, 3, 8)) + root<Add>(leaves, 8, 11);
  EXPECT_EQ(folded<Add>(leaves, cuts, 0), std::vector<double>(4, expected));
}

TEST(RowSpace, WithoutRowsSumsAreZero) {
  EXPECT_EQ(folded<Add>({}, {0, 0, 0}, 10), std::vector<double>(2, 0.0));
  EXPECT_EQ(folded<Add>({}, {0, 0, 0}, 0), std::vector<double>(2, 0.0));
}

TEST(RowSpace, FewNodesCoverARank) {
  std::int64_t const unit = std::int64_t{1} << 30, units = 1000;
  ThreadRanks::run(7, [&](Communicator const& ranks) {
    std::vector<std::int64_t> cuts;
    for (int r = 0; r <= 7; ++r) cuts.push_back(units * r / 7 * unit);
    RowSpace const rows(ranks, cuts, unit);
    EXPECT_EQ(rows.global_rows(1), units * unit);  // far beyond 2^31
    EXPECT_LE(static_cast<int>(rows.nodes().size()), 2 * 10);
    std::int64_t next = 0;
    for (auto const& [first, last] : rows.nodes()) {
      EXPECT_EQ(first, next);
      next = last;
    }
    EXPECT_EQ(next, cuts[static_cast<std::size_t>(ranks.rank()) + 1] - rows.first_row());
  });
}

TEST(RowSpace, RefusesCutsThatAreNone) {
  using ::testing::HasSubstr;
  auto const message = [](std::vector<std::int64_t> cuts, std::int64_t unit) {
    return message_of([&] { RowSpace(Communicator(), cuts, unit); });
  };
  EXPECT_EQ(message({0, 5}, 10), "nothing was thrown");
  EXPECT_THAT(message({0, 5, 9}, 0), HasSubstr("3 cuts of 1 ranks"));
  EXPECT_THAT(message({1, 5}, 0), HasSubstr("the first 0"));
  EXPECT_THAT(message({0, 513 * 4}, 4), HasSubstr("513 units"));
  auto const on_two = [](std::vector<std::int64_t> cuts, std::int64_t unit) {
    return message_of([&] {
      ThreadRanks::run(2, [&](Communicator const& ranks) { RowSpace(ranks, cuts, unit); });
    });
  };
  EXPECT_THAT(on_two({0, 15, 40}, 10), HasSubstr("multiples of 10"));
  EXPECT_THAT(on_two({0, 50, 40}, 0), HasSubstr("rank 1 begins at row 50"));
}

TEST(RowSpace, OfOneProcessIsLocal) {
  RowSpace const rows;
  EXPECT_FALSE(rows.distributed());
  EXPECT_EQ(rows.global_rows(17), 17);
  EXPECT_EQ(rows.first_row(), 0);
  EXPECT_NO_THROW(rows.require_rows(99, "test"));
}

}  // namespace
}  // namespace blockspan::test
