// Register tiles of the dense products on hosts: what they are compiled as, for this processor.
#include <gtest/gtest.h>

#include <blockspan/multivector/compiled/host_tiles.hpp>

namespace blockspan::test {
namespace {

namespace multivector = blockspan::multivector;

int registers_of(int reals, int bytes) {
  return (reals * bytes + support::register_bytes - 1) / support::register_bytes;
}

/// Sums, the row that is added and one factor are in registers at once, or sums go to memory.
template <class Real>
void expect_room() {
  constexpr int widest = multivector::widest_tile<Real>;
  for (int width = widest; width >= multivector::narrowest_tile<Real>; width /= 2) {
    int const across = registers_of(width, sizeof(Real));
    int const sums = multivector::tile_height<Real>(width) * across;
    EXPECT_LE(sums + across + 1, support::registers) << width;
    EXPECT_GE(sums, 12) << width;
  }
}

TEST(HostTiles, FitTheRegistersOfTheProcessor) {
  expect_room<float>();
  expect_room<double>();
}

/// Sixteen sums keep four units busy whose additions take four cycles (Neoverse V2).
TEST(HostTiles, KeepSixteenSumsWhereThereAreRegistersForThem) {
  int const sums = 2 * multivector::tile_height<double>(multivector::widest_tile<double>);
  EXPECT_EQ(sums, support::registers >= 32 ? 16 : 12);
#if defined(__aarch64__)
  EXPECT_EQ(multivector::widest_tile<double>, 4);
  EXPECT_EQ(multivector::widest_tile<float>, 8);
  EXPECT_EQ(multivector::tile_height<double>(4), 8);
  EXPECT_EQ(multivector::tile_height<double>(2), 12);
#endif
}

}  // namespace
}  // namespace blockspan::test
