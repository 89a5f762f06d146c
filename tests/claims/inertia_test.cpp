// The judge of the fuzz itself: counts against spectra that are known, and lies that it must see.
#include "claims/inertia.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "claims/eigen_claims.hpp"
#include "claims/problem.hpp"
#include "claims/system_claims.hpp"

namespace blockspan::test {
namespace {

TEST(ClaimsTruth, NumbersKeepTheirBits) {
  Exact const third = Exact(3).inverse();
  EXPECT_LT((third * Exact(3) - Exact(1)).exponent(), -Exact::bits + 3);
  Exact const far = Exact(1).scaled(-380), sum = Exact(1) + far;
  EXPECT_EQ(compare_magnitudes(sum - Exact(1), far), 0);
  EXPECT_EQ((Exact(5e-324) * Exact(1e308) * Exact(1e308)).scaled(-1000).sign(), 1);
  EXPECT_EQ((Exact(0.1) - Exact(0.1)).sign(), 0);
  EXPECT_EQ((Exact(-7.25) * Exact(4)).to_double(), -29);
}

/// 2 - 2 cos(k pi / (n + 1)), of numbers in double: within a few of their roundings.
TEST(ClaimsTruth, CountsAreThoseOfAChain) {
  int const n = 25;
  Dense const A = second_differences(n);
  Spectrum const spectrum(A, nullptr, false);
  for (int k = 0; k < n; ++k) {
    double const exact = 2 - 2 * std::cos((k + 1) * std::acos(-1.0) / (n + 1));
    EXPECT_TRUE(spectrum.holds(k, exact, 1e-14));
    EXPECT_FALSE(spectrum.holds(k, exact + 1e-6, 9e-7));
    EXPECT_FALSE(spectrum.holds(k + 1, exact, 1e-6));
    EXPECT_FALSE(spectrum.holds(k - 1, exact, 1e-6));
    EXPECT_FALSE(spectrum.holds_any(exact + 1e-6, 9e-7));
    EXPECT_NEAR(spectrum.value(k), exact, 1e-14);
  }
}

/// D T D of D from 1e-75 to 1e75: a count is that of T - x D^-2, by Sturm's sequence in the
/// exponents of long double.
TEST(ClaimsTruth, GradingsCostNoDigits) {
  Random random(3);
  for (int trial = 0; trial < 40; ++trial) {
    int const n = pick(random, 2, 12);
    std::vector<double> d;
    for (int i = 0; i < n; ++i) d.push_back(std::ldexp(1.0, pick(random, -250, 250)));
    Dense const A = scaled_by(second_differences(n), d);
    Spectrum const spectrum(A, nullptr, false);
    for (int k = 0; k < 20; ++k) {
      double const x = std::ldexp(1.0 + random.value<double>() / 3, pick(random, -500, 500));
      long double pivot = 1;
      int negative = 0;
      for (int i = 0; i < n; ++i) {
        pivot = 2 - static_cast<long double>(x) / d[i] / d[i] - (i > 0 ? 1 / pivot : 0);
        negative += pivot < 0 ? 1 : 0;
      }
      EXPECT_EQ(spectrum.below(Exact(x)).first, negative) << "trial " << trial << ", " << x;
    }
  }
}

TEST(ClaimsTruth, HoldsForComplexAndZeroAndInfiniteEigenvalues) {
  Random random(1);
  Dense const star = times(with_phases(second_differences(6), random_phases(random, 6, true)), 1);
  EXPECT_TRUE(
      Spectrum(star, nullptr, false).holds(5, 2 - 2 * std::cos(6 * std::acos(-1.0) / 7), 1e-14));
  Dense pair(4);  // 0 twice, 2 twice
  couple(pair, 0, 1, 1), couple(pair, 2, 3, 1);
  Spectrum const zeros(pair, nullptr, false);
  EXPECT_TRUE(zeros.holds(1, 0, 0) && zeros.holds(2, 2, 0));
  EXPECT_EQ(zeros.value(3), 2);
  EXPECT_EQ(Spectrum(diagonal({-3, 0.1, 5e-324}), nullptr, false).value(0), -3);
  EXPECT_FALSE(zeros.holds(2, 0, 1e-10) || zeros.holds(1, 1e-80, 0));
  // x^2 + (y - x)^2 - y^2 without a mass of y, and a constraint x = 0
  Dense A(2), M(2);
  A.set(0, 0, 2), A.set(0, 1, -1), A.set(1, 1, -1), M.set(0, 0, 1);
  Spectrum const one(A, &M, true);
  EXPECT_EQ(one.count(), 1);
  EXPECT_TRUE(one.holds(0, 3, 0));
  A.set(1, 1, 0), A.set(0, 1, 1);
  Spectrum const none(A, &M, true);
  EXPECT_TRUE(none.well_posed());
  EXPECT_EQ(none.count(), 0);
}

TEST(ClaimsTruth, TellsSolvableSystems) {
  Random random(2);
  for (int trial = 0; trial < 30; ++trial) {
    int const n = pick(random, 2, 10), rank = pick(random, 1, n - 1);
    Dense const A = random_gram(random, n, rank);
    std::vector<std::complex<double>> b(n), y(n);
    for (auto& value : y) value = pick(random, -4, 4);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) b[i] += A(i, j) * y[j];
    EXPECT_TRUE(is_consistent(A, b));
    EXPECT_EQ(exact_residual(A, y, b).residual, 0);
    EXPECT_GE(inertia(shifted(A, nullptr, Exact(), false)).zero, n - rank);
    EXPECT_TRUE(is_nearly_singular(A, 1e-15));
    for (auto& value : b) value += random.value<double>();
    EXPECT_FALSE(is_consistent(A, b));
  }
  EXPECT_FALSE(is_nearly_singular(second_differences(20), 1e-5));
}

TEST(ClaimsTruth, SeesFalseStatuses) {
  EigenProblem problem{diagonal({1, 2}), diagonal({1e-20, 1e20})};
  auto const lies = [&](Status status, Status pair) {
    LobpcgReport<double> report;
    report.status = status, report.pair_status = {pair};
    Outcome outcome;
    judge_status(problem, report, outcome);
    return outcome.wrong.size();
  };
  EXPECT_EQ(lies(Status::converged, Status::zero_eigenvalue), 0);
  EXPECT_EQ(lies(Status::converged, Status::attainable_limit), 1);
  EXPECT_EQ(lies(Status::mass_singular, Status::converged), 1);
  EXPECT_EQ(lies(Status::operator_not_finite, Status::not_converged), 1);
  Dense ones(2);
  ones.set(0, 0, 1), ones.set(0, 1, 1), ones.set(1, 1, 1);
  problem.B = ones;
  EXPECT_EQ(lies(Status::mass_singular, Status::converged), 0);
}

TEST(ClaimsTruth, SeesFalseColumns) {
  Dense path(2);
  couple(path, 0, 1, 1);
  SystemProblem const problem{path, {{1, -1}, {1, 1}, {0, 0}, {1, -1}}, false, true};
  SystemAnswer answer{{}, {{0.5, -0.5}, {0, 0}, {0, 0}, {0.5, -0.5 + 1e-7}}};
  answer.report.columns.resize(4);
  auto const lies = [&](std::vector<Status> const& statuses) {
    for (std::size_t j = 0; j < 4; ++j) answer.report.columns[j].status = statuses[j];
    Outcome outcome;
    judge_columns(problem, SystemTruth(path), SystemQuestion(), answer, outcome);
    return outcome.wrong.size();
  };
  using enum Status;
  EXPECT_EQ(lies({converged, inconsistent, zero_rhs, attainable_limit}), 0);
  EXPECT_EQ(lies({converged, singular, zero_rhs, converged}), 1);
  EXPECT_EQ(lies({inconsistent, inconsistent, zero_rhs, singular}), 1);
  EXPECT_EQ(lies({zero_rhs, converged, zero_rhs, negative_curvature}), 3);
}

/// A report that is right, and what becomes of it by one lie at a time.
TEST(ClaimsTruth, SeesLies) {
  Dense const A = diagonal({1, 2, 2, 1e-30, 0});
  Spectrum const spectrum(A, nullptr, false);
  LobpcgReport<double> right;
  right.eigenvalues = {0, 1e-30, 1, 2};
  right.error_bounds = {1e-40, 1e-35, 1e-10, 1e-10};
  right.certain_digits = {0, 5, 10, 10};
  right.pair_status = {Status::zero_eigenvalue, Status::converged, Status::converged,
                       Status::converged};
  EigenQuestion question{.wanted = 4};
  auto const lies = [&](auto const& change) {
    auto report = right;
    change(report);
    Outcome outcome;
    judge_values(spectrum, question, report, outcome);
    return outcome.wrong.size();
  };
  EXPECT_EQ(lies([](auto&) {}), 0);
  EXPECT_EQ(lies([](auto& r) { r.eigenvalues[2] = 1.1; }), 1);
  EXPECT_EQ(lies([](auto& r) { r.eigenvalues[2] = 2; }), 1);  // that of another number
  EXPECT_EQ(lies([](auto& r) { r.eigenvalues[3] = NAN; }), 1);
  EXPECT_EQ(lies([](auto& r) { r.error_bounds[3] = 1, r.certain_digits[3] = 0; }), 0);
  EXPECT_EQ(lies([](auto& r) { r.pair_status[1] = Status::zero_eigenvalue; }), 2);
  EXPECT_EQ(lies([](auto& r) { r.certificate = {{0, 0, 0, 0}, {0, 0, 0, 0}}; }), 0);
  EXPECT_EQ(lies([](auto& r) {
              r.eigenvalues[3] = 2 + 1e-11;
              r.certificate = {{0, 0, 0, 1e-12}, {0, 0, 0, 1e-12}};
            }),
            2);
  EXPECT_EQ(lies([](auto& r) {
              r.eigenvalues[3] = 2 + 1e-5;
              r.pair_status[3] = Status::attainable_limit;
            }),
            1);
}

}  // namespace
}  // namespace blockspan::test
