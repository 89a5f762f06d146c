// The tests of all ranks together: every rank runs every test, in the same order.
#include <cstdio>
#include <string>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include "distributed/ranks.hpp"
#include "support/messages.hpp"

#define BLOCKSPAN_RANKS(Scalar, Exec)                        \
  template class blockspan::DistributedMatrix<Scalar, Exec>; \
  template class blockspan::DistributedOperator<Scalar, Exec>;
BLOCKSPAN_TEST_EACH(BLOCKSPAN_RANKS)

namespace blockspan::test {

Communicator const*& all_ranks() {
  static Communicator const* ranks = nullptr;
  return ranks;
}

namespace {

/// A rank that has failed no longer answers; the others would wait for it until the time is up.
class AbortAllRanks : public ::testing::EmptyTestEventListener {
  void OnTestEnd(::testing::TestInfo const& test) override {
    if (test.result()->Failed() && all_ranks()->size() > 1) all_ranks()->abort(1);
  }
};

}  // namespace
}  // namespace blockspan::test

namespace blockspan::test {
namespace {

int run(int argc, char** argv) {
  MpiScope const mpi(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  all_ranks() = &mpi.world();
  // one rank tells what goes well, all what does not
  if (mpi.world().rank() > 0) ::testing::GTEST_FLAG(brief) = true;
  ::testing::UnitTest::GetInstance()->listeners().Append(new AbortAllRanks);
  bool const passed = RUN_ALL_TESTS() == 0;
  return mpi.world().all(passed) ? 0 : 1;
}

/// Where MPI cannot be used, an Error says so; MPI itself would end the program.
bool is_refused(char const* why) {
  std::string const said = message_of([] { mpi_communicator(MPI_COMM_WORLD); });
  if (said.find(why) != std::string::npos) return true;
  std::fprintf(stderr, "mpi_communicator, where %s: %s\n", why, said.c_str());
  return false;
}

}  // namespace
}  // namespace blockspan::test

int main(int argc, char** argv) {
  using blockspan::test::is_refused;
  bool const before = is_refused("MPI is not initialized");
  int const status = blockspan::test::run(argc, argv);
  int finalized = 0;  // not without a launcher
  MPI_Finalized(&finalized);
  bool const after = finalized == 0 || is_refused("MPI is finalized");
  return before && after ? status : 1;
}
