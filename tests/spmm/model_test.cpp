// The model of the plan against recorded times: does it choose what was fastest?
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/spmm/plan/panels.hpp>
#include <blockspan/spmm/plan/predict.hpp>

namespace blockspan::test {
namespace {

namespace kernels = blockspan::detail;

/// One product on one device: the statistics of its matrix, and how long each variant took with
/// each length of pieces and each grid of lanes.
struct Recorded {
  std::string name;
  int columns = 0, scalar_bytes = 0;
  RowStatistics rows;
  std::map<std::string, double> microseconds;

  /// Of the kernels that a plan chooses among; the record has some of Blockspan::published too.
  double best() const {
    double least = INFINITY;
    for (auto const& [parts, time] : microseconds)
      if (!find_spmm_variant(parts.substr(0, parts.find(',')))->is_published())
        least = std::min(least, time);
    return least;
  }
};

/// perf/spmm_shapes.cpp says what the lines are.
std::vector<Recorded> read_record(std::string const& path) {
  std::ifstream file(path);
  std::vector<Recorded> record;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("auto,", 0) == 0) continue;  // what the plan of that time chose
    if (line.rfind("case,", 0) != 0) {
      auto const end = line.rfind(',');
      record.back().microseconds[line.substr(0, end)] = std::stod(line.substr(end + 1));
      continue;
    }
    std::istringstream fields(line);
    auto const next = [&] {
      std::string field;
      std::getline(fields, field, ',');
      return field;
    };
    next();
    Recorded one;
    one.name = next();
    one.columns = std::stoi(next());
    one.scalar_bytes = std::stoi(next());
    for (std::int64_t* const field :
         {&one.rows.rows, &one.rows.columns, &one.rows.nonzeros, &one.rows.longest,
          &one.rows.empty_rows, &one.rows.group_work})
      *field = std::stoll(next());
    one.name += ", " + std::to_string(one.columns) + " columns, " +
                std::to_string(one.scalar_bytes) + " bytes";
    record.push_back(one);
  }
  return record;
}

/// The kernel of mostly empty rows is younger than the record; its times are those of
/// device_sparse_row.
std::string const nonempty_rows = "nonempty_rows,0,0,0,0";
void add_nonempty_rows(std::vector<Recorded>& record) {
  for (auto& one : record)
    for (auto const& [columns, microseconds] :
         {std::pair{2, 69.0}, {4, 86.0}, {8, 131.0}, {16, 212.0}, {64, 777.0}})
      if (one.name ==
          "hypersparse:4000000x4000000:0.3, " + std::to_string(columns) + " columns, 8 bytes")
        one.microseconds[nonempty_rows] = microseconds;
}

/// What runs with the model's choice, as the record has it: variant, piece, grid of lanes.
std::string choice_of(Recorded const& one) {
  auto const predictions = kernels::predict_device(
      one.rows, 0, kernels::columns_of_doubles(one.columns, std::size_t(one.scalar_bytes)));
  auto const& least = *std::min_element(
      predictions.begin(), predictions.end(),
      [](auto const& a, auto const& b) { return a.microseconds < b.microseconds; });
  if (least.variant->skips_empty_rows()) return nonempty_rows;
  bool const fit = one.columns * one.scalar_bytes % 16 == 0;
  auto const& variant = fit ? *least.variant : kernels::without_packs(*least.variant);
  bool const cuts = least.piece > 0 && one.rows.longest > least.piece;
  auto const pieces = one.rows.rows + (cuts ? one.rows.nonzeros / least.piece : 0);
  auto const of = kernels::statistics_of_pieces(one.rows, variant, pieces,
                                                least.piece > 0 ? least.piece : one.rows.longest);
  bool const whole = !variant.lists_pieces();
  auto const [grid, packs_per_lane, is_deep, is_spread] =
      kernels::choose_lanes(true, fit ? one.columns * one.scalar_bytes / 16 : one.columns, of,
                            fit ? 3 : 1, {}, fit && whole);
  auto const choice = [&](std::int64_t piece) {
    std::ostringstream text;
    text << variant.id << ',' << piece << ',' << grid.columns() << ',' << grid.entries() << ','
         << packs_per_lane << (is_deep || is_spread || packs_per_lane == 3 ? ",new" : "");
    return text.str();
  };
  if (least.piece > 0 && !cuts)  // then all lengths that cut nothing are one, and one was measured
    for (std::int64_t const piece : kernels::tuning::device_pieces)
      if (piece >= one.rows.longest && one.microseconds.count(choice(piece)) > 0)
        return choice(piece);
  return choice(least.piece);
}

