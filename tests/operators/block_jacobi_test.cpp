// Block Jacobi against dense inverses of the blocks, in extended precision.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/jacobi.hpp>

#include "operators/apply.hpp"
#include "operators/diagonal_blocks.hpp"
#include "operators/small_dense.hpp"
#include "spmm/battery.hpp"
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
class BlockJacobi : public ::testing::Test {};
TYPED_TEST_SUITE(BlockJacobi, EveryConfig, ConfigNames);

/// Inverses of the blocks times x. Bound: inverting a matrix S of unit diagonal by its Cholesky
/// factor leaves at most 8 b^2 u cond(S) |S^-1| (Higham 2002, sections 10.1 and 14.2, to first
/// order, the scaling's roundings included), then the product's own error.
template <class Scalar>
Reference<Scalar> reference(Blocks<Scalar> const& blocks, HostBlock<Scalar> const& x) {
  Reference<Scalar> result(x.rows(), x.columns());
  std::int64_t first = 0;
  for (auto const& B : blocks) {
    std::int64_t const b = B.rows();
    auto const X = inverse(extended_block(B));
    auto const S = unit_diagonal(extended_block(B));
    long double const size = inverse(S).norm();
    long double const error = gamma_bound<Scalar>(8 * b * b) * S.norm() * size * size;
    for (std::int64_t i = 0; i < b; ++i)
      for (std::int64_t j = 0; j < x.columns(); ++j)
        for (std::int64_t k = 0; k < b; ++k) {
          long double const d = std::sqrt(magnitude(B(i, i)) * magnitude(B(k, k)));
          result.value(first + i, j) += X(i, k) * extended(x(first + k, j));
          result.bound(first + i, j) +=
              (error / d + gamma_bound<Scalar>(b + 2) * std::abs(X(i, k))) *
              magnitude(x(first + k, j));
        }
    first += b;
  }
  return result;
}

TYPED_TEST(BlockJacobi, MultipliesByTheInversesOfTheBlocks) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (int b = 1; b <= 8; ++b)
    for (std::int64_t const n :
         {std::int64_t(b), std::int64_t(1), std::int64_t(5 * b + b / 2), std::int64_t(300 + b)}) {
      auto const blocks = hermitian_blocks<Scalar>(n, b);
      auto const T = block_jacobi(exec, to_device(exec, matrix_of(blocks)), {.block_size = b});
      EXPECT_EQ(T.rows(), n);
      EXPECT_EQ(T.block_size(), b);
      for (std::int64_t const k : {1, 3, 8, 17}) {
        auto const x = random_block<Scalar>(n, k, 1);
        EXPECT_TRUE(matches(applied(exec, T, x), reference(blocks, x)))
            << "b = " << b << ", n = " << n << ", k = " << k;
      }
    }
}

TYPED_TEST(BlockJacobi, GivesEmptyRowsTheLargestWeightOfOthers) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (int b : {1, 2, 3, 8}) {
    auto blocks = hermitian_blocks<Scalar>(41, b);
    auto full = blocks;  // with the least diagonal entry in place of what is empty
    for (std::size_t k = 0; k < blocks.size(); k += 2) {
      std::int64_t const i = static_cast<std::int64_t>(k) % blocks[k].rows();
      for (std::int64_t j = 0; j < blocks[k].rows(); ++j)
        for (auto* const B : {&blocks[k], &full[k]}) (*B)(i, j) = (*B)(j, i) = Scalar(0);
    }
    auto least = std::numeric_limits<real_t<Scalar>>::max();
    for (auto const& B : blocks)
      for (std::int64_t i = 0; i < B.rows(); ++i)
        if (real_part(B(i, i)) > 0) least = std::min(least, real_part(B(i, i)));
    for (std::size_t k = 0; k < blocks.size(); k += 2) {
      std::int64_t const i = static_cast<std::int64_t>(k) % blocks[k].rows();
      full[k](i, i) = Scalar(least);
    }
    auto A = matrix_of(blocks);
    std::int64_t first = 0;
    for (std::size_t k = 0; k < blocks.size(); first += blocks[k].rows(), ++k)
      if (k % 2 == 0) {
        auto const row =
            static_cast<std::size_t>(first + static_cast<std::int64_t>(k) % blocks[k].rows());
        for (auto e = A.offsets[row]; e < A.offsets[row + 1]; ++e)
          A.values[static_cast<std::size_t>(e)] = Scalar(0);
      }
    auto const T = block_jacobi(exec, to_device(exec, A), {.block_size = b});
    EXPECT_EQ(T.indefinite_blocks(), 0);
    auto const x = random_block<Scalar>(41, 4, 1);
    EXPECT_TRUE(matches(applied(exec, T, x), reference(full, x))) << "b = " << b;
  }
}

