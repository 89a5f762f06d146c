// Windows of rows on tensor cores: listed as they are, right at every width and with every number
// of X, and refused or replaced where there are no such cores.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/multivector/fill_random.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/layouts/row_windows.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/spmm_dots.hpp>
#include <blockspan/spmm/variants.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "spmm/stored_values.hpp"
#include "support/messages.hpp"
#include "support/observed.hpp"
#include "support/random.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

namespace kernels = blockspan::products;
auto const& windows = *find_spmm_variant("windows");

template <class Exec>
class Windows : public ::testing::Test {};
TYPED_TEST_SUITE(Windows, Backends, ConfigNames);
template <class Config>
class WindowProducts : public ::testing::Test {};
TYPED_TEST_SUITE(WindowProducts, Configs, ConfigNames);

template <class Scalar>
HostMatrix<Scalar> with_sorted_rows(HostMatrix<Scalar> A) {
  for (std::int64_t i = 0; i < A.rows; ++i)
    std::sort(A.indices.begin() + A.offsets[i], A.indices.begin() + A.offsets[i + 1]);
  return A;
}

/// Matrices with windows that are full, cut short, empty, and of more tiles than one.
template <class Scalar>
std::vector<HostMatrix<Scalar>> matrices() {
  auto all = battery<Scalar>();
  for (auto& A : all) A = with_sorted_rows(A);
  all.push_back(battery<Scalar>()[11]);  // unsorted, repeated
  all.push_back(band<Scalar>(16));
  all.push_back(band<Scalar>(200));
  all.push_back(with_sorted_rows(shared_columns<Scalar>(
      "nodes", 40, 90, [](auto) { return 3; }, [](auto run) { return run % 6 == 5 ? 0 : 40; })));
  return all;
}

TYPED_TEST(Windows, AreRefusedWithoutTensorCores) {
  TypeParam const exec;
  if (kernels::is_offered<TypeParam, double>(windows)) GTEST_SKIP() << "offered here";
  auto const A = to_device(exec, band<double>(20));
  EXPECT_THAT(message_of([&] { SpmmPlan const plan(exec, A, {.algorithm = "windows"}); }),
              AllOf(HasSubstr("windows is not offered by " + std::string(TypeParam::name())),
                    HasSubstr("it needs FP64 tensor cores")));
}

/// Neighbouring columns of a window farther apart than the 16 bits of a tile hold.
template <class Scalar>
HostMatrix<Scalar> far_apart() {
  return with_sorted_rows(
      random_matrix<Scalar>("far apart", 21, 400000, [](std::int64_t i) { return 3 + i % 7; }));
}

/// Every entry is met once, by a walk over the tiles as the kernel does it.
TYPED_TEST(Windows, HaveEveryEntryOnce) {
  if constexpr (kernels::tensor::available<TypeParam, double>) {
    TypeParam const exec;
    auto all = matrices<double>();
    all.push_back(far_apart<double>());
    for (auto const& host : all) {
      if (host.name == "random, unsorted, repeated") continue;
      auto const A = to_device(exec, with_sorted_rows(host));
      auto const on_host = [](auto const& view) {
        return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
      };
      constexpr int rows = kernels::tuning::window_rows;
      SCOPED_TRACE(host.name);
      auto const list = kernels::find_row_windows(exec, kernels::pattern_ref<TypeParam>(A));
      EXPECT_EQ(list.count.windows, (host.rows + rows - 1) / rows);
      auto const first = on_host(list.first_tile);
      auto const first_column = on_host(list.first_column);
      auto const distance = on_host(list.distance), masks = on_host(list.masks);
      for (std::int64_t i = 0; i < host.rows; ++i) {
        auto k = static_cast<std::size_t>(host.offsets[i]);
        for (auto t = first(i / rows); t < first(i / rows + 1); ++t)
          for (int j = 0; j < kernels::tuning::window_columns; ++j) {
            if ((masks(t * rows + i % rows) >> j & 1) == 0) continue;
            ASSERT_LT(k, static_cast<std::size_t>(host.offsets[i + 1]));
            auto const place = t * kernels::tuning::window_columns + list.place_of(j);
            EXPECT_EQ(first_column(t) + distance(place), host.indices[k++]);
          }
        EXPECT_EQ(k, static_cast<std::size_t>(host.offsets[i + 1]));
      }
      auto const estimate = kernels::estimate_row_windows(exec, kernels::pattern_ref<TypeParam>(A));
      EXPECT_EQ(estimate.tiles, list.count.tiles);  // few windows: all are looked at
      std::uint32_t most = 0;
      for (std::int64_t w = 0; w < list.count.windows; ++w)
        most = std::max(most, first(w + 1) - first(w));
      EXPECT_EQ(estimate.most, most);
    }
  }
}

