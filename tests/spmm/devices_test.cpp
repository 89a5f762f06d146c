// The same matrices on several devices, known by their facts alone: what changes, and why.
#include <cstdint>

#include <gtest/gtest.h>

#include <blockspan/spmm/plan/model.hpp>

#include "spmm/planned.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;
using namespace devices;
using kernels::DeviceFacts;

/// Grids: rows follow the diagonal. `share`: entries that a row of X serves in a window.
MatrixFacts grid(std::int64_t rows, std::int64_t nonzeros, std::int64_t row,
                 std::int64_t half_bandwidth, double share) {
  auto const tiles = static_cast<std::int64_t>(static_cast<double>(nonzeros) / (16 * share));
  return {.rows = {rows, rows, nonzeros, 0, 4, row, nonzeros + nonzeros / 100, rows / 8},
          .half_bandwidth = half_bandwidth,
          .groups = {rows, nonzeros},
          .windows = {rows / 8, tiles},
          .near = true};
}
/// Three unknowns a node, 77 entries a row.
MatrixFacts elasticity(std::int64_t rows) {
  auto facts = grid(rows, 77 * rows, 81, rows / 40, 4.2);
  facts.rows.diagonal_groups = 0;
  facts.groups = {rows / 3, 77 * rows / 3};
  return facts;
}
/// R-MAT of 2^18 rows, 16 entries a row.
MatrixFacts graph() {
  return {.rows = {262144, 262144, 3940503, 113420, 0, 15976, 13437368, 0},
          .half_bandwidth = 261328,
          .groups = {262141, 3940500},
          .windows = {32768, 1430464}};
}
/// 8192 x 4096, a tenth of the places full.
MatrixFacts full() {
  return {.rows = {8192, 4096, 3358720, 0, 380, 440, 3425894, 0},
          .half_bandwidth = 4090,
          .groups = {8192, 3358720},
          .windows = {1024, 104960}};
}

MatrixFacts const small_grid = grid(64000, 438400, 7, 1600, 1.2),
                  wide_grid = grid(884736, 23393656, 27, 9313, 2.2),
                  large_grid = grid(2097152, 14581760, 7, 16384, 1.2);

/// Three devices, oldest first.
struct Expected {
  char const* on_a100;
  char const* on_h100;
  char const* on_h200;
};
struct Choice {
  MatrixFacts matrix;
  int columns;
  char const* algorithm;
  Expected expected;
  char const* why;
};

TEST(Devices, ChangeWhatTheirFactsChange) {
  char const* const rows = "128 rows 32x1x2 vectors deep";
  char const* const panels =
      "64 rows 16x1x2 vectors deep; 64 rows 16x1x2 vectors "
      "deep";
  char const* const shared = "64 shared_tiles by_windows 1x1x1 vectors";
  for (auto const& [matrix, columns, algorithm, expected, why] : {
           Choice{large_grid,
                  32,
                  "auto",
                  {"32 rows 8x1x2 vectors", "32 rows 8x1x2 vectors", "32 rows 8x1x2 vectors"},
                  "enough rows for any of them"},
           Choice{small_grid,
                  32,
                  "auto",
                  {"32 rows 8x1x2 vectors", "32 rows 4x1x2 vectors deep spread",
                   "32 rows 4x1x2 vectors deep spread"},
                  "64,000 rows keep 108 multiprocessors busy with two vectors a lane, not 132"},
           Choice{small_grid,
                  4,
                  "auto",
                  {"4 rows 2x1x1 vectors narrow", "4 rows 2x1x1 vectors narrow",
                   "4 rows 2x1x1 vectors"},
                  "5.3 MB of A are a tenth of 40 and 50 MiB of cache, but not of 60"},
           Choice{elasticity(7000),
                  8,
                  "auto",
                  {"8 groups 4x8x1 vectors", "8 rows 4x8x1 vectors narrow",
                   "8 rows 4x8x1 vectors narrow"},
                  "groups are a third as many as rows: enough for 108 multiprocessors"},
           Choice{elasticity(11000),
                  8,
                  "auto",
                  {"8 windows 1x1x1 vectors", "8 groups 4x8x1 vectors", "8 groups 4x8x1 vectors"},
                  "twelve windows a multiprocessor are 10,368 rows or 12,672"},
           Choice{wide_grid,
                  128,
                  "rows",
                  {panels, panels, rows},
                  "19 MB of X are in use: more than a third of 40 and 50 MiB, less than of 60"},
           Choice{full(),
                  64,
                  "auto",
                  {"64 rows 16x1x2 vectors deep", shared, shared},
                  "tiles are fetched by bulk copies into 200 KB of scratch: Hopper's"},
       }) {
    auto const words = [&, matrix = matrix, columns = columns,
                        algorithm = algorithm](DeviceFacts const& device) {
      return in_words(
          decide(plan(matrix, columns, f64, device, algorithm), blocks(columns, f64), device));
    };
    EXPECT_EQ(words(a100), expected.on_a100) << why;
    EXPECT_EQ(words(h100), expected.on_h100) << why;
    EXPECT_EQ(words(h200), expected.on_h200) << why;
  }
}

