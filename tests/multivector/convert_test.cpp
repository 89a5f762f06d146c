// Blocks in another precision.
#include <limits>

#include <gtest/gtest.h>

#include <blockspan/multivector/convert.hpp>

#include "support/blocks.hpp"
#include "support/compare.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class ConvertBlock : public ::testing::Test {};
TYPED_TEST_SUITE(ConvertBlock, EveryConfig, ConfigNames);

TYPED_TEST(ConvertBlock, RoundsEachEntryToNearestInAnyLayout) {
  using Scalar = typename TypeParam::Scalar;
  using Single = single_t<Scalar>;
  typename TypeParam::Exec const exec;
  for (auto const& [n, k] : {std::pair{0, 3}, {1, 1}, {300, 5}, {1000, 33}}) {
    auto const x = random_block<Scalar>(n, k, 3);
    for (Storage const storage : all_storages) {
      auto const X = make_block(exec, storage, x);
      auto const Y = make_block(exec, storage == Storage::left ? Storage::right : storage,
                                HostBlock<Single>(n, k, not_a_number<Single>()));
      convert_block(exec, X.const_view(), Y.view);
      auto const y = Y.values();
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < k; ++j) {
          EXPECT_EQ(real_part(y(i, j)), static_cast<float>(real_part(x(i, j))));
          EXPECT_EQ(imaginary_part(y(i, j)), static_cast<float>(imaginary_part(x(i, j))));
        }
      EXPECT_TRUE(Y.surroundings_intact() && same_bits(X.values(), x));
    }
  }
}

TYPED_TEST(ConvertBlock, AWiderPrecisionKeepsEveryDigit) {
  using Scalar = typename TypeParam::Scalar;
  using Single = single_t<Scalar>;
  typename TypeParam::Exec const exec;
  auto const x = random_block<Single>(500, 4, 7);
  auto const X = make_block(exec, Storage::right, x), back = make_block(exec, Storage::left, x);
  auto const Y = make_block(exec, Storage::left, HostBlock<Scalar>(500, 4));
  convert_block(exec, X.view, Y.view);
  convert_block(exec, Y.view, back.view);
  EXPECT_TRUE(same_bits(back.values(), x));
  convert_block(exec, X.view, Y.view, real_t<Scalar>(0.25));
  auto const y = Y.values();
  for (int i = 0; i < 500; ++i) EXPECT_EQ(y(i, 3), Scalar(x(i, 3)) * real_t<Scalar>(0.25));
}

TEST(ConvertBlock, WhatASinglePrecisionCannotHoldBecomesInfiniteOrZero) {
  Kokkos::DefaultHostExecutionSpace const exec;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  Kokkos::View<double**, Kokkos::HostSpace> const X("X", 1, 4);
  Kokkos::View<Kokkos::complex<float>**, Kokkos::HostSpace> const Y("Y", 1, 4);
  double const values[] = {1e300, -1e300, 1e-300, nan};
  for (int j = 0; j < 4; ++j) X(0, j) = values[j];
  convert_block(exec, X, Y);
  exec.fence();
  float const infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Y(0, 0), Kokkos::complex<float>(infinite, 0));
  EXPECT_EQ(Y(0, 1), Kokkos::complex<float>(-infinite, 0));
  EXPECT_EQ(Y(0, 2), Kokkos::complex<float>(0, 0));
  EXPECT_TRUE(std::isnan(Y(0, 3).real()));
}

TEST(ConvertBlock, RefusesShapesThatClash) {
  Kokkos::DefaultHostExecutionSpace const exec;
  Kokkos::View<double**, Kokkos::HostSpace> const X("X", 3, 4);
  Kokkos::View<float**, Kokkos::HostSpace> const Y("Y", 3, 5);
  EXPECT_EQ(message_of([&] { convert_block(exec, X, Y); }),
            "convert_block: shapes clash: X is 3 x 4, Y is 3 x 5");
}

}  // namespace
}  // namespace blockspan::test
