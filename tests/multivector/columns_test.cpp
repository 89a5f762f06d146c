#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <blockspan/multivector/columns.hpp>

#include "multivector/references.hpp"
#include "support/types.hpp"

namespace blockspan::test {

template <class Config>
class Columns : public ::testing::Test {
 public:
  using E = typename Config::Exec;
  using S = typename Config::Scalar;
  using R = real_t<S>;
  E exec;
  Workspace<E> workspace;

  std::vector<R> norms(auto const& X) {
    Kokkos::View<R*, Kokkos::HostSpace> const result("Blockspan::test", X.extent(1));
    column_norms(exec, X, result, workspace);
    return {result.data(), result.data() + result.extent(0)};
  }
  HostBlock<S> dots(auto const& X, auto const& Y) {
    Kokkos::View<S*, Kokkos::HostSpace> const result("Blockspan::test", X.extent(1));
    column_dots(exec, X, Y, result, workspace);
    HostBlock<S> values(1, static_cast<std::int64_t>(X.extent(1)));
    for (std::int64_t j = 0; j < values.columns(); ++j) values(0, j) = result(j);
    return values;
  }
};

TYPED_TEST_SUITE(Columns, EveryConfig, ConfigNames);

/// The diagonal of a Gram matrix as a row.
template <class Scalar>
Reference<Scalar> dots_reference(HostBlock<Scalar> const& X, HostBlock<Scalar> const& Y) {
  Reference<Scalar> dots(1, X.columns());
  for (std::int64_t i = 0; i < X.rows(); ++i)
    for (std::int64_t j = 0; j < X.columns(); ++j) {
      auto const x = conjugate(extended(X(i, j))), y = extended(Y(i, j));
      dots.value(0, j) += x * y;
      dots.bound(0, j) += std::abs(x) * std::abs(y);
    }
  for (auto& bound : dots.bounds) bound *= gamma_bound<Scalar>(X.rows() + 2);
  return dots;
}

TYPED_TEST(Columns, DotsMatchAReferenceInExtendedPrecision) {
  using Scalar = typename TypeParam::Scalar;
  for (auto const& [n, k] : {std::pair{0, 3}, {1, 1}, {7, 40}, {33, 130}, {1000, 5}, {4099, 33}}) {
    auto const x = random_block<Scalar>(n, k, 1), y = random_block<Scalar>(n, k, 2);
    auto const wanted = dots_reference(x, y);
    for (Storage const sx : all_storages) {
      auto const X = make_block(this->exec, sx, x);
      auto const Y = make_block(this->exec, sx == Storage::left ? Storage::right : sx, y);
      EXPECT_TRUE(matches(this->dots(X.const_view(), Y.view), wanted)) << to_string(sx) << " " << n;
    }
  }
}

TYPED_TEST(Columns, NormsMatchAReferenceInExtendedPrecision) {
  using Scalar = typename TypeParam::Scalar;
  for (auto const& [n, k] : {std::pair{0, 3}, {1, 1}, {31, 40}, {2, 130}, {1000, 7}, {4099, 20}}) {
    auto const x = random_block<Scalar>(n, k, 3);
    auto const squares = dots_reference(x, x);
    for (Storage const storage : all_storages) {
      auto const norms = this->norms(make_block(this->exec, storage, x).view);
      for (int j = 0; j < k; ++j) {
        long double const norm = std::sqrt(std::abs(squares.value(0, j)));
        EXPECT_NEAR(norms[static_cast<std::size_t>(j)], norm,
                    norm * gamma_bound<Scalar>(x.rows() + 4));
      }
    }
  }
}

TYPED_TEST(Columns, NormsShowANaNInItsColumnOnly) {
  using Scalar = typename TypeParam::Scalar;
  auto x = random_block<Scalar>(500, 3, 4);
  x(321, 1) = not_a_number<Scalar>();
  auto const norms = this->norms(make_block(this->exec, Storage::right, x).view);
  EXPECT_TRUE(std::isfinite(norms[0]) && std::isnan(norms[1]) && std::isfinite(norms[2]));
}

TYPED_TEST(Columns, ReductionsRepeatTheirBits) {
  using Scalar = typename TypeParam::Scalar;
  auto const X = make_block(this->exec, Storage::right, random_block<Scalar>(50000, 5, 5));
  auto const dots = this->dots(X.view, X.view);
  auto const norms = this->norms(X.view);
  for (int run = 0; run < 20; ++run) {
    EXPECT_TRUE(same_bits(dots, this->dots(X.view, X.view)));
    EXPECT_EQ(norms, this->norms(X.view));
  }
}

TYPED_TEST(Columns, ReductionsWriteWhereTheyCompute) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  auto const x = random_block<Scalar>(100, 4, 6);
  auto const X = make_block(this->exec, Storage::right, x);
  Kokkos::View<Scalar*, typename Exec::memory_space> const dots("Blockspan::test", 4);
  column_dots(this->exec, X.view, X.view, dots);
  this->exec.fence();
  auto const there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dots);
  auto const wanted = this->dots(X.view, X.view);
  for (int j = 0; j < 4; ++j) EXPECT_EQ(there(j), wanted(0, j));
}