/// Single columns of which a lane may own two: the record was made before that.
bool may_be_paired(Recorded const& one) {
  return one.columns * one.scalar_bytes % 16 != 0 &&
         one.columns >= kernels::tuning::device_pair_columns_short;
}

/// Two packs a lane with as many nonzeros in flight as one, three, and passes side by side: the
/// record knows none.
bool is_new(std::string const& choice) { return choice.ends_with(",new"); }

/// Where the model misses by more than a quarter, and at most by how much. Of bcsstk15 the record
/// has a time that is off: the plan's own run of the same kernel took 5.5 microseconds, not 8.1.
std::map<std::string, double> const known_misses{
    {"bcsstk15, 16 columns, 8 bytes", 1.41},
    {"powerlaw:200000x200000:12:2.1, 8 columns, 8 bytes", 1.34},
    {"banded:500000:16, 3 columns, 8 bytes", 1.31},
    {"laplace7:40, 64 columns, 8 bytes", 1.26}};

TEST(Model, CostsLittleAgainstTheBestThatWasMeasured) {
  auto record = read_record(BLOCKSPAN_MODEL_RECORD);
  add_nonempty_rows(record);
  ASSERT_GT(record.size(), 200u);
  double sum = 0;
  std::map<std::string, int> chosen;
  std::vector<std::string> unknown;  // small matrices were not timed with longer pieces
  for (auto const& one : record) {
    if (may_be_paired(one)) continue;
    auto const choice = choice_of(one);
    if (is_new(choice)) continue;
    if (one.microseconds.count(choice) == 0) {
      unknown.push_back(one.name + ": " + choice);
      continue;
    }
    double const cost = one.microseconds.at(choice) / one.best();
    sum += std::log(cost);
    ++chosen[choice.substr(0, choice.find(','))];
    auto const known = known_misses.find(one.name);
    EXPECT_LE(cost, known != known_misses.end() ? known->second : 1.25)
        << one.name << ": " << choice;
  }
  EXPECT_LE(std::exp(sum / static_cast<double>(record.size() - unknown.size())), 1.05);
  EXPECT_LE(unknown.size(), record.size() / 50) << ::testing::PrintToString(unknown);
  EXPECT_GE(chosen.size(), 4u);  // different classes of matrices get different choices
}

/// A lane owns as many packs as leave the fewest lanes idle.
TEST(Model, GivesALaneUpToThreePacks) {
  auto const shape = [](double mean, double unevenness, std::int64_t packs, int most_packs) {
    kernels::PieceStatistics const of{1 << 20, mean, 40, unevenness, false};
    auto const found = kernels::choose_lanes(true, packs, of, most_packs, {});
    EXPECT_GE(found.room(packs), packs);
    return std::pair(found.packs_per_lane, found.grid.columns());
  };
  for (double const mean : {7.0, 27.0}) {
    EXPECT_EQ(shape(mean, 0, 12, 3), std::pair(3, 4)) << mean;
    EXPECT_EQ(shape(mean, 0, 12, 2).first, 2) << mean;
    EXPECT_EQ(shape(mean, 0, 12, 1).first, 1) << mean;
    EXPECT_EQ(shape(mean, 0, 16, 3).first, 2) << mean;
    EXPECT_EQ(shape(mean, 0, 4, 3).first, 1) << mean;
  }
  EXPECT_EQ(shape(27, 0, 24, 3), std::pair(3, 8));
  EXPECT_EQ(shape(27, 2, 24, 3), std::pair(3, 8));
  EXPECT_EQ(shape(27, 2, 12, 3), std::pair(2, 8));
}

