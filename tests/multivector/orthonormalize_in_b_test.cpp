#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/multivector/orthonormalize.hpp>

#include "multivector/bases.hpp"
#include "support/types.hpp"

namespace blockspan::test {

/// A Hermitian tridiagonal matrix: diagonal d(i), constant off-diagonal e.
template <class Scalar>
struct Tridiagonal {
  std::vector<real_t<Scalar>> diagonal;
  real_t<Scalar> off_diagonal;

  /// B X, each entry computed in extended precision and rounded once.
  HostBlock<Scalar> times(HostBlock<Scalar> const& X) const {
    HostBlock<Scalar> Y(X.rows(), X.columns());
    for (std::int64_t i = 0; i < X.rows(); ++i)
      for (std::int64_t j = 0; j < X.columns(); ++j) {
        extended_t<Scalar> sum =
            static_cast<long double>(diagonal[static_cast<std::size_t>(i)]) * extended(X(i, j));
        long double const e = off_diagonal;
        if (i > 0) sum += e * extended(X(i - 1, j));
        if (i + 1 < X.rows()) sum += e * extended(X(i + 1, j));
        Y(i, j) = rounded(sum);
      }
    return Y;
  }
  static Scalar rounded(extended_t<Scalar> const& x) {
    using Real = real_t<Scalar>;
    if constexpr (is_complex_v<Scalar>)
      return Scalar(static_cast<Real>(x.real()), static_cast<Real>(x.imag()));
    else
      return static_cast<Real>(x);
  }
};

/// 2 + the i-th power of a ratio on the diagonal and -1 next to it: positive definite.
template <class Scalar>
Tridiagonal<Scalar> positive_definite(int n, double off_diagonal, double grade) {
  Tridiagonal<Scalar> B{{}, static_cast<real_t<Scalar>>(off_diagonal)};
  for (int i = 0; i < n; ++i)
    B.diagonal.push_back(static_cast<real_t<Scalar>>(2 * std::abs(off_diagonal) +
                                                     std::pow(grade, -static_cast<double>(i) / n)));
  return B;
}

template <class Config>
class OrthonormalizeInB : public ::testing::Test {
 public:
  using E = typename Config::Exec;
  using S = typename Config::Scalar;
  static constexpr long double eps = 2 * unit_roundoff<S>;
  E exec;
  OrthonormalizeReport report;

  void check(Tridiagonal<S> const& B, HostBlock<S> const& X, int rank, long double slack) {
    auto const V = make_block(exec, Storage::right, X);
    auto const BV = make_block(exec, Storage::left, B.times(X));
    report = orthonormalize(exec, V.view, BV.view);
    ASSERT_EQ(report.rank, rank);
    auto const v = V.values(), bv = BV.values();
    auto const k = static_cast<long double>(X.columns());
    EXPECT_LE(distance_from_identity(v, bv, rank), 50 * eps * k);
    EXPECT_LE(distance_from_identity(v, B.times(v), rank), slack * 50 * eps * k);
    for (std::int64_t i = 0; i < X.rows(); ++i)
      for (std::int64_t j = rank; j < X.columns(); ++j) {
        EXPECT_EQ(v(i, j), S(0));
        EXPECT_EQ(bv(i, j), S(0));
      }
  }
};

TYPED_TEST_SUITE(OrthonormalizeInB, Configs, ConfigNames);

TYPED_TEST(OrthonormalizeInB, WorksForADiagonalB) {
  using Scalar = typename TypeParam::Scalar;
  auto const B = positive_definite<Scalar>(300, 0, 1e3);
  this->check(B, random_block<Scalar>(300, 8, 1), 8, 10);
  EXPECT_FALSE(this->report.indefinite);
}

TYPED_TEST(OrthonormalizeInB, WorksForATridiagonalB) {
  using Scalar = typename TypeParam::Scalar;
  auto const B = positive_definite<Scalar>(500, -1, 10);
  this->check(B, random_block<Scalar>(500, 12, 2), 12, 10);
  // One SVQB pass may lose half the digits of B V, which only the caller can compute anew.
  auto X = random_block<Scalar>(500, 6, 3);
  set_column(X, 4, 1, 2);
  this->check(B, X, 5, 10);
}

TYPED_TEST(OrthonormalizeInB, DropsColumnsBrokenInVOrInBV) {
  using Scalar = typename TypeParam::Scalar;
  auto const B = positive_definite<Scalar>(100, -1, 10);
  auto const x = random_block<Scalar>(100, 4, 4);
  auto broken = x, b_broken = B.times(x);
  broken(5, 0) = not_a_number<Scalar>();
  b_broken(6, 2) = not_a_number<Scalar>();
  auto const V = make_block(this->exec, Storage::right, broken);
  auto const BV = make_block(this->exec, Storage::right, b_broken);
  EXPECT_EQ(orthonormalize(this->exec, V.view, BV.view).rank, 2);
  auto const v = V.values();
  EXPECT_LE(distance_from_identity(v, B.times(v), 2), 500 * this->eps);
}

TYPED_TEST(OrthonormalizeInB, CountsTheNullSpaceOfBAsZero) {
  using Scalar = typename TypeParam::Scalar;
  Tridiagonal<Scalar> B{std::vector<real_t<Scalar>>(50, 1), 0};
  auto x = random_block<Scalar>(50, 3, 5);
  for (int i = 25; i < 50; ++i) B.diagonal[static_cast<std::size_t>(i)] = 0;
  for (int i = 0; i < 50; ++i)
    if (i < 25) x(i, 1) = Scalar(0);
  this->check(B, x, 2, 10);
}

TYPED_TEST(OrthonormalizeInB, SaysThatBIsIndefinite) {
  using Scalar = typename TypeParam::Scalar;
  Tridiagonal<Scalar> B{std::vector<real_t<Scalar>>(40, 1), 0};
  HostBlock<Scalar> x(40, 2);
  for (int i = 0; i < 40; ++i) x(i, i % 2) = Scalar(1);
  for (int i = 1; i < 40; i += 2) B.diagonal[static_cast<std::size_t>(i)] = -2;
  this->check(B, x, 1, 10);
  EXPECT_TRUE(this->report.indefinite);
}

}  // namespace blockspan::test
