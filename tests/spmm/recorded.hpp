#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <blockspan/spmm/devices/hopper_plan.hpp>

#include "spmm/planned.hpp"

// Recorded products of one NVIDIA H200, and what the plan's choice costs against the best of them.
// The tests of the model and perf/fit_model.cpp read them.

namespace blockspan::test {

/// A product with its matrix's facts and the microseconds of each kernel. cases_record.csv, a line
/// a product: matrix, columns, bytes of a scalar, the facts in the order of the members of
/// MatrixFacts, id=microseconds ... ; from perf/results/h200/cases.json (5ba36776).
struct RecordedCase {
  std::string name;
  int columns = 0;
  products::ScalarKind scalar{};
  MatrixFacts matrix;
  std::map<std::string, double> microseconds;
};

/// A product by whole rows and by rows that are cut: model_record.csv has of each sweep over lanes
/// and lengths (perf/spmm_shapes.cpp says what its lines are) the best of each kernel and what the
/// plan chooses. "id,length,lanes over columns,over nonzeros,vectors a lane".
struct RecordedSweep {
  std::string name;
  int columns = 0;
  products::ScalarKind scalar{};
  RowStatistics rows;
  std::map<std::string, double> microseconds;
};

/// What a choice costs: its time over the best. Unknown ones were not measured.
struct Cost {
  std::string name, choice;
  double over_best = 0;
  bool is_known = true;
};

inline products::ScalarKind scalar_kind(int bytes) {
  return bytes == 16 ? c64 : bytes == 8 ? f64 : f32;
}

class CommaSeparated {
 public:
  explicit CommaSeparated(std::string const& line) : line_(line) {}
  std::string text() {
    std::string field;
    std::getline(line_, field, ',');
    return field;
  }
  std::int64_t number() { return std::stoll(text()); }

 private:
  std::istringstream line_;
};

inline std::vector<RecordedCase> read_cases(std::string const& path) {
  std::ifstream file(path);
  std::vector<RecordedCase> all;
  for (std::string line; std::getline(file, line);) {
    CommaSeparated fields(line);
    RecordedCase one;
    one.name = fields.text();
    one.columns = static_cast<int>(fields.number());
    one.scalar = scalar_kind(static_cast<int>(fields.number()));
    auto& [rows, half_bandwidth, groups, windows, near] = one.matrix;
    for (auto* const field :
         {&rows.rows, &rows.columns, &rows.nonzeros, &rows.empty_rows, &rows.shortest,
          &rows.longest, &rows.group_work, &rows.diagonal_groups, &half_bandwidth, &groups.groups,
          &groups.fetches, &windows.windows, &windows.tiles})
      *field = fields.number();
    near = half_bandwidth <= INT16_MAX;
    std::istringstream times(fields.text());
    for (std::string word; times >> word;) {
      auto const equals = word.find('=');
      one.microseconds[word.substr(0, equals)] = std::stod(word.substr(equals + 1));
    }
    all.push_back(one);
  }
  return all;
}

/// Diagonals are those of the same matrices in the other record; a sweep does not know them.
inline std::vector<RecordedSweep> read_sweeps(std::string const& path,
                                              std::vector<RecordedCase> const& cases) {
  std::ifstream file(path);
  std::vector<RecordedSweep> all;
  for (std::string line; std::getline(file, line);) {
    CommaSeparated fields(line);
    auto const first = fields.text();
    if (first != "case") {
      auto const end = line.rfind(',');
      all.back().microseconds[line.substr(0, end)] = std::stod(line.substr(end + 1));
      continue;
    }
    RecordedSweep one;
    one.name = fields.text();
    one.columns = static_cast<int>(fields.number());
    one.scalar = scalar_kind(static_cast<int>(fields.number()));
    auto& rows = one.rows;
    for (auto* const field : {&rows.rows, &rows.columns, &rows.nonzeros, &rows.longest,
                              &rows.empty_rows, &rows.group_work})
      *field = fields.number();
    for (auto const& other : cases)
      if (other.name == one.name) rows.diagonal_groups = other.matrix.rows.diagonal_groups;
    if (one.name.starts_with("laplace") || one.name.starts_with("banded"))
      rows.diagonal_groups = rows.rows / RowStatistics::group_size;
    all.push_back(one);
  }
  return all;
}

inline double least(std::map<std::string, double> const& times) {
  double best = INFINITY;
  for (auto const& [name, time] : times)
    if (name != "auto/column") best = std::min(best, time);
  return best;
}

inline Cost cost_of(RecordedCase const& one, products::DeviceFacts const& device) {
  auto const planned = plan(one.matrix, one.columns, one.scalar, device);
  auto const decision = decide(planned, blocks(one.columns, one.scalar), device);
  std::string const id(decision.first().variant->id);
  auto const name = one.name + ", " + std::to_string(one.columns) + " columns, " +
                    std::to_string(one.scalar.bytes) + " bytes";
  auto const found = one.microseconds.find(id);
  if (found == one.microseconds.end()) return {name, id, 0, false};
  return {name, id, found->second / least(one.microseconds)};
}

/// The lanes that the plan chooses where they were recorded; else the best of that length. Passes
/// side by side are younger than the record, and so are tiles of rows, which have no lanes to
/// choose: what they replace is compared. Where choices change, sweep again and thin anew.
inline Cost cost_of(RecordedSweep const& one, products::DeviceFacts const& device) {
  auto planned = plan({.rows = one.rows}, one.columns, one.scalar, device);
  planned.A.tiles = 0;
  auto const launch = decide(planned, blocks(one.columns, one.scalar), device).first();
  auto const& [grid, vectors, deep, spread] = launch.lanes;
  std::int64_t const length = launch.variant->lists_segments() ? planned.choice.segment : 0;
  Cost cost{one.name + ", " + std::to_string(one.columns) + " columns, " +
                std::to_string(one.scalar.bytes) + " bytes",
            std::string(launch.variant->id) + ',' + std::to_string(length), 0, false};
  if (spread || launch.variant->skips_empty_rows()) return cost;
  std::vector<std::int64_t> same{length};  // lengths that cut nothing are one, and one was measured
  for (std::int64_t const other : products::tuning::device_segment_lengths)
    if (length > 0 && std::min(other, length) >= one.rows.longest) same.push_back(other);
  std::ostringstream lanes;
  lanes << grid.columns() << ',' << grid.entries() << ',' << vectors;
  double time = INFINITY;
  for (std::int64_t const each : same) {
    auto const begin = std::string(launch.variant->id) + ',' + std::to_string(each) + ',';
    auto const exact = one.microseconds.find(begin + lanes.str());
    if (exact != one.microseconds.end() && !deep) {
      time = exact->second;
      break;
    }
    for (auto it = one.microseconds.lower_bound(begin);
         it != one.microseconds.end() && it->first.starts_with(begin); ++it)
      time = std::min(time, it->second);
  }
  if (!std::isfinite(time)) return cost;
  cost.over_best = time / least(one.microseconds);
  cost.is_known = true;
  return cost;
}

}  // namespace blockspan::test
