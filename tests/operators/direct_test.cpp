// Sparse factors against residuals in extended precision, known spectra and LAPACK.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/direct.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/lapack.hpp>

#include "operators/apply.hpp"
#include "operators/definite.hpp"
#include "operators/small_dense.hpp"
#include "support/compare.hpp"
#include "support/grid_spectrum.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class Config>
class Direct : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_direct()) GTEST_SKIP() << "built without MUMPS";
  }

  typename Config::Exec exec_;
};
TYPED_TEST_SUITE(Direct, Configs, ConfigNames);

/// A dense Hermitian matrix as a sparse one, without its zeros.
template <class Scalar>
HostMatrix<Scalar> sparse(HostBlock<Scalar> const& B) {
  HostMatrix<Scalar> A{"sparse", B.rows(), B.columns(), {0}, {}, {}};
  for (std::int64_t i = 0; i < B.rows(); ++i) {
    for (std::int64_t j = 0; j < B.columns(); ++j)
      if (B(i, j) != Scalar(0)) A.add(j, B(i, j));
    A.end_row();
  }
  return A;
}

template <class Scalar>
HostMatrix<Scalar> diagonal_matrix(std::vector<double> const& d) {
  HostMatrix<Scalar> A{"diagonal", static_cast<std::int64_t>(d.size()), 0, {0}, {}, {}};
  A.columns = A.rows;
  for (std::size_t i = 0; i < d.size(); ++i) {
    A.add(static_cast<std::int64_t>(i), Scalar(static_cast<real_t<Scalar>>(d[i])));
    A.end_row();
  }
  return A;
}

/// A chain with free ends: semidefinite, its null vector is constant.
template <class Scalar>
HostBlock<Scalar> free_chain(std::int64_t n) {
  HostBlock<Scalar> B(n, n);
  for (std::int64_t i = 0; i + 1 < n; ++i) {
    B(i, i) += Scalar(1), B(i + 1, i + 1) += Scalar(1);
    B(i, i + 1) = B(i + 1, i) = Scalar(-1);
  }
  return B;
}

/// The largest of |S (b - B y)|_i over what a backward stable solve in the scaled coordinates may
/// leave, n u |S B S| |S^-1 y|, and over the rounding of y to Scalar. S: |diag B|^-1/2, or 1.
template <class Scalar>
long double residual_over_bound(HostBlock<Scalar> const& B, HostBlock<Scalar> const& b,
                                HostBlock<Scalar> const& y) {
  auto const n = B.rows();
  std::vector<long double> s;
  for (std::int64_t i = 0; i < n; ++i)
    s.push_back(B(i, i) == Scalar(0) ? 1 : 1 / std::sqrt(magnitude(B(i, i))));
  long double norm = 0, worst = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) norm += std::norm(extended(B(i, j)) * s[i] * s[j]);
  for (std::int64_t c = 0; c < b.columns(); ++c) {
    long double size = 0, residual = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      extended_t<Scalar> r = extended(b(i, c));
      for (std::int64_t j = 0; j < n; ++j) r -= extended(B(i, j)) * extended(y(j, c));
      residual += std::norm(r * s[i]);
      size += std::norm(extended(y(i, c)) / s[i]);
    }
    long double const bound =
        static_cast<long double>(n) * unit_roundoff<Scalar> * std::sqrt(norm) * std::sqrt(size);
    worst = std::max(worst, std::sqrt(residual) / bound);
  }
  return worst;
}

TYPED_TEST(Direct, SolvesAsAccuratelyAsTheoryPromises) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const& exec = this->exec_;
  for (std::int64_t const n : {1, 2, 13, 60})
    for (std::int64_t const k : {1, 5, 70}) {
      HostBlock<Scalar> B;
      auto const A = to_device(exec, sparse_definite<Scalar>(n, B));
      auto const b = random_block<Scalar>(n, k, 1);
      for (auto const use : {DirectUse::solve, DirectUse::definite, DirectUse::preconditioner}) {
        auto const T = direct(exec, A, {.use = use});
        EXPECT_EQ(T.rows(), n);
        EXPECT_LE(residual_over_bound(B, b, applied<Scalar, Exec>(exec, T, b)), 4)
            << "n = " << n << ", k = " << k;
        EXPECT_EQ(T.report().factorizations, 1);
        EXPECT_EQ(T.report().negative_pivots, 0);
        EXPECT_EQ(T.report().diagonal_shift, 0);
        EXPECT_EQ(T.report().mass_shift, 0);
        EXPECT_THAT(T.report().notes(), IsEmpty());
      }
    }
}

