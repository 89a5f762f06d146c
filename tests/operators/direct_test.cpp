// Sparse factors against residuals in extended precision, known spectra and LAPACK.
#include "operators/direct.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/direct.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/lapack/lapack.hpp>

#include "operators/definite.hpp"
#include "support/compare.hpp"
#include "support/grid_spectrum.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class Config>
class Direct : public DirectTest<Config> {};
TYPED_TEST_SUITE(Direct, Configs, ConfigNames);

TYPED_TEST(Direct, SolvesAsAccuratelyAsTheoryPromises) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const& exec = this->exec_;
  for (std::int64_t const n : {1, 2, 13, 60})
    for (std::int64_t const k : {1, 5, 70}) {
      HostBlock<Scalar> B;
      auto const A = to_device(exec, sparse_definite<Scalar>(n, B));
      auto const b = random_block<Scalar>(n, k, 1);
      for (auto const use : {DirectUse::solve, DirectUse::definite}) {
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

TYPED_TEST(Direct, SolvesGradedAndPenalisedMatrices) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  std::int64_t const n = 40;
  Random random(4);
  auto B = hermitian_block<Scalar>(n, random, 15);  // units from 2^-15 to 2^15
  B(3, 3) += Scalar(real_t<Scalar>(1e30)), B(17, 17) += Scalar(real_t<Scalar>(1e10));
  auto const b = random_block<Scalar>(n, 2, 1);
  for (auto const use : {DirectUse::solve, DirectUse::definite}) {
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

/// As many entries elsewhere are another pattern, whose values must not go to the old places; the
/// factors stay those of the old values.
TYPED_TEST(Direct, RefreshRefusesAnotherPattern) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const& exec = this->exec_;
  auto const coupled = [&](int i, int j) {
    HostBlock<Scalar> B(4, 4, Scalar(0));
    for (int d = 0; d < 4; ++d) B(d, d) = Scalar(4);
    B(i, j) = B(j, i) = Scalar(1);
    return to_device(exec, sparse(B));
  };
  for (auto const use : {DirectUse::solve, DirectUse::definite, DirectUse::preconditioner}) {
    auto T = direct(exec, coupled(1, 0), {.use = use});
    auto const x = random_block<Scalar>(4, 3, 1);
    auto const before = applied<Scalar, Exec>(exec, T, x);
    EXPECT_THAT(message_of([&] { T.refresh(exec, coupled(3, 2)); }), HasSubstr("another pattern"));
    EXPECT_THAT(message_of([&] {
                  T.refresh(exec, to_device(exec, diagonal_matrix<Scalar>({1, 2, 3, 4})));
                }),
                HasSubstr("another pattern"));
    EXPECT_TRUE(same_bits(before, applied<Scalar, Exec>(exec, T, x)));
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

}  // namespace
}  // namespace blockspan::test
