#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/reorder.hpp>
#include <blockspan/sparse/validate.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "sparse/dense.hpp"
#include "support/messages.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;

template <class View>
std::vector<std::int64_t> numbers(View const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {host.data(), host.data() + host.extent(0)};
}

template <class Exec>
class Reorder : public ::testing::Test {
 protected:
  /// from and to are permutations, and inverse to each other.
  template <class Ordinal>
  static void expect_permutation(Ordering<Exec, Ordinal> const& ordering, std::size_t rows) {
    auto const from = numbers(ordering.from), to = numbers(ordering.to);
    ASSERT_EQ(from.size(), rows);
    ASSERT_EQ(to.size(), rows);
    auto sorted = from;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < rows; ++k) {
      EXPECT_EQ(sorted[k], static_cast<std::int64_t>(k));
      EXPECT_EQ(from[static_cast<std::size_t>(to[k])], static_cast<std::int64_t>(k));
    }
  }

  /// Entry (i, j) of A is entry (to(i), to(j)) of B, and there are no others.
  template <class Matrix>
  static void expect_renamed(Matrix const& A, Matrix const& B,
                             std::vector<std::int64_t> const& to) {
    Entries renamed;
    for (auto const& [place, value] : entries_of(A))
      renamed[{to[static_cast<std::size_t>(place.first)],
               to[static_cast<std::size_t>(place.second)]}] = value;
    EXPECT_EQ(entries_of(B), renamed);
    EXPECT_EQ(A.nnz(), B.nnz());
    EXPECT_TRUE(validate(Exec(), B));
  }
};
TYPED_TEST_SUITE(Reorder, Backends);

TYPED_TEST(Reorder, BringsAGridThatWasShuffledBackToANarrowBand) {
  // Breadth first, the levels of an N^3 grid are planes of at most about N^2 points: neighbours are
  // never further apart than two of them.
  constexpr int N = 12;
  TypeParam const exec;
  auto const A = generate<double>(exec, "permute:seed=3:laplace7:12");
  auto const result = reorder(exec, A);
  this->expect_permutation(result.ordering, N * N * N);
  this->expect_renamed(A, result.matrix, numbers(result.ordering.to));
  EXPECT_GT(result.bandwidth_before, N * N * N / 2);
  EXPECT_LE(result.bandwidth_after, 2 * N * N);
  EXPECT_TRUE(HostCopy(result.matrix).sorted_and_unique());
}

TYPED_TEST(Reorder, MakesAShuffledChainTridiagonal) {
  TypeParam const exec;
  auto const result = reorder(exec, generate<double>(exec, "permute:seed=5:laplace7:300x1x1"));
  EXPECT_EQ(result.bandwidth_after, 1);
}

TYPED_TEST(Reorder, KeepsAProductThroughItsVectors) {
  TypeParam const exec;
  auto const A = generate<double>(exec, "permute:seed=1:elasticity:5");
  auto const [B, ordering, before, after] = reorder(exec, A);
  auto const n = A.numRows();
  Block<double, TypeParam> const X("X", n, 3), Y("Y", n, 3), PX("PX", n, 3), PY("PY", n, 3),
      back("back", n, 3);
  fill_random(exec, X, 1);
  spmm(exec, Op::none, 1.0, A, X, 0.0, Y);
  permute_rows(exec, ordering.from, X, PX);
  spmm(exec, Op::none, 1.0, B, PX, 0.0, PY);
  permute_rows(exec, ordering.to, PY, back);
  auto const expected = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Y);
  auto const found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), back);
  for (int i = 0; i < n; ++i)  // sums of at most 81 terms below 1 in another order
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(found(i, j), expected(i, j), 81 * 81 * 1e-16);
  EXPECT_LT(after, before);
}

TYPED_TEST(Reorder, TakesUnsortedRepeatedAndUnsymmetricEntries) {
  using Scalar = Kokkos::complex<float>;
  auto const A = make_matrix<Scalar, TypeParam, std::size_t, std::int64_t>(
      {0, 3, 3, 4, 6}, {2, 0, 2, 3, 1, 3}, {{1, 2}, {3, 0}, {4, -1}, {5, 5}, {6, 0}, {7, 1}}, 4);
  auto const result = reorder(TypeParam(), A);
  this->expect_permutation(result.ordering, 4);
  this->expect_renamed(A, result.matrix, numbers(result.ordering.to));
}

TYPED_TEST(Reorder, OrdersAnyNumberOfRowsAndComponents) {
  for (int const n : {0, 1, 2, 3, 7}) {
    std::vector<int> offsets(n + 1), indices(n);
    std::iota(offsets.begin(), offsets.end(), 0);
    std::iota(indices.begin(), indices.end(), 0);
    auto const A = make_matrix<double, TypeParam>(offsets, indices, std::vector<double>(n, 2.0), n);
    auto const result = reorder(TypeParam(), A);
    this->expect_permutation(result.ordering, n);
    this->expect_renamed(A, result.matrix, numbers(result.ordering.to));
    EXPECT_EQ(result.bandwidth_after, 0);
  }
}

TYPED_TEST(Reorder, RefusesWhatIsNoOrderOfTheRows) {
  TypeParam const exec;
  auto const A = generate<double>(exec, "laplace7:2");
  auto const wide = generate<double>(exec, "wide:3x9:2");
  auto const order = [](std::vector<int> const& from, std::vector<int> const& to) {
    return Ordering<TypeParam>{on_device<TypeParam>(from), on_device<TypeParam>(to)};
  };
  auto const message = [&](auto const&... given) {
    return message_of([&] { reorder(exec, given...); });
  };
  EXPECT_THAT(message(wide), HasSubstr("not 3 x 9"));
  EXPECT_THAT(message(A, order({0, 1}, {0, 1})), HasSubstr("has 2 rows, the matrix 8"));
  EXPECT_THAT(message(A, order({0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 6})),
              HasSubstr("row 7 goes to 6"));
  EXPECT_THAT(message(A, order({0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 8})),
              HasSubstr("row 7 goes to 8"));
  Block<double, TypeParam> const X("X", 8, 2), Y("Y", 7, 2);
  EXPECT_THAT(message_of([&] { permute_rows(exec, order({0}, {0}).from, X, Y); }),
              HasSubstr("shapes clash"));
}

}  // namespace
}  // namespace blockspan::test
