#include <vector>

#include <gtest/gtest.h>

#include <blockspan/support/interruption.hpp>
#include <blockspan/support/lapack/lapack_steps.hpp>

#include "support/small_matrices.hpp"
#include "support/types.hpp"

namespace blockspan::test {

template <class Scalar>
class LapackSteps : public ::testing::Test, public SmallMatrices<Scalar> {};

TYPED_TEST_SUITE(LapackSteps, LapackScalars, ScalarNames);

TYPED_TEST(LapackSteps, CholeskyFactorTimesItsAdjointIsTheMatrix) {
  for (int n : {1, 128, 129, 300}) {
    auto const A = this->hermitian(n, 2 * n);
    auto const G = this->inside(A);
    ASSERT_EQ(lapack::cholesky_by_steps(G), 0);
    for (int j = 1; j < n; ++j)
      for (int i = 0; i < j; ++i) G(i, j) = TypeParam(0);
    auto const L = this->values_of(G);
    EXPECT_LE(this->residual(L, false, L, true, A), 10 * this->eps * n * (n + 1));
  }
}

TYPED_TEST(LapackSteps, CholeskySaysWhichMinorIsNotPositive) {
  auto A = this->identity(300);
  A(200, 200) = TypeParam(-1);
  EXPECT_EQ(lapack::cholesky_by_steps(this->inside(A)), 201);
}

TYPED_TEST(LapackSteps, StandardProblemIsThatOfLapack) {
  for (int n : {1, 128, 129, 300}) {
    auto const A = this->inside(this->hermitian(n, 0)), again = this->inside(this->values_of(A));
    auto const L = this->inside(this->hermitian(n, 2 * n));
    ASSERT_EQ(lapack::cholesky(L), 0);
    lapack::reduce_to_standard(A, L);
    lapack::reduce_to_standard_by_steps(again, L);
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i)
        ASSERT_LE(Kokkos::abs(A(i, j) - again(i, j)), 10 * this->eps) << i << ", " << j;
  }
}

TYPED_TEST(LapackSteps, LowestPairsAreThoseOfAllPairs) {
  for (int n : {2, 100, 128, 129, 200, 300}) {
    int const count = n < 10 ? n : 7;
    auto const A = this->hermitian(n, 0);
    auto const all = this->inside(A);
    std::vector<real_t<TypeParam>> values, lowest(n);
    ASSERT_EQ(lapack::hermitian_eigen(all, values), 0);
    auto const vectors = this->inside(HostBlock<TypeParam>(n, count));
    ASSERT_EQ(lapack::hermitian_eigen_lowest_by_steps(this->inside(A), count, lowest, vectors), 0);
    auto const V = this->values_of(vectors);
    auto scaled = V;
    for (int j = 0; j < count; ++j) {
      EXPECT_NEAR(lowest[j], values[j], 10 * this->eps * n) << n;
      for (int i = 0; i < n; ++i) scaled(i, j) *= lowest[j];
    }
    EXPECT_LE(this->residual(A, false, V, false, scaled), 20 * this->eps * n);
    EXPECT_LE(this->residual(V, true, V, false, this->identity(count)), 20 * this->eps * n);
  }
}

TEST(LapackStepsEnd, WhereACheckAsksForIt) {
  int steps = 0;
  SmallMatrices<double> const small = {};
  InterruptionCheck const check([&] { return ++steps < 3; });
  auto const A = small.hermitian(1000, 2000);
  EXPECT_THROW((void)lapack::cholesky(small.inside(A)), Interrupted);
  EXPECT_EQ(steps, 3);
  std::vector<double> values;
  auto const vectors = small.inside(HostBlock<double>(1000, 5));
  EXPECT_THROW((void)lapack::hermitian_eigen_lowest(small.inside(A), 5, values, vectors),
               Interrupted);
}

TEST(LapackStepsEnd, ChecksOfEnclosingScopesAreAskedToo) {
  InterruptionCheck::step();  // no check: nothing happens
  bool outer = true, inner = true;
  InterruptionCheck const first([&] { return outer; });
  {
    InterruptionCheck const second([&] { return inner; });
    EXPECT_NO_THROW(InterruptionCheck::step());
    outer = false;
    EXPECT_THROW(InterruptionCheck::step(), Interrupted);
    outer = true, inner = false;
    EXPECT_THROW(InterruptionCheck::step(), Interrupted);
  }
  EXPECT_NO_THROW(InterruptionCheck::step());
}

}  // namespace blockspan::test
