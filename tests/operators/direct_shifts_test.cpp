// What sparse factors do with singular and indefinite matrices, and what they refuse.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/direct.hpp>
#include <blockspan/sparse/generators.hpp>

#include "operators/definite.hpp"
#include "operators/direct.hpp"
#include "support/compare.hpp"
#include "support/grid_spectrum.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Config>
class DirectShifts : public DirectTest<Config> {};
TYPED_TEST_SUITE(DirectShifts, Configs, ConfigNames);

TYPED_TEST(DirectShifts, RaisesTheDiagonalOfSemidefiniteMatrices) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const& exec = this->exec_;
  auto const chain = free_chain<Scalar>(50);
  for (auto const use : {DirectUse::definite, DirectUse::preconditioner}) {
    auto const T = direct(exec, to_device(exec, sparse(chain)), {.use = use});
    EXPECT_EQ(T.report().diagonal_shift, 0x1p-35);
    EXPECT_EQ(T.report().mass_shift, 0);
    EXPECT_THAT(
        T.report().notes(),
        ElementsAre(HasSubstr("singular to working precision, so its diagonal was raised")));
    EXPECT_TRUE(is_definite(dense<Scalar, Exec>(exec, T)));
    // differences have no part along the null vector; it may come in as T's rounding only
    HostBlock<Scalar> b(50, 1);
    b(7, 0) = Scalar(1), b(31, 0) = Scalar(-1);
    auto const y = applied<Scalar, Exec>(exec, T, b);
    for (std::int64_t i = 0; i + 1 < 50; ++i)  // the force between 7 and 31, none elsewhere
      EXPECT_NEAR(static_cast<double>(real_part(y(i, 0) - y(i + 1, 0))), i >= 7 && i < 31 ? 1 : 0,
                  1e-7 + 100 * unit_roundoff<Scalar>)
          << i;
  }
}

TYPED_TEST(DirectShifts, RaisesTheDiagonalOfAFreeBody) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (sizeof(real_t<Scalar>) == 8) {
    auto const A = generate<Scalar>(this->exec_, "elasticity:4:free");
    auto const T = direct(this->exec_, A, {.use = DirectUse::preconditioner});
    EXPECT_GT(T.report().diagonal_shift, 0);
    EXPECT_LE(T.report().diagonal_shift, 0x1p-26);
    EXPECT_EQ(T.report().mass_shift, 0);
    EXPECT_TRUE(is_definite(dense<Scalar, Exec>(this->exec_, T)));
    // with the six null vectors as the only large part: x^H T x over x^H x for random x has it
    auto const x = random_block<Scalar>(T.rows(), 1, 1);
    auto const y = applied<Scalar, Exec>(this->exec_, T, x);
    long double size = 0;
    for (std::int64_t i = 0; i < T.rows(); ++i) size = std::max(size, magnitude(y(i, 0)));
    EXPECT_GT(size, 0x1p20);
  }
}

TYPED_TEST(DirectShifts, PinsUnknownsOfSingularMatrices) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  auto const T = direct(this->exec_, to_device(this->exec_, sparse(free_chain<Scalar>(50))));
  EXPECT_EQ(T.report().null_pivots, 1);
  EXPECT_EQ(T.report().negative_pivots, 0);
  EXPECT_THAT(T.report().notes(), ElementsAre(HasSubstr("1 of its unknowns are pinned")));
  HostBlock<Scalar> b(50, 1);
  b(7, 0) = Scalar(1), b(31, 0) = Scalar(-1);
  auto const y = applied<Scalar, Exec>(this->exec_, T, b);
  EXPECT_LE(residual_over_bound(free_chain<Scalar>(50), b, y), 4);
}

TYPED_TEST(DirectShifts, ShiftsIndefiniteMatricesByTheMass) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const& exec = this->exec_;
  auto const A = generate<Scalar>(exec, "laplace7:5x5x5");
  auto const spectrum = grid7_spectrum(5);
  for (double const shift : {-1.0, -7.3}) {
    auto const T = direct(exec, A, {.use = DirectUse::preconditioner, .shift = shift});
    double const least = -(spectrum[0] + shift);
    EXPECT_GT(T.report().mass_shift, least);
    EXPECT_LE(T.report().mass_shift, 1.0301 * least);
    EXPECT_EQ(T.report().diagonal_shift, 0);
    EXPECT_EQ(T.report().negative_pivots,
              std::count_if(spectrum.begin(), spectrum.end(),
                            [&](double value) { return value < -shift; }));
    EXPECT_LE(T.report().factorizations, 20);
    EXPECT_THAT(T.report().notes(),
                ElementsAre(HasSubstr("times the mass matrix (without one, the identity) was")));
    EXPECT_TRUE(is_definite(dense<Scalar, Exec>(exec, T)));
  }
  // the least of k / m is -5 / 0.01
  auto const K = to_device(exec, diagonal_matrix<Scalar>({4, -5, 1, -30}));
  auto const M = to_device(exec, diagonal_matrix<Scalar>({2, 0.01, 4, 1}));
  auto const T = direct(exec, K, {.use = DirectUse::preconditioner}, &M);
  EXPECT_GT(T.report().mass_shift, 500);
  EXPECT_LE(T.report().mass_shift, 515.1);
}

/// The matrix of a chain with this diagonal and -1 beside it: diagonal - 2 cos(k pi / (n + 1)).
template <class Scalar>
HostMatrix<Scalar> toeplitz(std::int64_t n, double diagonal) {
  HostMatrix<Scalar> A{"toeplitz", n, n, {0}, {}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j < std::min(n, i + 2); ++j)
      A.add(j, Scalar(static_cast<real_t<Scalar>>(i == j ? diagonal : -1)));
    A.end_row();
  }
  return A;
}

