// What is claimed of exact pairs holds where values, masses and stiffnesses differ by many decades.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "solvers/exact_pencils.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class ExactBounds : public ExactTest<Config> {};
TYPED_TEST_SUITE(ExactBounds, ExactConfigs, ConfigNames);

/// A number in (0, 1) for a place, the same everywhere.
double scattered(int i) { return std::fmod(0.5 + 0.6180339887498949 * i, 1.0); }

/// A dense eigensolver mixes small pairs by rounding of the largest; the far ones are in the
/// vectors by rounding of the inverse.
TYPED_TEST(ExactBounds, HoldOverManyDecades) {
  for (int const decades : {6, 10, 14, 20}) {
    std::vector<double> spectrum;
    for (int i = 0; i < 12; ++i) spectrum.push_back(std::pow(10.0, decades * scattered(i)));
    std::sort(spectrum.begin(), spectrum.end());
    auto const K = this->diagonal(spectrum);
    for (double const sigma : {spectrum[0] / 2, 1.3 * spectrum[3], 1.3 * spectrum[6]}) {
      SCOPED_TRACE(testing::Message() << decades << " decades, shift " << sigma);
      auto const report = this->near(K, nullptr, sigma, {.pairs = 4});
      ASSERT_EQ(report.status, Status::converged) << report.trouble;
      auto const truth = nearest(spectrum, sigma, 4);
      ASSERT_EQ(report.eigenvalues.size(), truth.size());
      for (std::size_t j = 0; j < truth.size(); ++j) {
        double const off = std::abs(report.eigenvalues[j] - truth[j]);
        EXPECT_LE(off, 1e-14 * truth[j]);
        EXPECT_LE(off, report.error_bounds[j]);
        EXPECT_GT(report.certain_digits[j], 12);
      }
    }
  }
}

/// Two unknowns tied by a spring of 1e10: what they do together is known to ten digits less. Three
/// eigenvalues are equal to ten digits, one of them of a chain without such springs; how near that
/// one comes to the others, as they were computed, is chance. Values in extended precision.
/// Backward stable are values to the rounding of the norm, 2e10: an entry of K - sigma is rounded
/// by half of it.
TYPED_TEST(ExactBounds, KnowWhatAnUncertainNeighbourMixesIn) {
  using Scalar = typename TestFixture::Value;
  auto const K = this->banded(12, 2, [](std::int64_t i, std::int64_t j) {
    bool const tied = (i == 4 && j == 6) || (i == 6 && j == 4);
    bool const bond = std::abs(i - j) == 1;
    bool const stiff = i == 3 || i == 4 || i == 6 || i == 7 || i == 11;
    return Scalar(i == j ? (stiff ? 1e10 + 2 : 2) : tied ? -1e10 : bond ? -1 : 0);
  });
  std::vector<double> const truth{0.58578643754573046, 0.58578643758803100, 0.58578643762195339,
                                  1.9999999999,        1.99999999995,       3.41421356229192056,
                                  3.41421356233422110, 3.41421356236814349};
  double const rounding = 2.2e-16 * 2e10;
  for (double const sigma : {0.2928932187728652, 2.59999999987, -1.0})
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      auto const report = this->near(K, nullptr, sigma, {.pairs = 4, .seed = seed});
      EXPECT_EQ(report.status, Status::converged) << report.trouble;
      EXPECT_TRUE(are_right(report, nearest(truth, sigma, 4), rounding))
          << sigma << " seed " << seed;
    }
}

/// Light unknowns have the large eigenvalues, and the heavy ones the small residuals.
TYPED_TEST(ExactBounds, ResidualsAreAtTheToleranceWithMassesOfEightDecades) {
  using Scalar = typename TestFixture::Value;
  for (int const seed : {1, 2, 3, 4, 5, 6}) {
    int const n = 56 + seed;
    std::vector<double> mass;
    for (int i = 0; i < n; ++i) mass.push_back(std::pow(10.0, 8 * scattered(seed * n + 7 * i) - 4));
    auto const M = this->diagonal(mass);
    auto const K = this->banded(n, 2, [&](std::int64_t i, std::int64_t j) {
      auto const low = static_cast<int>(std::min(i, j)), far = static_cast<int>(std::abs(i - j));
      double const value = 4 * scattered(seed + 3 * low + 50 * far) - 2;
      return Scalar(value);
    });
    for (double const tolerance : {1e-11, 1e-13}) {
      ExactOptions options;
      options.tolerance = tolerance;
      auto const report = this->inside(K, &M, -1e6, 1e6, options);
      EXPECT_EQ(report.status, Status::converged) << seed << report.trouble;
      EXPECT_EQ(report.proof, Proof::proved) << seed << report.trouble;
      EXPECT_EQ(report.counted, n);
      EXPECT_LE(report.orthogonality_loss, 1e-12);
      for (double const error : report.backward_errors) EXPECT_LE(error, tolerance) << seed;
    }
  }
}

TYPED_TEST(ExactBounds, SuccessIsNotClaimedAboveTheTolerance) {
  auto const K = generate<typename TypeParam::Scalar>(this->exec_, "laplace7:6x6x6");
  ExactOptions options{.pairs = 8, .tolerance = 1e-17};
  options.max_steps = 60;
  auto const report = this->near(K, nullptr, 2.2, options);
  EXPECT_FALSE(report.converged());
  EXPECT_NE(report.proof, Proof::proved);
  for (std::size_t j = 0; j < report.pair_status.size(); ++j)
    EXPECT_EQ(is_done(report.pair_status[j]), report.backward_errors[j] <= 1e-17);
}

}  // namespace
}  // namespace blockspan::test
