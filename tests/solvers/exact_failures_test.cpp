// What may not be called proved, and what is refused.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "solvers/exact_pencils.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Config>
class ExactFailures : public ExactTest<Config> {
 protected:
  struct Case {
    typename ExactTest<Config>::Matrix K;
    std::vector<double> spectrum;
  };
  std::vector<Case> cases() const {
    std::vector<double> of_cube, graded;
    for (int i = 0; i < 64; ++i) of_cube.push_back(2 * __builtin_popcount(i));
    for (int i = 0; i < 60; ++i) graded.push_back(std::pow(1.5, i / 2 - 10));  // in pairs
    return {{generate<typename Config::Scalar>(this->exec_, "laplace7:5x5x5"), grid7_spectrum(5)},
            {this->cube(6), of_cube},
            {this->diagonal(graded), graded},
            {this->chain(90), this->chain_spectrum(90)}};
  }
};
TYPED_TEST_SUITE(ExactFailures, ExactConfigs, ConfigNames);

/// True factors whose counts know of eigenvalues that are not there, as a solver sees those that it
/// has missed.
class Hiding final : public operators::PencilFactors {
 public:
  Hiding(operators::PencilFactors& truth, double place) : truth_(truth), place_(place) {}
  std::int64_t rows() const override { return truth_.rows(); }
  ShiftCount factor(double shift) override {
    auto count = truth_.factor(shift);
    if (shift > place_) ++count.count;
    return count;
  }
  std::vector<std::int64_t> null_rows() const override { return truth_.null_rows(); }
  void solve(double* B, std::int64_t columns) const override { truth_.solve(B, columns); }
  double scaled_size() const override { return truth_.scaled_size(); }
  double norm_k() const override { return truth_.norm_k(); }
  double norm_m() const override { return truth_.norm_m(); }
  bool massless_rows() const override { return truth_.massless_rows(); }
  std::vector<double> energies(double const* X, std::vector<double> const& values) const override {
    return truth_.energies(X, values);
  }
  std::vector<double> scaled_squares(double const* R, std::int64_t columns) const override {
    return truth_.scaled_squares(R, columns);
  }
  bool on_device() const override { return truth_.on_device(); }
  std::string library() const override { return truth_.library(); }
  std::int64_t factor_entries() const override { return truth_.factor_entries(); }
  std::int64_t bytes() const override { return truth_.bytes(); }
  double flops() const override { return truth_.flops(); }

 private:
  operators::PencilFactors& truth_;
  double place_;
};

TYPED_TEST(ExactFailures, AHiddenPairIsMissedWithItsCell) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  auto const K = this->chain(100);
  auto const pencil = exact::factored(this->exec_, K, nullptr, {});
  Hiding factors(*pencil.factors, 1.2345);
  ExactOptions const options{.pairs = 10};
  auto const near = exact::near<Scalar, Exec>(this->exec_, *pencil.K, nullptr, factors, 1.23,
                                              this->vectors(K, 10), options);
  EXPECT_EQ(near.status, Status::missing_pairs);
  EXPECT_EQ(near.proof, Proof::missing);
  EXPECT_EQ(near.counted, near.found + 1);
  ASSERT_EQ(near.missing.size(), 1u);
  EXPECT_LT(near.missing[0].from, 1.2345);
  EXPECT_GT(near.missing[0].to, 1.2345);
  EXPECT_THAT(near.trouble, HasSubstr("1 of "));

  Block<Scalar, Exec> X;
  auto const all =
      exact::inside<Scalar, Exec>(this->exec_, *pencil.K, nullptr, factors, 1, 1.5, X, options);
  EXPECT_EQ(all.status, Status::missing_pairs);
  EXPECT_EQ(all.found, static_cast<std::int64_t>(within(this->chain_spectrum(100), 1, 1.5).size()));
  std::int64_t lacking = 0;
  for (auto const& cell : all.missing) {
    lacking += cell.number;
    EXPECT_LT(cell.from, 1.2345);
    EXPECT_GT(cell.to, 1.2345);
  }
  EXPECT_EQ(lacking, 1);
}