TYPED_TEST(BlockJacobi, DoesNotMindUnitsWithinABlock) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  // entries of one block differ by 2^60 (2^24): the bound knows of the scaled block only
  int const spread = sizeof(real_t<Scalar>) == 8 ? 15 : 6;
  for (int b : {2, 5, 8}) {
    auto const blocks = hermitian_blocks<Scalar>(41, b, spread);
    auto const T = block_jacobi(exec, to_device(exec, matrix_of(blocks)), {.block_size = b});
    auto const x = random_block<Scalar>(41, 4, 1);
    EXPECT_TRUE(matches(applied(exec, T, x), reference(blocks, x))) << "b = " << b;
  }
}

TYPED_TEST(BlockJacobi, IsHermitianToTheBitAndPositiveDefinite) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (double const shift : {0.0, 1.0})
    for (int b : {1, 3, 6, 8}) {
      auto const blocks = hermitian_blocks<Scalar>(50, b, 3, shift);
      auto const T = block_jacobi(exec, to_device(exec, matrix_of(blocks)),
                                  {.block_size = b, .absolute = shift > 0});
      EXPECT_EQ(T.indefinite_blocks() > 0, shift > 0);
      auto const X = dense(exec, T);
      for (std::int64_t i = 0; i < 50; ++i)
        for (std::int64_t j = 0; j <= i; ++j) ASSERT_EQ(X(i, j), blockspan::conjugate(X(j, i)));
      for (std::int64_t first = 0; first < 50; first += b) {
        std::int64_t const m = std::min<std::int64_t>(b, 50 - first);
        SmallDense<Scalar> B(m);
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < m; ++j) B(i, j) = extended(X(first + i, first + j));
        EXPECT_GT(smallest_pivot(unit_diagonal(B)), 0) << "b = " << b << ", row " << first;
      }
    }
}

TYPED_TEST(BlockJacobi, PowersOfFourScaleItExactly) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  using Real = real_t<Scalar>;
  int const most = sizeof(Real) == 8 ? 664 : 60;  // beyond 1e+-199, 1e+-18
  auto host = matrix_of(hermitian_blocks<Scalar>(23, 4));
  auto const x = random_block<Scalar>(23, 3, 1);
  auto const y = applied(exec, block_jacobi(exec, to_device(exec, host), {4}), x);
  for (int const e : {-most, -2, most}) {
    auto scaled = host;
    for (auto& value : scaled.values) value *= std::ldexp(Real(1), e);
    auto z = applied(exec, block_jacobi(exec, to_device(exec, scaled), {4}), x);
    for (std::int64_t i = 0; i < 23; ++i)
      for (std::int64_t j = 0; j < 3; ++j) z(i, j) *= std::ldexp(Real(1), e);
    EXPECT_TRUE(same_bits(y, z)) << "2^" << e;
  }
}

