// What exact methods say of problems that are not as they should be, and in whose numbers.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/lowest_pairs.hpp>

#include "solvers/exact_pencils.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class Config>
class ExactWords : public ExactTest<Config> {
 protected:
  static ExactOptions buckling(int pairs) { return {.pairs = pairs, .form = Spectral::buckling}; }
  static ExactOptions resumed(std::string const& path) {
    ExactOptions options{.slice = 10};
    options.resume = path;
    return options;
  }
};
TYPED_TEST_SUITE(ExactWords, ExactConfigs, ConfigNames);

/// The methods see 1 / lambda; places in notes, in what went wrong and in a monitor are loads.
TYPED_TEST(ExactWords, BucklingIsToldInItsLoads) {
  auto const K = this->diagonal({2, 3, 4, 5, 6, 7}), M = this->diagonal({1, 1, 1, 1, 1, 1});
  auto options = this->buckling(2);
  options.monitor = [](ExactProgress const& now) {
    EXPECT_NEAR(now.shift, 4, 1e-3);
    return true;
  };
  auto const at = this->near(K, &M, 4, options);
  EXPECT_EQ(at.proof, Proof::proved) << at.trouble;
  EXPECT_THAT(at.notes, Contains(HasSubstr("The shift 4 is an eigenvalue")));
  EXPECT_THAT(at.notes, Contains(HasSubstr("moved to 3.9999")));

  auto const equal = this->diagonal({2, 2, 2, 2, 6, 7});
  auto const tied = this->near(equal, &M, 2.1, this->buckling(2));
  EXPECT_THAT(tied.notes, Contains(HasSubstr("2 of 4 that lie equally near 2.1")));

  auto const all = this->inside(K, &M, 3, 6, this->buckling(2));
  EXPECT_EQ(all.found, 4);
  EXPECT_THAT(all.notes, Contains(AllOf(HasSubstr("outward to (2.9999"), HasSubstr(", 6.00000"))));
  auto const count = count_eigenvalues(this->exec_, K, &M, 3, 6, this->buckling(2));
  EXPECT_THAT(count.notes, Contains(AllOf(HasSubstr("to (2.9999"), HasSubstr(", 6.00000"))));
  EXPECT_LT(all.from, 3);
  EXPECT_GT(all.to, 6);
}

/// Of an interval in 1 / lambda around zero the loads are all outside of two places.
TYPED_TEST(ExactWords, LoadsOfBothSignsLieOutsideOfAnInterval) {
  auto const K = this->diagonal({2, 3, 4, 5}), M = this->diagonal({1, 0.01, -1, 0.5});
  auto const report = this->near(K, &M, 1e3, this->buckling(2));  // 10, 300
  EXPECT_EQ(report.proof, Proof::proved) << report.trouble;
  EXPECT_TRUE(are_right(report, {10, 300}, 1e-10));
  EXPECT_GT(report.from, report.to);
  EXPECT_GT(report.from, 2);
  EXPECT_LT(report.from, 10);
  auto const equal = this->diagonal({2, 2, 2, 2, 4}), signs = this->diagonal({1, -1, 1, -1, 1});
  auto const tied =
      this->near(equal, &signs, 1e12, this->buckling(3));  // 4, and two of -2, -2, 2, 2
  EXPECT_THAT(tied.notes, Contains(HasSubstr("all of (-inf, -1.00000000000")));
}

/// Where a monitor has said stop it is not asked again, a badly placed shift or not.
TYPED_TEST(ExactWords, AMonitorIsAskedNoMoreOnceItStops) {
  auto const K = this->chain(60);
  double const place = this->chain_spectrum(60)[19];
  for (double const off : {0.0, 1e-12, 1e-9, 1e-3}) {
    int calls = 0;
    ExactOptions options{.pairs = 5};
    options.monitor = [&](ExactProgress const&) { return ++calls > 1; };
    auto const report = this->near(K, nullptr, place + off, options);
    EXPECT_EQ(calls, 1) << off;
    EXPECT_EQ(report.status, Status::stopped_by_monitor) << off;
    EXPECT_EQ(report.proof, Proof::none) << off;
  }
}

