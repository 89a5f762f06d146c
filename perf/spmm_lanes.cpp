// The sweep behind the numbers of the lanes (src/blockspan/spmm/detail/tuning.hpp): a product's
// time with each grid of vector lanes, each partition and one or two packs a lane, beside the
// plan's own choice. On hosts lanes do nothing, and all times of a partition are alike.
//
//   blockspan-perf-spmm-lanes [--quick] [--out FILE.json] [SPEC ...]
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "settings.hpp"
#include "timing.hpp"

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Scalar = double;
using Block = blockspan::Block<Scalar, Exec>;
using Matrix = blockspan::CrsMatrix<Scalar, Exec>;
using blockspan::SpmmLanes;

/// Every grid that has no more lanes over the columns than there are columns.
std::vector<SpmmLanes> grids(int columns, bool quick) {
  std::vector<SpmmLanes> result;
  int const most = quick ? 2 : 32;
  for (int across = 1; across <= most && across < 2 * columns; across *= 2)
    for (int entries = 1; across * entries <= most; entries *= 2)
      for (int packs = 1; packs <= (entries == 1 ? 2 : 1); ++packs)
        result.push_back({across, entries, packs});
  return result;
}

std::string name_of(std::string const& algorithm, SpmmLanes const& lanes) {
  return algorithm + ", lanes " + std::to_string(lanes.columns) + " x " +
         std::to_string(lanes.entries) + ", packs " + std::to_string(lanes.packs);
}

struct Timed {
  std::string name;
  double milliseconds;
};

Timed time_plan(Exec const& exec, Matrix const& A, Block const& X, Block const& Y, bool quick,
                std::string const& name, blockspan::SpmmPlanOptions const& options) {
  blockspan::SpmmPlan const plan(exec, A, options);
  return {name, blockspan::perf::median_milliseconds(exec, quick, [&] {
            spmm(exec, plan, blockspan::Op::none, 1.0, A, X, 0.0, Y);
          })};
}

nlohmann::json measure(Exec const& exec, Matrix const& A, std::string const& spec, int columns,
                       bool quick) {
  auto const n = static_cast<std::size_t>(columns);
  Block const X("X", static_cast<std::size_t>(A.numCols()), n);
  Block const Y("Y", static_cast<std::size_t>(A.numRows()), n);
  blockspan::fill_random(exec, X, 1);
  Timed const own = time_plan(exec, A, X, Y, quick, "plan", {.columns = columns});
  std::vector<Timed> all;
  // whole rows would hold a warp up for the longest of them
  bool const even = blockspan::SpmmPlan(exec, A).statistics().longest <= 4096;
  for (std::string const algorithm : {"auto", "segments_sorted", "nonempty_rows", "warp_per_row"})
    if (even || algorithm != "warp_per_row")
      for (SpmmLanes const& lanes : grids(columns, quick))
        all.push_back(time_plan(exec, A, X, Y, quick, name_of(algorithm, lanes),
                                {.columns = columns, .algorithm = algorithm, .lanes = lanes}));
  std::sort(all.begin(), all.end(),
            [](Timed const& a, Timed const& b) { return a.milliseconds < b.milliseconds; });
  std::printf("%-14s n = %-3d plan %9.4f ms, %5.2f times the best: %9.4f ms with %s\n",
              spec.c_str(), columns, own.milliseconds, own.milliseconds / all.front().milliseconds,
              all.front().milliseconds, all.front().name.c_str());
  std::fflush(stdout);
  nlohmann::json times = nlohmann::json::object();
  for (Timed const& one : all) times[one.name] = one.milliseconds;
  return {{"matrix", spec}, {"columns", columns}, {"plan", own.milliseconds}, {"grids", times}};
}

void run(int argc, char** argv) {
  auto const settings = blockspan::perf::parse_settings("blockspan-perf-spmm-lanes", argc, argv);
  Exec const exec;
  nlohmann::json cases = nlohmann::json::array();
  for (auto const& spec : settings.specs) {
    auto const A = blockspan::generate<Scalar>(exec, spec);
    for (int const columns :
         settings.quick ? std::vector{1, 8} : std::vector{1, 2, 3, 4, 8, 12, 16, 32, 64})
      cases.push_back(measure(exec, A, spec, columns, settings.quick));
  }
  if (settings.out.empty()) return;
  std::ofstream(settings.out) << nlohmann::json{{"schema", "blockspan-spmm-lanes/1"},
                                                {"backend", Exec::name()},
                                                {"cases", cases}}
                                     .dump(1)
                              << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
  int result = 0;
  try {
    run(argc, argv);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    result = 2;
  }
  Kokkos::finalize();
  return result;
}
