// Decisions about products from plain facts, on any host: a table of matrices (as facts) against
// the launches that are recorded for them in decisions.txt, and rules one by one.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <blockspan/spmm/plan/decide.hpp>
#include <blockspan/spmm/plan/explain.hpp>

#include "spmm/planned.hpp"

namespace blockspan::test {
namespace {

namespace kernels = blockspan::products;
using namespace devices;
using kernels::BlockFacts;
using kernels::Decision;
using kernels::DeviceFacts;
using kernels::LaunchForm;
using kernels::PatternFacts;
using kernels::ScalarKind;
using kernels::SpmmChoice;

/// A matrix as its rows are on average.
struct Matrix {
  char const* name;
  std::int64_t rows, columns;
  double mean;
  std::int64_t shortest, longest;
  double imbalance, diagonal;
  std::int64_t half_bandwidth;
  double groups, fetches;  ///< groups a row; rows of X they fetch an entry
  double share;            ///< entries that a row of X serves in a window
  bool near;               ///< columns are 16-bit distances from their row
  std::int64_t empty = 0;

  MatrixFacts facts() const {
    auto const all = static_cast<double>(rows);
    double const entries = mean * all;
    auto const whole = [](double number) { return static_cast<std::int64_t>(number); };
    return {
        .rows = {rows, columns, whole(entries), empty, shortest, longest,
                 whole(imbalance * entries), whole(diagonal * static_cast<double>((rows + 7) / 8))},
        .half_bandwidth = half_bandwidth,
        .groups = {whole(groups * all), whole(fetches * entries)},
        .windows = {(rows + 7) / 8, whole(entries / (16 * share))},
        .near = near};
  }
};

constexpr Matrix matrices[] = {
    {"laplace7:128", 2097152, 2097152, 6.95, 4, 7, 1.004, .99, 16384, 1, 1, 1.2, true},
    {"laplace7:40", 64000, 64000, 6.85, 4, 7, 1.01, .95, 1600, 1, 1, 1.2, true},
    {"laplace27:96", 884736, 884736, 26.4, 8, 27, 1.02, .98, 9313, 1, 1, 2.2, true},
    {"elasticity:44", 255552, 255552, 77.4, 24, 81, 1.016, 0, 5941, 1 / 3., 1 / 3., 4.2, true},
    {"elasticity:14", 8232, 8232, 70, 24, 81, 1.03, 0, 700, 1 / 3., 1 / 3., 4.2, true},
    {"delaunay", 32768, 32768, 6, 3, 18, 1.35, 0, 32000, 1, 1, 1.33, false},
    {"mesh in space", 100000, 100000, 15, 5, 40, 1.3, 0, 90000, 1, 1, 1.86, false},
    {"rmat:20", 1048576, 1048576, 15.7, 0, 53000, 5, 0, 1048000, 1, 1, 0.9, false, 420000},
    {"rmat:14", 16384, 16384, 15, 0, 2500, 4, 0, 16300, 1, 1, 0.9, false, 3000},
    {"power law", 200000, 200000, 12, 1, 9000, 3.2, 0, 199000, 1, 1, 0.9, false},
    {"mostly empty", 4000000, 4000000, 0.2, 0, 4, 6, 0, 3900000, 1, 1, 0.9, false, 3600000},
    {"empty and long", 500000, 500000, 2, 0, 4000, 6, 0, 490000, 1, 1, 0.9, false, 400000},
    {"scattered", 500000, 500000, 20, 20, 20, 1, 0, 499000, 1, 1, 0.9, false},
    {"scattered short", 1000000, 1000000, 8, 8, 8, 1, 0, 999000, 1, 1, 0.9, false},
    {"restriction", 148233, 1000000, 25.9, 8, 60, 1.37, 0, 999000, 1, 1, 1.1, false},
    {"few long rows", 800, 200000, 5000, 4000, 6000, 1.1, 0, 199000, 1, 1, 0.5, false},
    {"few rows", 800, 800, 48, 40, 56, 1.1, 0, 790, 1, 1, 1.5, false},
    {"small", 100, 100, 5, 1, 12, 1.4, 0, 90, 1, 1, 1.2, false},
    {"band of 33", 500000, 500000, 33, 17, 33, 1, .99, 16, 1, 1, 4, true},
    {"10 % full", 8192, 4096, 410, 380, 440, 1.02, 0, 4090, 1, 1, 2, false},
    {"5 % full", 8192, 4096, 225, 190, 260, 1.05, 0, 4090, 1, 1, 1.2, false},
    {"one heavy row", 1000000, 1000000, 4, 2, 900000, 1.5, 0, 999000, 1, 1, 1, false},
    {"pairs of rows", 300000, 300000, 20, 10, 40, 1.2, 0, 4000, .5, .5, 2.4, true},
};

/// A plan made for 8 columns.
Planned plan(Matrix const& matrix, ScalarKind const& scalar, DeviceFacts const& device,
             std::string const& algorithm = "auto") {
  return plan(matrix.facts(), 8, scalar, device, algorithm);
}

/// Every decision of the table, a line each.
std::map<std::string, std::string> decisions() {
  struct Scalar {
    char const* name;
    ScalarKind kind;
  };
  std::map<std::string, std::string> all;
  for (auto const& matrix : matrices)
    for (auto const& [name, scalar] : {Scalar{"f32", f32}, {"f64", f64}, {"c64", c64}}) {
      auto const planned = plan(matrix, scalar, h200);
      for (std::int64_t const columns : {1, 3, 8, 64, 130})
        for (bool const column_major : {false, true}) {
          if (column_major && columns == 1) continue;
          auto const key = std::string(matrix.name) + ", " + name + ", " + std::to_string(columns) +
                           (column_major ? " down" : "");
          all[key] = in_words(decide(planned, blocks(columns, scalar, column_major), h200));
        }
    }
  return all;
}

TEST(Decisions, AreTheRecordedOnes) {
  std::ifstream file(BLOCKSPAN_DECISIONS);
  std::map<std::string, std::string> recorded;
  for (std::string line; std::getline(file, line);) {
    auto const colon = line.rfind(": ");
    ASSERT_NE(colon, std::string::npos) << line;
    recorded[line.substr(0, colon)] = line.substr(colon + 2);
  }
  auto const made = decisions();
  EXPECT_EQ(made.size(), recorded.size());
  for (auto const& [key, words] : made) EXPECT_EQ(words, recorded[key]) << key;
  if (!HasFailure()) return;
  auto const copy = ::testing::TempDir() + "decisions.txt";  // the new record, if it is meant so
  std::ofstream out(copy);
  for (auto const& [key, words] : made) out << key << ": " << words << '\n';
  ADD_FAILURE() << "all decisions of now: " << copy;
}

TEST(Decisions, CoverEveryKernelOfTheLibrary) {
  auto const made = decisions();
  for (std::string const name :
       {"rows", "single_columns", "single_columns lane_a_row", "single_columns staged_columns",
        "segments_sorted", "nonempty_rows all_rows", "groups", "windows",
        "shared_tiles by_windows"})
    EXPECT_TRUE(std::any_of(made.begin(), made.end(), [&](auto const& one) {
      return one.second.find(' ' + name + ' ') != std::string::npos;
    })) << name;
}

/// Whatever the facts: the launches have all columns, once, and a device's lanes fit a warp.
TEST(Decisions, CoverAllColumnsWithLanesOfAWarp) {
  for (auto const& device : {h200, host})
    for (auto const& matrix : matrices)
      for (auto const& scalar : {f32, f64, c64}) {
        auto const planned = plan(matrix, scalar, device);
        for (std::int64_t columns = 1; columns <= 300; columns += 1 + columns / 9)
          for (bool const column_major : {false, true}) {
            auto const decision = decide(planned, blocks(columns, scalar, column_major), device);
            std::int64_t sum = 0;
            for (auto const& launch : decision.launches) {
              sum += launch.columns;
              EXPECT_GT(launch.columns, 0);
              EXPECT_LE(launch.lanes.grid.lanes(), 32);
            }
            auto const vector = std::max<std::int64_t>(1, 16 / std::int64_t(scalar.bytes));
            auto const padded = (columns + vector - 1) / vector * vector;
            EXPECT_EQ(sum, decision.y_by_copy ? padded : columns) << matrix.name;
          }
      }
}

/// What is left of a band that does not stay in the cache may stay there, as one last panel, which
/// is wider than those before: sums of cut rows have room for it.
TEST(Decisions, MayEndWithTheWidestPanel) {
  MatrixFacts const band{.rows = {66000, 66000, 400000, 0, 3, 9000, 410000, 8250},
                         .half_bandwidth = 10000};
  for (auto const& device : {h100, h200}) {
    auto const planned = plan(band, 8, f64, device, "segments");
    EXPECT_GT(planned.A.slots, 0);
    auto const decision = decide(planned, blocks(170, f64), device);
    ASSERT_EQ(decision.launches.size(), 2u);
    EXPECT_EQ(decision.first().columns, 64);
    EXPECT_EQ(decision.launches.back().columns, 106);
    EXPECT_EQ(decision.most_columns(), 106);
  }
}

TEST(Decisions, LeaveTensorCoresAndStagedTilesToDevicesThatHaveThem) {
  DeviceFacts const plain{false, true, false, false};
  for (auto const& matrix : matrices)
    for (std::int64_t const columns : {8, 16, 64}) {
      auto const kernel =
          decide(plan(matrix, f64, plain), blocks(columns, f64), plain).first().kernel();
      EXPECT_TRUE(kernel != SpmmKernelId::windows && kernel != SpmmKernelId::shared_tiles)
          << matrix.name;
    }
}

/// Whatever scalars and ordinals: teams stage what their scratch has room for, of which Kokkos
/// allows 48 KiB.
TEST(Decisions, StageColumnsWhoseEntriesFitTheScratchOfATeam) {
  constexpr std::int64_t all = 90000, most = 48 << 10, slack = 64;
  for (auto const& scalar : {f32, f64, c64})
    for (std::size_t const ordinal : {sizeof(std::int32_t), sizeof(std::int64_t)}) {
      int staged = 0;
      for (std::int64_t row = 1; row <= 64; ++row) {
        MatrixFacts const grid{.rows = {all, all, all * row, 0, row, row, all * row, all / 8}};
        auto planned = plan(grid, 8, scalar, h200, "rows");
        planned.A.ordinal_bytes = ordinal;
        auto const launch = decide(planned, blocks(64, scalar, true), h200).first();
        if (launch.form != LaunchForm::staged_columns) continue;
        ++staged;
        std::int64_t const entries = kernels::tuning::staged_column_rows * row;
        auto const of_thread =
            (entries + entries / 16 + 1) * static_cast<std::int64_t>(scalar.bytes + ordinal) +
            slack;
        EXPECT_LE(kernels::tuning::staged_column_threads * of_thread + slack, most)
            << row << " entries a row, scalars of " << scalar.bytes << " bytes, ordinals of "
            << ordinal;
      }
      EXPECT_GT(staged, 0);
    }
}

TEST(Decisions, RefuseWhatTheAlgorithmAskedForCannotServe) {
  auto const planned = plan(matrices[0], f64, h200, "rows");
  auto with = blocks(7, f64);
  with.must_run = true;
  EXPECT_TRUE(decide(planned, with, h200).launches.empty());
  with.must_run = false;  // chosen by measurement: other blocks are served too
  EXPECT_FALSE(decide(planned, with, h200).launches.empty());
}

TEST(Decisions, SumProductsInTheKernelWhereOnePassHasAllColumns) {
  auto const planned = plan(matrices[0], f64, h200);
  auto with = blocks(8, f64);
  with.sums = with.overwrites = true;
  EXPECT_TRUE(decide(planned, with, h200).fuses_sums);
  EXPECT_FALSE(decide(plan(matrices[0], f64, host), with, host).fuses_sums);
  auto wide = blocks(1000, f64);
  wide.sums = wide.overwrites = true;
  EXPECT_FALSE(decide(planned, wide, h200).fuses_sums);
  auto const listed = plan(matrices[10], f64, h200, "nonempty_rows");
  EXPECT_TRUE(decide(listed, with, h200).fuses_sums);
  with.overwrites = false;  // beta Y of the empty rows is not in the sums
  EXPECT_FALSE(decide(listed, with, h200).fuses_sums);
}

/// A plan that sorted the rows looks the values up, which the kernels that sum do not; nor those
/// that take a step.
TEST(Decisions, SumProductsOfValuesThatAreLookedUpInAPassOfTheirOwn) {
  int others = 0;
  for (auto const& matrix : matrices)
    for (auto const* id : {"rows", "segments", "groups", "windows", "shared_tiles"})
      for (bool const column_major : {false, true}) {
        auto planned = plan(matrix, f64, h200, id);
        auto with = blocks(8, f64, column_major);
        with.overwrites = true;
        for (bool BlockFacts::*const wanted : {&BlockFacts::sums, &BlockFacts::steps}) {
          with.sums = with.steps = false;
          with.*wanted = true;
          planned.A.is_permuted = false;
          auto const in_order = decide(planned, with, h200);
          others += in_order.fuses_sums || in_order.fuses_step ? 1 : 0;
          planned.A.is_permuted = true;
          auto const looked_up = decide(planned, with, h200);
          EXPECT_FALSE(looked_up.fuses_sums || looked_up.fuses_step) << matrix.name << ", " << id;
        }
      }
  EXPECT_GT(others, 100);
}

/// Whatever the facts: one launch of rows or groups with lanes for all columns at once; of complex
/// numbers and of groups a lane has registers for one vector.
TEST(Decisions, LayOutOnePassForSumsOfProducts) {
  int fused = 0;
  for (auto const& matrix : matrices)
    for (auto const& scalar : {f32, f64, c64})
      for (std::int64_t columns = 1; columns <= 300; columns += 1 + columns / 9) {
        auto const planned = plan(matrix, scalar, h200);
        auto with = blocks(columns, scalar);
        with.sums = with.overwrites = true;
        auto const decision = decide(planned, with, h200);
        if (!decision.fuses_sums) continue;
        ++fused;
        ASSERT_EQ(decision.launches.size(), 1u) << matrix.name;
        auto const& launch = decision.first();
        std::int64_t const scalars = launch.vectorized ? 16 / std::int64_t(scalar.bytes) : 1;
        bool const groups = launch.kernel() == SpmmKernelId::groups;
        EXPECT_TRUE(launch.variant->by_rows || groups);
        EXPECT_EQ(launch.form, LaunchForm::usual);
        EXPECT_EQ(launch.lanes.passes((columns + scalars - 1) / scalars), 1) << matrix.name;
        EXPECT_LE(launch.lanes.vectors_per_lane, scalar.is_complex || groups ? 1 : 2);
      }
  EXPECT_GT(fused, 500);
}

/// Windows read tiles of 16 distances, a base and a mask a row; their fallbacks columns.
TEST(Decisions, KnowWhatTheirKernelReadsOfTheMatrix) {
  SpmmChoice choice{};
  choice.variant = &spmm_variant(SpmmKernelId::windows);
  PatternFacts A;
  A.rows.rows = A.rows.columns = 100;
  A.rows.nonzeros = 1200;
  A.windows = {13, 40};
  std::int64_t const windows = 40 * (16 * 2 + 4 + 8 * 2), offsets = 101 * 4;
  auto const bytes = [&](ScalarKind const& scalar, std::size_t value_bytes) {
    auto const decision = kernels::decide(A, choice, blocks(8, scalar), h200);
    return kernels::bytes_of_matrix(A, decision.first(), value_bytes);
  };
  EXPECT_EQ(bytes(f64, 8), 1200 * 8 + windows + offsets);
  EXPECT_EQ(bytes(c64, 16), 1200 * 16 + windows + offsets);
  EXPECT_EQ(bytes(f64, 4), 1200 * 4 + windows + offsets);
  EXPECT_EQ(bytes(f32, 4), 1200 * (4 + 4) + offsets);
  A.groups = {34, 410};
  A.lists_groups = true;
  EXPECT_EQ(bytes(f32, 4), 1200 * 4 + 410 * 4 + offsets);
}

TEST(Decisions, AreMadeOnce) {
  auto const planned = plan(matrices[0], f64, h200);
  kernels::DecisionMemo memo;
  auto const find = [&](std::int64_t columns, ScalarKind const& scalar) -> Decision const& {
    auto const with = blocks(columns, scalar);
    return memo.find(with, [&] { return decide(planned, with, h200); });
  };
  auto const& first = find(8, f64);
  for (std::int64_t columns = 1; columns < 40; ++columns) find(columns, f64);
  EXPECT_EQ(&find(8, f64), &first);
  EXPECT_NE(&find(8, f32), &first);
}

}  // namespace
}  // namespace blockspan::test
