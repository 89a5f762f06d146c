// Pairs near a shift, all pairs of an interval and counts, against closed forms.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/support/lapack/lapack.hpp>

#include "solvers/exact_pencils.hpp"
#include "support/random.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class Exact : public ExactTest<Config> {};
TYPED_TEST_SUITE(Exact, ExactConfigs, ConfigNames);

TYPED_TEST(Exact, CountsWhatIsBelowThirtyShifts) {
  auto const K = this->chain(150);
  auto const spectrum = this->chain_spectrum(150);
  double const low = -std::numeric_limits<double>::infinity();
  std::int64_t before = 0;
  for (int step = 0; step < 30; ++step) {
    double const sigma = 0.01 + 0.1349 * step;
    auto const count = count_eigenvalues(this->exec_, K, nullptr, low, sigma);
    ASSERT_TRUE(count.trusted) << sigma << count.trouble;
    EXPECT_EQ(count.number, static_cast<std::int64_t>(within(spectrum, low, sigma).size()))
        << sigma;
    EXPECT_GE(count.number, before);
    EXPECT_LT(count.to.rho, 1e-6);
    before = count.number;
  }
}

TYPED_TEST(Exact, FindsPairsInsideTheSpectrum) {
  using Scalar = typename TypeParam::Scalar;
  auto const K = generate<Scalar>(this->exec_, "laplace7:7x7x7");
  auto const spectrum = grid7_spectrum(7);
  for (double const sigma : {-1.0, 0.9, 5.3, 6.7, 20.0})
    for (int const pairs : {1, 7, 20}) {
      auto const X = this->vectors(K, pairs);
      auto const report = eigenpairs_near(this->exec_, K, nullptr, sigma, X, {.pairs = pairs});
      EXPECT_EQ(report.status, Status::converged) << report.trouble;
      EXPECT_TRUE(report.proof == Proof::proved || report.proof == Proof::tied) << sigma;
      EXPECT_EQ(report.counted,
                static_cast<std::int64_t>(within(spectrum, report.from, report.to).size()));
      auto const distances = [&](std::vector<double> values) {
        for (double& value : values) value = std::abs(value - sigma);
        std::sort(values.begin(), values.end());
        return values;
      };
      auto const found = distances(report.eigenvalues),
                 truth = distances(nearest(spectrum, sigma, pairs));
      ASSERT_EQ(found.size(), truth.size());
      for (int j = 0; j < pairs; ++j) EXPECT_NEAR(found[j], truth[j], 1e-12) << sigma;
      SmallMatrix<Scalar> G("G", pairs, pairs);
      gram(this->exec_, X, X, G);
      for (int i = 0; i < pairs; ++i)
        for (int j = 0; j < pairs; ++j)
          EXPECT_LE(Kokkos::abs(G(i, j) - Scalar(i == j ? 1 : 0)), 1e-12);
      for (double const error : report.backward_errors) EXPECT_LE(error, 1e-11);
    }
}

TYPED_TEST(Exact, FindsAllCopiesInAnInterval) {
  auto const K = this->cube(8);
  std::vector<double> spectrum;
  for (int i = 0; i < 256; ++i) spectrum.push_back(2 * __builtin_popcount(i));
  for (int const slice : {16, 64, 256}) {
    auto const report = this->inside(K, nullptr, 3, 11, {.slice = slice});
    EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
    EXPECT_EQ(report.counted, 28 + 56 + 70 + 56);
    EXPECT_TRUE(are_right(report, within(spectrum, 3, 11), 1e-12)) << slice;
  }
  auto const near = this->near(K, nullptr, 9, {.pairs = 12});
  EXPECT_EQ(near.status, Status::converged);
  EXPECT_TRUE(near.proof == Proof::tied || near.proof == Proof::proved);
  for (double const value : near.eigenvalues) EXPECT_NEAR(std::abs(value - 9), 1, 1e-12);
}