/// Of many windows a sample is looked at, and the fullest.
TYPED_TEST(Windows, FullestIsSeenAmongMany) {
  TypeParam const exec;
  std::int64_t const rows = 40 * kernels::window_samples * kernels::tuning::window_rows + 3;
  for (std::int64_t const row : {std::int64_t{5}, rows / 2 + 9, rows - 1}) {
    auto host = random_matrix<double>("one long row", rows, 4000,
                                      [&](std::int64_t i) { return i == row ? 640 : i % 2; });
    std::int64_t const first = host.offsets[static_cast<std::size_t>(row)];
    for (std::int64_t j = 0; j < 640; ++j)  // ascending: 40 tiles
      host.indices[static_cast<std::size_t>(first + j)] = 5 * j;
    auto const A = to_device(exec, host);
    auto const estimate = kernels::estimate_row_windows(exec, kernels::pattern_ref<TypeParam>(A));
    EXPECT_GE(estimate.most, 40) << row;
    EXPECT_LE(estimate.most, 41) << row;  // and at most eight columns of the others
    EXPECT_LT(estimate.tiles, 2 * estimate.windows) << row;
  }
}

TYPED_TEST(WindowProducts, AreRightAtEveryWidth) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!kernels::is_offered<Exec, real_t<Scalar>>(windows)) GTEST_SKIP() << "not offered";
  Exec const exec;
  std::size_t turn = 0;
  for (auto const& host : matrices<Scalar>()) {
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A, {.algorithm = "windows"});
    for (int width = 1; width <= 70; width += ++turn % 3 == 0 ? 3 : 1) {
      ProductCase<Scalar> const c{host, all_ops[turn % 4], width, Scalar(-1.5),
                                  turn % 3 == 0 ? Scalar(0) : Scalar(2)};
      Storages const storages{turn % 4 == 3 ? padded_right : right,
                              all_storages[turn % std::size(all_storages)]};
      expect_spmm(exec, plan, A, c, storages);
    }
  }
}

TYPED_TEST(WindowProducts, AreRightWhereColumnsAreFarApart) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!kernels::is_offered<Exec, real_t<Scalar>>(windows)) GTEST_SKIP() << "not offered";
  Exec const exec;
  auto const host = far_apart<Scalar>();
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A, {.algorithm = "windows"});
  for (int const width : {3, 8}) {
    ProductCase<Scalar> const c{host, Op::none, width, Scalar(-1.5), Scalar(2)};
    expect_spmm(exec, plan, A, c);
  }
}

template <class Scalar>
bool same_number(Scalar a, Scalar b) {
  if constexpr (is_complex_v<Scalar>)
    return same_number(a.real(), b.real()) && same_number(a.imag(), b.imag());
  else
    return std::isfinite(b) ? std::abs(a - b) <= 1e-12 * (1 + std::abs(b))
                            : a == b || (std::isnan(a) && std::isnan(b));
}

/// What is not finite in X reaches the rows that have an entry there, and no others.
TYPED_TEST(WindowProducts, SpreadInfinitiesNoFurtherThanTheEntries) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (kernels::tensor::available<Exec, real_t<Scalar>>) {
    Exec const exec;
    auto const host = band<Scalar>(150);
    auto const A = to_device(exec, host);
    double const infinity = std::numeric_limits<double>::infinity();
    for (int const planned : {8, 32})
      for (int const width : {7, 8, 31, 32}) {
        auto x = random_block<Scalar>(150, width, 1);
        x(40, 3) = Scalar(infinity);
        x(43, 3) = Scalar(-infinity);
        x(75, 5) = not_a_number<Scalar>();
        auto const product = [&](char const* algorithm) {
          SpmmPlan const plan(exec, A, {.columns = planned, .algorithm = algorithm});
          auto const X = make_block(exec, right, x);
          auto const Y = make_block(exec, right, random_block<Scalar>(150, width, 2));
          spmm(exec, plan, Op::none, Scalar(2), A, X.view, Scalar(0.5), Y.view);
          exec.fence("Blockspan::test");
          return Y.values();
        };
        auto const Y = product("windows"), Z = product("single_columns");
        for (std::int64_t i = 0; i < 150; ++i)
          for (int j = 0; j < width; ++j)
            EXPECT_TRUE(same_number(Y(i, j), Z(i, j))) << i << ", " << j << ", width " << width;
      }
  }
}