/// A mass that is negative for one light row: what counts say is no number of eigenvalues, and in
/// the inner product of the others the row is rounding.
TYPED_TEST(ExactWords, ANegativeMassProvesNothing) {
  std::vector<double> k, m(30, 1.0);
  for (int i = 0; i < 30; ++i) k.push_back(1 + i);
  k[7] = 0.5e-10, m[7] = -1e-10;  // -0.5, beside the others
  auto const K = this->diagonal(k), M = this->diagonal(m);
  auto const refused = [](ExactReport const& report, char const* matrix) {
    EXPECT_EQ(report.status, Status::mass_not_positive_definite);
    EXPECT_EQ(report.proof, Proof::none);
    EXPECT_THAT(report.eigenvalues, IsEmpty());
    EXPECT_THAT(report.trouble, HasSubstr("row 8 of the " + std::string(matrix)));
  };
  for (double const sigma : {-0.4, 0.0, 2.4})
    refused(this->near(K, &M, sigma, {.pairs = 2}), "mass");
  for (double const to : {1.5, 3.5, 4.5}) {
    refused(this->inside(K, &M, -1, to), "mass");
    auto const count = count_eigenvalues(this->exec_, K, &M, -1, to);
    EXPECT_FALSE(count.trusted);
    EXPECT_THAT(count.trouble,
                HasSubstr("row 8 of the mass matrix is -1e-10 (rows counted from 1)"));
  }
  refused(this->near(M, &K, 2, this->buckling(2)), "stiffness");
  refused(this->inside(M, &K, 1, 2, this->buckling(2)), "stiffness");
  EXPECT_FALSE(count_eigenvalues(this->exec_, M, &K, 1, 2, this->buckling(2)).trusted);
}

/// Also of pairs that are none yet, and where the report is that of an iteration.
TYPED_TEST(ExactWords, RelativeResidualsAreThoseOfThePairs) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  auto const& exec = this->exec_;
  auto const K = this->chain(300), M = this->bar_mass(300);
  MatrixOperator<Scalar, Exec> const k(exec, K, {}), m(exec, M, {});
  auto const X = this->vectors(K, 6), KX = this->vectors(K, 6), MX = this->vectors(K, 6);
  ExactOptions options{.pairs = 6, .max_steps = 3};
  auto const report = eigenpairs_near(exec, K, &M, 0.7, X, options);
  ASSERT_EQ(report.eigenvalues.size(), 6u);
  k.apply(exec, X, KX), m.apply(exec, X, MX);
  auto const kx = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), KX),
             mx = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), MX);
  double largest = 0;
  for (int j = 0; j < 6; ++j) {
    double const value = report.eigenvalues[j];
    double residual = 0, size = 0;
    for (int i = 0; i < 300; ++i) {
      residual += squared_magnitude(Scalar(kx(i, j) - value * mx(i, j)));
      size += squared_magnitude(mx(i, j));
    }
    double const relative = std::sqrt(residual / size) / std::abs(value);
    EXPECT_NEAR(report.relative_residuals.at(j), relative, 1e-13 + 1e-9 * relative) << j;
    largest = std::max(largest, relative);
  }
  EXPECT_GT(largest, 1e-6);
  EXPECT_EQ(lobpcg_report_of(report, "").relative_residuals, report.relative_residuals);
}

/// Two grids with the same rows, but for their order, have the same norms and other counts.
TYPED_TEST(ExactWords, ACheckpointOfAnotherMatrixIsRefused) {
  using Scalar = typename TypeParam::Scalar;
  auto const K = generate<Scalar>(this->exec_, "laplace7:9x8x7");
  auto const other = generate<Scalar>(this->exec_, "laplace7:12x7x6");
  auto const M = this->diagonal(std::vector<double>(504, 2.0));
  auto uneven = std::vector<double>(504, 2.0);
  for (int i = 0; i < 504; i += 2) uneven[i] = 1;
  auto const N = this->diagonal(uneven);
  TemporaryFolder const folder;
  auto const path = folder / "interval";
  auto const broken = [&](auto const* mass) {
    ExactOptions options{.slice = 10, .max_steps = 5};
    options.checkpoint = path;
    EXPECT_EQ(this->inside(K, mass, 0.5, 1.5, options).status, Status::max_iterations);
  };
  auto const goes_on = [&](auto const& A, auto const* mass) {
    return message_of([&] { this->inside(A, mass, 0.5, 1.5, this->resumed(path)); });
  };
  decltype(&K) const none = nullptr;
  broken(none);
  EXPECT_THAT(goes_on(other, none), HasSubstr("of another problem"));
  EXPECT_EQ(this->inside(K, none, 0.5, 1.5, this->resumed(path)).proof, Proof::proved);
  broken(&M);
  EXPECT_THAT(goes_on(K, &N), HasSubstr("of another problem"));
  EXPECT_EQ(this->inside(K, &M, 0.5, 1.5, this->resumed(path)).proof, Proof::proved);
}

}  // namespace
}  // namespace blockspan::test
