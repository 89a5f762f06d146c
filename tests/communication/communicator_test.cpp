// Ranks agree: on numbers, bit by bit, and on errors.
#include <cmath>
#include <limits>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/support/error.hpp>

#include "support/thread_ranks.hpp"

namespace blockspan::test {
namespace {

constexpr int sizes[] = {1, 2, 3, 4, 7, 16};

TEST(Communicator, AloneNeedsNoTransport) {
  Communicator const self;
  EXPECT_EQ(self.rank(), 0);
  EXPECT_EQ(self.size(), 1);
  EXPECT_EQ(self.name(), "self");
  EXPECT_EQ(self.sum(3.5), 3.5);
  EXPECT_EQ(self.transpose({7}), (std::vector<std::int64_t>{7}));
  EXPECT_EQ(self.start({}, {}), nullptr);
  EXPECT_NO_THROW(self.agree(std::nullopt));
  EXPECT_THROW(self.agree("trouble"), Error);
}

TEST(Communicator, SumsAreOneTreeOverRanksOnEveryRank) {
  for (int const size : sizes) {
    // a sum whose bits depend on the order
    auto const value = [](int r) { return std::pow(10.0, 17 * (r % 3)) * (r % 2 ? -1.1 : 1.3); };
    std::vector<double> tree;
    for (int r = 0; r < size; ++r) tree.push_back(value(r));
    while (tree.size() > 1) {
      std::vector<double> above;
      for (std::size_t i = 0; i < tree.size(); i += 2)
        above.push_back(i + 1 < tree.size() ? tree[i] + tree[i + 1] : tree[i]);
      tree = above;
    }
    std::vector<double> found(static_cast<std::size_t>(size));
    ThreadRanks::run(size, [&](Communicator const& ranks) {
      found[static_cast<std::size_t>(ranks.rank())] = ranks.sum(value(ranks.rank()));
    });
    EXPECT_EQ(found, std::vector<double>(static_cast<std::size_t>(size), tree[0])) << size;
  }
}

TEST(Communicator, ExtremesKeepANaNOfAnyRank) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  for (int const size : sizes)
    for (int place = -1; place < size; ++place) {
      std::vector<int> right(static_cast<std::size_t>(size), 0);
      ThreadRanks::run(size, [&](Communicator const& ranks) {
        double const mine = ranks.rank() == place ? nan : 1.0 + ranks.rank();
        double const largest = ranks.largest(mine), least = ranks.least(mine);
        right[static_cast<std::size_t>(ranks.rank())] =
            place < 0 ? largest == size && least == 1 : std::isnan(largest) && std::isnan(least);
      });
      EXPECT_EQ(right, std::vector<int>(static_cast<std::size_t>(size), 1))
          << size << ", " << place;
    }
}

TEST(Communicator, AnErrorOnOneRankIsThatOfAll) {
  for (int const size : sizes)
    for (int bad = 0; bad < size; ++bad) {
      std::vector<std::string> words(static_cast<std::size_t>(size));
      ThreadRanks::run(size, [&](Communicator const& ranks) {
        try {
          int const value = ranks.run_agreed([&] {
            require(ranks.rank() < bad, "file", "line ", 10 + ranks.rank());
            return 1;
          });
          words[static_cast<std::size_t>(ranks.rank())] = std::to_string(value);
        } catch (Error const& error) {
          words[static_cast<std::size_t>(ranks.rank())] = error.what();
        }
      });
      std::string const line = "file: line " + std::to_string(10 + bad);
      for (auto const& each : words)
        EXPECT_EQ(each, bad == 0 ? line : "rank " + std::to_string(bad) + ": " + line) << size;
    }
}

TEST(Communicator, BringsBackWhatGoesWellOnAllRanks) {
  ThreadRanks::run(5, [](Communicator const& ranks) {
    EXPECT_EQ(ranks.run_agreed([&] { return std::to_string(ranks.rank()); }),
              std::to_string(ranks.rank()));
    EXPECT_EQ(ranks.words_of_first(ranks.rank() == 3 ? "three" : ""), "three");
    EXPECT_EQ(ranks.words_of_first(""), "");
    EXPECT_TRUE(ranks.any(ranks.rank() == 4));
    EXPECT_FALSE(ranks.any(false));
    EXPECT_FALSE(ranks.all(ranks.rank() != 2));
    std::vector<int> list;
    if (ranks.rank() == 1) list = {4, 5, 6};
    ranks.broadcast(list, 1);
    EXPECT_EQ(list, (std::vector<int>{4, 5, 6}));
  });
}

TEST(Communicator, MessagesReachTheirRankAndEmptyOnesAreLeftOut) {
  ThreadRanks::run(4, [](Communicator const& ranks) {
    int const me = ranks.rank(), size = ranks.size();
    // rank r sends r numbers to each of the others
    std::vector<int> mine(static_cast<std::size_t>(me), 100 + me);
    std::vector<std::vector<int>> theirs;
    for (int r = 0; r < size; ++r) theirs.emplace_back(static_cast<std::size_t>(r), 0);
    std::vector<Incoming> in;
    std::vector<Outgoing> out;
    for (int r = 0; r < size; ++r) {
      if (r == me) continue;
      in.push_back({r, std::as_writable_bytes(std::span(theirs[static_cast<std::size_t>(r)]))});
      out.push_back({r, std::as_bytes(std::span(mine))});
    }
    auto const pending = ranks.start(in, out);
    ASSERT_NE(pending, nullptr);
    pending->finish();
    for (int r = 0; r < size; ++r)
      for (int const value : theirs[static_cast<std::size_t>(r)])
        EXPECT_EQ(value, r == me ? 0 : 100 + r);
  });
}

TEST(Communicator, MemoryThatIsShortOnOneIsAnErrorOnAllInWords) {
  std::vector<std::string> said(3);
  ThreadRanks::run(3, [&](Communicator const& ranks) {
    try {
      ranks.run_agreed([&] {
        if (ranks.rank() == 1) throw std::bad_alloc();
      });
    } catch (AgreedError const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
      said[static_cast<std::size_t>(ranks.rank())] = error.what();
    }
  });
  EXPECT_EQ(said, std::vector<std::string>(3, "rank 1: out of memory"));
}

TEST(Communicator, AnErrorOnAllHasTheKindOfThatOfOne) {
  for (auto const kind : {ErrorKind::input, ErrorKind::not_definite, ErrorKind::out_of_memory})
    ThreadRanks::run(3, [&](Communicator const& ranks) {
      try {
        ranks.run_agreed([&] {
          if (ranks.rank() == 2) fail(kind, "here", "trouble");
          return 1;
        });
        ADD_FAILURE() << "nothing was thrown";
      } catch (AgreedError const& error) {
        EXPECT_EQ(error.kind(), kind);
      }
    });
}

TEST(Communicator, KnowsWhatAllRanksHaveThrown) {
  EXPECT_TRUE(Communicator().all_threw(Error("alone")));
  ThreadRanks::run(2, [](Communicator const& ranks) {
    EXPECT_FALSE(ranks.all_threw(Error("perhaps of one rank")));
    try {
      ranks.run_agreed([&] { require(ranks.rank() == 0, "here", "what one throws"); });
      ADD_FAILURE() << "nothing was thrown";
    } catch (Error const& error) {
      EXPECT_TRUE(ranks.all_threw(error));
    }
  });
}

}  // namespace
}  // namespace blockspan::test
