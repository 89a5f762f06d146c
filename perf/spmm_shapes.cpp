// The sweep behind the model of the plan (src/blockspan/spmm/devices/hopper_plan.hpp): a product's
// time with each grid of vector lanes, one or two vectors a lane, whole rows and each length of
// segments, and the plan's own choice. On hosts lanes do nothing, and all grids are the same.
//
//   blockspan-perf-spmm-shapes [--quick] [--out FILE.csv] [--scalar f64] [--columns 8,32]
//                              [MATRIX ...]
//   blockspan-perf-spmm-shapes --facts --out FILE.csv MATRIX ...
//
// The file has a line for each case and one for each product of it:
//   case,MATRIX,columns,scalar bytes,rows,columns of A,nonzeros,longest,empty,group_work
//   VARIANT,segment (0: whole rows),lanes over columns,over nonzeros,vectors a lane,microseconds
// or, of facts, one for each matrix: what tests/spmm/recorded.hpp says (perf/cases_record.py).
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/spmm/devices/hopper_plan.hpp>
#include <blockspan/spmm/layouts/row_groups.hpp>
#include <blockspan/spmm/layouts/row_windows.hpp>
#include <blockspan/spmm/layouts/summary.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/spmm.hpp>

#include "common/machine/dispatch.hpp"
#include "common/problem/problem.hpp"
#include "common/run/application.hpp"
#include "common/run/command_line.hpp"
#include "spmm/stopwatch.hpp"

namespace {

using blockspan::SpmmLanes;
using blockspan::SpmmPlanOptions;
using blockspan::perf::Exec;

struct Settings {
  bool quick = false, facts = false;
  std::string out, scalar = "f64";
  std::vector<int> columns;
  std::vector<std::string> sources;
};

std::optional<Settings> parse(int argc, char** argv) {
  Settings settings;
  CLI::App app;
  blockspan::apps::set_up(app, "blockspan-perf-spmm-shapes",
                          "Times products with every grid of lanes and length of segments.");
  app.add_option("MATRIX", settings.sources, "Matrix Market files or generator specs");
  app.add_flag("--quick", settings.quick, "Small matrices, few products: to see that it works");
  app.add_flag("--facts", settings.facts, "No times: what plans know of the matrices");
  app.add_option("--out", settings.out, "File of the times, CSV");
  app.add_option("--scalar", settings.scalar)->check(CLI::IsMember({"f32", "f64"}));
  app.add_option("--columns", settings.columns, "Widths")->delimiter(',');
  if (!blockspan::apps::parse(app, argc, argv)) return std::nullopt;
  bool const quick = settings.quick;
  if (settings.columns.empty())
    settings.columns = quick ? std::vector{1, 8} : std::vector{1, 2, 4, 8, 16, 32, 64};
  if (settings.sources.empty())
    settings.sources = quick ? std::vector<std::string>{"laplace7:12", "rmat:8:8"}
                             : std::vector<std::string>{"laplace7:128", "elasticity:44",
                                                        "rmat:14:16", "rmat:20:16"};
  return settings;
}

/// Grids with at least a quarter of the lanes that a row of `vectors` vectors wants.
std::vector<SpmmLanes> grids(int vectors) {
  int full = 1;
  while (full < vectors && full < 32) full *= 2;
  std::vector<SpmmLanes> result;
  for (int across = full; across >= std::max(1, full / 4); across /= 2) {
    for (int entries = 1; across * entries <= 32; entries *= 2)
      result.push_back({across, entries, 1});
    if (vectors > 1) result.push_back({across, 1, 2});
  }
  return result;
}

template <class Scalar>
class Sweep {
 public:
  Sweep(Exec const& exec, std::string const& source, int columns, bool quick)
      : exec_(exec),
        source_(source),
        columns_(columns),
        A_(blockspan::apps::load_matrix<Scalar>(exec, source)),
        X_("X", static_cast<std::size_t>(A_.numCols()), static_cast<std::size_t>(columns)),
        Y_("Y", static_cast<std::size_t>(A_.numRows()), static_cast<std::size_t>(columns)),
        stopwatch_(blockspan::perf::make_stopwatch(exec)) {
    blockspan::fill_random(exec, X_, 1);
    rules_ = {.warm_up_ms = 0.1, .budget_ms = 2, .least_batches = 7, .most_batches = 7};
    if (quick) rules_ = {.warm_up_ms = 0, .budget_ms = 1, .least_batches = 1, .most_batches = 1};
  }

