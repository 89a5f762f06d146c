// The cycle as an operator: linear, Hermitian positive definite, a contraction, the same bits.
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include <blockspan/sparse/convert.hpp>
#include <blockspan/sparse/graph.hpp>
#include <blockspan/support/lapack/lapack.hpp>

#include "multigrid/problems.hpp"
#include "operators/apply.hpp"
#include "support/compare.hpp"
#include "support/messages.hpp"
#include "support/observed.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class MultigridCycle : public ::testing::Test {};
TYPED_TEST_SUITE(MultigridCycle, EveryConfig, ConfigNames);

/// Relative errors of a cycle in the precision of `report`.
template <class Scalar>
double rounding(MultigridReport const& report) {
  return report.single ? 1e-6 : 2e3 * static_cast<double>(unit_roundoff<Scalar>);
}

template <class Scalar>
double norm(HostBlock<Scalar> const& X) {
  double sum = 0;
  for (std::int64_t i = 0; i < X.rows(); ++i)
    for (std::int64_t j = 0; j < X.columns(); ++j)
      sum += static_cast<double>(squared_magnitude(X(i, j)));
  return std::sqrt(sum);
}

template <class Scalar>
HostBlock<Scalar> difference(HostBlock<Scalar> const& X, HostBlock<Scalar> const& Y) {
  auto D = X;
  for (std::int64_t i = 0; i < X.rows(); ++i)
    for (std::int64_t j = 0; j < X.columns(); ++j) D(i, j) -= Y(i, j);
  return D;
}

/// Eigenvalues of the mean of a matrix and its adjoint.
template <class Scalar>
std::vector<double> eigenvalues(HostBlock<Scalar> const& X) {
  using Wide = std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<double>, double>;
  auto const n = static_cast<std::size_t>(X.rows());
  SmallMatrix<Wide> const A("Blockspan::test", n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      auto const row = static_cast<std::int64_t>(i), column = static_cast<std::int64_t>(j);
      A(i, j) = (convert_scalar<Wide>(X(row, column)) +
                 blockspan::conjugate(convert_scalar<Wide>(X(column, row)))) *
                0.5;
    }
  std::vector<double> values;
  EXPECT_EQ(lapack::hermitian_eigen(A, values), 0);
  return values;
}

/// Three levels or so of a small grid.
template <class Scalar, class Exec>
MultigridOptions<Scalar, Exec> small_levels() {
  MultigridOptions<Scalar, Exec> options;
  options.coarse_rows = 10;
  return options;
}

TYPED_TEST(MultigridCycle, IsHermitianPositiveDefiniteInBothPrecisions) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const grid = generate<Scalar>(exec, std::string("laplace7:8"));
  auto const neumann = graph_laplacian<Scalar>(exec, grid);
  for (auto const& A : {grid, neumann})
    for (auto const precision : {MultigridPrecision::working, MultigridPrecision::single})
      for (int degree = 1; degree <= 4; ++degree) {
        auto options = small_levels<Scalar, Exec>();
        options.precision = precision;
        options.degree = degree;
        auto const M = multigrid(exec, A, options);
        EXPECT_GE(M.report().levels.size(), 3u);
        auto const X = dense(exec, M);
        auto mirrored = X;
        for (std::int64_t i = 0; i < X.rows(); ++i)
          for (std::int64_t j = 0; j < X.rows(); ++j)
            mirrored(i, j) = blockspan::conjugate(X(j, i));
        EXPECT_LE(norm(difference(X, mirrored)), rounding<Scalar>(M.report()) * norm(X));
        EXPECT_GT(eigenvalues(X).front(), 0) << degree;
      }
}

TYPED_TEST(MultigridCycle, IsLinearAndTakesColumnsOneByOneOrTogether) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("laplace5:30"));
  auto const M = multigrid(exec, A, small_levels<Scalar, Exec>());
  auto const x = random_block<Scalar>(900, 8, 1);
  auto const together = applied(exec, M, x);
  HostBlock<Scalar> combined(900, 1), wanted(900, 1);
  for (std::int64_t i = 0; i < 900; ++i) {
    combined(i, 0) = x(i, 0) + real_t<Scalar>(2) * x(i, 1);
    wanted(i, 0) = together(i, 0) + real_t<Scalar>(2) * together(i, 1);
  }
  double const bound = rounding<Scalar>(M.report()) * norm(wanted);
  EXPECT_LE(norm(difference(applied(exec, M, combined), wanted)), bound);
  for (std::int64_t j = 0; j < 8; ++j) {
    HostBlock<Scalar> one(900, 1), other(900, 1);
    for (std::int64_t i = 0; i < 900; ++i) one(i, 0) = x(i, j), other(i, 0) = together(i, j);
    EXPECT_LE(norm(difference(applied(exec, M, one), other)), bound);
  }
  EXPECT_TRUE(same_bits(applied(exec, M, x), together));
  EXPECT_TRUE(
      same_bits(applied(exec, multigrid(exec, A, small_levels<Scalar, Exec>()), x), together));
}

