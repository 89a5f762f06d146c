#include "support/blocks.hpp"

#include <gtest/gtest.h>

#include "support/compare.hpp"
#include "support/types.hpp"

// The judges of the other tests: they must see what is there, and object to what is wrong.

namespace blockspan::test {

/// function(exec) with the default backend of hosts, where blocks are compiled for it.
template <class Function>
void on_host(Function const& function) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  if constexpr (has_backend<Host>)
    function(Host());
  else
    GTEST_SKIP() << needs_host;
}

TEST(TestBlock, HoldsItsValuesInEveryStorage) {
  on_host([](auto const& exec) {
    auto const values = random_block<double>(5, 3, 1);
    for (Storage const storage : all_storages) {
      auto const X = make_block(exec, storage, values);
      EXPECT_TRUE(same_bits(X.values(), values)) << to_string(storage);
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 3; ++j) EXPECT_EQ(X.view(i, j), values(i, j)) << to_string(storage);
    }
  });
}

TEST(TestBlock, NoticesAWriteBesideTheBlock) {
  on_host([](auto const& exec) {
    for (Storage const storage : {Storage::padded_right, Storage::padded_left, Storage::strided}) {
      auto const X = make_block(exec, storage, random_block<double>(5, 3, 1));
      X.view(2, 1) = 7;
      EXPECT_TRUE(X.surroundings_intact()) << to_string(storage);
      *(&X.view(0, 0) - 1) = 7;
      EXPECT_FALSE(X.surroundings_intact()) << to_string(storage);
    }
  });
}

TEST(Matches, TellsTheWorstEntries) {
  HostBlock<double> X(2, 2, 1.0);
  Reference<double> wanted(2, 2);
  for (auto& value : wanted.values) value = 1;
  for (auto& bound : wanted.bounds) bound = 1e-3L;
  EXPECT_TRUE(matches(X, wanted));
  X(0, 1) = 1.01;
  X(1, 0) = 3;
  auto const result = matches(X, wanted);
  EXPECT_FALSE(result);
  EXPECT_EQ(std::string(result.message()).find("2 entries are off; (1, 0): 3"), 0u)
      << result.message();
  X(1, 1) = not_a_number<double>();
  EXPECT_FALSE(matches(X, wanted));
}

TEST(Matches, NeverAcceptsNaNOrADifferentShape) {
  Reference<double> wanted(1, 1);
  wanted.bound(0, 0) = HUGE_VALL;
  EXPECT_FALSE(matches(HostBlock<double>(1, 1, not_a_number<double>()), wanted));
  EXPECT_FALSE(matches(HostBlock<double>(1, 2), wanted));
}

TEST(GammaBound, IsTheClassicalBoundAndInfiniteBeyondIt) {
  EXPECT_NEAR(static_cast<double>(gamma_bound<double>(10)), 10 * 0x1p-53, 1e-29);
  EXPECT_NEAR(static_cast<double>(gamma_bound<Kokkos::complex<float>>(8)), 0x1p-20, 1e-11);
  EXPECT_EQ(gamma_bound<float>(1 << 25), HUGE_VALL);
}

TEST(Random, RepeatsItself) {
  Random a(5), b(5), c(6);
  EXPECT_EQ(a.bits(), b.bits());
  EXPECT_NE(a.bits(), c.bits());
  for (int i = 0; i < 100; ++i) EXPECT_LT(a.below(7), 7);
}

}  // namespace blockspan::test