TYPED_TEST(BlockJacobi, OfOneRowIsJacobi) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const A = to_device(exec, matrix_of(hermitian_blocks<Scalar>(60, 1, 10)));
  auto const x = random_block<Scalar>(60, 2, 1);
  auto const y = applied(exec, block_jacobi(exec, A, {1}), x);
  auto const z = applied(exec, jacobi(exec, A), x);
  for (std::int64_t i = 0; i < 60; ++i)
    for (std::int64_t j = 0; j < 2; ++j)
      EXPECT_LE(std::abs(extended(y(i, j)) - extended(z(i, j))),
                8 * unit_roundoff<Scalar> * magnitude(z(i, j)));
}

/// |B|^-1 R for a block R^-1 B R^-1 that was scaled: T is positive definite (above) and (T B)^2 =
/// I.
TYPED_TEST(BlockJacobi, AbsoluteInvertsTheSquareOfWhatItReplaces) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (int b = 2; b <= 8; ++b) {
    auto const blocks = hermitian_blocks<Scalar>(4 * b + 1, b, 2, 0.7);
    auto const T =
        block_jacobi(exec, to_device(exec, matrix_of(blocks)), {.block_size = b, .absolute = true});
    auto const X = dense(exec, T);
    std::int64_t first = 0;
    for (auto const& block : blocks) {
      std::int64_t const m = block.rows();
      SmallDense<Scalar> Y(m);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < m; ++j) Y(i, j) = extended(X(first + i, first + j));
      auto const B = extended_block(block);
      auto const involution = product(product(Y, B), product(Y, B));
      auto const S = unit_diagonal(B);
      long double const condition = S.norm() * inverse(S).norm();
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < m; ++j) {
          // units cancel: entry (i, j) of T B is in those of x_i / x_j
          long double const unit = std::sqrt(std::abs(B(j, j)) / std::abs(B(i, i)));
          EXPECT_LE(std::abs(involution(i, j) - (i == j ? 1.0L : 0.0L)),
                    40 * m * condition * unit * unit_roundoff<Scalar>)
              << "b = " << b << ", row " << first + i;
        }
      first += m;
    }
  }
}

template <class Scalar>
HostBlock<Scalar> block_of(std::initializer_list<double> values) {
  auto const b = static_cast<std::int64_t>(std::lround(std::sqrt(values.size())));
  HostBlock<Scalar> B(b, b);
  auto value = values.begin();
  for (std::int64_t i = 0; i < b; ++i)
    for (std::int64_t j = 0; j < b; ++j) B(i, j) = Scalar(real_t<Scalar>(*value++));
  return B;
}

TYPED_TEST(BlockJacobi, AbsoluteOfBlocksKnownByHand) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  Blocks<Scalar> const blocks{
      block_of<Scalar>({0, 2, 2, 0}),       // eigenvalues +-2
      block_of<Scalar>({1, -1, -1, 1}),     // singular: its null vector is scaled as by Jacobi
      block_of<Scalar>({0, 0, 0, 0}),       // nothing at all: as by Jacobi, the largest weight
      block_of<Scalar>({-4, 0, 0, 16}),     // Jacobi
      block_of<Scalar>({1, 0.5, 0.5, 1})};  // definite: inverted
  auto const T =
      block_jacobi(exec, to_device(exec, matrix_of(blocks)), {.block_size = 2, .absolute = true});
  EXPECT_EQ(T.indefinite_blocks(), 4);
  double const wanted[][4] = {{0.5, 0, 0, 0.5},
                              {0.75, 0.25, 0.25, 0.75},
                              {1, 0, 0, 1},
                              {0.25, 0, 0, 0.0625},
                              {4.0 / 3, -2.0 / 3, -2.0 / 3, 4.0 / 3}};
  auto const X = dense(exec, T);
  for (std::int64_t block = 0; block < 5; ++block)
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t j = 0; j < 2; ++j)
        EXPECT_LE(std::abs(extended(X(2 * block + i, 2 * block + j)) -
                           static_cast<long double>(wanted[block][2 * i + j])),
                  20 * unit_roundoff<Scalar>)
            << block << ": " << i << ", " << j;
}

