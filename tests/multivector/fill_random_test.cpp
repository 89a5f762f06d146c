#include <cmath>
#include <set>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/multivector/fill_random.hpp>

#include "support/compare.hpp"
#include "support/types.hpp"

namespace blockspan::test {

template <class Config>
class FillRandom : public ::testing::Test {
 public:
  using E = typename Config::Exec;
  using S = typename Config::Scalar;

  template <class Exec>
  static HostBlock<S> filled(Exec const& exec, Storage storage, std::int64_t n, std::int64_t k,
                             std::uint64_t seed, std::int64_t first_column = 0) {
    auto const X = make_block(exec, storage, HostBlock<S>(n, k));
    fill_random(exec, X.view, seed, first_column);
    EXPECT_TRUE(X.surroundings_intact());
    return X.values();
  }
};

TYPED_TEST_SUITE(FillRandom, Configs, ConfigNames);

TYPED_TEST(FillRandom, GivesTheSameBitsOnEveryBackendAndInEveryLayout) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  typename TypeParam::Exec const exec;
  if constexpr (has_backend<Host>) {
    auto const wanted = this->filled(Host(), Storage::right, 321, 7, 42);
    for (Storage const storage : all_storages)
      EXPECT_TRUE(same_bits(this->filled(exec, storage, 321, 7, 42), wanted)) << to_string(storage);
  } else {
    GTEST_SKIP() << needs_host;
  }
}

TYPED_TEST(FillRandom, DependsOnThePositionAndNotOnTheBlock) {
  typename TypeParam::Exec const exec;
  auto const whole = this->filled(exec, Storage::right, 50, 9, 3);
  auto const part = this->filled(exec, Storage::left, 30, 4, 3, 5);
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 4; ++j) EXPECT_EQ(part(i, j), whole(i, j + 5));
}

/// Every real number of a block.
template <class Scalar>
std::vector<double> numbers(HostBlock<Scalar> const& X) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < X.rows(); ++i)
    for (std::int64_t j = 0; j < X.columns(); ++j) {
      all.push_back(real_part(X(i, j)));
      if (is_complex_v<Scalar>) all.push_back(imaginary_part(X(i, j)));
    }
  return all;
}

TYPED_TEST(FillRandom, IsUniformInMeanVarianceAndCorrelation) {
  typename TypeParam::Exec const exec;
  auto const x = numbers(this->filled(exec, Storage::right, 20000, 5, 1));
  double const count = static_cast<double>(x.size());
  double sum = 0, squares = 0, products = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(x[i] >= -1 && x[i] < 1);
    sum += x[i], squares += x[i] * x[i];
    if (i > 0) products += x[i] * x[i - 1];
  }
  // Five standard deviations: var(x) = 1/3, var(x^2) = 4/45, var(x y) = 1/9.
  EXPECT_NEAR(sum / count, 0, 5 * std::sqrt(1 / (3 * count)));
  EXPECT_NEAR(squares / count, 1.0 / 3, 5 * std::sqrt(4 / (45 * count)));
  EXPECT_NEAR(products / count, 0, 5 * std::sqrt(1 / (9 * count)));
}

TYPED_TEST(FillRandom, IsADyadicNumberOfTheFullPrecision) {
  using Real = real_t<typename TypeParam::Scalar>;
  typename TypeParam::Exec const exec;
  double const grid = std::is_same_v<Real, float> ? 0x1p23 : 0x1p52;
  std::set<double> distinct;
  for (double const x : numbers(this->filled(exec, Storage::right, 1000, 1, 9))) {
    EXPECT_EQ(x * grid, std::nearbyint(x * grid));
    distinct.insert(x);
  }
  EXPECT_GE(distinct.size(), 999u);
}

TYPED_TEST(FillRandom, DiffersBetweenSeeds) {
  typename TypeParam::Exec const exec;
  auto const a = this->filled(exec, Storage::right, 100, 2, 1),
             b = this->filled(exec, Storage::right, 100, 2, 2);
  int equal = 0;
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j < 2; ++j) equal += a(i, j) == b(i, j) ? 1 : 0;
  EXPECT_LE(equal, 1);
}

}  // namespace blockspan::test