TYPED_TEST(WindowProducts, SayWhatTheyCannotServe) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if constexpr (kernels::tensor::available<Exec, double>) {
    Exec const exec;
    auto const A = to_device(exec, band<Scalar>(30));
    SpmmPlan const plan(exec, A, {.algorithm = "windows"});
    auto const message = [&](Storage storage, int width) {
      auto const X = make_block(exec, storage, random_block<Scalar>(30, width, 1));
      auto const Y = make_block(exec, right, random_block<Scalar>(30, width, 2));
      return message_of(
          [&] { spmm(exec, plan, Op::none, Scalar(1), A, X.view, Scalar(0), Y.view); });
    };
    auto const refusal = HasSubstr("windows cannot serve this input");
    EXPECT_THAT(message(left, 8), refusal);
    bool const offered = kernels::is_offered<Exec, real_t<Scalar>>(windows);
    for (int const width : {7, 8})
      EXPECT_THAT(message(right, width), offered ? HasSubstr("nothing was thrown") : refusal);
  }
}

TYPED_TEST(Windows, AreChosenWhereNeighboursShareColumnsAndExplained) {
  TypeParam const exec;
  if (!kernels::is_offered<TypeParam, double>(windows)) GTEST_SKIP() << "not offered";
  auto const A = generate<double>(exec, "elasticity:36");
  for (int const columns : {8, 32}) {
    SpmmPlan const plan(exec, A, {.columns = columns});
    EXPECT_EQ(plan.algorithm(), "windows") << plan.explain(columns);
    auto const words = plan.explain(columns);
    EXPECT_THAT(words, HasSubstr("windows of 8 rows"));
    EXPECT_THAT(words, HasSubstr("run as Blockspan::spmm::groups"));
    EXPECT_EQ(plan.kernel(columns), "Blockspan::spmm::windows");
    EXPECT_EQ(plan.kernel(7), "Blockspan::spmm::windows");
    EXPECT_EQ(plan.kernel(8, sizeof(float)), "Blockspan::spmm::groups");
  }
  for (int const columns : {1, 2})
    EXPECT_THAT(SpmmPlan(exec, A, {.columns = columns}).algorithm(), Not(HasSubstr("window")));
  for (int const columns : {3, 4, 5, 9, 31})
    EXPECT_EQ(SpmmPlan(exec, A, {.columns = columns}).algorithm(), "windows") << columns;
  auto const grid = generate<double>(exec, "laplace27:30");
  for (int const columns : {8, 16, 31})
    EXPECT_EQ(SpmmPlan(exec, grid, {.columns = columns}).algorithm(), "windows") << columns;
  for (int const columns : {3, 4})  // half of the lanes would be idle
    EXPECT_THAT(SpmmPlan(exec, grid, {.columns = columns}).algorithm(), Not(HasSubstr("window")));
  auto const sparse_grid = generate<double>(exec, "laplace7:30");
  EXPECT_EQ(SpmmPlan(exec, sparse_grid, {.columns = 8}).algorithm(), "rows");
}

/// Rows as even as those of a mesh whose order follows no line: four neighbours choose theirs among
/// as many columns.
HostMatrix<double> scattered_rows(std::int64_t rows, std::int64_t among) {
  HostMatrix<double> A{"scattered", rows, rows, {0}, {}, {}};
  Random random(9);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::set<std::int64_t> row;
    std::int64_t const first = i / 4 * 4 < rows - among ? i / 4 * 4 : rows - among;
    while (row.size() < std::size_t(6 + i % 3)) row.insert(first + random.below(among));
    for (auto const j : row) A.add(j, random.value<double>());
    A.end_row();
  }
  return A;
}

/// Where rows follow no diagonal, windows need not have as much in common, if they are many; sums
/// of products then come with the rows.
TYPED_TEST(Windows, AreChosenForMeshes) {
  TypeParam const exec;
  if (!kernels::is_offered<TypeParam, double>(windows)) GTEST_SKIP() << "not offered";
  auto const A = to_device(exec, scattered_rows(40000, 22));
  for (int const columns : {5, 8, 32}) {
    SpmmPlan const plan(exec, A, {.columns = columns});
    EXPECT_EQ(plan.algorithm(), "windows") << plan.explain(columns);
    EXPECT_THAT(plan.explain(columns), HasSubstr("and so do sums of products"));
  }
  EXPECT_THAT(SpmmPlan(exec, A, {.columns = 4}).algorithm(), Not(HasSubstr("window")));
  auto const few = to_device(exec, scattered_rows(20000, 22));
  EXPECT_THAT(SpmmPlan(exec, few, {.columns = 8}).algorithm(), Not(HasSubstr("window")));
  auto const far = to_device(exec, scattered_rows(40000, 200));
  EXPECT_THAT(SpmmPlan(exec, far, {.columns = 8}).algorithm(), Not(HasSubstr("window")));
  SpmmPlan const plan(exec, A, {.columns = 8});
  Block<double, TypeParam> const X("X", A.numRows(), 8), Y("Y", A.numRows(), 8);
  Kokkos::View<double*, TypeParam> const sums("sums", 8);
  fill_random(exec, X, 1);
  auto const seen = observed([&] { spmm_dots(exec, plan, 1.0, A, X, 0.0, Y, sums, nullptr); });
  EXPECT_THAT(seen.labels, Contains("Blockspan::spmm::rows::dots"));
}