/// x scaled column by column on the host, exactly as a processor rounds it once.
template <class Scalar, class Factor>
Reference<Scalar> scaled(HostBlock<Scalar> const& x, std::vector<Factor> const& factors) {
  Reference<Scalar> wanted(x.rows(), x.columns());
  for (std::int64_t i = 0; i < x.rows(); ++i)
    for (std::int64_t j = 0; j < x.columns(); ++j) {
      wanted.value(i, j) = extended(x(i, j)) * extended(factors[static_cast<std::size_t>(j)]);
      wanted.bound(i, j) = std::abs(wanted.value(i, j)) * gamma_bound<Scalar>(2);
    }
  return wanted;
}

TYPED_TEST(Columns, ScaleTakesRealAndComplexFactorsFromTheHostAndTheDevice) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  auto const judge = [&]<class Factor>(std::vector<Factor> const& factors) {
    auto const k = static_cast<std::int64_t>(factors.size());
    auto const x = random_block<Scalar>(50, k, 7);
    auto const wanted = scaled(x, factors);
    Kokkos::View<Factor const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(
        factors.data(), factors.size());
    auto const device = Kokkos::create_mirror_view_and_copy(typename Exec::memory_space(), host);
    for (Storage const storage : all_storages) {
      auto const X = make_block(this->exec, storage, x), Y = make_block(this->exec, storage, x);
      scale_columns(this->exec, host, X.view);
      scale_columns(this->exec, device, Y.view);
      EXPECT_TRUE(matches(X.values(), wanted) && X.surroundings_intact()) << to_string(storage);
      EXPECT_TRUE(matches(Y.values(), wanted) && Y.surroundings_intact()) << to_string(storage);
    }
  };
  Random random(8);
  for (int k : {1, 8, 130}) {
    std::vector<Scalar> scalars;
    std::vector<real_t<Scalar>> reals;
    for (int j = 0; j < k; ++j) {
      scalars.push_back(random.value<Scalar>());
      reals.push_back(random.value<real_t<Scalar>>());
    }
    judge(scalars);
    judge(reals);
  }
}

TYPED_TEST(Columns, CopyGathersColumnsInTheOrderAskedFor) {
  using Scalar = typename TypeParam::Scalar;
  auto const x = random_block<Scalar>(77, 90, 9);
  Random random(10);
  for (int m : {0, 1, 5, 150}) {
    std::vector<int> columns;
    for (int j = 0; j < m; ++j) columns.push_back(static_cast<int>(random.below(90)));
    HostBlock<Scalar> wanted(77, m);
    for (int i = 0; i < 77; ++i)
      for (int j = 0; j < m; ++j) wanted(i, j) = x(i, columns[static_cast<std::size_t>(j)]);
    for (Storage const sx : all_storages)
      for (Storage const sy : all_storages) {
        auto const X = make_block(this->exec, sx, x);
        auto const Y = make_block(this->exec, sy, HostBlock<Scalar>(77, m));
        copy_columns(this->exec, X.const_view(), columns, Y.view);
        EXPECT_TRUE(same_bits(Y.values(), wanted) && Y.surroundings_intact())
            << to_string(sx) << " to " << to_string(sy);
      }
  }
}

}  // namespace blockspan::test
