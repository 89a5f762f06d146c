#include <cmath>
#include <tuple>
#include <utility>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/multivector/combine.hpp>
#include <blockspan/multivector/terms/row_terms.hpp>

#include "multivector/references.hpp"
#include "support/types.hpp"

namespace blockspan::test {

template <class Config>
class Combine : public ::testing::Test {
 public:
  using E = typename Config::Exec;
  using S = typename Config::Scalar;
  using R = real_t<S>;
  E exec;
  Workspace<E> workspace;

  static S factor(double re, double im) {
    if constexpr (is_complex_v<S>)
      return S(R(re), R(im));
    else
      return R(re);
  }
  auto host(HostBlock<S> const& C) {
    return small_matrix<Kokkos::LayoutLeft, Kokkos::HostSpace>(C);
  }

  void check(Storage storage_x, Storage storage_y, HostBlock<S> const& x, HostBlock<S> const& c,
             HostBlock<S> const& y, S alpha, S beta) {
    auto const X = make_block(exec, storage_x, x);
    auto const Y = make_block(exec, storage_y, y);
    combine(exec, alpha, X.const_view(), host(c), beta, Y.view, workspace);
    EXPECT_TRUE(matches(Y.values(), combine_reference(alpha, x, c, beta, y)))
        << to_string(storage_x) << ", " << to_string(storage_y) << ": " << x.rows() << " x "
        << x.columns() << " times " << c.columns();
    EXPECT_TRUE(Y.surroundings_intact());
  }
};

TYPED_TEST_SUITE(Combine, EveryConfig, ConfigNames);

TYPED_TEST(Combine, MatchesAReferenceInExtendedPrecisionForEveryWidth) {
  using Scalar = typename TypeParam::Scalar;
  for (int k = 1; k <= 40; ++k)
    this->check(Storage::right, Storage::right, random_block<Scalar>(37, k, 1),
                random_block<Scalar>(k, 41 - k, 2), random_block<Scalar>(37, 41 - k, 3),
                this->factor(0.7, -0.2), this->factor(-1.3, 0.4));
}

TYPED_TEST(Combine, OfSquareCoefficientsMatchesTheReferenceInPlaceToo) {
  using Scalar = typename TypeParam::Scalar;
  for (int const k : block_widths) {
    auto const x = random_block<Scalar>(143, k, 1), c = random_block<Scalar>(k, k, 2);
    HostBlock<Scalar> const nan(143, k, not_a_number<Scalar>());
    auto const wanted = combine_reference(Scalar(1), x, c, Scalar(0), nan);
    for (Storage const storage : all_storages) {
      this->check(storage, storage, x, c, nan, Scalar(1), Scalar(0));
      auto const X = make_block(this->exec, storage, x);
      combine_in_place(this->exec, X.view, this->host(c), this->workspace);
      EXPECT_TRUE(matches(X.values(), wanted)) << to_string(storage) << ", k = " << k;
      EXPECT_TRUE(X.surroundings_intact()) << to_string(storage) << ", k = " << k;
    }
  }
}

TYPED_TEST(Combine, KeepsNanInItsRow) {
  using Scalar = typename TypeParam::Scalar;
  for (int const k : block_widths) {
    auto x = random_block<Scalar>(61, k, 1);
    auto const c = random_block<Scalar>(k, k, 2);
    auto wanted = combine_reference(Scalar(1), x, c, Scalar(0), x);
    x(40, k / 2) = not_a_number<Scalar>();
    auto const X = make_block(this->exec, Storage::right, x);
    combine_in_place(this->exec, X.view, this->host(c), this->workspace);
    auto values = X.values();
    for (int j = 0; j < k; ++j) {
      EXPECT_FALSE(magnitude(values(40, j)) >= 0) << "k = " << k;
      values(40, j) = x(0, 0);
      wanted.value(40, j) = extended(x(0, 0));
    }
    EXPECT_TRUE(matches(values, wanted)) << "k = " << k;
  }
}

TYPED_TEST(Combine, MatchesTheReferenceForEveryNumberOfRows) {
  using Scalar = typename TypeParam::Scalar;
  for (int n : {0, 1, 2, 7, 31, 32, 33, 1000, 4099})
    this->check(Storage::left, Storage::right, random_block<Scalar>(n, 6, 1),
                random_block<Scalar>(6, 9, 2), random_block<Scalar>(n, 9, 3), Scalar(1),
                this->factor(1, 1));
}

TYPED_TEST(Combine, TakesAnyTwoLayouts) {
  using Scalar = typename TypeParam::Scalar;
  auto const x = random_block<Scalar>(333, 11, 4), c = random_block<Scalar>(11, 18, 5),
             y = random_block<Scalar>(333, 18, 6);
  for (Storage const sx : all_storages) {
    for (Storage const sy : all_storages) {
      this->check(sx, sy, x, c, y, this->factor(2, 1), this->factor(0.5, -1));
    }
  }
}

TYPED_TEST(Combine, HandlesBlocksOfHundredsOfColumns) {
  using Scalar = typename TypeParam::Scalar;
  this->check(Storage::right, Storage::left, random_block<Scalar>(90, 300, 7),
              random_block<Scalar>(300, 130, 8), random_block<Scalar>(90, 130, 9), Scalar(1),
              Scalar(-1));
}

TYPED_TEST(Combine, NeverReadsYWhereBetaIsZero) {
  using Scalar = typename TypeParam::Scalar;
  HostBlock<Scalar> const nan(70, 7, not_a_number<Scalar>());
  for (Storage const storage : all_storages) {
    this->check(Storage::right, storage, random_block<Scalar>(70, 5, 1),
                random_block<Scalar>(5, 7, 2), nan, Scalar(1), Scalar(0));
  }
}

TYPED_TEST(Combine, OfNoColumnsScalesY) {
  using Scalar = typename TypeParam::Scalar;
  for (double beta : {0.0, 1.0, -2.0})
    this->check(Storage::right, Storage::strided, random_block<Scalar>(20, 0, 1),
                random_block<Scalar>(0, 3, 1), random_block<Scalar>(20, 3, 2), Scalar(1),
                this->factor(beta, beta));
}

TYPED_TEST(Combine, TakesCoefficientsOfAnyLayoutOnTheHostAndWhereItComputes) {
  using Scalar = typename TypeParam::Scalar;
  auto const x = random_block<Scalar>(50, 4, 1), c = random_block<Scalar>(4, 5, 2);
  HostBlock<Scalar> const zero(50, 5);
  auto const wanted = combine_reference(Scalar(1), x, c, Scalar(0), zero);
  auto const X = make_block(this->exec, Storage::right, x);
  auto const Y = make_block(this->exec, Storage::right, zero);
  auto const judge = [&](auto const& C) {
    combine(this->exec, Scalar(1), X.view, C, Scalar(0), Y.view);
    EXPECT_TRUE(matches(Y.values(), wanted));
  };
  for (Storage const s : all_storages) {
    judge(make_block(this->exec, s, c).view);
  }
  judge(small_matrix<Kokkos::LayoutRight, Kokkos::HostSpace>(c));
}

TYPED_TEST(Combine, InPlaceReplacesLeadingColumnsAndKeepsTheOthers) {
  using Scalar = typename TypeParam::Scalar;
  for (auto const& [n, k, m] : {std::tuple{1, 1, 1}, std::tuple{333, 12, 5}, std::tuple{64, 40, 40},
                                std::tuple{200, 150, 131}, std::tuple{1025, 3, 3}}) {
    auto const x = random_block<Scalar>(n, k, 1), c = random_block<Scalar>(k, m, 2);
    auto wanted = combine_reference(Scalar(1), x, c, Scalar(0), HostBlock<Scalar>(n, m));
    Reference<Scalar> all(n, k);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < k; ++j) {
        all.value(i, j) = j < m ? wanted.value(i, j) : extended(x(i, j));
        all.bound(i, j) = j < m ? wanted.bound(i, j) : 0;
      }
    for (Storage const storage : all_storages) {
      auto const X = make_block(this->exec, storage, x);
      combine_in_place(this->exec, X.view, this->host(c), this->workspace);
      EXPECT_TRUE(matches(X.values(), all)) << to_string(storage) << ", k = " << k;
      EXPECT_TRUE(X.surroundings_intact()) << to_string(storage);
    }
  }
}

