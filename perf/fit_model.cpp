// Fits ModelParameters (src/blockspan/spmm/devices/hopper_plan.hpp) to the recorded products of
// tests/spmm/model_record.csv and cases_record.csv: parameters go up and down in turn, by less each
// round, as long as what the plan chooses takes less time, or what it expects is nearer to what was
// measured. Prints the parameters, and how good they are. On any host, in seconds.
//
//   blockspan-perf-fit-model TESTS_FOLDER [NAME=VALUE[!] ...]      !: stays
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "spmm/recorded.hpp"

namespace {

using namespace blockspan::test;
using blockspan::products::DeviceFacts;

constexpr std::array names{"launch", "wait", "stream",     "near",   "far",      "complex_far",
                           "single", "tile", "tile_start", "tensor", "lane_row", "warp",
                           "uneven", "tail", "list",       "carry"};
static_assert(sizeof(blockspan::products::ModelParameters) == names.size() * sizeof(double));

/// What a factor of e in the expected times weighs against one in those of the choice.
constexpr double weight_of_expected = 0.05;

struct Mean {
  double sum = 0;
  int count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return sum / count; }
};

struct Score {
  Mean cases, sweeps;  ///< logarithms of what the choice costs
  Mean expected;       ///< squares of the logarithms of expected over measured times
  double value() const {
    return cases.value() + sweeps.value() + weight_of_expected * expected.value();
  }
};

Score score(std::vector<RecordedCase> const& cases, std::vector<RecordedSweep> const& sweeps,
            DeviceFacts const& device) {
  Score result;
  for (auto const& one : cases) {
    if (auto const cost = cost_of(one, device); cost.is_known)
      result.cases.add(std::log(cost.over_best));
    auto const planned = plan(one.matrix, one.columns, one.scalar, device);
    for (auto const& each : planned.choice.predictions) {
      auto const found = one.microseconds.find(std::string(each.variant->id));
      if (found == one.microseconds.end()) continue;
      double const off = std::log(each.microseconds / found->second);
      result.expected.add(off * off);
    }
  }
  for (auto const& one : sweeps)
    if (auto const cost = cost_of(one, device); cost.is_known)
      result.sweeps.add(std::log(cost.over_best));
  return result;
}

void print(Score const& score) {
  std::printf(
      "choices over the best: kernels %.4f (%d), lanes and lengths %.4f (%d); expected over "
      "measured: off by %.3f\n",
      std::exp(score.cases.value()), score.cases.count, std::exp(score.sweeps.value()),
      score.sweeps.count, std::exp(std::sqrt(score.expected.value())));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: %s TESTS_FOLDER [NAME=VALUE[!] ...]\n", *argv), 2;
  std::string const folder = argv[1];
  auto const cases = read_cases(folder + "/cases_record.csv");
  auto const sweeps = read_sweeps(folder + "/model_record.csv", cases);
  DeviceFacts device = devices::h200;
  double* const parameters = &device.model.launch;
  std::set<std::size_t> fixed;
  for (int i = 2; i < argc; ++i) {
    std::string word = argv[i];
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (word.rfind(std::string(names[j]) + '=', 0) != 0) continue;
      if (word.back() == '!') fixed.insert(j), word.pop_back();
      parameters[j] = std::stod(word.substr(word.find('=') + 1));
    }
  }
  auto best = score(cases, sweeps, device);
  print(best);
  for (double step = 0.35; step > 0.01; step *= 0.75)
    for (std::size_t j = 0; j < names.size(); ++j)
      for (double const factor : {std::exp(step), std::exp(-step)}) {
        if (fixed.count(j) > 0) continue;
        double const before = parameters[j];
        parameters[j] *= factor;
        auto const next = score(cases, sweeps, device);
        if (next.value() < best.value() - 1e-7) {
          best = next;
          break;
        }
        parameters[j] = before;
      }
  for (std::size_t j = 0; j < names.size(); ++j) std::printf("%s=%.4g ", names[j], parameters[j]);
  std::printf("\n");
  print(best);
  return 0;
}
