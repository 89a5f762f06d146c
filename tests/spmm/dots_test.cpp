#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/spmm/spmm_dots.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

template <class Config>
class Dots : public ::testing::Test {};
TYPED_TEST_SUITE(Dots, EveryConfig, ConfigNames);

template <class Exec>
constexpr bool on_host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

template <class Scalar>
std::vector<HostMatrix<Scalar>> square_matrices() {
  using Row = std::int64_t;
  return {
      random_matrix<Scalar>("no entries", 11, 11, [](Row) { return 0; }),
      random_matrix<Scalar>("empty rows", 40, 40, [](Row i) { return i % 3 == 1 ? 6 : 0; }),
      random_matrix<Scalar>("one heavy row", 30, 30, [](Row i) { return i == 11 ? 700 : 2; }),
      random_matrix<Scalar>("1 x 1", 1, 1, [](Row) { return 3; }),
      arrow<Scalar>(48),
      band<Scalar>(700),
      shared_columns<Scalar>(
          "groups of rows", 28, 70, [](Row run) { return 1 + run % 4; },
          [](Row run) { return run % 9; }),
  };
}

/// What a call has left.
template <class Scalar>
struct Result {
  HostBlock<Scalar> Y, x_dot_y;
  HostBlock<real_t<Scalar>> y_dot_y;
};

template <class Scalar>
bool same_bits(Result<Scalar> const& a, Result<Scalar> const& b) {
  return same_bits(a.Y, b.Y) && same_bits(a.x_dot_y, b.x_dot_y) && same_bits(a.y_dot_y, b.y_dot_y);
}

template <class Exec, class Scalar, class Plan, class Matrix>
Result<Scalar> run(Exec const& exec, Plan const& plan, Matrix const& A, Storages storages,
                   ProductCase<Scalar> const& c) {
  auto const X = make_block(exec, storages.X, c.X());
  auto const Y = make_block(exec, storages.Y, c.Y());
  // in padded memory, so that the outputs are strided
  auto const xy =
      make_block(exec, Storage::strided, HostBlock<Scalar>(1, c.columns, not_a_number<Scalar>()));
  using Real = real_t<Scalar>;
  auto const yy =
      make_block(exec, Storage::strided, HostBlock<Real>(1, c.columns, not_a_number<Real>()));
  spmm_dots(exec, plan, c.alpha, A, X.const_view(), c.beta, Y.view,
            Kokkos::subview(xy.view, 0, Kokkos::ALL), Kokkos::subview(yy.view, 0, Kokkos::ALL));
  exec.fence("Blockspan::test");
  EXPECT_TRUE(Y.surroundings_intact() && xy.surroundings_intact() && yy.surroundings_intact());
  return {Y.values(), xy.values(), yy.values()};
}

template <class Scalar>
void expect_right(Result<Scalar> const& result, ProductCase<Scalar> const& c) {
  EXPECT_TRUE(matches(result.Y, reference_product(c.op, c.alpha, c.A, c.X(), c.beta, c.Y())));
  EXPECT_TRUE(matches(result.x_dot_y, reference_dots(c.X(), result.Y)));
  auto const squares = reference_dots(result.Y, result.Y);
  Reference<real_t<Scalar>> wanted(1, c.columns);
  for (std::int64_t j = 0; j < c.columns; ++j) {
    wanted.value(0, j) = std::real(squares.value(0, j));
    wanted.bound(0, j) = squares.bound(0, j);
  }
  EXPECT_TRUE(matches(result.y_dot_y, wanted));
}

constexpr int all_widths[] = {1, 2, 3, 5, 8, 17, 64, 130};