TYPED_TEST(Combine, OfTwoTermsMatchesTheReferenceInPlaceToo) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Space = typename Exec::memory_space;
  using blockspan::blocks::block_ref;
  for (auto const& [n, k, l, m] :
       {std::tuple{1, 1, 1, 1}, std::tuple{333, 8, 8, 8}, std::tuple{100, 5, 8, 6},
        std::tuple{2065, 16, 12, 16}, std::tuple{270, 32, 30, 24}}) {
    // Weights that are powers of two round nothing: one product of [W X1, X2] is the reference.
    auto const x1 = random_block<Scalar>(n, k, 1), x2 = random_block<Scalar>(n, l, 2);
    auto const c1 = random_block<Scalar>(k, m, 3), c2 = random_block<Scalar>(l, m, 4);
    HostBlock<real_t<Scalar>> weights(n, 1);
    HostBlock<Scalar> x(n, k + l), c(k + l, m);
    for (int i = 0; i < n; ++i) {
      weights(i, 0) = std::ldexp(real_t<Scalar>(1), i % 5 - 2);
      for (int j = 0; j < k + l; ++j) x(i, j) = j < k ? weights(i, 0) * x1(i, j) : x2(i, j - k);
    }
    for (int i = 0; i < k + l; ++i)
      for (int j = 0; j < m; ++j) c(i, j) = i < k ? c1(i, j) : c2(i - k, j);
    auto const wanted = combine_reference(Scalar(1), x, c, Scalar(0), HostBlock<Scalar>(n, m));
    auto const w = small_matrix<Kokkos::LayoutLeft, Space>(weights);
    auto const C1 = small_matrix<Kokkos::LayoutLeft, Space>(c1),
               C2 = small_matrix<Kokkos::LayoutLeft, Space>(c2);
    for (Storage const storage : {Storage::right, Storage::padded_right, Storage::left}) {
      auto const X1 = make_block(this->exec, storage, x1), X2 = make_block(this->exec, storage, x2);
      auto const run = [&](auto const& Y) {
        blockspan::multivector::combine_terms<Exec, Scalar>(
            this->exec, {block_ref<Exec>(X1.view), block_ref<Exec>(C1), w.data()},
            {block_ref<Exec>(X2.view), block_ref<Exec>(C2), nullptr}, block_ref<Exec>(Y),
            this->workspace);
      };
      auto const Y =
          make_block(this->exec, storage, HostBlock<Scalar>(n, m, not_a_number<Scalar>()));
      run(Y.view);
      EXPECT_TRUE(matches(Y.values(), wanted)) << to_string(storage) << ", " << k << ", " << l;
      EXPECT_TRUE(Y.surroundings_intact());
      if (m > k) continue;
      run(Kokkos::subview(X1.view, Kokkos::ALL, std::pair<int, int>(0, m)));
      HostBlock<Scalar> leading(n, m);
      auto const values = X1.values();
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) leading(i, j) = values(i, j);
      EXPECT_TRUE(matches(leading, wanted)) << to_string(storage) << ", in place, " << k;
    }
  }
}