/// The same of single columns, where packs do not fit, of many even rows and of uneven ones.
TEST(Model, GivesALaneUpToFiveSingleColumns) {
  auto const shape = [](double unevenness, std::int64_t columns) {
    kernels::PieceStatistics const of{1 << 20, 7, 40, unevenness, false};
    auto const found = kernels::columns_of_lane({{0, 0}, 1}, columns, 5, of, {});
    EXPECT_GE(found.room(columns), columns);
    return std::pair(found.packs_per_lane, found.grid.columns());
  };
  EXPECT_EQ(shape(0, 3).first, 1);
  EXPECT_EQ(shape(0, 7), std::pair(4, 2));
  EXPECT_EQ(shape(0, 11), std::pair(3, 4));
  EXPECT_EQ(shape(2, 11), std::pair(2, 8));
  EXPECT_EQ(shape(0, 13), std::pair(4, 4));
  EXPECT_EQ(shape(0, 15), std::pair(2, 8));
  EXPECT_EQ(shape(2, 19), std::pair(3, 8));
  EXPECT_EQ(shape(2, 31), std::pair(4, 8));
  EXPECT_EQ(shape(2, 39), std::pair(5, 8));
  EXPECT_EQ(shape(0, 63), std::pair(4, 16));
}

/// Few rows keep a device busy only if the passes over their columns run side by side.
TEST(Model, SpreadsThePassesOfFewRows) {
  auto const shape = [](std::int64_t rows, std::int64_t row, std::int64_t packs, bool may_spread) {
    kernels::PieceStatistics const of{rows, static_cast<double>(row), row, 0.1, false};
    return kernels::choose_lanes(true, packs, of, 3, {}, may_spread);
  };
  for (std::int64_t const packs : {32, 33, 256}) {
    auto const few = shape(800, 48, packs, true);
    EXPECT_TRUE(few.spread) << packs;
    EXPECT_GT(few.passes(packs), 1) << packs;
    EXPECT_GE(few.passes(packs) * few.grid.columns() * few.packs_per_lane, packs);
    EXPECT_FALSE(shape(800, 48, packs, false).spread) << packs;
    EXPECT_FALSE(shape(884736, 27, packs, true).spread) << packs;
  }
  EXPECT_FALSE(shape(800, 48, 2, true).spread);  // one pass
}

/// Panels are as wide as the cache keeps what neighbouring rows share, and leave few lanes idle.
TEST(Model, CutsWideBlocksIntoPanels) {
  std::int64_t const rows = 1 << 20, groups = rows / RowStatistics::group_size;
  RowStatistics const graph{.rows = rows, .columns = rows, .nonzeros = 27 * rows};
  RowStatistics grid = graph, few = graph, stencil = graph;
  grid.diagonal_groups = stencil.diagonal_groups = groups;
  stencil.nonzeros = 7 * rows;
  few.rows = 1000;
  auto const panel = [&](char const* id, RowStatistics const& of, std::int64_t reach, int columns,
                         bool packs = true) {
    return kernels::columns_of_panel(*find_spmm_variant(id), of, reach, columns, 8, packs);
  };
  for (int const columns : {1, 2, 16, 20, 24, 32, 36, 48, 64, 96, 128, 384})
    EXPECT_EQ(panel("warp_per_row_packs", grid, 100, columns), columns);
  EXPECT_EQ(panel("row_group", grid, 100, 66), 64);
  EXPECT_EQ(panel("warp_per_row_packs", graph, rows, 144), 128);
  EXPECT_EQ(panel("warp_per_row_packs", graph, rows, 80), 80);
  EXPECT_EQ(panel("warp_per_row", grid, 100, 37, false), 37);
  EXPECT_EQ(panel("warp_per_row", grid, 100, 65, false), 64);
  EXPECT_EQ(panel("segments_sorted", grid, 100, 66), 66);
  EXPECT_EQ(panel("warp_per_row_packs", stencil, 100, 66), 66);
  EXPECT_EQ(panel("warp_per_row_packs", few, 999, 66), 66);

  EXPECT_EQ(panel("warp_per_row_packs", stencil, 20000, 64), 64);
  EXPECT_EQ(panel("warp_per_row_packs", stencil, 20000, 128), 64);
  EXPECT_EQ(panel("warp_per_row", stencil, 20000, 127, false), 64);
  EXPECT_EQ(panel("segments", stencil, 20000, 128), 64);
  for (auto const& [columns, width] : {std::pair{136, 128},
                                       {128, 128},
                                       {66, 64},
                                       {64, 64},
                                       {48, 48},
                                       {40, 32},
                                       {32, 32},
                                       {18, 18}}) {
    EXPECT_EQ(panel("tensor_window", stencil, 20000, columns), width);
    EXPECT_EQ(panel("tensor_window", few, 999, columns), columns);
  }
  for (auto const& [columns, width] : {std::pair{63, 63}, {33, 32}, {31, 31}})
    EXPECT_EQ(panel("tensor_window", stencil, 20000, columns, false), width);
  EXPECT_EQ(panel("warp_per_row_packs", graph, rows, 128), 128);
}