/// What a plan makes of a random product, against a plan for whole rows.
template <class Scalar, class Exec, class Matrix, class Plan>
void expect_as_by_rows(Exec const& exec, Matrix const& A, Plan const& plan, Op op, int width,
                       Storages const& storages) {
  auto const rows = static_cast<std::int64_t>(A.numRows());
  SpmmPlan const by_rows(exec, A, {.algorithm = "single_columns"});
  auto const X = make_block(exec, storages.X, random_block<Scalar>(rows, width, 1));
  auto const Y = make_block(exec, storages.Y, random_block<Scalar>(rows, width, 2));
  auto const Z = make_block(exec, right, random_block<Scalar>(rows, width, 2));
  spmm(exec, plan, op, Scalar(1.5), A, X.view, Scalar(-1), Y.view);
  spmm(exec, by_rows, op, Scalar(1.5), A, X.view, Scalar(-1), Z.view);
  exec.fence("Blockspan::test");
  auto const y = Y.values(), z = Z.values();
  double worst = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (int j = 0; j < width; ++j) worst = std::max(worst, double(Kokkos::abs(y(i, j) - z(i, j))));
  EXPECT_LE(worst, 2000 * double(unit_roundoff<Scalar>)) << width;
}

/// Wide blocks are multiplied in several products; X may have been padded to whole vectors then.
TYPED_TEST(WindowProducts, AreTheSameInPanels) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!kernels::is_offered<Exec, real_t<Scalar>>(windows)) GTEST_SKIP() << "not offered";
  Exec const exec;
  auto const A = generate<Scalar>(exec, "elasticity:30");
  ASSERT_GE(A.numRows(), kernels::tuning::device_few_listed);
  SpmmPlan const plan(exec, A, {.columns = 32});
  ASSERT_EQ(plan.algorithm(), "windows");
  for (int const width : {33, 40, 65, 100})
    for (Storage const storage : {left, right})
      expect_as_by_rows<Scalar>(exec, A, plan, Op::none, width, {storage, storage});
}

/// A transpose whose values are stored is prepared as a matrix of its own.
TYPED_TEST(WindowProducts, AreThoseOfAHeldTransposeToo) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!kernels::is_offered<Exec, real_t<Scalar>>(windows)) GTEST_SKIP() << "not offered";
  Exec const exec;
  auto const A = generate<Scalar>(exec, "banded:20000:16");  // not symmetric
  SpmmPlan plan(exec, A, {.columns = 8});
  ASSERT_EQ(plan.algorithm(), "windows");
  for (int time = 0; time < 2; ++time) {
    plan.hold_transpose(exec, A);
    auto const seen = observed([&] {
      expect_as_by_rows<Scalar>(exec, A, plan, Op::transpose, 8, {right, right});
    });
    EXPECT_THAT(seen.labels, Contains(std::string(windows.label)));
  }
}

/// Sums of products are a pass of their own there.
TYPED_TEST(WindowProducts, RunBesideSumsOfProducts) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!kernels::is_offered<Exec, real_t<Scalar>>(windows)) GTEST_SKIP() << "not offered";
  Exec const exec;
  auto const A = generate<Scalar>(exec, "elasticity:20");
  SpmmPlan const plan(exec, A, {.columns = 8});
  ASSERT_EQ(plan.algorithm(), "windows");
  Block<Scalar, Exec> const X("X", A.numRows(), 8), Y("Y", A.numRows(), 8);
  Kokkos::View<Scalar*, Exec> const sums("sums", 8);
  fill_random(exec, X, 1);
  auto const seen =
      observed([&] { spmm_dots(exec, plan, Scalar(1), A, X, Scalar(0), Y, sums, nullptr); });
  EXPECT_THAT(seen.labels, Contains(std::string(windows.label)));
  EXPECT_THAT(seen.labels, Contains("Blockspan::spmm_dots::separate"));
}

/// What the chosen variant does not take is multiplied all the same.
TYPED_TEST(WindowProducts, AreReplacedInPlansThatChose) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  auto const A = generate<Scalar>(exec, "elasticity:20");
  SpmmPlan const plan(exec, A);
  for (int const width : {7, 8})
    for (Storage const storage : {left, right})
      expect_as_by_rows<Scalar>(exec, A, plan, Op::conjugate, width, {storage, right});
}

}  // namespace
}  // namespace blockspan::test
