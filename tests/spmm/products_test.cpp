#include <utility>

#include <gtest/gtest.h>

#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/variants.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/types.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;

template <class Config>
class Products : public ::testing::Test {};
TYPED_TEST_SUITE(Products, EveryConfig, ConfigNames);

constexpr int all_widths[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 32, 33, 65};

template <class Scalar>
Scalar factor(std::size_t turn) {
  Scalar const factors[] = {Scalar(1), Scalar(0), Scalar(-1), Scalar(2.5)};
  if (turn % 5 < 4) return factors[turn % 5];
  if constexpr (is_complex_v<Scalar>)
    return Scalar(0.5, -1.25);
  else
    return Scalar(-0.75);
}

/// Whether the variant serves blocks of any width in any storage on this backend.
template <class Exec>
bool served_anywhere(SpmmVariant const& variant) {
  if (variant.as_it_is) return false;
  return !variant.needs_contiguous_x() ||
         Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;
}

/// What the variant can be asked for at this turn: others are refused.
template <class Exec>
std::pair<Storages, std::int64_t> blocks_at(SpmmVariant const& variant, std::size_t turn) {
  if (served_anywhere<Exec>(variant)) return {mixed_storages[turn % 6], all_widths[turn * 5 % 13]};
  if (variant.requires_aligned_x)
    return {
        Storages{right, variant.strided_y ? all_storages[turn % std::size(all_storages)] : right},
        4 * std::int64_t(turn % 5)};
  if (variant.needs_contiguous_x())
    return {Storages{turn % 2 ? padded_right : right, all_storages[turn % std::size(all_storages)]},
            all_widths[turn * 5 % 13]};
  return {mixed_storages[turn % 3], all_widths[turn * 5 % 13]};
}

TYPED_TEST(Products, EveryVariantMultipliesEveryMatrixWithEveryOp) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  std::size_t turn = 0;
  for (auto const& host : battery<Scalar>()) {
    auto const A = to_device(exec, host);
    for (auto const& variant : offered_variants<Exec, Scalar>()) {
      SpmmPlan const plan(exec, A, {.algorithm = std::string(variant.id), .segment_length = 7});
      for (Op const op : all_ops) {
        auto const [storages, width] = blocks_at<Exec>(variant, turn);
        ProductCase<Scalar> const c{host, op, width, factor<Scalar>(turn),
                                    factor<Scalar>(turn / 5)};
        SCOPED_TRACE(variant.id);
        expect_spmm(exec, plan, A, c, storages);
        ++turn;
      }
    }
  }
}

/// Large enough that tiles, chunks and blocks of rows of their usual sizes are full.
TYPED_TEST(Products, EveryVariantIsRightAtItsUsualSizes) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const uneven = random_matrix<Scalar>("uneven", 900, 700, [](std::int64_t i) {
    return i % 300 == 7 ? 9000 : i % 40 == 3 ? 600 : i % 11;
  });
  auto const full = random_matrix<Scalar>("dense-ish", 300, 400, [](auto) { return 60; });
  for (auto const* host : {&uneven, &full}) {
    auto const A = to_device(exec, *host);
    for (auto const& variant : offered_variants<Exec, Scalar>()) {
      SpmmPlan const plan(exec, A, {.algorithm = std::string(variant.id)});
      for (int const width : {1, 8, 36}) {
        if (width == 1 && variant.requires_aligned_x) continue;
        ProductCase<Scalar> const c{*host, Op::none, width, Scalar(1.5), Scalar(-1)};
        SCOPED_TRACE(variant.id);
        expect_spmm(exec, plan, A, c);
      }
    }
  }
}

TYPED_TEST(Products, EveryWidthIsRightInEveryStorage) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = random_matrix<Scalar>("random", 21, 17, [](std::int64_t i) { return i % 9; });
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A);
  std::size_t turn = 0;
  for (int const width : all_widths)
    for (Storage const x : all_storages)
      for (Storage const y : all_storages) {
        ProductCase<Scalar> const c{host, Op::none, width, Scalar(1.5), factor<Scalar>(turn++)};
        expect_spmm(exec, plan, A, c, {x, y});
      }
}

/// Hosts have no lanes and take any: one is enough there.
TYPED_TEST(Products, EveryGridOfLanesIsRight) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = random_matrix<Scalar>("random", 40, 35,
                                          [](std::int64_t i) { return i % 7 == 2 ? 90 : i % 11; });
  auto const A = to_device(exec, host);
  int const most = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible ? 1 : 32;
  for (auto const* algorithm : {"auto", "segments_sorted"})
    for (int columns = 1; columns <= most; columns *= 2)
      for (int entries = 1; columns * entries <= most; entries *= 2)
        for (int const vectors : {1, 2}) {
          SpmmPlan const plan(exec, A,
                              {.algorithm = algorithm, .lanes = {columns, entries, vectors}});
          for (int const width : {1, 3, 8, 20}) {
            ProductCase<Scalar> const c{host, Op::none, width, Scalar(1.5), Scalar(-1)};
            expect_spmm(exec, plan, A, c);
          }
        }
}