// One column a block, a small basis, tolerances of nothing: whatever is found, a proof is true.
TYPED_TEST(ExactFailures, WeakRunsAreNeverProvedWrongly) {
  auto const cases = this->cases();
  int runs = 0, wrong = 0, proved = 0;
  for (auto const& [K, spectrum] : cases)
    for (double const place : {-0.1, 0.31, 0.6, 1.1, 2.9, 5.2})
      for (double const tolerance : {1e-8, 1e-2, 0.3})
        for (int const pairs : {4, 11})
          for (int const steps : {20, 400}) {
            ExactOptions options{.pairs = pairs, .tolerance = tolerance, .block = 1};
            options.basis = pairs + 2, options.max_steps = steps;
            auto const report = this->near(K, nullptr, place, options);
            auto const truth = nearest(spectrum, place, pairs);
            bool right = report.eigenvalues.size() == truth.size();
            std::vector<double> found, wanted;
            for (std::size_t j = 0; right && j < truth.size(); ++j) {
              found.push_back(std::abs(report.eigenvalues[j] - place));
              wanted.push_back(std::abs(truth[j] - place));
            }
            std::sort(found.begin(), found.end()), std::sort(wanted.begin(), wanted.end());
            for (std::size_t j = 0; right && j < wanted.size(); ++j)
              right = std::abs(found[j] - wanted[j]) <= 1e-7 * (1 + wanted[j]);
            ++runs;
            if (!right) ++wrong;
            if (report.proof == Proof::proved || report.proof == Proof::tied) {
              ++proved;
              EXPECT_TRUE(right) << "at " << place << ", " << pairs << " pairs, " << steps
                                 << " steps, tolerance " << tolerance;
            }
          }
  EXPECT_EQ(runs, 288);
  EXPECT_GT(wrong, 40);
  EXPECT_GT(proved, 25);
}

TYPED_TEST(ExactFailures, WeakIntervalsAreNeverProvedWrongly) {
  int wrong = 0, proved = 0;
  for (auto const& [K, spectrum] : this->cases())
    for (auto const& [from, to] : {std::pair(-0.1, 1.1), std::pair(0.31, 2.9), std::pair(1.1, 7.0)})
      for (double const tolerance : {1e-8, 1e-2, 0.3})
        for (int const steps : {40, 400}) {
          ExactOptions options{.tolerance = tolerance, .block = 1, .basis = 16, .slice = 8};
          options.max_steps = steps;
          auto const report = this->inside(K, nullptr, from, to, options);
          auto const truth = within(spectrum, from, to);
          bool right = report.eigenvalues.size() == truth.size();
          for (std::size_t j = 0; right && j < truth.size(); ++j)
            right = std::abs(report.eigenvalues[j] - truth[j]) <= 1e-7 * (1 + truth[j]);
          wrong += right ? 0 : 1;
          if (report.proof != Proof::proved) continue;
          ++proved;
          EXPECT_TRUE(right) << from << " to " << to << ", " << steps << " steps, tolerance "
                             << tolerance;
        }
  EXPECT_GT(wrong, 20);
  EXPECT_GT(proved, 20);
}

TYPED_TEST(ExactFailures, CountsOnAnEigenvalueAreNotTrusted) {
  auto const K = this->cube(7);
  auto const pencil = exact::factored(this->exec_, K, nullptr, {});
  for (double const sigma : {0.0, 2.0, 6.0, 14.0}) {
    auto const at = pencil.factors->factor(sigma);
    EXPECT_FALSE(at.trusted) << sigma << ": " << at.null_pivots << ", " << at.rho;
    EXPECT_TRUE(pencil.factors->factor(sigma + 1e-6).trusted);
  }
}

TYPED_TEST(ExactFailures, NamesAnUnknownWithoutStiffnessAndMass) {
  std::vector<double> k(30), m(30, 1.0);
  for (int i = 0; i < 30; ++i) k[i] = i + 1;
  k[10] = m[10] = 0;
  auto const K = this->diagonal(k), M = this->diagonal(m);
  auto const report = this->near(K, &M, 2.5, {.pairs = 3});
  EXPECT_EQ(report.status, Status::singular_pencil);
  EXPECT_THAT(report.trouble, HasSubstr("unknown 11 "));
  EXPECT_NE(report.proof, Proof::proved);
  EXPECT_EQ(this->inside(K, &M, 1.5, 4.5).status, Status::singular_pencil);
  EXPECT_FALSE(count_eigenvalues(this->exec_, K, &M, 1.5, 4.5).trusted);
}

/// Masses of eight decades: next to the eigenvalue of a light unknown its pivot is rounding of the
/// heavy ones at many shifts, but no pencil whose rows all have mass is singular.
TYPED_TEST(ExactFailures, CallsNoPencilSingularWhoseRowsHaveMass) {
  std::vector<double> stiff, mass;
  for (int i = 0; i < 30; ++i) {
    stiff.push_back(i % 7 == 3 ? 0 : 1e-11 * (1 + i));
    mass.push_back(std::pow(10.0, i % 9 - 4));
  }
  auto const K = this->diagonal(stiff), M = this->diagonal(mass);
  for (int i = 0; i < 30; ++i) {
    auto const report = this->near(K, &M, stiff[i] / mass[i], {.pairs = 2});
    EXPECT_NE(report.status, Status::singular_pencil) << i << ' ' << report.trouble;
  }
}

