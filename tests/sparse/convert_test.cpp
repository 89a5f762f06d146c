// Matrices in another precision.
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/sparse/convert.hpp>

#include "sparse/dense.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

template <class Exec>
class ConvertValues : public ::testing::Test {
 protected:
  static auto matrix(std::vector<double> const& values) {
    return make_matrix<double, Exec>({0, 2, 2, 5}, {0, 3, 1, 1, 2}, values, 4);
  }
};
TYPED_TEST_SUITE(ConvertValues, Backends, ConfigNames);

TYPED_TEST(ConvertValues, RoundsTheValuesAndSharesThePattern) {
  auto const A = this->matrix({1.0 / 3, -2e30, 1e-60, 0.1, 5});
  TypeParam const exec;
  auto const B = convert_values<float>(exec, A);
  EXPECT_EQ(B.graph.entries.data(), A.graph.entries.data());
  EXPECT_EQ(B.graph.row_map.data(), A.graph.row_map.data());
  EXPECT_EQ(B.numRows(), 3);
  EXPECT_EQ(B.numCols(), 4);
  HostCopy const host(B);
  float const wanted[] = {1.0f / 3, -2e30f, 0.0f, 0.1f, 5.0f};
  for (int p = 0; p < 5; ++p) EXPECT_EQ(host.values(p), wanted[p]);
  HostCopy const back(convert_values<double>(exec, B));
  for (int p = 0; p < 5; ++p) EXPECT_EQ(back.values(p), static_cast<double>(wanted[p]));
}

TYPED_TEST(ConvertValues, AFactorBringsThemIntoRange) {
  auto const A = this->matrix({1e200, -3e200, 1e190, 0, 5e200});
  double const factor = std::ldexp(1.0, -660);
  HostCopy const host(convert_values<Kokkos::complex<float>>(TypeParam(), A, factor));
  EXPECT_EQ(host.values(4), Kokkos::complex<float>(static_cast<float>(5e200 * factor), 0));
}

TYPED_TEST(ConvertValues, NamesTheFirstValueThatDoesNotFit) {
  using ::testing::HasSubstr;
  TypeParam const exec;
  EXPECT_EQ(message_of([&] {
              convert_values<float>(exec, this->matrix({1, 2, 3, -1e39, 1e300}));
            }),
            "convert_values: entry (3, 2) is -1e+39 (times 1), beyond the range of 32-bit numbers");
  EXPECT_THAT(message_of([&] {
                convert_values<float>(exec, this->matrix({1, 2, 3, 4, 5}), 1e39);
              }),
              HasSubstr("entry (1, 1) is 1 (times 1e+39)"));
}

TYPED_TEST(ConvertValues, NaNAndInfiniteValuesStay) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  HostCopy const host(
      convert_values<float>(TypeParam(), this->matrix({1, nan, HUGE_VAL, -HUGE_VAL, 2})));
  EXPECT_TRUE(std::isnan(host.values(1)));
  EXPECT_EQ(host.values(2), HUGE_VALF);
  EXPECT_EQ(host.values(3), -HUGE_VALF);
}

TYPED_TEST(ConvertValues, EmptyMatricesAndWideIndicesWork) {
  TypeParam const exec;
  auto const none = convert_values<float>(exec, CrsMatrix<double, TypeParam>());
  EXPECT_EQ(none.numRows(), 0);
  auto const A =
      make_matrix<Kokkos::complex<double>, TypeParam, std::size_t>({0, 1}, {1}, {{0.1, 0.2}}, 2);
  HostCopy const host(convert_values<Kokkos::complex<float>>(exec, A));
  EXPECT_EQ(host.values(0), Kokkos::complex<float>(0.1f, 0.2f));
}

}  // namespace
}  // namespace blockspan::test