// The density of modes of a solid, which the ends of an interval say nothing about, and an interval
// that begins below all of them: no more shifts than slices, and no cell that is left half done.
TYPED_TEST(Exact, IntervalsOfUnevenDensityTakeAsManyShiftsAsSlices) {
  constexpr int n = 1500, slice = 64;
  std::vector<double> spectrum;
  for (int i = 1; i <= n; ++i) spectrum.push_back(std::pow(i / double(n), 2.0 / 3.0));
  auto const K = this->diagonal(spectrum);
  for (auto const& [from, to] : {std::pair(-0.05, 0.4), std::pair(0.1, 0.45)}) {
    auto const report = this->inside(K, nullptr, from, to, {.slice = slice});
    EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
    EXPECT_TRUE(are_right(report, within(spectrum, from, to), 1e-12));
    EXPECT_LE(report.shifts, 1 + report.counted / slice);
    EXPECT_LE(report.solved_columns, 5 * report.counted);
  }
}

TYPED_TEST(Exact, MovesShiftsOffEigenvalues) {
  auto const K = this->cube(6);
  for (double const sigma : {0.0, 4.0, 12.0}) {
    auto const report = this->near(K, nullptr, sigma, {.pairs = 1});
    EXPECT_EQ(report.status, Status::converged) << report.trouble;
    EXPECT_FALSE(report.notes.empty());
    EXPECT_NEAR(report.eigenvalues.at(0), sigma, 1e-12);
    EXPECT_TRUE(report.counts.at(0).moved());
  }
  auto const report = this->inside(K, nullptr, 2, 4);  // both ends are eigenvalues: outward
  EXPECT_EQ(report.counted, 6 + 15);
  EXPECT_LT(report.from, 2);
  EXPECT_GT(report.to, 4);
  EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
}

/// A shift that rounding alone keeps from an eigenvalue: its pivot is no null pivot, and what the
/// others add to a column is below the rounding of that one.
TYPED_TEST(Exact, FindsTheOthersBesideAShiftThatIsAnEigenvalueToRounding) {
  std::vector<double> spectrum;
  auto const K = this->banded(27, 1, [](std::int64_t i, std::int64_t j) {  // nine chains of three
    bool const apart = i / 3 != j / 3;
    double const unit = 1 + 0.1 * static_cast<double>(i / 3);
    return typename TestFixture::Value(apart ? 0 : unit * (i == j ? 2 : -1));
  });
  for (int chain = 0; chain < 9; ++chain)
    for (double const value : {2 - std::sqrt(2.0), 2.0, 2 + std::sqrt(2.0)})
      spectrum.push_back(value * (1 + 0.1 * chain));
  for (double const value : spectrum)
    for (double const sigma : {std::nextafter(value, 0), value, std::nextafter(value, 9)}) {
      auto const report = this->near(K, nullptr, sigma, {.pairs = 4});
      ASSERT_EQ(report.eigenvalues.size(), 4u) << sigma;
      EXPECT_EQ(report.status, Status::converged) << report.trouble;
      auto const distances = [&](std::vector<double> values) {  // others may lie as near
        for (double& one : values) one = std::abs(one - value);
        std::sort(values.begin(), values.end());
        return values;
      };
      auto const found = distances(report.eigenvalues);
      auto const truth = distances(nearest(spectrum, value, 4));
      for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(found[j], truth[j], 1e-12) << sigma;
    }
}

// The first shift, the middle, is an eigenvalue of six: the others cannot be had from there.
TYPED_TEST(Exact, TakesIntervalsAroundAnEigenvalue) {
  std::vector<double> spectrum{0, 0, 0, 0, 0, 0, 0.005, 0.005, 0.037, 0.038, 0.1};
  for (int i = 0; i < 90; ++i) spectrum.push_back(0.2 * i - 6.05);
  auto const K = this->diagonal(spectrum);
  auto const report = this->inside(K, nullptr, -1, 1);
  EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
  EXPECT_TRUE(are_right(report, within(spectrum, -1, 1), 1e-13));
  EXPECT_LE(report.steps, 100);
}

