#include <cmath>

#include "solvers/solve.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class DensePath : public ::testing::Test {};
TYPED_TEST_SUITE(DensePath, Configs, ConfigNames);

/// The second difference of n points: eigenvalues 2 - 2 cos(k pi / (n + 1)).
template <class Scalar>
TestMatrix<Scalar> line(int n) {
  TestMatrix<Scalar> A(n);
  for (int i = 0; i < n; ++i) {
    A.add(i, i, Scalar(2));
    if (i > 0) A.add(i, i - 1, Scalar(-1));
    if (i < n - 1) A.add(i, i + 1, Scalar(-1));
  }
  return A;
}
double line_value(int n, int k) { return 2 - 2 * std::cos(k * std::acos(-1.0) / (n + 1)); }

TYPED_TEST(DensePath, SolvesSmallProblemsUpToTheWholeSpectrum) {
  using Scalar = typename TypeParam::Scalar;
  double const u = unit_roundoff<Scalar>;
  for (auto const& [n, wanted] : {std::pair(1, 1), {2, 2}, {18, 10}, {19, 19}, {48, 10}}) {
    auto const solved = solve<Scalar, typename TypeParam::Exec>(
        line<Scalar>(n), nullptr, wanted,
        [](auto& options, auto const&) { options.tolerance = 100 * unit_roundoff<Scalar>; });
    EXPECT_EQ(solved.report.status, Status::converged);
    EXPECT_EQ(solved.report.path, "dense");
    for (int j = 0; j < wanted; ++j)
      EXPECT_NEAR(solved.report.eigenvalues[j], line_value(n, j + 1), 100 * u);
    EXPECT_LE(solved.found.orthogonality, 100 * u);
  }
}

TYPED_TEST(DensePath, SolvesPencilsFromTheTop) {
  using Scalar = typename TypeParam::Scalar;
  int const n = 30, wanted = 5;
  auto const A = line<Scalar>(n);
  auto B = A;
  for (int i = 0; i < n; ++i) B.add(i, i, Scalar(1));
  auto const solved =
      solve<Scalar, typename TypeParam::Exec>(A, &B, wanted, [](auto& options, auto const&) {
        options.tolerance = 200 * unit_roundoff<Scalar>;
        options.which = Which::largest;
      });
  EXPECT_EQ(solved.report.status, Status::converged);
  for (int j = 0; j < wanted; ++j) {
    double const mu = line_value(n, n - j);
    EXPECT_NEAR(solved.report.eigenvalues[j], mu / (mu + 1), 200 * double(unit_roundoff<Scalar>));
  }
  EXPECT_LE(solved.found.orthogonality, 200 * unit_roundoff<Scalar>);
}

TYPED_TEST(DensePath, RefusesWhatIsNoEigenproblem) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  auto const A = line<Scalar>(20);
  auto skew = A, nan = A, indefinite = A;
  skew.add(3, 7, Scalar(1));
  nan.add(2, 2, Scalar(std::numeric_limits<real_t<Scalar>>::quiet_NaN()));
  indefinite.add(4, 4, Scalar(-5));
  auto const status = [](auto const& matrix, auto const* mass) {
    return solve<Scalar, Exec>(matrix, mass, 4).report.status;
  };
  using Matrix = TestMatrix<Scalar>;
  EXPECT_EQ(status(skew, static_cast<Matrix*>(nullptr)), Status::operator_not_hermitian);
  EXPECT_EQ(status(nan, static_cast<Matrix*>(nullptr)), Status::operator_not_finite);
  EXPECT_EQ(status(A, &nan), Status::operator_not_finite);
  EXPECT_EQ(status(A, &indefinite), Status::mass_not_positive_definite);
}

}  // namespace
}  // namespace blockspan::test
