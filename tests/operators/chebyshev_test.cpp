// The polynomial against its closed form, and what a product costs.
#include "operators/chebyshev.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/lapack/lapack.hpp>

#include "operators/apply.hpp"
#include "support/compare.hpp"
#include "support/messages.hpp"
#include "support/observed.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Config>
class Chebyshev : public ::testing::Test {};
TYPED_TEST_SUITE(Chebyshev, EveryConfig, ConfigNames);

/// A step rounds a few terms no larger than q(0) |x|, and a perturbed recurrence of m steps carries
/// each on with a factor up to m.
template <class Scalar>
long double step_errors(int m, long double largest) {
  return 20 * static_cast<long double>(m * m) * unit_roundoff<Scalar> * largest;
}

TYPED_TEST(Chebyshev, IsTheClosedFormOnADiagonal) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  Exec const exec;
  std::vector<double> const eigenvalues{0,   1e-4, 0.01, 0.05, 0.1, 0.15, 0.3, 0.5,
                                        0.7, 0.9,  1,    1.05, 1.1, -0.1, -1};
  auto const n = static_cast<std::int64_t>(eigenvalues.size());
  auto const A = matrix_operator(exec, to_device(exec, diagonal_of<Scalar>(eigenvalues)));
  auto const x = random_block<Scalar>(n, 5, 1);
  for (auto const& [lower, upper] : {std::pair(Real(0.1), Real(1)), std::pair(Real(0.01), Real(1)),
                                     std::pair(Real(0.9), Real(1.1))})
    for (int m : {1, 2, 3, 4, 5, 8, 13, 30}) {
      ChebyshevPreconditioner<Scalar, Exec> const T(A, constant_weights<Scalar, Exec>(n), lower,
                                                    upper, m);
      Reference<Scalar> wanted(n, 5);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < 5; ++j) {
          auto const q = [&, lower = lower, upper = upper](long double t) {
            return chebyshev_inverse(m, lower, upper, t);
          };
          Real const t = static_cast<Real>(eigenvalues[static_cast<std::size_t>(i)]);
          wanted.value(i, j) = q(t) * extended(x(i, j));
          wanted.bound(i, j) =
              step_errors<Scalar>(m, std::max(q(0), std::abs(q(t)))) * magnitude(x(i, j));
        }
      EXPECT_TRUE(matches(applied(exec, T, x), wanted))
          << "degree " << m << " on [" << lower << ", " << upper << "]";
    }
}

/// Eigenvalues and vectors of W^1/2 A W^1/2 in double precision.
template <class Scalar>
struct Eigen {
  using Wide = std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<double>, double>;
  SmallMatrix<Wide> vectors;
  std::vector<double> values;

  explicit Eigen(SmallDense<Scalar> const& S)
      : vectors("Blockspan::test", static_cast<std::size_t>(S.order),
                static_cast<std::size_t>(S.order)) {
    for (std::int64_t i = 0; i < S.order; ++i)
      for (std::int64_t j = 0; j < S.order; ++j) vectors(i, j) = narrow(S(i, j));
    EXPECT_EQ(lapack::hermitian_eigen(vectors, values), 0);
  }
  static Wide narrow(extended_t<Scalar> const& x) {
    if constexpr (is_complex_v<Scalar>)
      return Wide(static_cast<double>(x.real()), static_cast<double>(x.imag()));
    else
      return static_cast<double>(x);
  }
};

TYPED_TEST(Chebyshev, IsThatPolynomialOfTheScaledMatrixHermitianAndDefinite) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  std::int64_t const n = 12;
  Random random(4);
  auto const B = hermitian_block<Scalar>(n, random, 4);
  auto const matrix = to_device(exec, stored(B));
  auto const A = matrix_operator(exec, matrix);
  auto const setup = chebyshev_setup(exec, A, matrix);
  ASSERT_TRUE(setup.usable()) << setup.fault;
  Eigen<Scalar> const S(unit_diagonal(extended_block(B)));
  for (int m : {1, 2, 3, 4, 7, 8}) {
    auto const T = chebyshev(A, setup, {.degree = m, .ratio = 20});
    EXPECT_EQ(T.degree(), m);
    auto const X = dense(exec, T);
    long double const bound =
        2 * n * step_errors<Scalar>(m, chebyshev_inverse(m, T.lower(), T.upper(), 0));
    SmallDense<Scalar> scaled(n);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        extended_t<Scalar> wanted(0);
        for (std::int64_t k = 0; k < n; ++k)
          wanted +=
              extended(S.vectors(i, k)) * conjugate(extended(S.vectors(j, k))) *
              chebyshev_inverse(m, T.lower(), T.upper(), static_cast<long double>(S.values[k]));
        long double const d = std::sqrt(magnitude(B(i, i)) * magnitude(B(j, j)));
        EXPECT_LE(std::abs(extended(X(i, j)) * d - wanted), bound) << m << ": " << i << ", " << j;
        EXPECT_LE(std::abs(extended(X(i, j)) - conjugate(extended(X(j, i)))) * d, 2 * bound);
        scaled(i, j) = (extended(X(i, j)) + conjugate(extended(X(j, i)))) / 2.0L * d;
      }
    EXPECT_GT(smallest_pivot(scaled), 0) << "degree " << m;
  }
}