TYPED_TEST(Exact, SolvesPencils) {
  auto const K = this->chain(120), M = this->bar_mass(120);
  auto const spectrum = this->bar_spectrum(120);
  for (double const sigma : {0.0, 1.234, 7.7}) {
    auto const report = this->near(K, &M, sigma, {.pairs = 9});
    EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
    EXPECT_TRUE(are_right(report, nearest(spectrum, sigma, 9), 1e-11)) << sigma;
    EXPECT_LE(report.orthogonality_loss, 1e-12);
  }
  auto const all = this->inside(K, &M, -1, 20, {.slice = 30});
  EXPECT_EQ(all.proof, Proof::proved) << all.trouble;
  EXPECT_TRUE(are_right(all, spectrum, 1e-11));
  auto const unbounded =
      count_eigenvalues(this->exec_, K, &M, -std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::infinity());
  EXPECT_EQ(unbounded.number, 120) << unbounded.trouble;
}

// Counts are the same on both sides of the gaps of a graded pencil, which are no end of it.
TYPED_TEST(Exact, InfiniteEndsAreBeyondAllGapsOfAGradedMass) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  auto const K = this->diagonal({1, 1, -1, -1, 1, -1}),
             M = this->diagonal({1e3, 1, 1e3, 1e-3, 1e-6, 1e-4}),
             wide = this->diagonal({1e6, 1, 1e6, 1e-6, 1e-12, 1e-18});
  auto const counted = count_eigenvalues(this->exec_, K, &M, -inf, inf);
  EXPECT_TRUE(counted.trusted) << counted.trouble;
  EXPECT_EQ(counted.number, 6);
  EXPECT_EQ(count_eigenvalues(this->exec_, K, &M, 0, inf).number, 3);
  EXPECT_EQ(count_eigenvalues(this->exec_, K, &M, -inf, 0).number, 3);
  auto const all = count_eigenvalues(this->exec_, K, &wide, -inf, inf);
  EXPECT_TRUE(!all.trusted || all.number == 6) << all.number;
}

// Two bars, one tied to the other by a multiplier, which has no mass: the values of one long bar.
TYPED_TEST(Exact, LeavesMasslessUnknownsOut) {
  using Scalar = typename TypeParam::Scalar;
  std::int64_t const a = 60, b = 40, n = a + b + 1;
  HostMatrix<Scalar> k{"bars", n, n, {0}, {}, {}}, m = k;
  auto const row = [&](std::int64_t i, std::int64_t first, std::int64_t length) {
    auto const at = i - first;
    bool const left = at > 0, right = at + 1 < length;
    if (left) k.add(i - 1, Scalar(-1)), m.add(i - 1, Scalar(1.0 / 6));
    k.add(i, Scalar(left + right)), m.add(i, Scalar((left + right) / 3.0));
    if (right) k.add(i + 1, Scalar(-1)), m.add(i + 1, Scalar(1.0 / 6));
    if (i == a - 1) k.add(n - 1, Scalar(1));
    if (i == a) k.add(n - 1, Scalar(-1));
    k.end_row(), m.end_row();
  };
  for (std::int64_t i = 0; i < a; ++i) row(i, 0, a);
  for (std::int64_t i = a; i < a + b; ++i) row(i, a, b);
  k.add(a - 1, Scalar(1)), k.add(a, Scalar(-1)), k.end_row(), m.end_row();
  auto const K = to_device(this->exec_, k), M = to_device(this->exec_, m);
  std::vector<double> spectrum;
  std::int64_t const elements = a + b - 2;
  for (std::int64_t j = 0; j <= elements; ++j) {
    double const c =
        std::cos(static_cast<double>(j) * std::acos(-1.0) / static_cast<double>(elements));
    spectrum.push_back(6 * (1 - c) / (2 + c));
  }
  auto const report = this->near(K, &M, 0.5, {.pairs = 12});
  EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
  EXPECT_TRUE(are_right(report, nearest(spectrum, 0.5, 12), 1e-11));
  for (double const error : report.backward_errors) EXPECT_LE(error, 1e-12);
  EXPECT_EQ(count_eigenvalues(this->exec_, K, &M, 13, 1e6).number, 0);
  auto const all = this->near(K, &M, 0.5, {.pairs = static_cast<int>(n)});
  EXPECT_EQ(all.status, Status::converged) << all.trouble;
  EXPECT_EQ(all.eigenvalues.size(), spectrum.size());  // the others are infinite
  EXPECT_FALSE(all.notes.empty());
}

