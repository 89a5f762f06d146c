#include <cmath>

#include <gtest/gtest.h>

#include <blockspan/operators/diagonal.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>

#include "operators/apply.hpp"
#include "spmm/battery.hpp"
#include "spmm/reference.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class Config>
class Operators : public ::testing::Test {};
TYPED_TEST_SUITE(Operators, Configs, ConfigNames);

template <class Scalar>
Scalar sample() {
  if constexpr (is_complex_v<Scalar>)
    return Scalar(3, -4);
  else
    return Scalar(-5);
}

TYPED_TEST(Operators, MatrixOperatorMultiplies) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = arrow<Scalar>(40);
  auto const A = matrix_operator(exec, to_device(exec, host), 4);
  EXPECT_EQ(A.rows(), 40);
  LinearOperator<Scalar, Exec> const& op = A;
  auto const x = random_block<Scalar>(40, 9, 1);
  HostBlock<Scalar> const y(40, 9, not_a_number<Scalar>());
  auto const X = block<Scalar>(exec, x), Y = block<Scalar>(exec, y);
  op.apply(exec, X, Y);
  exec.fence("Blockspan::test");
  EXPECT_TRUE(
      matches(values_of<Scalar>(Y), reference_product(Op::none, Scalar(1), host, x, Scalar(0), y)));
}

TYPED_TEST(Operators, SumsBesideAProductAreThoseOfTheProductOrNone) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  Exec const exec;
  auto const host = arrow<Scalar>(400);
  auto const A = matrix_operator(exec, to_device(exec, host), 4);
  LinearOperator<Scalar, Exec> const& op = A;
  auto const x = random_block<Scalar>(400, 5, 1);
  HostBlock<Scalar> const y(400, 5, not_a_number<Scalar>());
  auto const X = block<Scalar>(exec, x), Y = block<Scalar>(exec, y);
  Kokkos::View<Scalar*, typename Exec::memory_space> const xy("Blockspan::test", 5);
  Kokkos::View<Real*, typename Exec::memory_space> const yy("Blockspan::test", 5);
  bool const summed = op.apply_dots(exec, X, Y, {}, xy, yy);
  exec.fence("Blockspan::test");
  bool const on_host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;
  EXPECT_EQ(summed, !on_host);
  auto const product = values_of<Scalar>(Y);
  if (!summed) {
    EXPECT_TRUE(same_bits(product, y));
    return;
  }
  EXPECT_TRUE(matches(product, reference_product(Op::none, Scalar(1), host, x, Scalar(0), y)));
  auto const dots = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), xy);
  auto const squares = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), yy);
  for (int j = 0; j < 5; ++j) {
    auto wanted = extended(Scalar(0)), square = wanted;
    long double size = 0;
    for (int i = 0; i < 400; ++i) {
      wanted += conjugate(extended(x(i, j))) * extended(product(i, j));
      square += conjugate(extended(product(i, j))) * extended(product(i, j));
      size += magnitude(x(i, j)) * magnitude(product(i, j));
    }
    long double const error = 2 * gamma_bound<Scalar>(402);
    EXPECT_LE(std::abs(extended(dots(j)) - wanted), error * size);
    EXPECT_LE(std::abs(squares(j) - std::real(square)), error * std::real(square));
  }
}

TYPED_TEST(Operators, NormBoundIsTheLargestRowSumRoundedUp) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const host =
      random_matrix<Scalar>("random", 50, 50, [](std::int64_t i) { return 1 + i * i % 31; });
  long double norm = 0;
  for (std::int64_t i = 0; i < host.rows; ++i) {
    long double sum = 0;
    for (auto k = host.offsets[i]; k < host.offsets[i + 1]; ++k) sum += magnitude(host.values[k]);
    norm = std::max(norm, sum);
  }
  auto const bound = matrix_operator(exec, to_device(exec, host)).facts().norm_bound;
  ASSERT_TRUE(bound.has_value());
  EXPECT_GE(static_cast<long double>(*bound), norm);
  EXPECT_LE(static_cast<long double>(*bound), norm * (1 + 200 * unit_roundoff<Scalar>));
}

TYPED_TEST(Operators, NormBoundOfNotANumberIsNotANumber) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto host = band<Scalar>(30);
  host.values[20] = not_a_number<Scalar>();
  EXPECT_TRUE(std::isnan(*matrix_operator(exec, to_device(exec, host)).facts().norm_bound));
}