TYPED_TEST(BlockJacobi, HasTheInverseUnitsOfTheMatrixAlsoInRowsOfZeros) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const x = random_block<Scalar>(8, 2, 1);
  for (bool const absolute : {false, true}) {
    Blocks<Scalar> blocks{block_of<Scalar>({4, 1, 1, 4}), block_of<Scalar>({0, 0, 0, 0}),
                          block_of<Scalar>({8, 0, 0, 0}), block_of<Scalar>({3, 1, 1, 2})};
    if (absolute) blocks[0] = block_of<Scalar>({0, 4, 4, 0});
    auto const times = [&](real_t<Scalar> unit) {
      auto A = matrix_of(blocks);
      for (auto e = A.offsets[2]; e < A.offsets[4]; ++e) A.values[e] = Scalar(0);
      for (auto e = A.offsets[5]; e < A.offsets[6]; ++e) A.values[e] = Scalar(0);
      for (auto& value : A.values) value *= unit;
      auto const T =
          block_jacobi(exec, to_device(exec, A), {.block_size = 2, .absolute = absolute});
      auto y = applied(exec, T, x);
      for (std::int64_t i = 0; i < 8; ++i)
        for (std::int64_t j = 0; j < 2; ++j) y(i, j) *= unit;
      return y;
    };
    auto const plain = times(1);
    for (int const i : {2, 3, 5})
      EXPECT_LE(Kokkos::abs(plain(i, 0) - x(i, 0) / real_t<Scalar>(2)), 4 * unit_roundoff<Scalar>);
    for (int const exponent : {-60, 60})
      EXPECT_TRUE(same_bits(times(std::ldexp(real_t<Scalar>(1), exponent)), plain));
  }
}

TYPED_TEST(BlockJacobi, RefusesByNameOfTheRows) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const refusal = [&](Blocks<Scalar> const& blocks, BlockJacobiOptions const& options) {
    return message_of([&] { block_jacobi(exec, to_device(exec, matrix_of(blocks)), options); });
  };
  std::string const where = "blockspan::BlockJacobiPreconditioner: ";
  auto blocks = hermitian_blocks<Scalar>(20, 3);
  for (int const size : {-1, 9})
    EXPECT_EQ(refusal(blocks, {size}), where + "blocks of " + std::to_string(size) +
                                           " rows; there are blocks of 1 to 8, and 0 for the size "
                                           "found in the pattern");
  auto const indefinite = [&](auto const& rows) {
    return where + "the block of rows " + rows +
           " is not positive definite to working precision, so the matrix is not either";
  };
  for (auto const& bad : {block_of<Scalar>({1, 0, 0, 0, 1, 2, 0, 2, 1}),         // indefinite
                          block_of<Scalar>({1, 0, 0, 0, -1, 0, 0, 0, 1}),        // negative
                          block_of<Scalar>({1, 0, 0, 0, 0, 0, 0, 0, 1}),         // zero
                          block_of<Scalar>({2, -1, -1, -1, 2, -1, -1, -1, 2})})  // singular
  {
    auto some = blocks;
    some[5] = some[2] = bad;
    EXPECT_EQ(refusal(some, {3}), indefinite("7 to 9"));
  }
  auto last = blocks;
  last[6] = block_of<Scalar>({1, 2, 2, 1});
  EXPECT_EQ(refusal(last, {3}), indefinite("19 to 20"));
  for (bool const absolute : {false, true}) {
    auto broken = blocks;
    broken[4](1, 2) = not_a_number<Scalar>();
    EXPECT_EQ(refusal(broken, {3, absolute}),
              where + "the block of rows 13 to 15 has an entry that is not finite");
  }
  auto const wide = to_device(exec, random_matrix<Scalar>("", 3, 5, [](auto) { return 2; }));
  EXPECT_THAT(message_of([&] { block_jacobi(exec, wide); }), HasSubstr("must be square (3 x 5)"));
  auto T = block_jacobi(exec, to_device(exec, matrix_of(blocks)), {3});
  auto const other = to_device(exec, matrix_of(hermitian_blocks<Scalar>(21, 3)));
  EXPECT_EQ(message_of([&] { T.refresh(exec, other); }),
            where + "made for 20 rows, the matrix has 21");
  auto const X = block<Scalar>(exec, random_block<Scalar>(20, 2, 1));
  auto const Y = block<Scalar>(exec, random_block<Scalar>(20, 3, 1));
  EXPECT_THAT(message_of([&] { T.apply(exec, X, Y); }),
              HasSubstr("X and Y must be 20 x k (X: 20 x 2; Y: 20 x 3)"));
}

