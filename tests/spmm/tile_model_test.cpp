// Where the plan's model takes staged tiles of X, by lanes or by windows of rows.
#include <cstdint>

#include <gtest/gtest.h>

#include <blockspan/spmm/plan/model.hpp>

#include "spmm/planned.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;
using namespace devices;

/// 8192 x 4096 and more or fewer rows, whose times are in devices/hopper_plan.hpp.
TEST(TileModel, TakesStagedTilesWhereRowsAreFullEnough) {
  auto const fastest = [](std::int64_t rows, double fill, int columns) {
    auto const row = static_cast<std::int64_t>(4096 * fill);
    RowStatistics const of{rows, 4096, rows * row, 0, row, row, rows * row};
    return choose_variant(of, {}, {}, {true}, {.columns = columns}, f64, h200).variant->id;
  };
  for (int const columns : {16, 32, 64, 128}) {
    EXPECT_EQ(fastest(8192, 0.10, columns), "shared_tiles") << columns;
    EXPECT_EQ(fastest(8192, 0.07, columns) == "shared_tiles", columns > 16) << columns;
    EXPECT_NE(fastest(8192, 0.03, columns), "shared_tiles") << columns;
    EXPECT_NE(fastest(8192, 0.25, columns), "shared_tiles")
        << columns;  // too full for what is staged
    EXPECT_NE(fastest(1024, 0.10, columns), "shared_tiles") << columns;  // too few teams
  }
  EXPECT_NE(fastest(8192, 0.10, 80), "shared_tiles");  // a second panel for 8 vectors
}

/// Windows on tensor cores take them where rows are full whatever the width; times in
/// devices/hopper_plan.hpp.
TEST(TileModel, SharesStagedTilesAmongWindowsOfFullerRows) {
  auto const rows_of = [](std::int64_t rows, std::int64_t columns, double fill) {
    auto const row = static_cast<std::int64_t>(static_cast<double>(columns) * fill);
    return RowStatistics{rows, columns, rows * row, 0, row, row, rows * row};
  };
  auto const chosen = [](RowStatistics const& of, int columns, kernels::TileForms const& forms,
                         kernels::ScalarKind const& scalar) {
    return choose_variant(of, {}, {}, forms, {.columns = columns}, scalar, h200).variant->id ==
           "shared_tiles";
  };
  kernels::TileForms const both{true, true}, windows{false, true};
  for (int const columns : {16, 32, 48, 64, 80, 128})
    for (double const fill : {0.05, 0.1, 0.15, 0.4, 1.0}) {
      auto const of = rows_of(8192, 4096, fill);
      EXPECT_EQ(chosen(of, columns, both, f64), fill > 0.05) << columns << ", " << fill;
      if (fill > 0.05) {
        kernels::DeviceModel const model(of, columns, f64, h200);
        EXPECT_TRUE(kernels::SharedTilesChoice::windows_take(model, both))
            << columns << ", " << fill;
      }
    }
  for (int const columns : {32, 64}) {
    EXPECT_TRUE(chosen(rows_of(8192, 4096, 0.1), columns / 2, windows, c64)) << columns;
    EXPECT_FALSE(chosen(rows_of(8192, 4096, 0.05), columns / 2, windows, c64)) << columns;
    EXPECT_FALSE(chosen(rows_of(2048, 2048, 0.15), columns, both, f64))
        << columns;  // too few teams
    auto const thin = rows_of(8192, 4096, 0.056);
    kernels::DeviceModel const model(thin, columns, f64, h200);
    EXPECT_FALSE(kernels::SharedTilesChoice::windows_take(model, both)) << columns;
  }
  EXPECT_EQ(kernels::shared_window_groups(8), 1);
  EXPECT_EQ(kernels::shared_window_groups(32), 4);
  EXPECT_EQ(kernels::shared_window_groups(33), 3);  // two panels of 24
}

}  // namespace
}  // namespace blockspan::test