TYPED_TEST(ExactFailures, SeesAnIndefiniteMass) {
  std::vector<double> m(40, 1.0);
  m[7] = -3, m[21] = -0.5;
  auto const K = this->chain(40), M = this->diagonal(m);
  EXPECT_EQ(this->near(K, &M, 0.3, {.pairs = 4}).status, Status::mass_not_positive_definite);
}

TYPED_TEST(ExactFailures, SolvesTheSmallestAndTheEmptiest) {
  auto const one = this->diagonal({3});
  for (double const sigma : {0.0, 3.0}) {
    auto const report = this->near(one, nullptr, sigma, {.pairs = 1});
    EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
    EXPECT_NEAR(report.eigenvalues.at(0), 3, 1e-14);
  }
  auto const zero = this->banded(2, 0, [](std::int64_t, std::int64_t) { return 0.0; });
  auto const report = this->near(zero, nullptr, 0, {.pairs = 2});
  EXPECT_EQ(report.status, Status::converged) << report.trouble;
  EXPECT_EQ(report.eigenvalues, std::vector<double>(2, 0.0));
  auto const two = this->diagonal({3, -1});
  auto const none = this->near(two, &zero, 0, {.pairs = 1});  // no eigenvalue is finite
  EXPECT_TRUE(none.eigenvalues.empty());
  EXPECT_EQ(count_eigenvalues(this->exec_, two, &zero, -5, 5).number, 0);
  EXPECT_EQ(this->near(zero, &zero, 0, {.pairs = 1}).status, Status::singular_pencil);
  EXPECT_THAT(message_of([&] { this->near(two, nullptr, 1e300, {.pairs = 1}); }),
              HasSubstr("scale them"));
}

/// What is farther than the inverse of rounding from a shift is not there as it sees it. Without a
/// mass all values are finite: all are found, or some are said to be missing.
TYPED_TEST(ExactFailures, FindsOrMissesWhatIsFarBeyondRounding) {
  for (double const far : {1e9, 1e12, 1e14}) {
    std::vector<double> const spectrum{1, 2, std::sqrt(far), far};
    auto const K = this->diagonal(spectrum);
    for (double const sigma : {1.5, 1 + 1e-15, 0.75 * far}) {
      auto const report = this->near(K, nullptr, sigma, {.pairs = 4});
      SCOPED_TRACE(testing::Message() << far << ' ' << sigma << ' ' << report.trouble);
      if (!report.converged()) {
        EXPECT_EQ(report.status, Status::missing_pairs);
        continue;
      }
      ASSERT_EQ(report.eigenvalues.size(), spectrum.size());
      for (std::size_t j = 0; j < spectrum.size(); ++j)
        EXPECT_NEAR(report.eigenvalues[j], spectrum[j], 1e-12 * spectrum[j]);
    }
  }
}

TYPED_TEST(ExactFailures, EndsAtLimits) {
  auto const K = generate<typename TypeParam::Scalar>(this->exec_, "laplace7:8x8x8");
  ExactOptions options{.pairs = 30};
  options.max_steps = 3;
  auto const steps = this->near(K, nullptr, 2, options);
  EXPECT_EQ(steps.status, Status::max_iterations);
  EXPECT_EQ(steps.proof, Proof::none);
  options = {.pairs = 30};
  options.time_limit = 1e-9;
  EXPECT_EQ(this->near(K, nullptr, 2, options).status, Status::time_limit);
  options = {.pairs = 30};
  int calls = 0;
  options.monitor = [&](ExactProgress const& now) {
    EXPECT_EQ(now.steps, ++calls);
    return calls < 2;
  };
  EXPECT_EQ(this->near(K, nullptr, 2, options).status, Status::stopped_by_monitor);
}

