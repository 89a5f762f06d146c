#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/grid_vectors.hpp"
#include "solvers/solve.hpp"

namespace blockspan::test {
namespace {

constexpr int N = 8, wanted = 6;

template <class Exec>
class Starts : public ::testing::Test {
 protected:
  /// Solves the grid from the start f(row, column) in `given` columns.
  static Solved<double, Exec> from(int given, std::function<double(int, int)> const& f,
                                   bool probe = true) {
    auto const solved =
        solve<double, Exec>(grid7<double>(N), nullptr, wanted, [&](auto& options, auto const& X) {
          set_columns<double, Exec>(X, given, f);
          options.guess_columns = given;
          options.probe = probe;
        });
    EXPECT_EQ(solved.report.status, Status::converged);
    expect_values(solved, grid7_spectrum(N), 12);
    EXPECT_LE(solved.found.orthogonality, 1e-12);
    return solved;
  }
  static double noise(int i, int j) { return std::sin(1.0 + 13.7 * i + 101.3 * j + 0.01 * i * j); }
};
TYPED_TEST_SUITE(Starts, Backends);

TYPED_TEST(Starts, WithoutDirectionAreReplaced) {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  this->from(12, [](int, int) { return 0.0; });
  this->from(12, [](int, int) { return 1.0; });
  this->from(12, [&](int, int) { return nan; });
  this->from(6, [&](int i, int j) { return j == 2 ? nan : j == 4 ? 0.0 : this->noise(i, j); });
  this->from(6, [&](int i, int j) {
    return j == 1 && i == 77 ? std::numeric_limits<double>::infinity() : this->noise(i, j);
  });
}

TYPED_TEST(Starts, WithDependentColumnsAreCompleted) {
  this->from(12, [&](int i, int j) { return this->noise(i, j % 3); });
  this->from(12,
             [&](int i, int j) { return this->noise(i, j % 3) + 1e-14 * this->noise(i, 50 + j); });
}

TYPED_TEST(Starts, OfAnyScaleAreTheSameStart) {
  auto const plain = this->from(12, [&](int i, int j) { return this->noise(i, j); });
  for (double const scale : {0x1p-500, 0x1p500}) {
    auto const scaled =
        this->from(12, [&](int i, int j) { return this->noise(i, j) * (j % 2 ? scale : 1.0); });
    EXPECT_EQ(scaled.report.iterations, plain.report.iterations);
    EXPECT_EQ(scaled.report.eigenvalues, plain.report.eigenvalues);
  }
}

TYPED_TEST(Starts, ThatAreExactNeedNoIterationButTheProbe) {
  GridVectors const vectors(N);
  auto const exact = this->from(12, vectors, false);
  EXPECT_EQ(exact.report.iterations, 0);
  EXPECT_EQ(this->from(12, vectors).report.counters.probes, 1);
}

TYPED_TEST(Starts, ThatAreExactButWrongAreFoundOut) {
  GridVectors const vectors(N);
  auto const solved = this->from(
      wanted, [&](int i, int j) { return vectors(i, 10 + j); });  // eigenvectors 11 to 16
  EXPECT_GE(solved.report.counters.probes, 1);
  this->from(12, [&](int i, int j) { return vectors(i, 10 + j); });
}

TYPED_TEST(Starts, OfTheSameBitsGiveTheSameBits) {
  auto const run = [] { return solve<double, TypeParam>(grid7<double>(N), nullptr, wanted); };
  auto const first = run(), second = run();
  EXPECT_EQ(first.report.eigenvalues, second.report.eigenvalues);
  EXPECT_EQ(first.report.backward_errors, second.report.backward_errors);
  EXPECT_EQ(first.report.iterations, second.report.iterations);
  EXPECT_EQ((fetch<double, TypeParam>(first.X, wanted)),
            (fetch<double, TypeParam>(second.X, wanted)));
}

TYPED_TEST(Starts, AtOtherSeedsFindTheSameValues) {
  for (std::uint64_t const seed : {2, 3, 4})
    expect_values(
        solve<double, TypeParam>(grid7<double>(N), nullptr, wanted,
                                 [&](auto& options, auto const&) { options.seed = seed; }),
        grid7_spectrum(N), 12);
}

}  // namespace
}  // namespace blockspan::test
