#include <cmath>
#include <tuple>
#include <utility>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/multivector/gram.hpp>
#include <blockspan/multivector/terms/row_terms.hpp>
#include <blockspan/support/lapack/lapack.hpp>

#include "multivector/references.hpp"
#include "support/types.hpp"

namespace blockspan::test {

template <class Config>
class Gram : public ::testing::Test {
 public:
  using E = typename Config::Exec;
  using S = typename Config::Scalar;
  E exec;
  Workspace<E> workspace;

  HostBlock<S> computed(auto const& X, auto const& Y) {
    SmallMatrix<S> const G = small_matrix<Kokkos::LayoutLeft, Kokkos::HostSpace>(
        HostBlock<S>(static_cast<std::int64_t>(X.extent(1)), static_cast<std::int64_t>(Y.extent(1)),
                     not_a_number<S>()));
    gram(exec, X, Y, G, workspace);
    return fetch(G);
  }
};

TYPED_TEST_SUITE(Gram, EveryConfig, ConfigNames);

TYPED_TEST(Gram, MatchesAReferenceInExtendedPrecisionForEveryWidth) {
  using Scalar = typename TypeParam::Scalar;
  for (int k = 1; k <= 40; ++k) {
    auto const x = random_block<Scalar>(67, k, 1), y = random_block<Scalar>(67, 41 - k, 2);
    auto const X = make_block(this->exec, Storage::right, x);
    auto const Y = make_block(this->exec, Storage::right, y);
    EXPECT_TRUE(matches(this->computed(X.view, Y.view), gram_reference(x, y))) << "k = " << k;
    EXPECT_TRUE(matches(this->computed(X.view, X.view), gram_reference(x, x))) << "k = " << k;
  }
}

TYPED_TEST(Gram, OfEquallyWideBlocksMatchesTheReference) {
  using Scalar = typename TypeParam::Scalar;
  for (int const k : block_widths) {
    auto const x = random_block<Scalar>(143, k, 1), y = random_block<Scalar>(143, k, 2);
    for (Storage const storage : {Storage::right, Storage::padded_right, Storage::strided}) {
      auto const X = make_block(this->exec, storage, x), Y = make_block(this->exec, storage, y);
      EXPECT_TRUE(matches(this->computed(X.view, Y.view), gram_reference(x, y)))
          << to_string(storage) << ", k = " << k;
      EXPECT_TRUE(matches(this->computed(X.view, X.view), gram_reference(x, x)))
          << to_string(storage) << ", k = " << k;
    }
  }
}

TYPED_TEST(Gram, KeepsNanInItsColumn) {
  using Scalar = typename TypeParam::Scalar;
  for (int const k : block_widths) {
    auto x = random_block<Scalar>(61, k, 1);
    auto const y = random_block<Scalar>(61, k, 2);
    x(40, 0) = not_a_number<Scalar>();
    auto const X = make_block(this->exec, Storage::right, x),
               Y = make_block(this->exec, Storage::right, y);
    auto const G = this->computed(X.view, Y.view);
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < k; ++j)
        EXPECT_EQ(magnitude(G(i, j)) >= 0, i != 0) << "k = " << k << ": " << i << ", " << j;
  }
}

TYPED_TEST(Gram, MatchesTheReferenceForEveryNumberOfRows) {
  using Scalar = typename TypeParam::Scalar;
  for (int n : {0, 1, 2, 7, 31, 32, 33, 1000, 4099}) {
    auto const x = random_block<Scalar>(n, 5, 3), y = random_block<Scalar>(n, 9, 4);
    auto const X = make_block(this->exec, Storage::right, x);
    auto const Y = make_block(this->exec, Storage::left, y);
    EXPECT_TRUE(matches(this->computed(X.view, Y.view), gram_reference(x, y))) << "n = " << n;
  }
}

TYPED_TEST(Gram, TakesAnyTwoLayouts) {
  using Scalar = typename TypeParam::Scalar;
  for (auto const& [n, k1, k2] : {std::tuple{33, 3, 17}, std::tuple{1500, 8, 16}}) {
    auto const x = random_block<Scalar>(n, k1, 5), y = random_block<Scalar>(n, k2, 6);
    auto const wanted = gram_reference(x, y);
    for (Storage const sx : all_storages) {
      auto const X = make_block(this->exec, sx, x);
      for (Storage const sy : all_storages) {
        auto const Y = make_block(this->exec, sy, y);
        EXPECT_TRUE(matches(this->computed(X.view, Y.view), wanted))
            << to_string(sx) << ", " << to_string(sy);
      }
    }
  }
}

