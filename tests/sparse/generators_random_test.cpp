#include <algorithm>
#include <cmath>
#include <set>

#include "generators_support.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Exec>
struct RandomGenerators : ::testing::Test {};
TYPED_TEST_SUITE(RandomGenerators, Backends, ConfigNames);

struct Lengths {
  std::int64_t least;
  std::int64_t most;
  double mean;
};
template <class Scalar>
Lengths lengths_of(HostMatrix<Scalar> const& A) {
  Lengths l{A.columns, 0, double(A.row_map.back()) / double(A.rows)};
  for (std::int64_t i = 0; i < A.rows; ++i) {
    l.least = std::min(l.least, A.length(i));
    l.most = std::max(l.most, A.length(i));
  }
  return l;
}

TYPED_TEST(RandomGenerators, UniformRowsHaveBetweenHalfAndAllOfThePercentage) {
  // 1 % of 8192 is 81.92: whole numbers from 41 to 81. 10 % of 4096 is 409.6: from 205 to 409.
  auto const a = lengths_of(generated<TypeParam>("uniform:8192x8192:1"));
  EXPECT_EQ(a.least, 41);
  EXPECT_EQ(a.most, 81);
  EXPECT_NEAR(a.mean, 61, 4 * 12 / std::sqrt(8192.0));
  auto const b = lengths_of(generated<TypeParam>("uniform:8192x4096:10"));
  EXPECT_EQ(b.least, 205);
  EXPECT_EQ(b.most, 409);
  EXPECT_NEAR(b.mean, 307, 4 * 59.2 / std::sqrt(8192.0));
}

TYPED_TEST(RandomGenerators, UniformRowsUseAllColumnsEvenly) {
  auto const A = generated<TypeParam>("uniform:4000x256:10");
  std::vector<double> count(256, 0);
  for (int const column : A.entries) ++count[std::size_t(column)];
  double const mean = double(A.entries.size()) / 256;
  // Five standard deviations of a binomial count bound the largest of 256.
  for (double const c : count) EXPECT_NEAR(c, mean, 5 * std::sqrt(mean));
}

TYPED_TEST(RandomGenerators, AFullRowHasEveryColumn) {
  auto const A = generated<TypeParam>("fixed:3x17:17");
  for (std::size_t k = 0; k < A.entries.size(); ++k) EXPECT_EQ(A.entries[k], int(k % 17));
}

TYPED_TEST(RandomGenerators, FixedRowsHaveTheSameLength) {
  auto const l = lengths_of(generated<TypeParam>("fixed:300x1000:13"));
  EXPECT_EQ(l.least, 13);
  EXPECT_EQ(l.most, 13);
}

TYPED_TEST(RandomGenerators, HypersparseRowsAreMostlyEmpty) {
  auto const l = lengths_of(generated<TypeParam>("hypersparse:100000x100000:0.3"));
  EXPECT_EQ(l.least, 0);
  EXPECT_EQ(l.most, 1);
  EXPECT_NEAR(l.mean, 0.3, 4 * std::sqrt(0.21 / 100000));
}

TYPED_TEST(RandomGenerators, WideRowsLieAroundTheirMean) {
  auto const l = lengths_of(generated<TypeParam>("wide:512x394792:2242"));
  EXPECT_GE(l.least, 1495);
  EXPECT_LE(l.most, 2989);
  EXPECT_NEAR(l.mean, 2242, 4 * 431.6 / std::sqrt(512.0));
}

TYPED_TEST(RandomGenerators, PowerLawHasItsMeanAndItsTail) {
  auto const A = generated<TypeParam>("powerlaw:200000x100000:8:2.5");
  auto const l = lengths_of(A);
  EXPECT_EQ(l.least, 1);
  EXPECT_NEAR(l.mean, 8, 0.8);  // the variance is infinite
  EXPECT_GT(l.most, 1000);
  // P(length > l) falls like l^(1 - alpha): by 10^1.5 = 31.6 from 100 to 1000.
  std::int64_t beyond[2] = {0, 0};
  for (std::int64_t i = 0; i < A.rows; ++i) {
    beyond[0] += A.length(i) > 100;
    beyond[1] += A.length(i) > 1000;
  }
  double const ratio = double(beyond[0]) / double(beyond[1]);
  EXPECT_GT(ratio, 15);
  EXPECT_LT(ratio, 60);
}