/// Hosts: so that ranks have the rows of one. Rows before the end of a block are in taller tiles.
TYPED_TEST(Combine, ARowKeepsItsBitsWhereverABlockEnds) {
  using Scalar = typename TypeParam::Scalar;
  using Exec = typename TypeParam::Exec;
  if (!blockspan::support::runs_on_host_v<Exec>) GTEST_SKIP() << "a promise of hosts";
  constexpr int rows = 500, cuts[] = {0, 97, 100, 347, rows};
  for (int const k : {1, 2, 3, 4, 5, 8, 12, 20, 33})
    for (Scalar const beta : {Scalar(0), this->factor(-1.3, 0.4)}) {
      auto x = random_block<Scalar>(rows, k, 1);
      auto const y = random_block<Scalar>(rows, k, 3);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < k; ++j) x(i, j) /= Scalar(3);  // sums of 24 bits might be exact
      auto const c = this->host(random_block<Scalar>(k, k, 2));
      auto const X = make_block(this->exec, Storage::right, x);
      auto const whole = make_block(this->exec, Storage::right, y),
                 parts = make_block(this->exec, Storage::right, y);
      combine(this->exec, Scalar(1), X.const_view(), c, beta, whole.view, this->workspace);
      for (int part = 0; part < 4; ++part) {
        auto const of = [&](auto const& view) {
          return Kokkos::subview(view, std::pair(cuts[part], cuts[part + 1]), Kokkos::ALL);
        };
        combine(this->exec, Scalar(1), of(X.const_view()), c, beta, of(parts.view),
                this->workspace);
      }
      EXPECT_TRUE(same_bits(parts.values(), whole.values())) << k;
    }
}

