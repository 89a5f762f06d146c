// Endings of LOBPCG that matrices do not bring about by themselves: a residual that cannot fall,
// and a mass of lower rank than the block. Nothing may be claimed there.
#include <algorithm>
#include <vector>

#include "solvers/solve.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Config>
class Endings : public ::testing::Test {};
TYPED_TEST_SUITE(Endings, EveryConfig, ConfigNames);

template <class Scalar, class Exec>
LobpcgOptions<Scalar, Exec> options_for(int wanted) {
  auto options = iteration_options<Scalar, Exec>(wanted);
  options.tolerance = static_cast<real_t<Scalar>>(sizeof(real_t<Scalar>) == 4 ? 1e-5 : 1e-8);
  options.stagnation_window = 5;
  return options;
}

template <class Report>
std::ptrdiff_t claims(Report const& report) {
  return std::count_if(report.pair_status.begin(), report.pair_status.end(), is_done);
}

/// Where A has a part that is not Hermitian, A x - theta x keeps that part of A x whatever x is.
TYPED_TEST(Endings, ResidualsThatCannotFallStagnate) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  using Real = real_t<Scalar>;
  constexpr int N = 6, wanted = 4;
  auto A = grid7<Scalar>(N);
  for (int i = 0; i + 1 < A.order(); ++i)
    A.add(i, i + 1, Scalar(Real(0.05))), A.add(i + 1, i, Scalar(Real(-0.05)));
  TestOperator<Scalar, Exec> const a(Exec(), A), t(Exec(), jacobi_matrix(A));
  for (bool const preconditioned : {false, true}) {
    auto const X = block_for<Scalar, Exec>(A.order(), wanted);
    auto options = options_for<Scalar, Exec>(wanted);
    options.check_hermitian = false;
    options.widest_block = static_cast<int>(X.extent(1));
    options.preconditioner = preconditioned ? &t : nullptr;
    auto const report = lobpcg(Exec(), a, X, options);
    EXPECT_EQ(report.status, Status::stagnated);
    EXPECT_EQ(claims(report), 0);
    EXPECT_LT(report.iterations, options.max_iterations);
    EXPECT_GT(report.counters.restarts, 0);
    for (Real const error : report.backward_errors) EXPECT_GT(error, 10 * options.tolerance);
    options.check_hermitian = true;  // what is asked for by default names the cause
    EXPECT_EQ(lobpcg(Exec(), a, X, options).status, Status::operator_not_hermitian);
  }
}

/// A mass of rank 3 that does not tell its diagonal.
TYPED_TEST(Endings, AMassOfLowRankGivesWhatIsFiniteAndIsNamed) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  using Real = real_t<Scalar>;
  constexpr int n = 200;
  std::vector<Real> stiffness, mass(n, Real(0));
  for (int i = 0; i < n; ++i) stiffness.push_back(1 + Real(0.5) * static_cast<Real>(i));
  mass[10] = 2, mass[50] = 1, mass[120] = 4;
  TestOperator<Scalar, Exec> const A(Exec(), diagonal_matrix<Scalar>(stiffness)),
      B(Exec(), diagonal_matrix<Scalar>(mass));
  double const exact[] = {3, 15.25, 26};
  for (int const wanted : {2, 6}) {
    auto const X = block_for<Scalar, Exec>(n, wanted);
    auto const report = lobpcg(Exec(), A, B, X, options_for<Scalar, Exec>(wanted));
    EXPECT_EQ(report.status, wanted == 2 ? Status::converged : Status::mass_singular);
    EXPECT_EQ(claims(report), std::min(wanted, 3));
    for (int j = 0; j < std::min(wanted, 3); ++j)
      EXPECT_NEAR(report.eigenvalues[j], exact[j], sizeof(Real) == 4 ? 1e-2 : 1e-6) << j;
  }
  auto const X = block_for<Scalar, Exec>(n, 4);
  auto options = options_for<Scalar, Exec>(4);
  options.which = Which::largest;  // of which infinitely many are infinite
  auto const report = lobpcg(Exec(), A, B, X, options);
  EXPECT_EQ(report.status, Status::mass_singular);
  EXPECT_EQ(claims(report), 0);
  EXPECT_THAT(report.trouble, HasSubstr("its rank is below the columns of the block"));
  EXPECT_THAT(report.trouble, HasSubstr("smallest pairs only"));
}

}  // namespace
}  // namespace blockspan::test
