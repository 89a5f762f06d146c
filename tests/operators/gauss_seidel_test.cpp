// Symmetric Gauss-Seidel by what holds for every order of the rows, since the colouring chooses it.
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include <blockspan/operators/gauss_seidel.hpp>
#include <blockspan/sparse/generators.hpp>

#include "operators/apply.hpp"
#include "operators/definite.hpp"
#include "operators/small_dense.hpp"
#include "spmm/battery.hpp"
#include "support/compare.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class GaussSeidel : public ::testing::Test {};
TYPED_TEST_SUITE(GaussSeidel, EveryConfig, ConfigNames);

/// For rows in any order T^-1 = (D + L) D^-1 (D + L^H) = A + L D^-1 L^H: what T adds to A is
/// positive semidefinite, and for a unit diagonal its trace is |L|^2, half of the squares off the
/// diagonal of A.
TYPED_TEST(GaussSeidel, IsThatOfSomeOrderOfTheRows) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (has_kokkos_kernels<Scalar>) {
    Exec const exec;
    for (std::int64_t const n : {1, 2, 13, 40}) {
      HostBlock<Scalar> B;
      auto const T = gauss_seidel(exec, to_device(exec, sparse_definite<Scalar>(n, B)));
      EXPECT_EQ(T->rows(), n);
      auto const X = dense<Scalar, Exec>(exec, *T);
      SmallDense<Scalar> scaled(n);  // T for the matrix with a unit diagonal
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          scaled(i, j) = extended(X(i, j)) * std::sqrt(magnitude(B(i, i)) * magnitude(B(j, j)));
      auto const S = unit_diagonal(extended_block(B));
      auto added = inverse(scaled);
      long double const rounding = 1e3 * static_cast<long double>(n) * unit_roundoff<Scalar>;
      extended_t<Scalar> trace(0);
      long double off_diagonal = 0;
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          EXPECT_LE(std::abs(scaled(i, j) - conjugate(scaled(j, i))), rounding);
          added(i, j) -= S(i, j);
          if (i != j) off_diagonal += std::norm(S(i, j));
        }
      for (std::int64_t i = 0; i < n; ++i) {
        trace += added(i, i);
        added(i, i) += rounding;
      }
      EXPECT_LE(std::abs(trace - off_diagonal / 2), rounding) << n;
      EXPECT_GT(smallest_pivot(added), 0) << n;
      EXPECT_GT(smallest_pivot(scaled), 0) << n;
    }
  }
}

/// Rows with one neighbour at most are swept like others: of a diagonal matrix T is the inverse, of
/// pairs of rows (a, b; b, c) it is that of A + diag(0, b^2 / a) or diag(b^2 / c, 0), as the order
/// has it.
TYPED_TEST(GaussSeidel, SweepsRowsWithFewNeighbours) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (has_kokkos_kernels<Scalar>) {
    Exec const exec;
    for (int const n : {1, 2, 3, 50}) {
      HostMatrix<Scalar> A{"diagonal", n, n, {0}, {}, {}};
      for (int i = 0; i < n; ++i) A.add(i, Scalar(i + 2)), A.end_row();
      auto const X = dense<Scalar, Exec>(exec, *gauss_seidel(exec, to_device(exec, A)));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          EXPECT_NEAR(magnitude(X(i, j) - Scalar(i == j ? 1.0 / (i + 2) : 0)), 0, 1e-15);
    }
    HostMatrix<Scalar> pairs{"pairs", 4, 4, {0}, {}, {}};
    for (int i = 0; i < 4; ++i) {
      for (int j = i - i % 2; j < i - i % 2 + 2; ++j) pairs.add(j, Scalar(i == j ? 4 : 1));
      pairs.end_row();
    }
    auto const X = dense<Scalar, Exec>(exec, *gauss_seidel(exec, to_device(exec, pairs)));
    for (int const i : {0, 2}) {
      // the inverse of (4, 1; 1, 4 + 1/4): 1/16 of (4 + 1/4, -1; -1, 4)
      bool const forward = magnitude(X(i, i)) > magnitude(X(i + 1, i + 1));
      EXPECT_NEAR(magnitude(X(i, i) - Scalar(forward ? 4.25 / 16 : 0.25)), 0, 1e-15);
      EXPECT_NEAR(magnitude(X(i + 1, i + 1) - Scalar(forward ? 0.25 : 4.25 / 16)), 0, 1e-15);
      EXPECT_NEAR(magnitude(X(i, i + 1) + Scalar(1.0 / 16)), 0, 1e-15);
    }
  } else {
    GTEST_SKIP() << "Kokkos Kernels is not built for this scalar";
  }
}