TYPED_TEST(Chebyshev, ScalesOfAMatrixLeaveTheBits) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  Exec const exec;
  int const most = sizeof(Real) == 8 ? 664 : 60;  // beyond 1e+-199, 1e+-18; powers of four
  Random random(4);
  auto const host = stored(hermitian_block<Scalar>(30, random, 3));
  auto const x = random_block<Scalar>(30, 3, 1);
  auto const times = [&](int exponent) {
    auto scaled = host;
    for (auto& value : scaled.values) value *= std::ldexp(Real(1), exponent);
    auto const matrix = to_device(exec, scaled);
    auto const A = matrix_operator(exec, matrix);
    auto y = applied(exec, chebyshev(exec, A, matrix), x);
    for (std::int64_t i = 0; i < 30; ++i)
      for (std::int64_t j = 0; j < 3; ++j) y(i, j) *= std::ldexp(Real(1), exponent);
    return y;
  };
  auto const y = times(0);
  for (int const e : {-most, -2, most}) EXPECT_TRUE(same_bits(y, times(e))) << "2^" << e;
}

TYPED_TEST(Chebyshev, CountsItsProductsAndAllocatesOnce) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec = Kokkos::Experimental::partition_space(Exec(), 1)[0];
  auto const matrix = generate<Scalar>(exec, "laplace7:7");
  auto const A = matrix_operator(exec, matrix);
  CountedOperator<Scalar, Exec> const counted(A);
  auto const setup = chebyshev_setup<Scalar, Exec>(exec, counted, matrix);
  EXPECT_EQ(counted.products, 12);
  EXPECT_EQ(counted.columns, 12);
  auto const X = block<Scalar>(exec, random_block<Scalar>(343, 6, 1));
  auto const Y = block<Scalar>(exec, random_block<Scalar>(343, 6, 2));
  for (int m : {1, 2, 5, 8}) {
    auto const T = chebyshev<Scalar, Exec>(counted, setup, {.degree = m});
    T.apply(exec, X, Y);
    counted.products = counted.columns = 0;
    auto const seen = observed([&] { T.apply(exec, X, Y); });
    EXPECT_EQ(counted.products, m - 1);
    EXPECT_EQ(counted.columns, 6 * (m - 1));
    EXPECT_EQ(std::count(seen.labels.begin(), seen.labels.end(), "Blockspan::chebyshev"), m);
    EXPECT_THAT(seen.devices, ElementsAre(Kokkos::Tools::Experimental::device_id(exec)));
    EXPECT_TRUE(seen.allocations.empty()) << seen.allocations.front();
    auto const few = observed([&] {
      T.apply(exec, Kokkos::subview(X, Kokkos::ALL, std::pair(1, 4)),
              Kokkos::subview(Y, Kokkos::ALL, std::pair(2, 5)));
    });
    EXPECT_TRUE(few.allocations.empty()) << few.allocations.front();
  }
}

TYPED_TEST(Chebyshev, SameInputSameBits) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, "laplace27:9");
  auto const A = matrix_operator(exec, matrix);
  auto const x = random_block<Scalar>(729, 5, 1);
  auto const first = chebyshev(exec, A, matrix, {.degree = 6});
  auto const second = chebyshev(exec, A, matrix, {.degree = 6});
  EXPECT_EQ(first.upper(), second.upper());
  auto const y = applied(exec, first, x);
  EXPECT_TRUE(same_bits(y, applied(exec, first, x)));
  EXPECT_TRUE(same_bits(y, applied(exec, second, x)));
}

/// The form that the operator may have for them is of the values of the last refresh().
TYPED_TEST(Chebyshev, ManyProductsWithOneColumnHaveTheBitsOfTheFirst) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, std::string("laplace5:17x23"));
  auto const A = matrix_operator(exec, matrix);
  std::int64_t const n = A.rows();
  auto const weights = constant_weights<Scalar, Exec>(n);
  ChebyshevPreconditioner<Scalar, Exec> T(A, weights, Real(0.5), Real(8), 4);
  auto const x = random_block<Scalar>(n, 1, 1);
  auto const first = applied(exec, T, x);
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(same_bits(applied(exec, T, x), first));
  Kokkos::deep_copy(matrix.values, Scalar(0.25));
  T.refresh(weights, Real(0.5), Real(8));
  ChebyshevPreconditioner<Scalar, Exec> const other(A, weights, Real(0.5), Real(8), 4);
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(same_bits(applied(exec, T, x), applied(exec, other, x)));
}