  /// Its lines of the file.
  std::string run() {
    auto const rows = blockspan::SpmmPlan(exec_, A_).statistics();
    std::ostringstream lines;
    lines << "case," << source_ << ',' << columns_ << ',' << sizeof(Scalar) << ',' << rows.rows
          << ',' << rows.columns << ',' << rows.nonzeros << ',' << rows.longest << ','
          << rows.empty_rows << ',' << rows.group_work << '\n';
    bool const fit = columns_ * sizeof(Scalar) % 16 == 0;
    int const vectors = fit ? columns_ * int{sizeof(Scalar)} / 16 : columns_;
    double const plan = time(lines, {.columns = columns_});
    bool const has_pairs = blockspan::products::lanes_exchange_v<Exec>;
    for (SpmmLanes const& lanes : grids(vectors)) {
      if (columns_ == 1 && rows.longest <= longest_row && has_pairs)
        for (char const* const id : {"row_pairs", "adaptive", "groups"})
          time(lines, {.algorithm = id, .lanes = lanes});
      if (rows.longest <= longest_row)
        for (char const* const id : {fit ? "rows" : "single_columns", "clusters"})
          time(lines, {.algorithm = id, .lanes = lanes});
      for (std::int64_t const segment : blockspan::products::tuning::device_segment_lengths) {
        // lengths that leave too few segments, or too many
        if (segment > 64 && rows.nonzeros < 512 * segment) continue;
        if (rows.nonzeros > 65536 * segment && segment < 128) continue;
        for (char const* const id : {"segments", "segments_sorted"})
          time(lines, {.algorithm = id, .segment_length = segment, .lanes = lanes});
      }
    }
    std::printf("%-24s n = %-3d plan %9.2f us, %5.2f times the best: %s\n", source_.c_str(),
                columns_, plan, plan / least_, best_.c_str());
    std::fflush(stdout);
    return lines.str();
  }

 private:
  static constexpr std::int64_t longest_row = 16384;  ///< that a thread is asked to walk

  double time(std::ostream& lines, SpmmPlanOptions options) {
    options.columns = columns_;
    blockspan::SpmmPlan const plan(exec_, A_, options);
    auto const product = [&] {
      spmm(exec_, plan, blockspan::Op::none, Scalar(1), A_, X_, Scalar(0), Y_);
    };
    product();
    auto const [batches, products] = blockspan::perf::time_product(*stopwatch_, product, rules_);
    double const us = 1e3 * blockspan::perf::summarize(batches, products).median;
    std::ostringstream line;
    line << options.algorithm << ',' << options.segment_length << ',' << options.lanes.columns
         << ',' << options.lanes.entries << ',' << options.lanes.vectors;
    lines << line.str() << ',' << us << '\n';
    if (us < least_) least_ = us, best_ = line.str();
    return us;
  }

  Exec exec_;
  std::string source_;
  int columns_;
  blockspan::CrsMatrix<Scalar, Exec> A_;
  blockspan::Block<Scalar, Exec> X_, Y_;
  std::unique_ptr<blockspan::perf::Stopwatch> stopwatch_;
  blockspan::perf::TimingRules rules_;
  double least_ = INFINITY;
  std::string best_;
};

std::string facts_of(Exec const& exec, std::string const& source) {
  using namespace blockspan::products;
  auto const A = blockspan::apps::load_matrix<double>(exec, source);
  auto const pattern = pattern_ref<Exec>(A);
  auto const [rows, fingerprint, sorted, half_bandwidth, candidates] = summarize(exec, pattern);
  auto const groups = find_row_groups(exec, pattern, 0).count;
  auto const windows = estimate_row_windows(exec, pattern);
  std::ostringstream line;
  line << source;
  for (std::int64_t const fact :
       {rows.rows, rows.columns, rows.nonzeros, rows.empty_rows, rows.shortest, rows.longest,
        rows.group_work, rows.diagonal_groups, half_bandwidth, groups.groups, groups.fetches,
        windows.windows, windows.tiles})
    line << ',' << fact;
  return line.str() + '\n';
}

int run(Settings const& settings) {
  blockspan::apps::KokkosSession const kokkos;
  Exec const exec;
  std::ofstream file(settings.out);
  auto const require_written = [&] {
    blockspan::require(settings.out.empty() || file.good(), "--out " + settings.out,
                       "cannot be written");
  };
  require_written();
  for (std::string const& source : settings.sources) {
    if (settings.facts) file << facts_of(exec, source);
    for (int const columns : settings.facts ? std::vector<int>{} : settings.columns)
      file << blockspan::apps::with_scalar(settings.scalar, [&](auto const& tag) {
        using Scalar = std::decay_t<decltype(tag)>;
        return Sweep<Scalar>(exec, source, columns, settings.quick).run();
      });
  }
  file.flush();
  require_written();
  return blockspan::apps::success;
}

}  // namespace

int main(int argc, char** argv) {
  return blockspan::apps::run_application("blockspan-perf-spmm-shapes", [&] {
    auto const settings = parse(argc, argv);
    return settings ? run(*settings) : blockspan::apps::success;
  });
}
