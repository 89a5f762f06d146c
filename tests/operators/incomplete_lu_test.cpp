// ILU(0) against the textbook's three loops in extended precision.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/incomplete_lu.hpp>
#include <blockspan/sparse/generators.hpp>

#include "operators/apply.hpp"
#include "operators/definite.hpp"
#include "operators/small_dense.hpp"
#include "support/compare.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class IncompleteLu : public ::testing::Test {};
TYPED_TEST_SUITE(IncompleteLu, EveryConfig, ConfigNames);

/// (L U)^-1 x for the incomplete factors of B on its own pattern, both stored in one matrix. The
/// matrices here are diagonally dominant (up to scaling), so that factors and solves are as
/// accurate as their row sums: bounds relative to the largest entry of the scaled result.
template <class Scalar>
Reference<Scalar> reference(HostBlock<Scalar> const& B, HostBlock<Scalar> const& x) {
  std::int64_t const n = B.rows();
  auto F = extended_block(B);
  for (std::int64_t i = 1; i < n; ++i)
    for (std::int64_t k = 0; k < i; ++k) {
      if (B(i, k) == Scalar(0)) continue;
      F(i, k) /= F(k, k);
      for (std::int64_t j = k + 1; j < n; ++j)
        if (B(i, j) != Scalar(0)) F(i, j) -= F(i, k) * F(k, j);
    }
  Reference<Scalar> result(n, x.columns());
  for (std::int64_t c = 0; c < x.columns(); ++c) {
    for (std::int64_t i = 0; i < n; ++i) {
      result.value(i, c) = extended(x(i, c));
      for (std::int64_t k = 0; k < i; ++k) result.value(i, c) -= F(i, k) * result.value(k, c);
    }
    long double largest = 0;
    for (std::int64_t i = n - 1; i >= 0; --i) {
      for (std::int64_t k = i + 1; k < n; ++k) result.value(i, c) -= F(i, k) * result.value(k, c);
      result.value(i, c) /= F(i, i);
      largest = std::max(largest, std::abs(result.value(i, c)) * std::sqrt(magnitude(B(i, i))));
    }
    for (std::int64_t i = 0; i < n; ++i)
      result.bound(i, c) = 100 * static_cast<long double>(n) * unit_roundoff<Scalar> * largest /
                           std::sqrt(magnitude(B(i, i)));
  }
  return result;
}

TYPED_TEST(IncompleteLu, IsTheTextbooks) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (has_kokkos_kernels<Scalar>) {
    Exec const exec;
    for (std::int64_t const n : {1, 2, 13, 60})
      for (std::int64_t const k : {1, 5}) {
        HostBlock<Scalar> B;
        auto const T = incomplete_lu(exec, to_device(exec, sparse_definite<Scalar>(n, B)));
        EXPECT_EQ(T->rows(), n);
        auto const x = random_block<Scalar>(n, k, 1);
        EXPECT_TRUE(matches(applied<Scalar, Exec>(exec, *T, x), reference(B, x)))
            << "n = " << n << ", k = " << k;
      }
  }
}

TYPED_TEST(IncompleteLu, OfATridiagonalMatrixIsItsInverse) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (has_kokkos_kernels<Scalar>) {
    Exec const exec;
    std::int64_t const n = 30;
    HostMatrix<Scalar> A{"chain", n, n, {0}, {}, {}};
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
        A.add(j, Scalar(i == j ? 2 : -1));
      A.end_row();
    }
    auto const X = dense<Scalar, Exec>(exec, *incomplete_lu(exec, to_device(exec, A)));
    // the inverse of the chain: min(i, j) (n + 1 - max(i, j)) / (n + 1), counted from one
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        auto const least = static_cast<long double>(std::min(i, j) + 1);
        auto const rest = static_cast<long double>(n - std::max(i, j));
        EXPECT_LE(std::abs(extended(X(i, j)) - least * rest / static_cast<long double>(n + 1)),
                  1000 * unit_roundoff<Scalar>);  // cond is 390
      }
  }
}

TYPED_TEST(IncompleteLu, IsHermitianDefiniteAndTheSameBits) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (has_kokkos_kernels<Scalar>) {
    Exec const exec;
    auto const A = generate<Scalar>(exec, "laplace27:5");
    auto const X = dense<Scalar, Exec>(exec, *incomplete_lu(exec, A));
    SmallDense<Scalar> Y(125);
    for (std::int64_t i = 0; i < 125; ++i)
      for (std::int64_t j = 0; j < 125; ++j) {
        EXPECT_LE(std::abs(extended(X(i, j)) - conjugate(extended(X(j, i)))),
                  100 * unit_roundoff<Scalar>);
        Y(i, j) = (extended(X(i, j)) + conjugate(extended(X(j, i)))) / 2.0L;
      }
    EXPECT_GT(smallest_pivot(Y), 0);
    for (int run = 0; run < 3; ++run)
      EXPECT_TRUE(same_bits(X, dense<Scalar, Exec>(exec, *incomplete_lu(exec, A))));
  }
}

TYPED_TEST(IncompleteLu, RefreshTakesNewValues) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (has_kokkos_kernels<Scalar>) {
    Exec const exec;
    HostBlock<Scalar> B;
    auto host = sparse_definite<Scalar>(40, B);
    auto const T = incomplete_lu(exec, to_device(exec, host));
    auto const x = random_block<Scalar>(40, 3, 1);
    applied<Scalar, Exec>(exec, *T, x);
    for (auto& value : host.values) value *= real_t<Scalar>(1.75);
    auto const A = to_device(exec, host);
    T->refresh(exec, A);
    EXPECT_TRUE(same_bits(applied<Scalar, Exec>(exec, *T, x),
                          applied<Scalar, Exec>(exec, *incomplete_lu(exec, A), x)));
  }
}

TYPED_TEST(IncompleteLu, RefusesByNameOfTheRow) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  expect_refusals<Scalar>(exec, "incomplete_lu",
                          [&](auto const& A) { return incomplete_lu(exec, A); });
  if constexpr (has_kokkos_kernels<Scalar>) {
    HostMatrix<Scalar> const indefinite{
        "indefinite", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {Scalar(1), Scalar(2), Scalar(2), Scalar(1)}};
    EXPECT_EQ(
        message_of([&] { incomplete_lu(exec, to_device(exec, indefinite)); }),
        "blockspan::incomplete_lu: the diagonal entry of row 2 of U is not positive and finite");
  }
}

}  // namespace
}  // namespace blockspan::test