TYPED_TEST(Combine, KeepsItsBitsOnFewerThreads) {
  using Scalar = typename TypeParam::Scalar;
  auto const half = halves(this->exec)[0];
  for (auto const& [n, k, m] : {std::tuple{9001, 4, 4}, std::tuple{3001, 7, 30},
                                std::tuple{2001, 48, 17}, std::tuple{1001, 61, 61}}) {
    auto const x = random_block<Scalar>(n, k, 1), c = random_block<Scalar>(k, m, 2);
    HostBlock<Scalar> const zero(n, m);
    for (Storage const storage : {Storage::right, Storage::padded_right, Storage::left}) {
      auto const run = [&](auto const& on) {
        auto const X = make_block(on, storage, x), Y = make_block(on, storage, zero);
        combine(on, Scalar(1), X.view, this->host(c), Scalar(0), Y.view);
        on.fence();
        return Y.values();
      };
      EXPECT_TRUE(same_bits(run(this->exec), run(half))) << to_string(storage) << ", " << k;
    }
  }
}

TYPED_TEST(Combine, RepeatsItsBits) {
  using Scalar = typename TypeParam::Scalar;
  auto const x = random_block<Scalar>(2000, 7, 1), c = random_block<Scalar>(7, 9, 2);
  auto const C = this->host(c);
  HostBlock<Scalar> const zero(2000, 9);
  auto const run = [&](auto const& X) {
    auto const Y = make_block(this->exec, Storage::right, zero);
    combine(this->exec, Scalar(1), X.view, C, Scalar(0), Y.view);
    return Y.values();
  };
  for (Storage const storage : all_storages) {
    auto const first = run(make_block(this->exec, storage, x));
    for (int repeat = 0; repeat < 4; ++repeat)
      EXPECT_TRUE(same_bits(first, run(make_block(this->exec, storage, x))));
  }
}

TYPED_TEST(Combine, CheckerFindsOneCorruptedCoefficient) {
  using Scalar = typename TypeParam::Scalar;
  auto const x = random_block<Scalar>(30, 4, 1);
  auto c = random_block<Scalar>(4, 4, 2);
  HostBlock<Scalar> const zero(30, 4);
  auto const wanted = combine_reference(Scalar(1), x, c, Scalar(0), zero);
  auto const X = make_block(this->exec, Storage::right, x);
  auto const Y = make_block(this->exec, Storage::right, zero);
  c(2, 1) *= real_t<Scalar>(1.001);
  combine(this->exec, Scalar(1), X.view, this->host(c), Scalar(0), Y.view);
  EXPECT_FALSE(matches(Y.values(), wanted));
}

}  // namespace blockspan::test