TYPED_TEST(Dots, AreRightWithEveryVariantAndWidth) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  std::size_t turn = 0;
  for (auto const& host : square_matrices<Scalar>()) {
    auto const A = to_device(exec, host);
    for (auto const& variant : offered_variants<Exec, Scalar>()) {
      SpmmPlan const plan(exec, A, {.algorithm = std::string(variant.id), .segment_length = 7});
      for (int const width : all_widths)
        for (Scalar const beta : {Scalar(0), Scalar(0.5)}) {
          bool const anywhere = on_host<Exec> || !variant.needs_contiguous_x();
          if (!anywhere && width % 4 != 0) continue;
          bool const blas = variant.as_it_is;  // takes contiguous blocks only
          auto const storages = mixed_storages[anywhere ? turn++ / 2 % (blas ? 3 : 6) : 0];
          ProductCase<Scalar> const c{host, Op::none, width, Scalar(1.5), beta};
          SCOPED_TRACE(c.words() + ", " + std::string(variant.id) + ", X " + to_string(storages.X) +
                       ", Y " + to_string(storages.Y));
          expect_right(run(exec, plan, A, storages, c), c);
        }
    }
  }
}

TYPED_TEST(Dots, AreRightInEveryStorage) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = random_matrix<Scalar>("random", 300, 300, [](auto i) { return i % 40; });
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A);
  for (int const width : {1, 4, 7, 20})
    for (Storage const x : all_storages)
      for (Storage const y : all_storages) {
        ProductCase<Scalar> const c{host, Op::none, width, Scalar(-1), Scalar(width - 4)};
        SCOPED_TRACE(c.words() + ", X " + to_string(x) + ", Y " + to_string(y));
        expect_right(run(exec, plan, A, {x, y}, c), c);
      }
}

TYPED_TEST(Dots, OfManyRowsAreAddedInSteps) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = random_matrix<Scalar>(
      "many rows", 70001, 70001, [](std::int64_t i) { return i % 30000 == 7 ? 3000 : i % 4; });
  auto const A = to_device<std::size_t>(exec, host);
  for (auto const* id : {"single_columns", "segments", "thread_per_element"}) {
    SpmmPlan const plan(exec, A, {.algorithm = id, .segment_length = 30});
    for (int const width : {1, 6, 11}) {
      ProductCase<Scalar> const c{host, Op::none, width, Scalar(1), Scalar(0)};
      SCOPED_TRACE(id);
      auto const first = run(exec, plan, A, {right, right}, c);
      expect_right(first, c);
      for (int repetition = 0; repetition < 5; ++repetition)
        EXPECT_TRUE(same_bits(first, run(exec, plan, A, {right, right}, c)));
    }
  }
}

TYPED_TEST(Dots, WithoutAMatrixWithoutRowsWithoutColumns) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const nothing = random_matrix<Scalar>("0 x 0", 0, 0, [](auto) { return 0; });
  auto const host = band<Scalar>(30);
  auto const A = to_device(exec, host);
  auto const Z = to_device(exec, nothing);
  ProductCase<Scalar> const no_columns{host, Op::none, 0, Scalar(1), Scalar(0)};
  expect_right(run(exec, SpmmPlan(exec, A), A, {right, left}, no_columns), no_columns);
  for (int const width : {0, 1, 5}) {
    ProductCase<Scalar> const no_rows{nothing, Op::none, width, Scalar(1), Scalar(0)};
    auto const result = run(exec, SpmmPlan(exec, Z), Z, {right, left}, no_rows);
    expect_right(result, no_rows);
  }
  // alpha = 0: only Y, and the products of X with it
  auto const values = random_block<Scalar>(30, 3, 4);
  auto const X = make_block(exec, right, values);
  auto const Y = make_block(exec, left, random_block<Scalar>(30, 3, 5));
  Kokkos::View<Scalar*, typename Exec::memory_space> const xy("Blockspan::test", 3);
  Kokkos::View<real_t<Scalar>*, typename Exec::memory_space> const yy("Blockspan::test", 3);
  spmm_dots(exec, SpmmPlan(exec, A), Scalar(0), A, X.view, Scalar(2), Y.view, xy, yy);
  auto const dots = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), xy);
  auto const wanted = reference_dots(values, Y.values());
  for (int j = 0; j < 3; ++j)
    EXPECT_LE(std::abs(extended(dots(j)) - wanted.value(0, j)), wanted.bound(0, j));
}