TYPED_TEST(Chebyshev, WorksOnAFewColumnsOfWiderBlocks) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, "laplace5:9");
  auto const A = matrix_operator(exec, matrix);
  auto const x = random_block<Scalar>(81, 9, 1), y = random_block<Scalar>(81, 7, 2);
  for (int m : {1, 2, 3, 4}) {
    auto const T = chebyshev(exec, A, matrix, {.degree = m});
    auto const X = block<Scalar>(exec, x), Y = block<Scalar>(exec, y);
    T.apply(exec, Kokkos::subview(X, Kokkos::ALL, std::pair(2, 5)),
            Kokkos::subview(Y, Kokkos::ALL, std::pair(3, 6)));
    exec.fence("Blockspan::test");
    auto const now = values_of<Scalar>(Y), wanted = applied(exec, T, x);
    for (std::int64_t i = 0; i < 81; ++i)
      for (std::int64_t j = 0; j < 7; ++j) {
        bool const inside = j >= 3 && j < 6;
        auto const value = inside ? wanted(i, j - 1) : y(i, j);
        ASSERT_LE(std::abs(extended(now(i, j)) - extended(value)),
                  inside ? step_errors<Scalar>(m, 3) : 0.0L)
            << m << ": " << i << ", " << j;
      }
  }
}

TYPED_TEST(Chebyshev, NotANumberStaysInItsColumn) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, "laplace5:6");
  auto const A = matrix_operator(exec, matrix);
  auto const T = chebyshev(exec, A, matrix);
  auto x = random_block<Scalar>(36, 3, 1);
  auto const clean = applied(exec, T, x);
  x(7, 1) = not_a_number<Scalar>();
  auto const y = applied(exec, T, x);
  for (std::int64_t i = 0; i < 36; ++i)
    for (std::int64_t j : {0, 2}) EXPECT_EQ(y(i, j), clean(i, j));
  EXPECT_TRUE(std::isnan(magnitude(y(7, 1))));
}

TYPED_TEST(Chebyshev, RefreshIsANewOneInTheOldMemory) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, "laplace7:6");
  auto const A = matrix_operator(exec, matrix);
  auto T = chebyshev(exec, A, matrix);
  auto const x = random_block<Scalar>(216, 4, 1);
  auto const X = block<Scalar>(exec, x), Y = block<Scalar>(exec, x);
  T.apply(exec, X, Y);
  Kokkos::deep_copy(exec, matrix.values, Scalar(0));  // then the weights alone are left
  auto const weights = constant_weights<Scalar, Exec>(216, Real(0.5));
  auto const seen = observed([&] {
    T.refresh(weights, Real(0.25), Real(2));
    T.apply(exec, X, Y);
  });
  EXPECT_TRUE(seen.allocations.empty());
  ChebyshevPreconditioner<Scalar, Exec> const fresh(A, weights, Real(0.25), Real(2), T.degree());
  exec.fence("Blockspan::test");
  EXPECT_TRUE(same_bits(values_of<Scalar>(Y), applied(exec, fresh, x)));
}

TYPED_TEST(Chebyshev, RefusesWhatMakesNoSense) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  Exec const exec;
  auto const matrix = generate<Scalar>(exec, "laplace5:4");
  auto const A = matrix_operator(exec, matrix);
  Real const nan = std::numeric_limits<Real>::quiet_NaN();
  Real const infinity = std::numeric_limits<Real>::infinity();
  auto const refusal = [&](Real lower, Real upper, int degree, std::int64_t n = 16) {
    return message_of([&] {
      ChebyshevPreconditioner<Scalar, Exec>(A, constant_weights<Scalar, Exec>(n), lower, upper,
                                            degree);
    });
  };
  std::string const where = "blockspan::ChebyshevPreconditioner: ";
  EXPECT_EQ(refusal(Real(0.5), 1, 0), where + "degree 0; the least is 1");
  EXPECT_EQ(refusal(Real(0.5), 1, 3, 15), where + "the operator has 16 rows, there are 15 factors");
  EXPECT_EQ(refusal(2, 1, 3), where + "the interval [2, 1] is not one of positive numbers");
  for (auto const& [lower, upper] :
       {std::pair(Real(0), Real(1)), std::pair(Real(1), Real(1)), std::pair(Real(-1), Real(1)),
        std::pair(nan, Real(1)), std::pair(Real(1), nan), std::pair(Real(1), infinity)})
    EXPECT_THAT(refusal(lower, upper, 3), HasSubstr("is not one of positive numbers"));
  for (double const ratio : {1.0, 0.5, std::nan("")})
    EXPECT_THAT(message_of([&] { chebyshev(exec, A, matrix, {.ratio = ratio}); }),
                HasSubstr("is not above 1"));
  auto const T = chebyshev(exec, A, matrix);
  auto const X = block<Scalar>(exec, random_block<Scalar>(16, 2, 1));
  auto const Y = block<Scalar>(exec, random_block<Scalar>(15, 2, 1));
  EXPECT_EQ(message_of([&] { T.apply(exec, X, Y); }),
            where + "X and Y must be 16 x k (X: 16 x 2; Y: 15 x 2)");
}

}  // namespace
}  // namespace blockspan::test