TYPED_TEST(RandomGenerators, PowerLawRespectsTheLongestRow) {
  auto const l = lengths_of(generated<TypeParam>("powerlaw:20000x1000:8:2.1:max=50"));
  EXPECT_EQ(l.most, 50);
  EXPECT_NEAR(l.mean, 8, 0.3);
}

TYPED_TEST(RandomGenerators, BandedRowsFillTheBand) {
  auto const A = generated<TypeParam>("banded:20:3");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(A.entries[std::size_t(A.row_map[i])], std::max(0, i - 3));
    EXPECT_EQ(A.entries[std::size_t(A.row_map[i + 1] - 1)], std::min(19, i + 3));
    EXPECT_EQ(A.length(i), std::min(19, i + 3) - std::max(0, i - 3) + 1);
  }
}

/// Shares of the four quadrants of a square matrix.
std::array<double, 4> quadrants(HostMatrix<double> const& A) {
  std::array<double, 4> share{};
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      share[std::size_t(2 * (i >= A.rows / 2) + (A.entries[k] >= A.columns / 2))] +=
          1 / double(A.entries.size());
  return share;
}

TYPED_TEST(RandomGenerators, RmatFollowsItsProbabilities) {
  // Few enough edges that repeated ones hardly change the shares.
  auto const usual = quadrants(generated<TypeParam>("rmat:18:0.2"));
  double const expected[4] = {0.57, 0.19, 0.19, 0.05};
  for (std::size_t q = 0; q < 4; ++q) EXPECT_NEAR(usual[q], expected[q], 0.015) << q;
  auto const other = quadrants(generated<TypeParam>("rmat:18:0.2:a=0.1:b=0.2:c=0.3"));
  double const chosen[4] = {0.1, 0.2, 0.3, 0.4};
  for (std::size_t q = 0; q < 4; ++q) EXPECT_NEAR(other[q], chosen[q], 0.015) << q;
}

TYPED_TEST(RandomGenerators, RmatHasHubsAndDropsRepeatedEdges) {
  auto const A = generated<TypeParam>("rmat:14:16:seed=7");
  auto const l = lengths_of(A);
  EXPECT_LT(A.row_map.back(), std::int64_t(16) << 14);
  EXPECT_GT(l.mean, 13);
  EXPECT_GT(l.most, 100 * 16);
  EXPECT_EQ(l.least, 0);
}

TYPED_TEST(RandomGenerators, SymmetricIsTheUnionWithTheTranspose) {
  auto const A = generated<TypeParam>("rmat:8:5");
  auto const S = generated<TypeParam>("rmat:8:5:symmetric");
  std::set<std::pair<std::int64_t, std::int64_t>> expected, found;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      expected.emplace(i, A.entries[k]);
      expected.emplace(A.entries[k], i);
    }
  for (std::int64_t i = 0; i < S.rows; ++i)
    for (std::int64_t k = S.row_map[i]; k < S.row_map[i + 1]; ++k) found.emplace(i, S.entries[k]);
  EXPECT_EQ(found, expected);
}

TYPED_TEST(RandomGenerators, ValuesLieInTheirRangeAndFillIt) {
  auto const range = [](HostMatrix<double> const& A) {
    return std::pair(*std::min_element(A.values.begin(), A.values.end()),
                     *std::max_element(A.values.begin(), A.values.end()));
  };
  auto const [low, high] = range(generated<TypeParam>("fixed:1000x1000:10"));
  EXPECT_GE(low, -1);
  EXPECT_LT(low, -0.99);
  EXPECT_LT(high, 1);
  EXPECT_GT(high, 0.99);
  auto const [least, most] = range(generated<TypeParam>("fixed:1000x1000:10:values=positive"));
  EXPECT_GT(least, 0);
  EXPECT_LT(least, 0.01);
  EXPECT_LE(most, 1);
  EXPECT_GT(most, 0.99);
  auto const [one, also_one] = range(generated<TypeParam>("fixed:1000x1000:10:values=ones"));
  EXPECT_EQ(one, 1);
  EXPECT_EQ(also_one, 1);
}

}  // namespace
}  // namespace blockspan::test
