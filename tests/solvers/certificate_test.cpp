#include <algorithm>
#include <cmath>

#include <blockspan/support/lapack/lapack.hpp>

#include "solvers/solve.hpp"

// Intervals are judged by spectra known in closed form or from LAPACK.
namespace blockspan::test {
namespace {

using small_grid::N;
using small_grid::wanted;

template <class Scalar, class Exec>
Solved<Scalar, Exec> certified(TestMatrix<Scalar> const& A, TestMatrix<Scalar> const* B,
                               double tolerance, double mass_bound = 0, int iterations = 10000) {
  return solve<Scalar, Exec>(A, B, wanted, [&](auto& options, auto const&) {
    using Real = real_t<Scalar>;
    options.certify = true;
    options.tolerance = static_cast<Real>(tolerance);
    options.mass_lower_bound = static_cast<Real>(mass_bound);
    options.max_iterations = iterations;
  });
}

double distance_to(std::vector<double> const& spectrum, double value) {
  double least = std::abs(spectrum[0] - value);
  for (double const lambda : spectrum) least = std::min(least, std::abs(lambda - value));
  return least;
}

template <class Config>
class Certificates : public ::testing::Test {};
TYPED_TEST_SUITE(Certificates, Configs, ConfigNames);

TYPED_TEST(Certificates, HoldAtEveryStageOfASolve) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  auto const A = grid7<double>(N).template as<Scalar>();
  auto const exact = grid7_spectrum(N);
  for (int const iterations : {0, 3, 8, 20, 200}) {
    SCOPED_TRACE(iterations);
    auto const solved = certified<Scalar, Exec>(
        A, nullptr, sizeof(real_t<Scalar>) == 4 ? 1e-4 : 1e-10, 0, iterations);
    auto const& certificate = solved.report.certificate;
    ASSERT_EQ(certificate.radius.size(), static_cast<std::size_t>(wanted));
    EXPECT_TRUE(certificate.rigorous);
    for (int j = 0; j < wanted; ++j) {
      double const theta = solved.report.eigenvalues[j], radius = certificate.radius[j];
      EXPECT_LE(distance_to(exact, theta), radius) << j;
      // ... and is no wider than the residual and the rounding of sums of 512 terms ask for
      EXPECT_LE(radius, 1.001 * solved.found.residual[j] / solved.found.size[j] +
                            3000 * unit_roundoff<Scalar> * 12)
          << j;
      if (iterations == 200) {  // then no pair was missed
        EXPECT_LE(std::abs(theta - exact[j]), certificate.gap_radius[j]) << j;
        // ... and the residuals of all pairs of a multiple eigenvalue bound each of them
        double joint = 0;
        for (int i = 0; i < wanted; ++i)
          if (std::abs(exact[i] - exact[j]) < 1e-9) joint += std::pow(certificate.radius[i], 2);
        EXPECT_LE(certificate.gap_radius[j], std::sqrt(2 * joint)) << j;
      }
    }
    EXPECT_NEAR(certificate.orthogonality_loss, static_cast<double>(solved.found.orthogonality),
                600 * unit_roundoff<Scalar>);
  }
}

template <class Exec>
class Intervals : public ::testing::Test {};
TYPED_TEST_SUITE(Intervals, Backends);

TYPED_TEST(Intervals, GapsMakeThemQuadraticallySharper) {
  // Well separated values, a loose tolerance: the residual alone gives few digits.
  std::vector<double> values(300);
  for (int i = 0; i < 300; ++i) values[i] = 1 + i;
  auto A = diagonal_matrix<double>(values);
  for (int i = 0; i + 1 < 300; ++i) A.add(i, i + 1, 0.3), A.add(i + 1, i, 0.3);
  SmallMatrix<double> dense("dense", 300, 300);
  for (int i = 0; i < 300; ++i)
    for (auto const& e : A.rows[i]) dense(i, e.column) += e.value;
  std::vector<double> exact;
  ASSERT_EQ(lapack::hermitian_eigen(dense, exact), 0);
  auto const solved = certified<double, TypeParam>(A, nullptr, 1e-5);
  auto const& certificate = solved.report.certificate;
  for (int j = 0; j < wanted; ++j) {
    double const error = std::abs(solved.report.eigenvalues[j] - exact[j]);
    EXPECT_LE(error, certificate.gap_radius[j]) << j;
    if (j + 1 < wanted) {  // the last one borders on guards
      EXPECT_LE(certificate.gap_radius[j],
                4 * certificate.radius[j] * certificate.radius[j] + 1e-12)
          << j;
    }
  }
}

TYPED_TEST(Intervals, OfClustersHoldForEveryMember) {
  // Multiplicities 1 3 3: all six members stay inside, at a tolerance where vectors are poor.
  auto const exact = grid7_spectrum(N);
  auto const solved = certified<double, TypeParam>(grid7<double>(N), nullptr, 1e-3);
  for (int j = 0; j < wanted; ++j)
    EXPECT_LE(std::abs(solved.report.eigenvalues[j] - exact[j]),
              solved.report.certificate.gap_radius[j])
        << j;
}

TYPED_TEST(Intervals, OfAPencilRestOnABoundOfTheMass) {
  auto const A = grid7<double>(N);
  std::vector<double> mass(A.order());
  for (int i = 0; i < A.order(); ++i) mass[i] = 0.25 + (i % 10);
  auto const B = diagonal_matrix<double>(mass);
  SmallMatrix<double> dense("dense", A.order(), A.order());
  for (int i = 0; i < A.order(); ++i)
    for (auto const& e : A.rows[i])
      dense(i, e.column) += e.value / std::sqrt(mass[i] * mass[e.column]);
  std::vector<double> exact;
  ASSERT_EQ(lapack::hermitian_eigen(dense, exact), 0);

  auto const bounded = certified<double, TypeParam>(A, &B, 1e-6, 0.25);
  EXPECT_TRUE(bounded.report.certificate.rigorous);
  for (int j = 0; j < wanted; ++j) {
    EXPECT_LE(distance_to(exact, bounded.report.eigenvalues[j]),
              bounded.report.certificate.radius[j]);
    EXPECT_LE(bounded.report.certificate.radius[j],
              2.01 * bounded.found.residual[j] + 1e-10);  // 1 / sqrt(0.25), ||x||_B = 1
  }
  auto const unbounded = certified<double, TypeParam>(A, &B, 1e-6);
  EXPECT_FALSE(unbounded.report.certificate.rigorous);
  // without a bound, by an estimate of the norm of the inverse mass: intervals all the same
  for (int j = 0; j < wanted; ++j) {
    EXPECT_LE(distance_to(exact, unbounded.report.eigenvalues[j]),
              unbounded.report.certificate.radius[j]);
    EXPECT_LE(unbounded.report.certificate.radius[j], 8 * unbounded.found.residual[j] + 1e-10);
  }
}

TYPED_TEST(Intervals, FollowTheScaleOfTheMatrix) {
  auto const plain = certified<double, TypeParam>(grid7<double>(N), nullptr, 1e-6);
  auto const scaled =
      certified<double, TypeParam>(grid7<double>(N).scaled(0x1p-600), nullptr, 1e-6);
  for (int j = 0; j < wanted; ++j)
    EXPECT_DOUBLE_EQ(scaled.report.certificate.radius[j] * 0x1p600,
                     plain.report.certificate.radius[j]);
}

TYPED_TEST(Intervals, ComeOnTheDensePathToo) {
  auto const exact = grid7_spectrum(3);
  auto const solved = certified<double, TypeParam>(grid7<double>(3), nullptr, 1e-8);
  EXPECT_EQ(solved.report.path, "dense");
  for (int j = 0; j < wanted; ++j)
    EXPECT_LE(distance_to(exact, solved.report.eigenvalues[j]),
              solved.report.certificate.radius[j]);
}

TYPED_TEST(Intervals, AreNotRigorousWithAnEstimatedNorm) {
  using Exec = TypeParam;
  TestOperator<double, Exec> const a(Exec(), grid7<double>(N), false);
  auto const X = block_for<double, Exec>(a.rows(), wanted);
  auto options = iteration_options<double, Exec>(wanted);
  EXPECT_TRUE(lobpcg(Exec(), a, X, options).certificate.radius.empty());  // not asked for
  options.certify = true;
  EXPECT_FALSE(lobpcg(Exec(), a, X, options).certificate.rigorous);
}

}  // namespace
}  // namespace blockspan::test
