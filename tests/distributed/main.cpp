// The tests of all ranks together: every rank runs every test, in the same order.
#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include "distributed/ranks.hpp"

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

int main(int argc, char** argv) {
  blockspan::MpiScope const mpi(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  blockspan::test::all_ranks() = &mpi.world();
  // one rank tells what goes well, all what does not
  if (mpi.world().rank() > 0) ::testing::GTEST_FLAG(brief) = true;
  ::testing::UnitTest::GetInstance()->listeners().Append(new blockspan::test::AbortAllRanks);
  bool const passed = RUN_ALL_TESTS() == 0;
  return mpi.world().all(passed) ? 0 : 1;
}