TYPED_TEST(ExactFailures, AnIntervalGoesOnFromItsCheckpointWithTheSameBits) {
  using Scalar = typename TypeParam::Scalar;
  auto const K = generate<Scalar>(this->exec_, "laplace7:9x8x7");
  TemporaryFolder const folder;
  auto const path = folder / "interval";
  auto const solved = [&](int most_steps, std::string const& checkpoint,
                          std::string const& resume) {
    ExactOptions options{.slice = 10, .max_steps = most_steps};
    options.checkpoint = checkpoint, options.resume = resume;
    typename TestFixture::Vectors X;
    auto const report = eigenpairs_in(this->exec_, K, nullptr, 1.1, 2.9, X, options);
    return std::pair(report, Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), X));
  };
  auto const [whole, X] = solved(2000, "", "");
  ASSERT_EQ(whole.proof, Proof::proved) << whole.trouble;
  ASSERT_GT(whole.shifts, 2);
  // 9 to 12: a run may have converged by then, and would not look before a later step
  for (int const steps : {1, 9, 10, 11, 12, whole.steps / 2, whole.steps - 1}) {
    auto const broken = solved(steps, path, "").first;
    EXPECT_EQ(broken.status, Status::max_iterations);
    EXPECT_EQ(broken.checkpoint_fault, "");
    auto const [report, Y] = solved(2000, "", path);
    EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
    EXPECT_EQ(report.eigenvalues, whole.eigenvalues);
    EXPECT_EQ(report.steps, whole.steps);
    EXPECT_EQ(report.counts.size(), whole.counts.size());
    for (std::size_t j = 0; j < X.extent(1); ++j)
      for (std::size_t i = 0; i < X.extent(0); ++i) ASSERT_EQ(X(i, j), Y(i, j));
  }
  EXPECT_NE(solved(1, "/nowhere/file", "").first.checkpoint_fault, "");
  auto const message = [&](double a, std::string const& file) {
    return message_of([&] {
      ExactOptions options{.slice = 10};
      options.resume = file;
      this->inside(K, nullptr, a, 2.9, options);
    });
  };
  EXPECT_THAT(message(1.2, path), HasSubstr("of another problem"));
  auto text = read_text(path);
  text[text.size() / 2] ^= 1;
  EXPECT_THAT(message(1.1, write_text(folder / "damaged", text)), HasSubstr("damaged"));
  EXPECT_THAT(message(1.1, write_text(folder / "none", "nothing")), HasSubstr("not a checkpoint"));
}

TYPED_TEST(ExactFailures, RefusesBadInput) {
  auto const K = this->chain(10);
  auto const message = [&](auto const& f) { return message_of(f); };
  double const infinite = std::numeric_limits<double>::infinity();
  EXPECT_THAT(message([&] { this->near(K, nullptr, infinite, {.pairs = 2}); }),
              HasSubstr("the shift is inf"));
  EXPECT_THAT(message([&] { this->inside(K, nullptr, 2, 2); }), HasSubstr("from 2 to 2 is empty"));
  EXPECT_THAT(message([&] { count_eigenvalues(this->exec_, K, nullptr, 3, 2); }),
              HasSubstr("is empty"));
  EXPECT_THAT(message([&] { this->near(K, nullptr, 1, {.pairs = 0}); }), HasSubstr("pairs is 0"));
  EXPECT_THAT(message([&] {
                eigenpairs_near(this->exec_, K, nullptr, 1, this->vectors(K, 2), {.pairs = 3});
              }),
              HasSubstr("X is 10 x 2 for 3 pairs"));
  ExactOptions buckling{.pairs = 2};
  buckling.form = Spectral::buckling;
  EXPECT_THAT(message([&] { this->near(K, nullptr, 1, buckling); }),
              HasSubstr("needs a geometric stiffness"));
  EXPECT_THAT(message([&] { this->near(K, &K, 0, buckling); }), HasSubstr("may not be zero"));
  EXPECT_THAT(message([&] { this->inside(K, &K, -1, 1, buckling); }),
              HasSubstr("on one side of zero"));
  EXPECT_THAT(message([&] { this->near(K, nullptr, 0, {.pairs = 2, .form = Spectral::cayley}); }),
              HasSubstr("which may not be zero"));
  auto const M = this->chain(9);
  EXPECT_THAT(message([&] { this->near(K, &M, 1, {.pairs = 2}); }),
              HasSubstr("the mass matrix has 9 rows"));
  auto const bad = this->diagonal({1, std::nan(""), 3});
  EXPECT_THAT(message([&] { this->near(bad, nullptr, 1, {.pairs = 2}); }),
              HasSubstr("a NaN in row 2"));
  ExactOptions small{.pairs = 2};
  small.memory_limit = 1000000;
  auto const large = generate<typename TypeParam::Scalar>(this->exec_, "laplace7:20x20x20");
  EXPECT_THAT(message([&] { this->near(large, nullptr, 1, small); }), HasSubstr("out of memory"));
}

}  // namespace
}  // namespace blockspan::test
