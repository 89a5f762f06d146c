// Staged tiles where rows are so full that a tile of X serves every row: right at every width, with
// rows that have more entries in a tile than are staged, and with every number of X.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/layouts/tile_masks.hpp>
#include <blockspan/spmm/parts/mbarrier.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "spmm/battery.hpp"
#include "spmm/product_case.hpp"
#include "support/random.hpp"
#include "support/types.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace kernels = blockspan::products;

template <class Config>
class StagedTiles : public ::testing::Test {};
TYPED_TEST_SUITE(StagedTiles, Configs, ConfigNames);

/// Windows of rows share tiles only where no column is twice in a row.
enum class Columns { repeat, differ };

/// Sorted rows whose lengths go round `lengths`; a length of -1: every column. Columns repeat by
/// chance; those that differ are fewer than asked for.
template <class Scalar>
HostMatrix<Scalar> full_rows(std::string name, std::int64_t rows, std::int64_t columns,
                             std::vector<std::int64_t> const& lengths,
                             Columns drawn = Columns::repeat) {
  HostMatrix<Scalar> A{std::move(name), rows, columns, {0}, {}, {}};
  Random random(5);
  for (std::int64_t i = 0; i < rows; ++i) {
    auto const length = lengths[static_cast<std::size_t>(i) % lengths.size()];
    std::vector<std::int64_t> row;
    for (std::int64_t k = 0; k < length; ++k) row.push_back(random.below(columns));
    for (std::int64_t j = 0; length < 0 && j < columns; ++j)
      row.insert(row.end(), 1 + (j % 9 == 0), j);
    std::sort(row.begin(), row.end());
    if (drawn == Columns::differ) row.erase(std::unique(row.begin(), row.end()), row.end());
    for (auto const j : row) A.add(j, random.value<Scalar>());
    A.end_row();
  }
  return A;
}

/// Tiles that end within a row, whole rows in one tile, teams and tiles that are cut short.
template <class Scalar>
std::vector<HostMatrix<Scalar>> matrices() {
  std::vector<HostMatrix<Scalar>> all{
      full_rows<Scalar>("a twentieth", 100, 700, {30, 40}, Columns::differ)};
  for (Columns const drawn : {Columns::repeat, Columns::differ}) {
    all.push_back(full_rows<Scalar>("a tenth", 200, 700, {50, 90, 70}, drawn));
    all.push_back(full_rows<Scalar>("full and empty rows", 70, 900, {0, 300, -1, 5}, drawn));
    all.push_back(full_rows<Scalar>("one row", 1, 385, {-1}, drawn));
    all.push_back(full_rows<Scalar>("few columns", 150, 30, {10, 0, -1}, drawn));
    all.push_back(full_rows<Scalar>("a whole tile", 64, 128, {-1}, drawn));
  }
  return all;
}

TYPED_TEST(StagedTiles, AreRightAtEveryWidth) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  Exec const exec;
  constexpr int vector = std::max<int>(1, 16 / sizeof(Scalar));
  std::size_t turn = 0;
  for (auto const& host : matrices<Scalar>()) {
    auto const A = to_device(exec, host);
    SpmmPlan const plan(exec, A, {.columns = 32 * vector, .algorithm = "shared_tiles"});
    std::vector<int> widths = {1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 64, 70};
    if (kernels::runs_on_host_v<Exec>) widths = {1, 17, 33};  // without tiles: the fallback
    for (int const vectors : widths)
      for (Storage const storage : {right, padded_right}) {
        ProductCase<Scalar> const c{host, turn % 3 == 0 ? all_ops[turn % 4] : Op::none,
                                    vector * vectors, Scalar(-1.5),
                                    turn / 2 % 2 == 0 ? Scalar(0) : Scalar(2)};
        expect_spmm(exec, plan, A, c, Storages{storage, right});
        ++turn;
      }
  }
}

/// What is not finite in X reaches the rows that have an entry there, and no others.
TYPED_TEST(StagedTiles, SpreadInfinitiesNoFurtherThanTheEntries) {
  using Scalar = typename TypeParam::Scalar;
  typename TypeParam::Exec const exec;
  constexpr int width = 64;
  for (Columns const drawn : {Columns::repeat, Columns::differ}) {
    auto const host = full_rows<Scalar>("a tenth", 100, 600, {40, 60}, drawn);
    auto const A = to_device(exec, host);
    auto x = random_block<Scalar>(600, width, 1);
    x(40, 3) = Scalar(std::numeric_limits<double>::infinity());
    x(599, 5) = not_a_number<Scalar>();
    auto const X = make_block(exec, right, x);
    auto const Y = make_block(exec, right, random_block<Scalar>(100, width, 2));
    SpmmPlan const plan(exec, A, {.columns = width, .algorithm = "shared_tiles"});
    spmm(exec, plan, Op::none, Scalar(1), A, X.view, Scalar(0), Y.view);
    exec.fence("Blockspan::test");
    auto const y = Y.values();
    for (std::int64_t i = 0; i < 100; ++i) {
      auto const has = [&](std::int64_t column) {
        auto const first = host.indices.begin();
        return std::binary_search(first + host.offsets[i], first + host.offsets[i + 1], column);
      };
      for (int j = 0; j < width; ++j) {
        bool const finite = !(j == 3 && has(40)) && !(j == 5 && has(599));
        EXPECT_EQ(std::isfinite(Kokkos::abs(y(i, j))), finite) << i << ", " << j;
      }
    }
  }
}