TYPED_TEST(Exact, SolvesBucklingPencils) {
  using Scalar = typename TypeParam::Scalar;
  // K = chain, Kg diagonal with both signs through the eigenvectors of K: Kg = K - 1.1 I
  std::int64_t const n = 80;
  auto const K = this->chain(n);
  Scalar bond(-1);
  if constexpr (is_complex_v<Scalar>) bond = Scalar(-0.6, 0.8);
  auto const Kg = this->banded(n, 1, [&](std::int64_t i, std::int64_t j) {
    return i == j ? Scalar(0.9) : i < j ? bond : blockspan::conjugate(bond);
  });
  std::vector<double> spectrum;
  for (double const k : this->chain_spectrum(n)) spectrum.push_back(k / (k - 1.1));
  ExactOptions options{.pairs = 6};
  options.form = Spectral::buckling;
  for (double const sigma : {-0.5, 2.2}) {
    std::vector<double> inverse;
    for (double const value : spectrum) inverse.push_back(1 / value);
    auto truth = nearest(inverse, 1 / sigma, 6);
    for (double& value : truth) value = 1 / value;
    std::sort(truth.begin(), truth.end());
    auto const report = this->near(K, &Kg, sigma, options);
    EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
    EXPECT_TRUE(are_right(report, truth, 1e-10)) << sigma;
    auto const turned = this->scaled(Kg, -1);
    auto const mirrored = this->near(K, &turned, -sigma, options);
    ASSERT_EQ(mirrored.eigenvalues.size(), 6u);
    for (int j = 0; j < 6; ++j)
      EXPECT_NEAR(mirrored.eigenvalues[j], -report.eigenvalues[5 - j], 1e-12);
  }
  auto const loads = this->inside(K, &Kg, 1.5, 6, options);
  EXPECT_EQ(loads.proof, Proof::proved) << loads.trouble;
  EXPECT_TRUE(are_right(loads, within(spectrum, 1.5, 6), 1e-10));
}

/// The largest |lambda + sigma| / |lambda - sigma|: between sigma / q and sigma q, of either sign.
TYPED_TEST(Exact, TakesTheNearestInRatioByCayleysForm) {
  using Scalar = typename TypeParam::Scalar;
  std::int64_t const n = 90;
  auto const K = this->chain(n);
  auto const spectrum = this->chain_spectrum(n);
  auto const M = this->banded(n, 0, [](std::int64_t, std::int64_t) { return Scalar(0.5); });
  for (double const sign : {1.0, -1.0})
    for (double const sigma : {0.02, 0.8, 3.9, 50.0})
      for (int const pairs : {1, 12}) {
        auto const distance = [&](double value) {
          return std::abs(value - sigma) / std::abs(value + sigma);
        };
        auto truth = spectrum;
        std::stable_sort(truth.begin(), truth.end(),
                         [&](double a, double b) { return distance(a) < distance(b); });
        truth.resize(pairs);
        for (double& value : truth) value *= sign;
        std::sort(truth.begin(), truth.end());
        auto const A = this->scaled(K, sign);
        ExactOptions options{.pairs = pairs, .form = Spectral::cayley};
        auto const report = this->near(A, nullptr, sign * sigma, options);
        EXPECT_EQ(report.proof, Proof::proved) << sigma << report.trouble;
        EXPECT_TRUE(are_right(report, truth, 1e-12)) << sigma << " " << pairs;
        EXPECT_NEAR(report.from * report.to, sigma * sigma, 1e-3 * sigma * sigma);
        // a count below the shift replaces the lower end where it is zero
        auto const pencil = this->near(A, &M, 2 * sign * sigma, options);
        for (int j = 0; j < pairs && pencil.eigenvalues.size() == truth.size(); ++j)
          EXPECT_NEAR(pencil.eigenvalues[j], 2 * truth[j], 1e-11);
        EXPECT_EQ(pencil.proof, Proof::proved);
      }
  // all of both signs: those of the other sign are farther than infinity, and no interval
  auto const both = this->diagonal({-3, -1, 0.5, 2, 4});
  auto const report = this->near(both, nullptr, 1, {.pairs = 5, .form = Spectral::cayley});
  EXPECT_TRUE(are_right(report, {-3, -1, 0.5, 2, 4}, 1e-13));
  EXPECT_NE(report.proof, Proof::proved);
  auto const some = this->near(both, nullptr, 1, {.pairs = 3, .form = Spectral::cayley});
  EXPECT_TRUE(are_right(some, {0.5, 2, 4}, 1e-13));
}