/// Where memory is slower, the rest of a product hides a longer wait for the last part of a row.
TEST(Devices, CutRowsLongerWhereMemoryIsSlower) {
  for (int const columns : {8, 16, 32, 64, 128}) {
    auto const length = [&](DeviceFacts const& device) {
      auto const choice = plan(graph(), columns, f64, device).choice;
      EXPECT_EQ(choice.variant->id, "segments_sorted");
      return choice.segment;
    };
    EXPECT_LE(length(h200), length(h100)) << columns;
    EXPECT_LE(length(h100), length(a100)) << columns;
  }
  EXPECT_EQ(plan(graph(), 16, f64, h200).choice.segment, 128);
  EXPECT_EQ(plan(graph(), 16, f64, a100).choice.segment, 256);
}

/// No product gains more than the ratio of the bandwidths, and large ones gain most of it.
TEST(Devices, ScaleTimesByTheirBandwidths) {
  auto const time = [](MatrixFacts const& matrix, int columns, DeviceFacts const& device) {
    return time_of(SpmmKernelId::rows, matrix.rows, columns, f64, device);
  };
  for (int const columns : {1, 8, 64}) {
    double const to_h100 = time(large_grid, columns, h100) / time(large_grid, columns, h200);
    double const to_a100 = time(large_grid, columns, a100) / time(large_grid, columns, h200);
    EXPECT_GT(to_h100, 1.15) << columns;
    EXPECT_LE(to_h100, h200.dram / h100.dram) << columns;
    EXPECT_GT(to_a100, 2) << columns;
    EXPECT_LE(to_a100, h200.dram / a100.dram) << columns;
  }
  EXPECT_LT(time(grid(1000, 7000, 7, 100, 1.2), 8, a100),
            1.5 * time(grid(1000, 7000, 7, 100, 1.2), 8, h200));  // launches and waits
}

/// Older and younger ones than those that anything was measured on: what they have not is not
/// launched, lanes fit a warp, and more of everything is not slower.
TEST(Devices, HaveSensibleLaunchesWhateverTheirYear) {
  struct Case {
    char const* name;
    MatrixFacts matrix;
  };
  for (auto const& [name, matrix] :
       {Case{"small grid", small_grid}, Case{"wide grid", wide_grid}, Case{"graph", graph()},
        Case{"elasticity", elasticity(255552)}, Case{"full", full()}})
    for (auto const& device : {a100, h200, b200})
      for (auto const& scalar : {f32, f64, c64})
        for (int const columns : {1, 3, 8, 32, 100}) {
          SCOPED_TRACE(std::string(name) + ", " + std::to_string(columns) + " columns");
          auto const planned = plan(matrix, columns, scalar, device);
          std::int64_t covered = 0;
          for (auto const& launch : decide(planned, blocks(columns, scalar), device).launches) {
            covered += launch.columns;
            EXPECT_LE(launch.lanes.grid.lanes(), 32);
            EXPECT_FALSE(launch.is_registered());
            EXPECT_TRUE(is_offered(*launch.variant, scalar, device));
            EXPECT_TRUE(device.bulk_copies || launch.kernel() != SpmmKernelId::shared_tiles);
          }
          EXPECT_EQ(covered, columns);
          auto const expected = [&, matrix = matrix](DeviceFacts const& on) {
            return plan(matrix, columns, scalar, on).choice.predictions.front().microseconds;
          };
          EXPECT_LE(expected(b200), 1.05 * expected(h200));  // its clock is slower
          EXPECT_LE(expected(h200), expected(a100));
        }
}

