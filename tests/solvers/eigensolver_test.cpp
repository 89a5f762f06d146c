// The small eigenproblems of LOBPCG, by LAPACK or, on devices from an order on, by theirs.
#include <algorithm>
#include <cmath>
#include <vector>

#include <blockspan/solvers/dense/eigensolver.hpp>

#include "solvers/solve.hpp"
#include "support/compare.hpp"
#include "support/small_matrices.hpp"

namespace blockspan::test {
namespace {

constexpr int threshold = blockspan::eigen::least_device_order;

template <class Config>
class Eigensolvers : public ::testing::Test, public SmallMatrices<typename Config::Scalar> {
 public:
  using Scalar = typename Config::Scalar;
  using Values = std::vector<real_t<Scalar>>;

  /// n - 1 eigenvalues 1 and one -1: I - 2 v v^H for a unit vector v.
  static HostBlock<Scalar> reflection(int n) {
    auto H = SmallMatrices<Scalar>::identity(n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) H(i, j) -= Scalar(real_t<Scalar>(2) / n);
    return H;
  }
  /// How far the values of a backward stable solver may be from the eigenvalues: n eps ||A||.
  static double bound(Values const& values) {
    double norm = 0;
    for (auto const value : values) norm = std::max(norm, std::abs(static_cast<double>(value)));
    return static_cast<double>(values.size()) * SmallMatrices<Scalar>::eps * norm;
  }

  typename Config::Exec exec;
  blockspan::eigen::Eigensolver<Scalar> eigen = blockspan::eigen::small_eigensolver<Scalar>(exec);
};
TYPED_TEST_SUITE(Eigensolvers, Configs, ConfigNames);

TYPED_TEST(Eigensolvers, DiagonalizeOnBothSidesOfTheThreshold) {
  for (int const n : {0, 1, 33, threshold - 1, threshold, 2 * threshold, threshold + 1}) {
    SCOPED_TRACE(n);
    auto const A = this->hermitian(n, 0);
    auto const G = this->inside(A), reference = this->inside(A);
    typename TestFixture::Values values, expected;
    ASSERT_EQ(this->eigen(G, values), 0);
    this->expect_eigenpairs(A, this->values_of(G), values);
    // each of the two is exact for a matrix nearby
    ASSERT_EQ(lapack::hermitian_eigen(reference, expected), 0);
    for (std::size_t j = 0; j < values.size(); ++j)
      EXPECT_NEAR(values[j], expected[j], 2 * this->bound(expected)) << j;
  }
}

TYPED_TEST(Eigensolvers, KeepMultipleEigenvaluesOrthogonal) {
  int const n = threshold + 10;
  auto const A = this->reflection(n);
  auto const G = this->inside(A);
  typename TestFixture::Values values;
  ASSERT_EQ(this->eigen(G, values), 0);
  this->expect_eigenpairs(A, this->values_of(G), values);
  EXPECT_NEAR(values[0], -1, this->bound(values));
  for (int j = 1; j < n; ++j)
    EXPECT_NEAR(values[static_cast<std::size_t>(j)], 1, this->bound(values)) << j;
}

TYPED_TEST(Eigensolvers, GiveTheSameBitsAgain) {
  auto const A = this->hermitian(threshold + 3, 0);
  auto const first = this->inside(A), second = this->inside(A);
  typename TestFixture::Values values, again;
  ASSERT_EQ(this->eigen(first, values), 0);
  ASSERT_EQ(this->eigen(second, again), 0);
  EXPECT_EQ(values, again);
  EXPECT_TRUE(same_bits(this->values_of(first), this->values_of(second)));
}

TYPED_TEST(Eigensolvers, RefuseWhatLapackRefuses) {
  for (int const n : {3, threshold}) {
    auto A = this->identity(n);
    A(2, 1) = not_a_number<typename TypeParam::Scalar>();
    typename TestFixture::Values values, expected;
    auto const status = lapack::hermitian_eigen(this->inside(A), expected);
    EXPECT_NE(status, 0);
    EXPECT_EQ(this->eigen(this->inside(A), values), status);
  }
  EXPECT_THROW(
      {
        typename TestFixture::Values values;
        this->eigen(this->inside(random_block<typename TypeParam::Scalar>(threshold, 3, 1)),
                    values);
      },
      Error);
}

/// Solves whose small problems lie beyond the threshold.
template <class Exec>
class LargeSmallProblems : public ::testing::Test {};
TYPED_TEST_SUITE(LargeSmallProblems, Backends);

TYPED_TEST(LargeSmallProblems, OfAWideBlock) {
  constexpr int N = 9, wanted = 40;
  auto const A = grid7<double>(N);
  auto const solved = solve<double, TypeParam>(A, nullptr, wanted);
  ASSERT_GE(3 * solved.X.extent(1), static_cast<std::size_t>(threshold));
  EXPECT_EQ(solved.report.path, "iterative");
  EXPECT_EQ(solved.report.status, Status::converged);
  expect_values(solved, grid7_spectrum(N), A.infinity_norm());
}

TYPED_TEST(LargeSmallProblems, OfTheDensePath) {
  constexpr int N = 6, wanted = 60;
  auto const A = grid7<double>(N);
  auto B = A;
  for (int i = 0; i < B.order(); ++i) B.add(i, i, 2.0);
  auto const solved = solve<double, TypeParam>(
      A, &B, wanted, [](auto& options, auto const&) { options.tolerance = 1e-12; });
  ASSERT_GE(A.order(), threshold);
  EXPECT_EQ(solved.report.path, "dense");
  EXPECT_EQ(solved.report.status, Status::converged);
  auto const mu = grid7_spectrum(N);
  for (int j = 0; j < wanted; ++j)
    EXPECT_NEAR(solved.report.eigenvalues[j], mu[j] / (mu[j] + 2), 1e-12) << j;
}

}  // namespace
}  // namespace blockspan::test
