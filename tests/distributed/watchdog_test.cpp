// A rank that waits for long says for whom.
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "distributed/ranks.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

/// What this rank says while the last one comes late to `meet`.
template <class Meet>
std::string said_while_waiting(char const* seconds, Meet const& meet) {
  ::setenv("BLOCKSPAN_WAIT_SECONDS", seconds, 1);
  auto const ranks = mpi_communicator(MPI_COMM_WORLD);
  ::unsetenv("BLOCKSPAN_WAIT_SECONDS");
  ::testing::internal::CaptureStderr();
  if (ranks.rank() == ranks.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(600));
  meet(ranks);
  return ::testing::internal::GetCapturedStderr();
}

TEST(Watchdog, SaysWhoWaitsForWhom) {
  if (world().size() == 1) GTEST_SKIP() << "one rank waits for none";
  using ::testing::HasSubstr;
  int const me = world().rank(), last = world().size() - 1;
  auto const gather = [](Communicator const& ranks) { ranks.gather(1); };
  auto const exchange = [&](Communicator const& ranks) {
    int const mine = me;
    int theirs = -1;
    std::vector<Incoming> in;
    std::vector<Outgoing> out;
    if (me == 0) in.push_back({last, std::as_writable_bytes(std::span(&theirs, 1))});
    if (me == last) out.push_back({0, std::as_bytes(std::span(&mine, 1))});
    if (auto const pending = ranks.start(in, out)) pending->finish();
    if (me == 0) {
      EXPECT_EQ(theirs, last);
    }
  };
  auto const name = "rank " + std::to_string(me) + " has waited";
  auto const gathered = said_while_waiting("0.1", gather);
  auto const exchanged = said_while_waiting("0.1", exchange);
  if (me < last) {
    EXPECT_THAT(gathered, HasSubstr(name));
    EXPECT_THAT(gathered, HasSubstr("for all ranks"));
  }
  if (me == 0) {
    EXPECT_THAT(exchanged, HasSubstr("for an exchange with " + std::to_string(last)));
  }
  EXPECT_EQ(said_while_waiting("0", gather), "");
  EXPECT_EQ(said_while_waiting("500", gather), "");
}

}  // namespace
}  // namespace blockspan::test