TEST(Model, TakesOtherScalarsForDoublesThatAreAsWide) {
  struct Case {
    int columns;
    std::size_t scalar_bytes;
    int doubles;
  };
  for (auto const& [columns, scalar_bytes, doubles] :
       {Case{1, 8, 1}, Case{7, 8, 7}, Case{8, 16, 16}, Case{1, 16, 2}, Case{8, 4, 4}, Case{1, 4, 1},
        Case{3, 4, 3}, Case{6, 4, 3}, Case{7, 4, 5}})
    EXPECT_EQ(kernels::columns_of_doubles(columns, scalar_bytes), doubles)
        << columns << " columns of " << scalar_bytes << " bytes";
}

/// Reasoned, not recorded: what a group fetches once can only save time, and more in larger
/// groups.
TEST(Model, TakesGroupsWhereTheyShareEnough) {
  RowStatistics const rows{255552, 255552, 19773000, 0, 24, 81, 20087000};
  for (int const columns : {1, 4, 8, 16, 64}) {
    auto const fastest = [&](kernels::GroupCount const& groups) {
      auto const device = kernels::predict_device(rows, 0, columns, groups);
      return *std::min_element(device.begin(), device.end(), [](auto const& a, auto const& b) {
        return a.microseconds < b.microseconds;
      });
    };
    auto const threes = fastest({rows.rows / 3, rows.nonzeros / 3});
    EXPECT_EQ(threes.variant->id, "row_group");
    EXPECT_LT(threes.microseconds, fastest({rows.rows / 2, rows.nonzeros / 2}).microseconds);
    EXPECT_NE(fastest({rows.rows * 9 / 10, rows.nonzeros * 9 / 10}).variant->id, "row_group");
    EXPECT_NE(fastest({rows.rows, rows.nonzeros}).variant->id, "row_group");
  }
  auto const on_host = [&](int columns) {
    auto const times = kernels::predict_host(rows, 0, columns, {rows.rows / 3, rows.nonzeros / 3});
    return times.back().microseconds / times.front().microseconds;
  };
  EXPECT_EQ(on_host(2), 1);  // a few columns gain nothing there
  EXPECT_LT(on_host(8), 1);
  EXPECT_LT(on_host(32), on_host(8));
}