/// 5 x 5: a_00 negative or complex, a_11 given twice, a_22 missing, a_33 zero, a_44 positive.
template <class Scalar>
HostMatrix<Scalar> odd_diagonal() {
  HostMatrix<Scalar> A{"odd diagonal", 5, 5, {0}, {}, {}};
  A.add(3, Scalar(7)), A.add(0, sample<Scalar>()), A.end_row();
  A.add(1, Scalar(1.5)), A.add(0, Scalar(9)), A.add(1, Scalar(0.5)), A.end_row();
  A.add(1, Scalar(2)), A.end_row();
  A.add(3, Scalar(0)), A.end_row();
  A.add(4, Scalar(4)), A.end_row();
  return A;
}

TYPED_TEST(Operators, DiagonalAddsDuplicatesUp) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const d = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(), diagonal(exec, to_device(exec, odd_diagonal<Scalar>())));
  Scalar const wanted[] = {sample<Scalar>(), Scalar(2), Scalar(0), Scalar(0), Scalar(4)};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(d(i), wanted[i]) << i;
}

TYPED_TEST(Operators, JacobiDividesByTheMagnitudeOfTheDiagonal) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const T = jacobi(exec, to_device(exec, odd_diagonal<Scalar>()));
  EXPECT_EQ(T.rows(), 5);
  auto const x = random_block<Scalar>(5, 3, 1);
  HostBlock<Scalar> const y(5, 3, not_a_number<Scalar>());
  auto const X = block<Scalar>(exec, x), Y = block<Scalar>(exec, y);
  T.apply(exec, X, Y);
  exec.fence("Blockspan::test");
  double const magnitudes[] = {5, 2, 2, 2, 4};  // zeros have the largest weight of the others
  auto const result = values_of<Scalar>(Y);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j)
      EXPECT_LE(std::abs(extended(result(i, j)) -
                         extended(x(i, j)) / static_cast<long double>(magnitudes[i])),
                4 * unit_roundoff<Scalar> * magnitude(x(i, j)));
}

TYPED_TEST(Operators, AreSquareAndSaySo) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = to_device(exec, random_matrix<Scalar>("wide", 3, 5, [](auto) { return 2; }));
  EXPECT_THAT(message_of([&] { matrix_operator(exec, A); }), HasSubstr("must be square (3 x 5)"));
  EXPECT_THAT(message_of([&] { jacobi(exec, A); }), HasSubstr("must be square (3 x 5)"));
}

/// b = A x, rounded: what is left is rounding errors, of which a residual in the working precision
/// has no digit.
TYPED_TEST(Operators, ResidualsInTwiceThePrecisionHaveDigitsOfRoundingErrors) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = random_matrix<Scalar>("square", 60, 60, [](auto i) { return 3 + i % 40; });
  auto const A = matrix_operator(exec, to_device(exec, host), 4);
  LinearOperator<Scalar, Exec> const& op = A;
  auto x = random_block<Scalar>(60, 3, 1);
  for (int i = 0; i < 60; ++i)  // the products of short numbers are exact
    for (int j = 0; j < 3; ++j) x(i, j) /= real_t<Scalar>(3);
  auto const b = applied(exec, op, x);
  auto const X = block<Scalar>(exec, x), R = block<Scalar>(exec, b);
  ASSERT_TRUE(op.entries().subtract_accurately(exec, X, R));
  exec.fence("Blockspan::test");
  auto const r = values_of<Scalar>(R);
  long double largest = 0;
  for (int i = 0; i < 60; ++i)
    for (int j = 0; j < 3; ++j) {
      auto exact = extended(b(i, j));
      long double terms = std::abs(exact);
      for (int k = host.offsets[i]; k < host.offsets[i + 1]; ++k) {
        auto const term = extended(host.values[k]) * extended(x(host.indices[k], j));
        exact -= term, terms += std::abs(term);
      }
      largest = std::max(largest, std::abs(exact));
      // the reference has 64 bits
      EXPECT_LE(std::abs(extended(r(i, j)) - exact),
                2 * unit_roundoff<Scalar> * std::abs(exact) + 50 * 0x1p-64L * terms);
    }
  EXPECT_GT(largest, 0);
}

}  // namespace
}  // namespace blockspan::test