TYPED_TEST(GaussSeidel, SameInputSameBitsAlsoWhenMadeAnew) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (has_kokkos_kernels<Scalar>) {
    Exec const exec;
    auto const A = generate<Scalar>(exec, "laplace27:14");
    auto const x = random_block<Scalar>(2744, 5, 1);
    auto const T = gauss_seidel(exec, A);
    auto const y = applied<Scalar, Exec>(exec, *T, x);
    EXPECT_TRUE(same_bits(y, applied<Scalar, Exec>(exec, *T, x)));
    for (int run = 0; run < 5; ++run)
      EXPECT_TRUE(same_bits(y, applied<Scalar, Exec>(exec, *gauss_seidel(exec, A), x)));
  }
}

TYPED_TEST(GaussSeidel, RefreshTakesNewValues) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (has_kokkos_kernels<Scalar>) {
    Exec const exec;
    HostBlock<Scalar> B;
    auto host = sparse_definite<Scalar>(40, B);
    auto const T = gauss_seidel(exec, to_device(exec, host));
    auto const x = random_block<Scalar>(40, 3, 1);
    applied<Scalar, Exec>(exec, *T, x);
    for (std::size_t k = 0; k < host.values.size(); k += 7) host.values[k] *= Scalar(1.25);
    auto const A = to_device(exec, host);
    T->refresh(exec, A);
    EXPECT_TRUE(same_bits(applied<Scalar, Exec>(exec, *T, x),
                          applied<Scalar, Exec>(exec, *gauss_seidel(exec, A), x)));
  }
}

TYPED_TEST(GaussSeidel, WorksOnAFewColumnsOfWiderBlocksAndOnOtherInstances) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (has_kokkos_kernels<Scalar>) {
    Exec const made_on;
    Exec const exec = Kokkos::Experimental::partition_space(Exec(), 1)[0];
    auto const T = gauss_seidel(made_on, generate<Scalar>(made_on, "laplace5:9"));
    auto const x = random_block<Scalar>(81, 9, 1), y = random_block<Scalar>(81, 7, 2);
    auto const X = block<Scalar>(exec, x), Y = block<Scalar>(exec, y);
    T->apply(exec, Kokkos::subview(X, Kokkos::ALL, std::pair(2, 5)),
             Kokkos::subview(Y, Kokkos::ALL, std::pair(3, 6)));
    exec.fence("Blockspan::test");
    auto const now = values_of<Scalar>(Y), wanted = applied<Scalar, Exec>(made_on, *T, x);
    for (std::int64_t i = 0; i < 81; ++i)
      for (std::int64_t j = 0; j < 7; ++j) {
        bool const inside = j >= 3 && j < 6;
        ASSERT_LE(std::abs(extended(now(i, j)) - extended(inside ? wanted(i, j - 1) : y(i, j))),
                  inside ? 20 * unit_roundoff<Scalar> : 0)
            << i << ", " << j;
      }
  }
}

TYPED_TEST(GaussSeidel, RefusesByNameOfTheRow) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  expect_refusals<Scalar>(exec, "gauss_seidel",
                          [&](auto const& A) { return gauss_seidel(exec, A); });
}

}  // namespace
}  // namespace blockspan::test