/// A bit for each entry and no other; none for rows with a column twice.
TYPED_TEST(StagedTiles, HaveABitForEachEntry) {
  using Exec = typename TypeParam::Exec;
  if (!kernels::windows_share_tiles_v<Exec>) GTEST_SKIP() << "not offered";
  Exec const exec;
  constexpr std::int64_t rows = kernels::tuning::shared_window_rows;
  auto const masks_of = [&](HostMatrix<double> const& host) {
    auto const A = to_device(exec, host);
    return Kokkos::create_mirror_view_and_copy(
        Kokkos::HostSpace(), kernels::find_tile_masks(exec, kernels::pattern_ref<Exec>(A)));
  };
  auto const host = full_rows<double>("a tenth", 150, 333, {40, 0, -1, 20}, Columns::differ);
  auto const masks = masks_of(host);
  std::int64_t const tiles = 6;
  ASSERT_EQ(masks.size(), std::size_t(3 * tiles * rows));
  std::int64_t set = 0;
  for (std::size_t i = 0; i < masks.size(); ++i) set += std::popcount(masks(i));
  EXPECT_EQ(set, static_cast<std::int64_t>(host.indices.size()));
  for (std::int64_t i = 0; i < host.rows; ++i)
    for (auto k = host.offsets[i]; k < host.offsets[i + 1]; ++k) {
      auto const column = host.indices[k];
      auto const mask = masks((i / rows * tiles + column / 64) * rows + i % rows);
      EXPECT_EQ(mask >> column % 64 & 1, 1u) << i << ", " << column;
    }
  EXPECT_EQ(masks_of(full_rows<double>("twice", 150, 333, {40, -1})).size(), 0u);
}

/// Windows of rows take them where these are fuller still, in double precision, complex or not.
TYPED_TEST(StagedTiles, AreSharedByWindowsWhereRowsAreFuller) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!kernels::windows_share_tiles_v<Exec> || !std::is_same_v<real_t<Scalar>, double>)
    GTEST_SKIP() << "not offered";
  Exec const exec;
  constexpr int vector = std::max<int>(1, 16 / sizeof(Scalar));
  auto const shared = HasSubstr("share tiles of X on tensor cores");
  auto const host = full_rows<Scalar>("a seventh", 8448, 500, {85, 75}, Columns::differ);
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A, {.columns = 16 * vector});
  EXPECT_EQ(plan.algorithm(), "shared_tiles") << plan.explain(16 * vector);
  EXPECT_THAT(plan.explain(16 * vector, sizeof(Scalar)), shared);
  EXPECT_EQ(plan.kernel(16 * vector, sizeof(Scalar)), "Blockspan::spmm::shared_tiles");
  EXPECT_EQ(plan.kernel(7 * vector, sizeof(Scalar)), "Blockspan::spmm::rows");
  for (Op const op : all_ops)
    for (int const width : {16 * vector, 2 * vector, 5}) {
      ProductCase<Scalar> const c{host, op, width, Scalar(1.5), Scalar(-1)};
      expect_spmm(exec, plan, A, c);
    }
  ProductCase<Scalar> const columns{host, Op::none, 16 * vector, Scalar(1), Scalar(0)};
  expect_product(exec, Storages{left, left}, columns, [&](auto const& X, auto const& Y) {
    spmm(exec, plan, Op::none, Scalar(1), A, X, Scalar(0), Y);
  });
  auto const repeated = to_device(exec, full_rows<Scalar>("a seventh", 8448, 500, {85, 75}));
  EXPECT_THAT(
      SpmmPlan(exec, repeated, {.columns = 16 * vector}).explain(16 * vector, sizeof(Scalar)),
      Not(shared));
}

/// Plans take them for full enough sorted rows; what they do not take runs by rows.
TYPED_TEST(StagedTiles, AreChosenWhereRowsAreFullEnough) {
  using Exec = typename TypeParam::Exec;
  using Scalar = typename TypeParam::Scalar;
  if (!kernels::bulk::available<Exec> || sizeof(Scalar) > sizeof(double))
    GTEST_SKIP() << "not offered";
  Exec const exec;
  constexpr int vector = std::max<int>(1, 16 / sizeof(Scalar));
  auto const host = full_rows<Scalar>("a tenth", 3200, 1000, {100});
  auto const A = to_device(exec, host);
  SpmmPlan const plan(exec, A, {.columns = 64 * vector});
  auto const words = plan.explain(64 * vector, sizeof(Scalar));
  EXPECT_EQ(plan.algorithm(), "shared_tiles") << words;
  EXPECT_THAT(words, HasSubstr("run as Blockspan::spmm::rows"));
  EXPECT_EQ(plan.kernel(64 * vector, sizeof(Scalar)), "Blockspan::spmm::shared_tiles");
  EXPECT_EQ(plan.kernel(7 * vector, sizeof(Scalar)), "Blockspan::spmm::rows");
  for (Op const op : all_ops)
    for (int const width : {64 * vector, 8 * vector, 2 * vector, 3}) {
      ProductCase<Scalar> const c{host, op, width, Scalar(1.5), Scalar(-1)};
      expect_spmm(exec, plan, A, c);
    }
  auto const thin = to_device(exec, full_rows<Scalar>("a hundredth", 3200, 1000, {10}));
  EXPECT_NE(SpmmPlan(exec, thin, {.columns = 64 * vector}).algorithm(), "shared_tiles");
  auto moved = host;  // the first entry of each row behind the others
  for (std::int64_t i = 0; i < host.rows; ++i) {
    auto const first = moved.indices.begin() + host.offsets[i];
    std::rotate(first, first + 1, moved.indices.begin() + host.offsets[i + 1]);
  }
  EXPECT_NE(SpmmPlan(exec, to_device(exec, moved), {.columns = 64 * vector}).algorithm(),
            "shared_tiles");
}

}  // namespace
}  // namespace blockspan::test