TYPED_TEST(DirectShifts, TakesTheMassAwayWhereZeroIsFarFromTheLeastEigenvalues) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const& exec = this->exec_;
  constexpr std::int64_t n = 150;
  auto const value = [](int k) { return 4 - 2 * std::cos(k * std::acos(-1.0) / (n + 1)); };
  auto const A = to_device(exec, toeplitz<Scalar>(n, 4));
  auto const M = to_device(exec, diagonal_matrix<Scalar>(std::vector<double>(n, 0.25)));
  for (double const mass : {1.0, 0.25}) {
    auto const T = direct(exec, A, {.use = DirectUse::preconditioner}, mass == 1.0 ? nullptr : &M);
    double const zero = -T.report().mass_shift * mass;
    EXPECT_LT(zero, value(1));
    EXPECT_LT(value(1) - zero, value(9) - value(1));
    EXPECT_LE(T.report().factorizations, 10);
    EXPECT_EQ(T.report().negative_pivots, 0);
    EXPECT_THAT(T.report().notes(), ElementsAre(HasSubstr("far from zero beside their distances")));
    auto const inverse = dense<Scalar, Exec>(exec, T);
    EXPECT_TRUE(is_definite(inverse));
    auto const shifted = toeplitz<Scalar>(n, 4 - zero);
    HostBlock<Scalar> B(n, n);
    for (std::int64_t i = 0; i < n; ++i)
      for (auto e = shifted.offsets[i]; e < shifted.offsets[i + 1]; ++e)
        B(i, shifted.indices[e]) = shifted.values[e];
    auto const b = random_block<Scalar>(n, 2, 1);
    EXPECT_LE(residual_over_bound(B, b, applied<Scalar, Exec>(exec, T, b)), 4);
  }
  // stiff, and for a linear system
  EXPECT_EQ(
      direct(exec, to_device(exec, toeplitz<Scalar>(n, 2)), {.use = DirectUse::preconditioner})
          .report()
          .factorizations,
      1);
  EXPECT_EQ(direct(exec, A, {.use = DirectUse::definite}).report().mass_shift, 0);
}

TYPED_TEST(DirectShifts, OfNothingIsTheInverseOfNothing) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  HostMatrix<Scalar> const nothing{"0 x 0", 0, 0, {0}, {}, {}};
  EXPECT_EQ(direct(this->exec_, to_device(this->exec_, nothing)).rows(), 0);
  HostMatrix<Scalar> const zero{"zero", 3, 3, {0, 0, 0, 0}, {}, {}};
  auto const pinned = direct(this->exec_, to_device(this->exec_, zero));
  EXPECT_EQ(pinned.report().null_pivots, 3);
  auto const T =
      direct(this->exec_, to_device(this->exec_, zero), {.use = DirectUse::preconditioner});
  EXPECT_TRUE(is_definite(dense<Scalar, Exec>(this->exec_, T)));
}

TYPED_TEST(DirectShifts, RefusesInWords) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  Exec const& exec = this->exec_;
  std::string const where = "blockspan::direct: ";
  auto const refusal = [&](HostMatrix<Scalar> const& A, DirectOptions const& options = {}) {
    return message_of([&] { direct(exec, to_device(exec, A), options); });
  };
  auto const wide = random_matrix<Scalar>("wide", 3, 5, [](auto) { return 2; });
  EXPECT_EQ(refusal(wide), where + "the matrix must be square (3 x 5)");
  auto const infinity = std::numeric_limits<real_t<Scalar>>::infinity();
  HostMatrix<Scalar> bad{"bad", 3, 3, {0, 1, 2, 4}, {0, 1, 0, 2}, {}};
  bad.values = {Scalar(1), Scalar(1), not_a_number<Scalar>(), Scalar(1)};
  EXPECT_EQ(refusal(bad), where + "the matrix has a NaN in row 3, column 1 (counted from 1)");
  bad.values[2] = Scalar(infinity);
  EXPECT_EQ(refusal(bad),
            where + "the matrix has an infinite entry in row 3, column 1 (counted from 1)");
  auto const indefinite = diagonal_matrix<Scalar>({3, -1, 2, -4});
  EXPECT_EQ(refusal(indefinite, {.use = DirectUse::definite}),
            where + "the matrix is not positive definite: it has 2 negative eigenvalues");
  auto const definite = diagonal_matrix<Scalar>({3, 1, 2, 4});
  EXPECT_EQ(refusal(definite, {.shift = infinity}), where + "the shift is inf");
  auto const A = generate<Scalar>(exec, "laplace7:12x12x12");
  EXPECT_THAT(message_of([&] { direct(exec, A, {.memory_limit = 1000}); }),
              ::testing::MatchesRegex("blockspan::direct: out of memory: the factors of .* rows "
                                      "need [0-9]+ bytes, where 1000 are allowed"));
  auto const small = to_device(exec, definite);
  EXPECT_EQ(message_of([&] { direct(exec, A, {}, &small); }),
            where + "the mass matrix has 4 rows, the matrix 1728");
  auto const massless = to_device(exec, diagonal_matrix<Scalar>({1, 0, 1, 1}));
  EXPECT_THAT(message_of([&] {
                direct(exec, to_device(exec, indefinite), {.use = DirectUse::preconditioner},
                       &massless);
              }),
              HasSubstr("no multiple of the mass matrix makes the matrix positive definite"));
  auto T = direct(exec, small);
  EXPECT_EQ(message_of([&] { T.refresh(exec, A); }),
            where + "made for 4 rows, the matrix has 1728");
}

}  // namespace
}  // namespace blockspan::test
