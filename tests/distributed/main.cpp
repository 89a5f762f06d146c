// The tests of all ranks together: every rank runs every test, in the same order.
#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include "distributed/ranks.hpp"

namespace blockspan::test {

Communicator const*& all_ranks() {
  static Communicator const* ranks = nullptr;
  return ranks;
}

}  // namespace blockspan::test

int main(int argc, char** argv) {
  blockspan::MpiScope const mpi(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  blockspan::test::all_ranks() = &mpi.world();
  // one rank tells what goes well, all what does not
  if (mpi.world().rank() > 0) ::testing::GTEST_FLAG(brief) = true;
  bool const passed = RUN_ALL_TESTS() == 0;
  return mpi.world().all(passed) ? 0 : 1;
}