/// Kernels that want sorted rows read the values in another order, also where others take their
/// place.
TYPED_TEST(Dots, AreRightWhereThePlanSortsTheRows) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = random_matrix<Scalar>("unsorted", 300, 300, [](auto i) { return 1 + i % 7; });
  ASSERT_FALSE(std::is_sorted(host.indices.begin() + host.offsets[6],
                              host.indices.begin() + host.offsets[7]));
  auto const A = to_device(exec, host);
  for (auto const* id : {"windows", "shared_tiles"}) {
    if (!blockspan::products::is_offered<Exec, double>(*find_spmm_variant(id))) continue;
    SpmmPlan const plan(exec, A, {.algorithm = id, .strict = false});
    for (int const width : {1, 3, 8, 64})
      for (Storage const storage : {left, right}) {
        SCOPED_TRACE(std::string(id) + ", columns: " + std::to_string(width));
        ProductCase<Scalar> const c{host, Op::none, width, Scalar(2), Scalar(0)};
        expect_right(run(exec, plan, A, {storage, right}, c), c);
      }
  }
}

TYPED_TEST(Dots, RowWeightsAndSumsThatAreNotWanted) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  using Real = real_t<Scalar>;
  Exec const exec;
  auto const host = arrow<Scalar>(700);
  auto const A = to_device(exec, host);
  Kokkos::View<Real*, typename Exec::memory_space> const weights("Blockspan::test", 700);
  auto const on_host_weights = Kokkos::create_mirror_view(weights);
  for (int i = 0; i < 700; ++i) on_host_weights(i) = Real(1) / Real(1 + i % 7);
  Kokkos::deep_copy(weights, on_host_weights);
  for (auto const* id : {"single_columns", "segments", "thread_per_row"}) {
    SpmmPlan const plan(exec, A, {.algorithm = id, .segment_length = 30});
    for (int const width : {1, 4, 6, 32}) {
      SCOPED_TRACE(std::string(id) + ", columns: " + std::to_string(width));
      auto const X = make_block(exec, right, random_block<Scalar>(700, width, 1));
      auto const Y = make_block(exec, right, random_block<Scalar>(700, width, 2));
      Kokkos::View<Scalar*, typename Exec::memory_space> const xy("Blockspan::test", width),
          alone("Blockspan::test", width);
      Kokkos::View<Real*, typename Exec::memory_space> const yy("Blockspan::test", width);
      spmm_dots(exec, plan, Scalar(1), A, X.view, Scalar(0), Y.view, xy, yy, weights);
      spmm_dots(exec, plan, Scalar(1), A, X.view, Scalar(0), Y.view, alone, nullptr);
      auto const squares = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), yy);
      auto const both = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), xy);
      auto const one = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), alone);
      auto const y = Y.values();
      HostBlock<Scalar> weighted = y;
      for (int i = 0; i < 700; ++i)
        for (int j = 0; j < width; ++j) weighted(i, j) *= on_host_weights(i);
      auto const wanted = reference_dots(weighted, y), dots = reference_dots(X.values(), y);
      for (int j = 0; j < width; ++j) {
        // the weighted block here is rounded once more than the terms of the kernel
        EXPECT_LE(std::abs(squares(j) - std::real(wanted.value(0, j))), 1.01 * wanted.bound(0, j));
        EXPECT_LE(std::abs(extended(both(j)) - dots.value(0, j)), dots.bound(0, j));
        EXPECT_LE(std::abs(extended(one(j)) - dots.value(0, j)), dots.bound(0, j));
      }
    }
  }
}