/// Devices let the passes over the columns of few rows run side by side.
TYPED_TEST(Products, ManyColumnsOfFewRowsAreRight) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = random_matrix<Scalar>("few rows", 60, 500,
                                          [](std::int64_t i) { return i == 9 ? 0 : 44 + i % 9; });
  auto const A = to_device(exec, host);
  for (int const width : {32, 64, 72, 132, 260}) {
    SpmmPlan const plan(exec, A, {.columns = width, .algorithm = "rows"});
    for (Scalar const beta : {Scalar(0), Scalar(-1)})
      for (Op const op : {Op::none, Op::adjoint}) {
        ProductCase<Scalar> const c{host, op, width, Scalar(1.5), beta};
        expect_spmm(exec, plan, A, c);
      }
  }
}

/// More rows than a device has threads; hosts go through them one by one, whatever their number.
template <class Exec>
inline constexpr std::int64_t many_rows = kernels::runs_on_host_v<Exec> ? 6601 : 66001;

/// Devices give a lane several single columns, or three vectors, where there are many rows.
TYPED_TEST(Products, SomeWidthsOfManyRowsAreRight) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const rows = many_rows<Exec>;
  auto const host = random_matrix<Scalar>(
      "many rows", rows, rows, [](std::int64_t i) { return i % 30000 == 7 ? 40 : i % 4; });
  auto const A = to_device(exec, host);
  constexpr int vector = 16 / static_cast<int>(sizeof(Scalar));
  for (auto const* algorithm : {"auto", "single_columns", "segments_sorted"}) {
    SpmmPlan const plan(exec, A, {.columns = 9, .algorithm = algorithm});
    for (int const width : {7, 9, 19, 31, 39, 10 * vector}) {
      ProductCase<Scalar> const c{host, Op::none, width, Scalar(1.5), Scalar(-1)};
      expect_spmm(exec, plan, A, c);
    }
  }
}

/// The same of rows of one length, which devices give other lanes.
TYPED_TEST(Products, SingleColumnsOfManyEvenRowsAreRight) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const rows = many_rows<Exec>;
  auto const host = random_matrix<Scalar>("even rows", rows, rows, [](std::int64_t) { return 9; });
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A, {.algorithm = "single_columns"});
  for (int const width : {5, 7, 11, 13}) {
    Scalar const beta = width == 7 ? Scalar(0) : Scalar(-1);
    ProductCase<Scalar> const c{host, Op::none, width, Scalar(1.5), beta};
    expect_spmm(exec, plan, A, c);
  }
}

/// Devices multiply them in several products.
TYPED_TEST(Products, WideBlocksOfManyRowsAreRight) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const rows = many_rows<Exec>;
  auto const host = random_matrix<Scalar>("many rows", rows, rows,
                                          [](std::int64_t i) { return i % 30000 == 7 ? 40 : 12; });
  auto const A = to_device(exec, host);
  constexpr int vector = 16 / static_cast<int>(sizeof(Scalar));
  auto const expect = [&](char const* algorithm, int width) {
    SpmmPlan const plan(exec, A, {.columns = width, .algorithm = algorithm});
    if (!kernels::runs_on_host_v<Exec>) {
      EXPECT_NE(plan.explain(width, sizeof(Scalar)).find("in products of"), std::string::npos);
    }
    ProductCase<Scalar> const c{host, Op::none, width, Scalar(1.5), Scalar(-1)};
    expect_spmm(exec, plan, A, c);
  };
  expect("rows", 34 * vector);
  expect("groups", 33 * vector);
  expect("single_columns", 32 * vector + (vector > 1 ? 3 : 1));
}

/// Hosts write them around the caches, whole lines at a time.
TYPED_TEST(Products, ResultsLargerThanTheCachesAreRight) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!kernels::runs_on_host_v<Exec>) GTEST_SKIP() << "devices write all results alike";
  Exec const exec;
  constexpr int width = 8;
  std::int64_t const rows = (std::int64_t{32} << 20) / (width * sizeof(Scalar)) + 1;
  auto const host =
      random_matrix<Scalar>("a large result", rows, 50, [](std::int64_t i) { return i % 3; });
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A, {.columns = width});
  ProductCase<Scalar> const c{host, Op::none, width, Scalar(1.5), Scalar(0)};
  expect_spmm(exec, plan, A, c);
}