TYPED_TEST(Direct, SolvesIndefiniteSystems) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Random random(3);
  for (std::int64_t const n : {2, 20, 50}) {
    auto B = hermitian_block<Scalar>(n, random, 0, 5.0);
    for (std::int64_t i = 0; i < n; i += 3) B(i, i) = Scalar(0);  // pivots of two rows
    auto const b = random_block<Scalar>(n, 3, 1);
    auto const T = direct(this->exec_, to_device(this->exec_, sparse(B)));
    EXPECT_LE(residual_over_bound(B, b, applied<Scalar, Exec>(this->exec_, T, b)), 40) << n;
    SmallMatrix<Scalar> G("G", n, n);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) G(i, j) = B(i, j);
    std::vector<real_t<Scalar>> values;
    ASSERT_EQ(lapack::hermitian_eigen(G, values), 0);
    EXPECT_EQ(T.report().negative_pivots,
              std::count_if(values.begin(), values.end(), [](auto v) { return v < 0; }));
  }
}

TYPED_TEST(Direct, CountsEigenvaluesBelowTheShift) {
  using Scalar = typename TypeParam::Scalar;
  auto const A = generate<Scalar>(this->exec_, "laplace7:5x5x5");
  auto const spectrum = grid7_spectrum(5);
  for (double const sigma : {0.5, 1.9, 4.4, 6.1, 9.3, 12.5}) {
    auto const below = std::count_if(spectrum.begin(), spectrum.end(),
                                     [&](double value) { return value < sigma; });
    EXPECT_EQ(direct(this->exec_, A, {.shift = -sigma}).report().negative_pivots, below) << sigma;
  }
}

TYPED_TEST(Direct, CountsThoseOfAPencil) {
  using Scalar = typename TypeParam::Scalar;
  std::vector<double> const k{4, 9, 1, 30, 7, 2}, m{2, 3, 4, 1, 7, 0.5};  // 2, 3, 1/4, 30, 1, 4
  auto const K = to_device(this->exec_, diagonal_matrix<Scalar>(k));
  auto const M = to_device(this->exec_, diagonal_matrix<Scalar>(m));
  for (auto const& [sigma, below] : {std::pair(0.1, 0), {0.3, 1}, {2.5, 3}, {5.0, 5}, {31.0, 6}})
    EXPECT_EQ(direct(this->exec_, K, {.shift = -sigma}, &M).report().negative_pivots, below);
}

/// Whether a dense operator is Hermitian positive definite up to the rounding of its entries.
template <class Scalar>
::testing::AssertionResult is_definite(HostBlock<Scalar> const& T) {
  auto X = extended_block(T);
  long double const norm = X.norm();
  for (std::int64_t i = 0; i < X.order; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      auto const difference = std::abs(X(i, j) - conjugate(X(j, i)));
      if (difference > 100 * unit_roundoff<Scalar> * norm)
        return ::testing::AssertionFailure() << "not Hermitian: " << i << ", " << j;
      X(i, j) = X(j, i) = (X(i, j) + conjugate(X(j, i))) / 2.0L;
      if (i != j) X(j, i) = conjugate(X(i, j));
    }
  // rounding of entries beside a large null part must not decide
  for (std::int64_t i = 0; i < X.order; ++i) X(i, i) += 100 * unit_roundoff<Scalar> * norm;
  auto const pivot = smallest_pivot(X);
  if (pivot > 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "a pivot is " << pivot;
}

TYPED_TEST(Direct, RaisesTheDiagonalOfSemidefiniteMatrices) {
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

TYPED_TEST(Direct, RaisesTheDiagonalOfAFreeBody) {
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

TYPED_TEST(Direct, PinsUnknownsOfSingularMatrices) {
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

TYPED_TEST(Direct, ShiftsIndefiniteMatricesByTheMass) {
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

TYPED_TEST(Direct, SolvesGradedAndPenalisedMatrices) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  std::int64_t const n = 40;
  Random random(4);
  auto B = hermitian_block<Scalar>(n, random, 15);  // units from 2^-15 to 2^15
  B(3, 3) += Scalar(real_t<Scalar>(1e30)), B(17, 17) += Scalar(real_t<Scalar>(1e10));
  auto const b = random_block<Scalar>(n, 2, 1);
  for (auto const use : {DirectUse::solve, DirectUse::definite, DirectUse::preconditioner}) {
    auto const T = direct(this->exec_, to_device(this->exec_, sparse(B)), {.use = use});
    EXPECT_LE(residual_over_bound(B, b, applied<Scalar, Exec>(this->exec_, T, b)), 4);
    EXPECT_EQ(T.report().diagonal_shift, 0);
    EXPECT_EQ(T.report().factorizations, 1);
    EXPECT_EQ(T.report().null_pivots, 0);
  }
}

TYPED_TEST(Direct, SolvesAtTheEndsOfTheRange) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  auto const tiny = std::numeric_limits<real_t<Scalar>>::min(), huge = 1 / tiny;
  for (real_t<Scalar> const size : {tiny, huge / 8}) {
    HostBlock<Scalar> b(3, 1, Scalar(size));
    HostMatrix<Scalar> A{"chain", 3, 3, {0, 2, 5, 7}, {0, 1, 0, 1, 2, 1, 2}, {}};
    for (int const entry : {2, -1, -1, 2, -1, -1, 2})
      A.values.push_back(Scalar(static_cast<real_t<Scalar>>(entry) * size));
    auto const T = direct(this->exec_, to_device(this->exec_, A));
    auto const y = applied<Scalar, Exec>(this->exec_, T, b);
    EXPECT_NEAR(static_cast<double>(real_part(y(0, 0))), 1.5, 1e-5);
    EXPECT_NEAR(static_cast<double>(real_part(y(1, 0))), 2, 1e-5);
  }
}

TYPED_TEST(Direct, TakesColumnsOfWiderBlocks) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const& exec = this->exec_;
  std::int64_t const n = 30;
  HostBlock<Scalar> B;
  auto const T = direct(exec, to_device(exec, sparse_definite<Scalar>(n, B)));
  auto const wide = random_block<Scalar>(n, 9, 1);
  auto const X = block<Scalar>(exec, wide), Y = block<Scalar>(exec, wide);
  auto const part = [](auto const& Z) { return Kokkos::subview(Z, Kokkos::ALL, std::pair(2, 6)); };
  T.apply(exec, part(X), part(Y));
  auto const got = values_of<Scalar>(Y);
  HostBlock<Scalar> x(n, 4);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < 4; ++j) x(i, j) = wide(i, j + 2);
  auto const wanted = applied<Scalar, Exec>(exec, T, x);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < 9; ++j)
      EXPECT_EQ(got(i, j), j >= 2 && j < 6 ? wanted(i, j - 2) : wide(i, j));
  HostBlock<Scalar> const wrong(n + 1, 2);
  EXPECT_THAT(message_of([&] { applied<Scalar, Exec>(exec, T, wrong); }),
              HasSubstr("X and Y must be 30 x k"));
}