/// Elasticity 44^3 x 3 and the 27-point grid of 96^3, whose times are in tuning.hpp.
TEST(Model, TakesWindowsWhoseTilesAreFullEnough) {
  RowStatistics const nodes{255552, 255552, 19773000, 0, 24, 81, 20087000};
  RowStatistics const grid{884736, 884736, 23393656, 0, 8, 27, 23700000};
  auto const fastest = [](RowStatistics const& rows, kernels::GroupCount const& groups, int columns,
                          std::int64_t tiles) {
    auto const all = kernels::predict_device(rows, 0, columns, groups,
                                             {rows.rows / kernels::tuning::window_rows, tiles});
    return std::min_element(
               all.begin(), all.end(),
               [](auto const& a, auto const& b) { return a.microseconds < b.microseconds; })
        ->variant->id;
  };
  kernels::GroupCount const threes{nodes.rows / 3, nodes.nonzeros / 3}, none{};
  for (int const columns : {8, 16, 32, 64}) {
    EXPECT_TRUE(kernels::may_take_windows(nodes, columns));
    EXPECT_EQ(fastest(nodes, threes, columns, 295500), "tensor_window");
    EXPECT_EQ(fastest(grid, none, columns, 654384), "tensor_window") << columns;
    EXPECT_EQ(fastest(nodes, threes, columns, 1500000), "row_group");
    EXPECT_NE(fastest(grid, none, columns, grid.nonzeros / 10), "tensor_window");
  }
  for (int const columns : {3, 5, 7, 9, 15, 31, 63}) {  // single columns
    EXPECT_TRUE(kernels::may_take_windows(nodes, columns));
    EXPECT_EQ(fastest(nodes, threes, columns, 295500), "tensor_window") << columns;
    if (columns > kernels::tuning::window_few_columns) {
      EXPECT_EQ(fastest(grid, none, columns, 654384), "tensor_window") << columns;
    }
  }
  EXPECT_EQ(fastest(nodes, threes, 4, 295500), "tensor_window");
  RowStatistics const nine{250000, 250000, 2244004, 0, 4, 9, 2250000};  // 9 points, 500^2
  EXPECT_TRUE(kernels::may_take_windows(nine, 5));
  EXPECT_FALSE(kernels::may_take_windows(nine, 4));
  EXPECT_EQ(fastest(nine, none, 8, 62600), "tensor_window");
  RowStatistics mesh{200000, 200000, 1399932, 0, 3, 21, 1806000};  // a triangulation
  std::int64_t const tiles = 1399932 * 10 / 138 / 16 * 10;
  for (int const columns : {5, 8, 16, 32, 64}) {
    EXPECT_TRUE(kernels::may_take_windows(mesh, columns)) << columns;
    EXPECT_EQ(fastest(mesh, none, columns, tiles), "tensor_window") << columns;
  }
  EXPECT_FALSE(kernels::may_take_windows(mesh, 8, sizeof(Kokkos::complex<double>)));
  mesh.diagonal_groups = 25000;
  EXPECT_FALSE(kernels::may_take_windows(mesh, 8));
  EXPECT_TRUE(kernels::windows_are_worth_it(grid, {grid.rows / 8, 654384}));
  EXPECT_FALSE(kernels::windows_are_worth_it(grid, {grid.rows / 8, 654384},
                                             kernels::tuning::window_least_share_of_few));
  for (int const columns : {1, 2}) EXPECT_FALSE(kernels::may_take_windows(nodes, columns));
  RowStatistics points{1000000, 1000000, 6940000, 0, 4, 7, 7000000};
  points.diagonal_groups = 125000;
  EXPECT_FALSE(kernels::may_take_windows(points, 8));
}

TEST(Model, GrowsWithTheProduct) {
  RowStatistics small{1000, 1000, 9000, 0, 9, 9, 9000};
  RowStatistics large{1000000, 1000000, 9000000, 0, 9, 9, 9000000};
  for (std::size_t i = 0; i < 4; ++i)
    for (int const columns : {1, 3, 8, 32}) {
      auto const time = [&](RowStatistics const& rows, int n) {
        return kernels::predict_device(rows, 0, n).at(i).microseconds;
      };
      EXPECT_GT(time(large, columns), time(small, columns));
      EXPECT_GT(time(large, 2 * columns), time(large, columns) * 0.9);
    }
}

}  // namespace
}  // namespace blockspan::test