TYPED_TEST(Products, ViewsMayHaveAnyLayout) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  auto const host = band<Scalar>(19);
  auto const A = to_device(exec, host);
  ProductCase<Scalar> const c{host, Op::none, 6};
  auto const multiply = [&](auto x_layout, auto y_layout) {
    auto const copied = [&](auto layout, auto const& from) {
      Kokkos::View<Scalar**, decltype(layout), Exec> const to("Blockspan::test", 19, 6);
      Kokkos::deep_copy(exec, to, from);
      return to;
    };
    expect_product(exec, Storages{right, right}, c, [&](auto const& X, auto const& Y) {
      auto const y = copied(y_layout, Y);
      Kokkos::View<Scalar const**, decltype(x_layout), Exec> const x = copied(x_layout, X);
      spmm(exec, c.op, c.alpha, A, x, c.beta, y);
      Kokkos::deep_copy(exec, Y, y);
    });
  };
  multiply(Kokkos::LayoutRight(), Kokkos::LayoutRight());
  multiply(Kokkos::LayoutLeft(), Kokkos::LayoutRight());
  multiply(Kokkos::LayoutRight(), Kokkos::LayoutLeft());
  multiply(Kokkos::LayoutLeft(), Kokkos::LayoutLeft());
}

TYPED_TEST(Products, EveryAlphaAndBetaIsRight) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = random_matrix<Scalar>("random", 21, 17, [](std::int64_t i) { return i % 9; });
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A, {.algorithm = "segments", .segment_length = 4});
  for (Op const op : all_ops)
    for (std::size_t turn = 0; turn < 25; ++turn) {
      ProductCase<Scalar> const c{host, op, 8, factor<Scalar>(turn % 5), factor<Scalar>(turn / 5)};
      expect_spmm(exec, plan, A, c);
    }
}

TYPED_TEST(Products, APlanIsNotNeeded) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  for (auto const& host : battery<Scalar>()) {
    auto const expect_right = [&](auto const& A) {
      for (Op const op : all_ops) {
        ProductCase<Scalar> const c{host, op, 5, Scalar(2), Scalar(-1)};
        expect_product(exec, Storages{right, left}, c, [&](auto const& X, auto const& Y) {
          spmm(exec, op, c.alpha, A, X, c.beta, Y);
        });
      }
    };
    expect_right(to_device(exec, host));
    expect_right(to_device<std::size_t>(exec, host));
  }
}

TYPED_TEST(Products, OffsetsMayHave64Bits) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  for (auto const& host : battery<Scalar>()) {
    auto const A = to_device<std::size_t>(exec, host);
    for (auto const& variant : offered_variants<Exec, Scalar>()) {
      SpmmPlan const plan(exec, A, {.algorithm = std::string(variant.id), .segment_length = 5});
      for (Op const op : {Op::none, Op::adjoint}) {
        SCOPED_TRACE(variant.id);
        ProductCase<Scalar> const c{host, op, 12, Scalar(1), Scalar(0)};
        expect_spmm(exec, plan, A, c);
      }
    }
  }
}

TYPED_TEST(Products, NoColumnsAreNoWork) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = band<Scalar>(9);
  auto const A = to_device(exec, host);
  for (Op const op : all_ops) {
    ProductCase<Scalar> const c{host, op, 0, Scalar(1), Scalar(0)};
    expect_spmm(exec, SpmmPlan(exec, A), A, c, Storages{right, left});
  }
}

TYPED_TEST(Products, OneCorruptedEntryFailsTheCheck) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const host = band<Scalar>(30);
  auto wrong = host;
  wrong.values[40] *= Scalar(1) + Scalar(1000 * unit_roundoff<Scalar>);
  auto const A = to_device(exec, wrong);
  ProductCase<Scalar> const c{host, Op::none, 3};
  auto const X = make_block(exec, Storage::right, c.X());
  auto const Y = make_block(exec, Storage::right, c.Y());
  spmm(exec, Op::none, Scalar(1), A, X.const_view(), Scalar(0), Y.view);
  exec.fence("Blockspan::test");
  auto const wanted = reference_product(c.op, c.alpha, host, c.X(), c.beta, c.Y());
  EXPECT_FALSE(matches(Y.values(), wanted));
  auto spoiled = Y.values();
  spoiled(4, 1) = not_a_number<Scalar>();
  EXPECT_FALSE(matches(spoiled, wanted));
}

}  // namespace
}  // namespace blockspan::test