/// Wavefronts of 64 lanes that exchange nothing, and no tensor cores that the kernels know: of
/// every algorithm asked for what runs needs neither, nor scratch (but shared_tiles, in its form
/// for any device).
TEST(Devices, WithoutExchangeRunWhatNeedsNone) {
  constexpr int wavefront = 64, most_threads = 1024;
  for (auto const& matrix :
       {small_grid, wide_grid, large_grid, graph(), elasticity(255552), full()})
    for (auto const& scalar : {f32, f64, c64})
      for (int const columns : {1, 3, 8, 32, 100})
        for (bool const column_major : {false, true})
          for (auto const* const variant : spmm_variants()) {
            SCOPED_TRACE(std::string(variant->id) + ", " + std::to_string(columns) + " columns");
            if (variant->kernel == SpmmKernelId::registered ||
                !is_offered(*variant, scalar, mi250x))
              continue;
            auto blocks = test::blocks(columns, scalar, column_major);
            auto const planned = plan(matrix, columns, scalar, mi250x, std::string(variant->id));
            std::int64_t covered = 0;
            auto const decision = decide(planned, blocks, mi250x);
            for (auto const& launch : decision.launches) {
              covered += launch.columns;
              int const lanes = launch.lanes.grid.lanes();
              EXPECT_LE(lanes, wavefront);
              EXPECT_EQ(kernels::tuning::device_threads % static_cast<unsigned>(lanes), 0u);
              EXPECT_EQ(launch.lanes.grid.entries(), 1);
              EXPECT_TRUE(is_offered(*launch.variant, scalar, mi250x));
              EXPECT_TRUE(launch.form == kernels::LaunchForm::usual ||
                          launch.form == kernels::LaunchForm::lane_a_row ||
                          (launch.kernel() == SpmmKernelId::shared_tiles && launch.is_registered()))
                  << in_words(launch);
            }
            EXPECT_TRUE(covered == columns || decision.y_by_copy) << covered;  // whole vectors
            blocks.sums = true;
            EXPECT_FALSE(decide(planned, blocks, mi250x).fuses_sums);
            blocks.sums = false, blocks.steps = true;
            EXPECT_FALSE(decide(planned, blocks, mi250x).fuses_step);
          }
  static_assert(kernels::tuning::device_threads % wavefront == 0 &&
                kernels::tuning::device_threads <= most_threads);
  for (auto const kernel : {SpmmKernelId::windows, SpmmKernelId::adaptive, SpmmKernelId::row_pairs})
    EXPECT_FALSE(is_offered(spmm_variant(kernel), f64, mi250x));
}

/// A band of rows of X that two thirds of a cache of 60 MB do not hold stays in one of 126.
TEST(Devices, TakeWiderPanelsWhereCachesAreLarger) {
  auto const words = [](DeviceFacts const& device) {
    return in_words(decide(plan(grid(884736, 23393656, 27, 14000, 2.2), 128, f64, device, "rows"),
                           blocks(128, f64), device));
  };
  EXPECT_EQ(words(h200), "64 rows 16x1x2 vectors deep; 64 rows 16x1x2 vectors deep");
  EXPECT_EQ(words(b200), "128 rows 32x1x2 vectors deep");
}

/// Devices of other classes: slow doubles, less scratch.
TEST(Devices, NeedWhatTheKernelsNeed) {
  auto slow = h200;
  slow.double_tensor_cores = false;
  auto const kernel_on = [](MatrixFacts const& matrix, DeviceFacts const& device) {
    return decide(plan(matrix, 64, f64, device), blocks(64, f64), device).first().kernel();
  };
  EXPECT_EQ(kernel_on(wide_grid, h200), SpmmKernelId::windows);
  EXPECT_EQ(kernel_on(wide_grid, slow), SpmmKernelId::rows);
  EXPECT_EQ(kernel_on(full(), slow), SpmmKernelId::shared_tiles);
  auto small = slow;
  small.scratch = 99 << 10;
  EXPECT_EQ(kernel_on(full(), small), SpmmKernelId::rows);
}

}  // namespace
}  // namespace blockspan::test