TYPED_TEST(Gram, TakesConstAndMutableViewsOfEveryLayoutType) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Space = typename Exec::memory_space;
  auto const x = random_block<Scalar>(77, 6, 5);
  auto const wanted = gram_reference(x, x);
  auto const R = small_matrix<Kokkos::LayoutRight, Space>(x);
  auto const L = small_matrix<Kokkos::LayoutLeft, Space>(x);
  Kokkos::View<Scalar const**, Kokkos::LayoutLeft, Space> const constant = L;
  EXPECT_TRUE(matches(this->computed(R, constant), wanted));
}

TYPED_TEST(Gram, HandlesBlocksOfHundredsOfColumns) {
  using Scalar = typename TypeParam::Scalar;
  auto const x = random_block<Scalar>(150, 130, 7), y = random_block<Scalar>(150, 70, 8);
  auto const X = make_block(this->exec, Storage::padded_right, x);
  auto const Y = make_block(this->exec, Storage::padded_left, y);
  EXPECT_TRUE(matches(this->computed(X.view, Y.view), gram_reference(x, y)));
  EXPECT_TRUE(matches(this->computed(Y.view, X.view), gram_reference(y, x)));
  EXPECT_TRUE(matches(this->computed(X.view, X.view), gram_reference(x, x)));
}

TYPED_TEST(Gram, OfTwoPairsOfBlocksMatchesTheReferences) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Space = typename Exec::memory_space;
  for (auto const& [n, k, m] :
       {std::tuple{1, 1, 1}, std::tuple{70, 3, 2}, std::tuple{4099, 24, 24}, std::tuple{333, 6, 40},
        std::tuple{1100, 48, 48}, std::tuple{555, 72, 70}, std::tuple{301, 96, 96}}) {
    auto const x = random_block<Scalar>(n, k, 1), y = random_block<Scalar>(n, m, 2),
               z = random_block<Scalar>(n, m, 3);
    for (Storage const storage : {Storage::right, Storage::padded_right, Storage::left}) {
      auto const X = make_block(this->exec, storage, x), Y = make_block(this->exec, storage, y),
                 Z = make_block(this->exec, storage, z);
      using blockspan::blocks::block_ref;
      auto const pair = [&, k = k](auto const& first, auto const& second, int columns) {
        HostBlock<Scalar> const nan(k, columns, not_a_number<Scalar>());
        auto const G = small_matrix<Kokkos::LayoutLeft, Space>(nan);
        auto const H = small_matrix<Kokkos::LayoutLeft, Space>(nan);
        blockspan::multivector::gram_pair<Exec, Scalar>(
            this->exec, block_ref<Exec>(X.view), block_ref<Exec>(first.view), block_ref<Exec>(G),
            block_ref<Exec>(second.view), block_ref<Exec>(H), this->workspace);
        return std::pair(fetch(G), fetch(H));
      };
      auto const [xy, xz] = pair(Y, Z, m);
      EXPECT_TRUE(matches(xy, gram_reference(x, y))) << n << ", " << k << ", " << m;
      EXPECT_TRUE(matches(xz, gram_reference(x, z))) << n << ", " << k << ", " << m;
      auto const [xx, again] = pair(X, X, k);
      EXPECT_TRUE(matches(xx, gram_reference(x, x))) << n << ", " << k;
      EXPECT_TRUE(same_bits(xx, again)) << n << ", " << k;
    }
  }
}

TYPED_TEST(Gram, WithRowWeightsMatchesTheReference) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Space = typename Exec::memory_space;
  using blockspan::blocks::block_ref;
  for (auto const& [n, k] : {std::tuple{1, 1}, std::tuple{70, 3}, std::tuple{4099, 8},
                             std::tuple{1501, 32}, std::tuple{333, 64}}) {
    auto const x = random_block<Scalar>(n, k, 1);
    HostBlock<real_t<Scalar>> weights(n, 1);
    HostBlock<Scalar> weighted(n, k);  // powers of two: nothing is rounded
    for (int i = 0; i < n; ++i) {
      weights(i, 0) = std::ldexp(real_t<Scalar>(1), i % 7 - 3);
      for (int j = 0; j < k; ++j) weighted(i, j) = weights(i, 0) * x(i, j);
    }
    auto const w = small_matrix<Kokkos::LayoutLeft, Space>(weights);
    HostBlock<Scalar> const nan(k, k, not_a_number<Scalar>());
    for (Storage const storage : {Storage::right, Storage::padded_right, Storage::left}) {
      auto const X = make_block(this->exec, storage, x);
      auto const G = small_matrix<Kokkos::LayoutLeft, Space>(nan);
      blockspan::multivector::weighted_gram<Exec, Scalar>(
          this->exec, block_ref<Exec>(X.view), w.data(), block_ref<Exec>(G), this->workspace);
      EXPECT_TRUE(matches(fetch(G), gram_reference(x, weighted)))
          << to_string(storage) << ", " << n << ", " << k;
    }
  }
}

