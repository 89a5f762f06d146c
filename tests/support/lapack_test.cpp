#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/support/error.hpp>
#include <blockspan/support/lapack/lapack.hpp>

#include "support/small_matrices.hpp"
#include "support/types.hpp"

namespace blockspan::test {

template <class Scalar>
class Lapack : public ::testing::Test, public SmallMatrices<Scalar> {};

TYPED_TEST_SUITE(Lapack, LapackScalars, ScalarNames);

TYPED_TEST(Lapack, CholeskyFactorTimesItsAdjointIsTheMatrix) {
  for (int n : {0, 1, 2, 17, 60}) {
    auto const A = this->hermitian(n, 2 * n);
    auto const G = this->inside(A);
    for (int j = 1; j < n; ++j) G(0, j) = TypeParam(99);  // the upper triangle is not read
    ASSERT_EQ(lapack::cholesky(G), 0);
    auto const L = this->values_of(G);
    EXPECT_LE(this->residual(L, false, L, true, A), 10 * this->eps * n * (n + 1));
    for (int j = 1; j < n; ++j) EXPECT_EQ(L(0, j), TypeParam(0));
  }
}

TYPED_TEST(Lapack, CholeskySaysWhichMinorIsNotPositive) {
  auto A = this->identity(5);
  A(3, 3) = TypeParam(-1);
  EXPECT_EQ(lapack::cholesky(this->inside(A)), 4);
  A(3, 3) = not_a_number<TypeParam>();
  EXPECT_GT(lapack::cholesky(this->inside(A)), 0);
}

TYPED_TEST(Lapack, EigenvectorsDiagonalizeTheMatrix) {
  for (int n : {0, 1, 2, 33, 96}) {
    auto const A = this->hermitian(n, 0);
    auto const G = this->inside(A);
    std::vector<real_t<TypeParam>> values;
    ASSERT_EQ(lapack::hermitian_eigen(G, values), 0);
    this->expect_eigenpairs(A, this->values_of(G), values);
  }
}

TYPED_TEST(Lapack, EigenvaluesOfAMatrixWithNaNAreRefused) {
  auto A = this->identity(3);
  A(2, 1) = not_a_number<TypeParam>();
  std::vector<real_t<TypeParam>> values;
  EXPECT_NE(lapack::hermitian_eigen(this->inside(A), values), 0);
}

TYPED_TEST(Lapack, InverseOfALowerTriangleTimesItIsTheIdentity) {
  for (int n : {0, 1, 20}) {
    auto L = this->hermitian(n, 2 * n);
    auto const view = this->inside(L);
    ASSERT_EQ(lapack::invert_lower_triangle(view), 0);
    auto inverse = this->values_of(view);
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j) L(i, j) = inverse(i, j) = TypeParam(0);
    EXPECT_LE(this->residual(L, false, inverse, false, this->identity(n)), 10 * this->eps * n);
  }
  auto singular = this->identity(4);
  singular(2, 2) = TypeParam(0);
  EXPECT_EQ(lapack::invert_lower_triangle(this->inside(singular)), 3);
}

TYPED_TEST(Lapack, SquareOfALowerTriangleIsItsAdjointTimesIt) {
  for (int n : {0, 1, 20, 150}) {
    auto L = this->hermitian(n, 2 * n);
    auto const view = this->inside(L);
    lapack::square_lower_triangle(view);
    auto const after = this->values_of(view);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        TypeParam sum(0);
        double size = 0;
        for (int k = std::max(i, j); k < n; ++k) {
          sum += blockspan::conjugate(L(k, i)) * L(k, j);
          size += Kokkos::abs(L(k, i)) * Kokkos::abs(L(k, j));
        }
        if (i < j) sum = L(i, j);  // not written
        EXPECT_LE(Kokkos::abs(after(i, j) - sum), 4 * n * this->eps * size) << i << ", " << j;
      }
  }
}

TYPED_TEST(Lapack, PivotedQrSpansTheColumnsAndShowsTheRank) {
  for (auto const& [m, k] : {std::pair{0, 0}, {5, 0}, {1, 1}, {30, 12}, {9, 9}}) {
    auto X = random_block<TypeParam>(m, k, 3);
    if (k > 3)
      for (int i = 0; i < m; ++i) X(i, 3) = X(i, 0) + X(i, 1);
    auto const Z = this->inside(X);
    std::vector<real_t<TypeParam>> diagonal;
    ASSERT_EQ(lapack::qr_pivoted(Z, diagonal), 0);
    auto const Q = this->values_of(Z);
    EXPECT_LE(this->residual(Q, true, Q, false, this->identity(k)), 20 * this->eps * (m + 1));
    for (int j = 1; j < k; ++j)
      EXPECT_LE(diagonal[static_cast<std::size_t>(j)],
                diagonal[static_cast<std::size_t>(j - 1)] * (1 + 100 * this->eps));
    if (k > 3) {
      EXPECT_LE(diagonal.back(), 100 * this->eps * diagonal.front());
    }
    HostBlock<TypeParam> R(k, k);  // Q^H X, so that Q R = X shows the span
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < k; ++j)
        for (int r = 0; r < m; ++r) R(i, j) += blockspan::conjugate(Q(r, i)) * X(r, j);
    EXPECT_LE(this->residual(Q, false, R, false, X), 50 * this->eps * (m + 1));
  }
}

TYPED_TEST(Lapack, MultiplyTakesAdjointsAndZeroSizes) {
  using lapack::Transform;
  for (auto const& [m, inner, n] : {std::tuple{7, 5, 4}, std::tuple{3, 0, 2}, std::tuple{0, 2, 1}})
    for (bool const flip_a : {false, true})
      for (bool const flip_b : {false, true}) {
        auto const a =
            flip_a ? random_block<TypeParam>(inner, m, 1) : random_block<TypeParam>(m, inner, 1);
        auto const b =
            flip_b ? random_block<TypeParam>(n, inner, 2) : random_block<TypeParam>(inner, n, 2);
        auto const C = this->inside(HostBlock<TypeParam>(m, n, not_a_number<TypeParam>()));
        lapack::multiply(flip_a ? Transform::adjoint : Transform::none,
                         flip_b ? Transform::adjoint : Transform::none, TypeParam(1),
                         this->inside(a), this->inside(b), TypeParam(0), C);
        EXPECT_LE(this->residual(a, flip_a, b, flip_b, this->values_of(C)), 50 * this->eps);
      }
}

TYPED_TEST(Lapack, SizesThatClashAreErrorsThatNameThem) {
  auto const A = this->inside(random_block<TypeParam>(3, 4, 1));
  try {
    lapack::cholesky(A);
    FAIL();
  } catch (Error const& error) {
    EXPECT_NE(std::string(error.what()).find("3 x 4"), std::string::npos) << error.what();
  }
  EXPECT_THROW(lapack::multiply(lapack::Transform::none, lapack::Transform::none, TypeParam(1), A,
                                A, TypeParam(0), A),
               Error);
}

}  // namespace blockspan::test