TYPED_TEST(MultigridCycle, ContractsTheEnergyOfAnyError) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (auto const& [spec, wanted] : {std::pair("laplace7:22", 0.28),
                                     {"jump7:24:1000:width=5", 0.35},
                                     {"aniso7:24:1,0.01,0.0001", 0.41}}) {
    auto const A = generate<Scalar>(exec, std::string(spec));
    auto const op = matrix_operator(exec, A);
    auto const M = multigrid(exec, A);
    auto const n = static_cast<std::int64_t>(A.numRows());
    auto e = random_block<Scalar>(n, 1, 5);
    auto const energy = [&](HostBlock<Scalar> const& v, HostBlock<Scalar> const& image) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i)
        sum += static_cast<double>(real_part(blockspan::conjugate(v(i, 0)) * image(i, 0)));
      return std::sqrt(sum);
    };
    double rate = 0, before = 0;
    for (int step = 0; step < (sizeof(real_t<Scalar>) == 4 ? 6 : 25); ++step) {
      auto const image = applied(exec, op, e);
      double const now = energy(e, image);
      if (step > 0) rate = now / before;
      before = now;
      e = difference(e, applied(exec, M, image));
    }
    EXPECT_LE(rate, wanted + 0.05) << spec;
  }
}

TYPED_TEST(MultigridCycle, AllocatesAndWaitsForNothingFromTheSecondCallOfAWidthOn) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("laplace7:10"));
  auto const M = multigrid(exec, A, small_levels<Scalar, Exec>());
  auto const X = block<Scalar>(exec, random_block<Scalar>(1000, 6, 2));
  auto const Y = block<Scalar>(exec, random_block<Scalar>(1000, 6, 3));
  auto const columns = [](auto const& B, int last) {
    return Kokkos::subview(B, Kokkos::ALL, std::pair(0, last));
  };
  M.apply(exec, X, Y);
  M.apply(exec, columns(X, 3), columns(Y, 3));
  auto const seen = observed([&] {
    M.apply(exec, X, Y);
    M.apply(exec, columns(X, 3), columns(Y, 3));
  });
  EXPECT_TRUE(seen.allocations.empty()) << seen.allocations.front();
  EXPECT_TRUE(seen.fences.empty()) << seen.fences.front();
  EXPECT_TRUE(M.facts().replayable);
  EXPECT_GT(seen.labels.size(), 10u);
}

TYPED_TEST(MultigridCycle, FollowsThePowersOfTwoOfTheMatrix) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("laplace5:20"));
  auto const x = random_block<Scalar>(400, 2, 4);
  for (auto const precision : {MultigridPrecision::working, MultigridPrecision::single}) {
    auto options = small_levels<Scalar, Exec>();
    options.precision = precision;
    auto const plain = applied(exec, multigrid(exec, A, options), x);
    auto const scaled = convert_values<Scalar>(exec, A, real_t<Scalar>(std::ldexp(1.0, 40)));
    auto result = applied(exec, multigrid(exec, scaled, options), x);
    for (std::int64_t i = 0; i < result.rows(); ++i)
      for (std::int64_t j = 0; j < result.columns(); ++j)
        result(i, j) *= real_t<Scalar>(std::ldexp(1.0, 40));
    EXPECT_TRUE(same_bits(result, plain));
  }
}

/// Copies of the levels, which cycles with one column may make after some, give the same bits and
/// do not outlive the values.
TYPED_TEST(MultigridCycle, ManyCyclesWithOneColumnHaveTheBitsOfTheFirst) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = generate<Scalar>(exec, std::string("p1:6"));
  auto const B = convert_values<Scalar>(exec, A, real_t<Scalar>(3));
  auto const x = random_block<Scalar>(A.numRows(), 1, 1);
  for (auto const precision : {MultigridPrecision::working, MultigridPrecision::single}) {
    MultigridOptions<Scalar, Exec> const options{.coarse_rows = 10, .precision = precision};
    auto M = multigrid(exec, A, options);
    EXPECT_GE(M.report().levels.size(), 2u);
    for (auto const& matrix : {A, B}) {
      M.refresh(exec, matrix);
      auto const first = applied(exec, M, x);
      EXPECT_TRUE(same_bits(applied(exec, multigrid(exec, matrix, options), x), first));
      for (int cycle = 1; cycle < 15; ++cycle) EXPECT_TRUE(same_bits(applied(exec, M, x), first));
    }
  }
}

}  // namespace
}  // namespace blockspan::test