TYPED_TEST(Direct, GivesTheSameBitsFromRunToRun) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  auto const A = generate<Scalar>(this->exec_, "laplace27:8");
  auto const x = random_block<Scalar>(512, 7, 1);
  auto const first = applied<Scalar, Exec>(this->exec_, direct(this->exec_, A), x);
  for (int run = 0; run < 3; ++run)
    EXPECT_TRUE(same_bits(first, applied<Scalar, Exec>(this->exec_, direct(this->exec_, A), x)));
}

TYPED_TEST(Direct, RefreshTakesNewValues) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const& exec = this->exec_;
  HostBlock<Scalar> B;
  auto host = sparse_definite<Scalar>(40, B);
  for (auto const use : {DirectUse::solve, DirectUse::preconditioner}) {
    auto T = direct(exec, to_device(exec, host), {.use = use});
    auto const x = random_block<Scalar>(40, 3, 1);
    for (auto& value : host.values) value *= real_t<Scalar>(-1.75);
    auto const A = to_device(exec, host);
    T.refresh(exec, A);
    EXPECT_TRUE(same_bits(applied<Scalar, Exec>(exec, T, x),
                          applied<Scalar, Exec>(exec, direct(exec, A, {.use = use}), x)));
    EXPECT_EQ(T.report().negative_pivots, use == DirectUse::solve ? 40 : 0);
  }
}

TYPED_TEST(Direct, SolvesFullMatrices) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Random random(8);
  for (std::int64_t const n : {3, 150}) {  // all rows have the same neighbours
    auto const B = hermitian_block<Scalar>(n, random);
    auto const b = random_block<Scalar>(n, 2, 1);
    auto const T = direct(this->exec_, to_device(this->exec_, sparse(B)));
    EXPECT_LE(residual_over_bound(B, b, applied<Scalar, Exec>(this->exec_, T, b)), 4);
  }
}

TYPED_TEST(Direct, OfNothingIsTheInverseOfNothing) {
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

TYPED_TEST(Direct, RefusesInWords) {
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

TEST(DirectWithoutMumps, SaysHowToGetIt) {
  if (has_direct()) GTEST_SKIP() << "built with MUMPS";
  using Exec = Kokkos::DefaultHostExecutionSpace;
  Exec const exec;
  EXPECT_EQ(message_of([&] {
              direct(exec, to_device(exec, diagonal_matrix<double>({1, 2})));
            }),
            "blockspan::direct: needs the library MUMPS: apt-get install libmumps-seq-dev and "
            "build again");
}

}  // namespace
}  // namespace blockspan::test