TYPED_TEST(Dots, OfAColumnHaveTheSameBitsWhoeverStandsBesideIt) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  // as many rows as devices need to multiply all widths in one order, without lanes over nonzeros
  int const rows = 66000;
  auto const A = to_device(exec, band<Scalar>(rows));
  auto const values = random_block<Scalar>(rows, 32, 1);
  SpmmPlan const plan(exec, A, {.algorithm = "single_columns"});
  std::vector<Scalar> seen;
  std::vector<HostBlock<Scalar>> products;
  for (int const width : {1, 2, 3, 4, 5, 8, 12, 16, 31, 32}) {
    HostBlock<Scalar> some(rows, width);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < width; ++j) some(i, j) = values(i, j);
    auto const X = make_block(exec, right, some);
    auto const Y = make_block(exec, right, some);
    Kokkos::View<Scalar*, typename Exec::memory_space> const xy("Blockspan::test", width);
    spmm_dots(exec, plan, Scalar(1), A, X.view, Scalar(0), Y.view, xy, nullptr);
    auto const dots = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), xy);
    auto const y = Y.values();
    products.emplace_back(rows, 1);
    for (int i = 0; i < rows; ++i) products.back()(i, 0) = y(i, 0);
    EXPECT_TRUE(same_bits(products.front(), products.back())) << width;
    seen.push_back(dots(0));
    EXPECT_EQ(seen.front(), seen.back()) << width;
  }
}

/// Parts of rows of a diagonal matrix, so long that they are summed by the chunks of the whole.
TYPED_TEST(Dots, OfPartsOfTheRowsJoinToThoseOfTheWhole) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  std::int64_t const cut = std::int64_t{1} << 20, n = cut + cut / 2 + 777;
  int const width = 4;
  auto const X = make_block(exec, right, random_block<Scalar>(n, width, 1));
  auto const Y = make_block(exec, right, random_block<Scalar>(n, width, 2));
  for (auto const* id : {"single_columns", "thread_per_row"}) {
    auto const run_part = [&](std::int64_t first, std::int64_t last) {
      HostMatrix<Scalar> host{"diagonal", last - first, last - first, {0}, {}, {}};
      for (std::int64_t i = first; i < last; ++i) {
        host.add(i - first, Scalar(static_cast<real_t<Scalar>>(1 + i % 7)));
        host.end_row();
      }
      auto const A = to_device(exec, host);
      std::pair<std::int64_t, std::int64_t> const rows(first, last);
      Kokkos::View<Scalar*, typename Exec::memory_space> const xy("Blockspan::test", width);
      Kokkos::View<real_t<Scalar>*, typename Exec::memory_space> const yy("Blockspan::test", width);
      spmm_dots(exec, SpmmPlan(exec, A, {.algorithm = id}), Scalar(1), A,
                Kokkos::subview(X.view, rows, Kokkos::ALL), Scalar(0),
                Kokkos::subview(Y.view, rows, Kokkos::ALL), xy, yy);
      auto const dots = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), xy);
      auto const squares = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), yy);
      std::vector<Scalar> all(dots.data(), dots.data() + width);
      for (int j = 0; j < width; ++j) all.push_back(Scalar(squares(j)));
      return all;
    };
    auto const whole = run_part(0, n), upper = run_part(0, cut), lower = run_part(cut, n);
    for (std::size_t e = 0; e < whole.size(); ++e)
      EXPECT_EQ(upper[e] + lower[e], whole[e]) << id << " " << e;
  }
}

template <class Exec>
class DotsOn : public ::testing::Test {};
TYPED_TEST_SUITE(DotsOn, Backends, ConfigNames);

TYPED_TEST(DotsOn, LargeBlocksAreRightWhereYIsWrittenAroundTheCaches) {
  TypeParam const exec;
  auto const host =
      random_matrix<double>("tall", 132000, 132000, [](std::int64_t i) { return i % 3; });
  auto const A = to_device(exec, host);
  ProductCase<double> const c{host, Op::none, 32, 1.5, 0.0};
  expect_right(run(exec, SpmmPlan(exec, A), A, {right, right}, c), c);
}

}  // namespace
}  // namespace blockspan::test