TYPED_TEST(Gram, WritesResultsOfAnyLayoutOnTheHostAndWhereItComputes) {
  using Scalar = typename TypeParam::Scalar;
  auto const x = random_block<Scalar>(40, 4, 9), y = random_block<Scalar>(40, 6, 10);
  auto const wanted = gram_reference(x, y);
  auto const X = make_block(this->exec, Storage::right, x);
  auto const Y = make_block(this->exec, Storage::right, y);
  auto const nan = HostBlock<Scalar>(4, 6, not_a_number<Scalar>());
  for (Storage const storage : all_storages) {
    auto const G = make_block(this->exec, storage, nan);
    gram(this->exec, X.view, Y.view, G.view);
    EXPECT_TRUE(matches(G.values(), wanted)) << to_string(storage);
    EXPECT_TRUE(G.surroundings_intact()) << to_string(storage);
  }
  auto const rows = small_matrix<Kokkos::LayoutRight, Kokkos::HostSpace>(nan);
  gram(this->exec, X.view, Y.view, rows);
  EXPECT_TRUE(matches(fetch(rows), wanted));
}

TYPED_TEST(Gram, OfABlockWithItselfIsExactlyHermitian) {
  using Scalar = typename TypeParam::Scalar;
  auto const X = make_block(this->exec, Storage::right, random_block<Scalar>(3000, 13, 11));
  auto const G = this->computed(X.view, X.view);
  for (int i = 0; i < 13; ++i)
    for (int j = 0; j < 13; ++j) EXPECT_EQ(G(i, j), blockspan::conjugate(G(j, i)));
}

TYPED_TEST(Gram, RepeatsItsBits) {
  using Scalar = typename TypeParam::Scalar;
  auto const X = make_block(this->exec, Storage::right, random_block<Scalar>(50001, 6, 12));
  auto const first = this->computed(X.view, X.view);
  for (int run = 0; run < 20; ++run)
    EXPECT_TRUE(same_bits(first, this->computed(X.view, X.view))) << "run " << run;
}

TYPED_TEST(Gram, KeepsItsBitsOnFewerThreadsAndElsewhereInMemory) {
  using Scalar = typename TypeParam::Scalar;
  auto const half = halves(this->exec)[0];
  for (auto const& [n, k, m] : {std::tuple{9001, 4, 4}, std::tuple{5003, 7, 30},
                                std::tuple{4001, 48, 17}, std::tuple{3001, 61, 61}}) {
    auto const x = random_block<Scalar>(n, k, 1), y = random_block<Scalar>(n, m, 2);
    for (Storage const storage : {Storage::right, Storage::padded_right, Storage::left}) {
      auto const run = [&, k = k, m = m](auto const& on, bool same) {
        auto const X = make_block(on, storage, x), Y = make_block(on, storage, y);
        SmallMatrix<Scalar> const G("Blockspan::test", k, same ? k : m);
        if (same)
          gram(on, X.view, X.view, G);
        else
          gram(on, X.view, Y.view, G);
        on.fence();
        return fetch(G);
      };
      for (bool const same : {false, true})
        EXPECT_TRUE(same_bits(run(this->exec, same), run(half, same)))
            << to_string(storage) << ", " << k << ", " << m;
    }
  }
}

TYPED_TEST(Gram, OfABlockWithItselfMatchesTheReferenceForWideBlocks) {
  using Scalar = typename TypeParam::Scalar;
  for (int const k : {47, 64, 97}) {
    auto const x = random_block<Scalar>(400, k, 14);
    for (Storage const storage : {Storage::right, Storage::strided}) {
      auto const X = make_block(this->exec, storage, x);
      EXPECT_TRUE(matches(this->computed(X.view, X.view), gram_reference(x, x)))
          << to_string(storage) << ", " << k;
    }
  }
}

TYPED_TEST(Gram, CheckerFindsOneCorruptedEntry) {
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  auto x = random_block<Scalar>(100, 3, 13);
  auto const wanted = gram_reference(x, x);
  auto const X = make_block(this->exec, Storage::right, x);
  auto G = this->computed(X.view, X.view);
  ASSERT_TRUE(matches(G, wanted));
  G(1, 2) += Scalar(Real(4 * wanted.bound(1, 2)));
  EXPECT_FALSE(matches(G, wanted));
  x(57, 1) += Scalar(Real(0.01));
  auto const corrupted = make_block(this->exec, Storage::right, x);
  EXPECT_FALSE(matches(this->computed(corrupted.view, X.view), wanted));
}

TYPED_TEST(Gram, OfNoColumnsDoesNothing) {
  using Scalar = typename TypeParam::Scalar;
  auto const X = make_block(this->exec, Storage::right, random_block<Scalar>(10, 0, 1));
  auto const Y = make_block(this->exec, Storage::right, random_block<Scalar>(10, 3, 1));
  EXPECT_EQ(this->computed(X.view, Y.view).rows(), 0);
  EXPECT_EQ(this->computed(Y.view, X.view).columns(), 0);
}

}  // namespace blockspan::test