/// An unknown without geometric stiffness has no load that buckles it.
TYPED_TEST(Exact, LeavesInfiniteBucklingLoadsOut) {
  auto const K = this->diagonal({2, 3, 4, 5});
  auto const M = this->diagonal({1, 0, -1, 0.5});  // loads 2, infinite, -4, 10
  auto const report = this->near(K, &M, 9, {.pairs = 3, .form = Spectral::buckling});
  EXPECT_EQ(report.status, Status::converged) << report.trouble;
  EXPECT_TRUE(are_right(report, {-4, 10}, 1e-12));  // the nearest to 1/9: 1/10, 0, -1/4
  EXPECT_FALSE(report.notes.empty());
}

TYPED_TEST(Exact, DependsOnUnitsOnlyByThem) {
  auto const K = this->chain(200);
  auto const plain = this->near(K, nullptr, 1.3, {.pairs = 8});
  for (int const power : {-300, 40, 300}) {
    double const unit = std::ldexp(1.0, power);
    auto const S = this->scaled(K, unit);
    auto const report = this->near(S, nullptr, 1.3 * unit, {.pairs = 8});
    EXPECT_EQ(report.proof, plain.proof);
    EXPECT_EQ(report.steps, plain.steps);
    ASSERT_EQ(report.eigenvalues.size(), 8u);
    for (int j = 0; j < 8; ++j)
      EXPECT_NEAR(report.eigenvalues[j] / unit, plain.eigenvalues[j], 1e-13);
  }
}

// As many zeros as rows without stiffness, beside others without mass.
TYPED_TEST(Exact, FindsTheZerosOfEmptyRowsInAnyUnits) {
  using Value = typename TypeParam::Scalar;
  Random random(3);
  for (int trial = 0; trial < 40; ++trial) {
    std::int64_t const n = 6 + random.below(14), empty = 1 + random.below(n / 2), full = n - empty,
                       massless = random.below(full / 2 + 1);
    std::vector<double> a(static_cast<std::size_t>(n * n)), masses;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i && i < full; ++j)
        if (i == j || random.below(5) < 2) a[i * n + j] = a[j * n + i] = random.value<double>();
      masses.push_back(i < massless ? 0 : 1 + random.value<double>() / 2);
    }
    auto const K =
        this->banded(n, n - 1, [&](std::int64_t i, std::int64_t j) { return Value(a[i * n + j]); });
    auto const M = this->diagonal(masses);
    int const pairs = 1 + static_cast<int>(random.below(empty));
    for (int const power : {0, -30, 100}) {
      double const unit = std::ldexp(1.0, power);
      auto const report = this->near(this->scaled(K, unit), &M, 0, {.pairs = pairs});
      EXPECT_EQ(report.status, Status::converged) << trial << ": " << report.trouble;
      EXPECT_EQ(report.proof, Proof::proved) << trial << ": " << report.trouble;
      ASSERT_EQ(report.eigenvalues.size(), static_cast<std::size_t>(pairs)) << trial;
      for (double const value : report.eigenvalues) EXPECT_LE(std::abs(value), 1e-10 * unit);
    }
  }
}

TYPED_TEST(Exact, GivesTheSameBitsTwice) {
  auto const K = this->chain(300);
  auto const first = this->inside(K, nullptr, 1, 2, {.slice = 20});
  auto const second = this->inside(K, nullptr, 1, 2, {.slice = 20});
  EXPECT_EQ(first.eigenvalues, second.eigenvalues);
  EXPECT_EQ(first.backward_errors, second.backward_errors);
  EXPECT_EQ(first.proof, Proof::proved);
  auto const left = this->inside(K, nullptr, 1, 1.5), right = this->inside(K, nullptr, 1.5, 2);
  EXPECT_EQ(left.counted + right.counted, first.counted);
}

}  // namespace
}  // namespace blockspan::test