TYPED_TEST(BlockJacobi, RefreshTakesNewValuesInTheOldMemory) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const old = to_device(exec, matrix_of(hermitian_blocks<Scalar>(40, 4)));
  auto const A = to_device(exec, matrix_of(hermitian_blocks<Scalar>(40, 4, 2)));
  auto T = block_jacobi(exec, old, {4});
  auto const seen = observed([&] { T.refresh(exec, A); });
  EXPECT_THAT(seen.labels,
              ElementsAre("Blockspan::block_jacobi_least", "Blockspan::block_jacobi_gather",
                          "Blockspan::block_jacobi_invert"));
  EXPECT_TRUE(seen.allocations.empty());
  auto const x = random_block<Scalar>(40, 5, 1);
  EXPECT_TRUE(same_bits(applied(exec, T, x), applied(exec, block_jacobi(exec, A, {4}), x)));
}

TYPED_TEST(BlockJacobi, IsOneKernelOnTheInstanceGivenWithTheSameBits) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec = Kokkos::Experimental::partition_space(Exec(), 1)[0];
  auto const T = block_jacobi(exec, to_device(exec, matrix_of(hermitian_blocks<Scalar>(500, 7))));
  auto const x = random_block<Scalar>(500, 6, 1);
  auto const X = block<Scalar>(exec, x), Y = block<Scalar>(exec, x);
  auto const seen = observed([&] { T.apply(exec, X, Y); });
  EXPECT_THAT(seen.labels, ElementsAre("Blockspan::block_jacobi"));
  EXPECT_THAT(seen.devices, ElementsAre(Kokkos::Tools::Experimental::device_id(exec)));
  EXPECT_TRUE(seen.allocations.empty());
  exec.fence("Blockspan::test");
  EXPECT_TRUE(same_bits(values_of<Scalar>(Y), applied(exec, T, x)));
}

TYPED_TEST(BlockJacobi, WorksOnAFewColumnsOfWiderBlocks) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const blocks = hermitian_blocks<Scalar>(31, 4);
  auto const T = block_jacobi(exec, to_device(exec, matrix_of(blocks)), {4});
  auto const x = random_block<Scalar>(31, 9, 1), y = random_block<Scalar>(31, 7, 2);
  auto const X = block<Scalar>(exec, x), Y = block<Scalar>(exec, y);
  T.apply(exec, Kokkos::subview(X, Kokkos::ALL, std::pair(2, 5)),
          Kokkos::subview(Y, Kokkos::ALL, std::pair(3, 6)));
  exec.fence("Blockspan::test");
  HostBlock<Scalar> some(31, 3), result(31, 3);
  auto const now = values_of<Scalar>(Y);
  for (std::int64_t i = 0; i < 31; ++i)
    for (std::int64_t j = 0; j < 7; ++j)
      if (j >= 3 && j < 6)
        some(i, j - 3) = x(i, j - 1), result(i, j - 3) = now(i, j);
      else
        ASSERT_EQ(now(i, j), y(i, j)) << "written outside the block";
  EXPECT_TRUE(matches(result, reference(blocks, some)));
}

}  // namespace
}  // namespace blockspan::test
