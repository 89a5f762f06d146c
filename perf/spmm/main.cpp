// blockspan-perf-spmm: Blockspan's products beside those of cuSPARSE and Kokkos Kernels, all of
// them checked, on the cases of cases.json. perf/README.md says how; report.py makes a page of it.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "blockspan-spmm/bandwidth.hpp"
#include "common/application.hpp"
#include "common/dispatch.hpp"
#include "spmm/cases.hpp"
#include "spmm/environment.hpp"
#include "spmm/measure.hpp"
#include "spmm/report.hpp"
#include "spmm/settings.hpp"

namespace {

namespace perf = blockspan::perf;
namespace apps = blockspan::apps;
using perf::Json;

Json header(perf::Bench const& bench, perf::SpmmSettings const& settings) {
  Json json{{"schema", "blockspan-perf-spmm/1"}};
  json.update(perf::describe_environment(bench.exec, settings.commit));
  json["clock"] = perf::stopwatch_method();
  json["quick"] = settings.quick;
  json["copy_gbytes"] = 1e-9 * bench.bytes_per_second;
  return json;
}

/// A case that fails is an entry of the results; the others go on.
perf::CaseResult run_case(perf::Bench& bench, perf::Case const& one) {
  perf::CaseResult result;
  try {
    std::string const source = perf::source_of(one);
    result = apps::with_scalar(one.scalar, [&](auto const& tag) {
      return perf::measure<std::decay_t<decltype(tag)>>(bench, source, one.columns);
    });
    result.source = source == one.spec ? source : one.file;
  } catch (std::exception const& error) {
    result.error = error.what();
  }
  return result;
}

int run(perf::SpmmSettings const& settings) {
  std::vector<perf::Case> const cases = perf::choose_cases(settings);
  apps::KokkosSession const kokkos;
  perf::Bench bench;
  bench.bytes_per_second = apps::measure_copy(bench.exec, settings.quick ? 2 : 10).bytes_per_second;
  bench.stopwatch = perf::make_stopwatch(bench.exec);
  if (settings.quick)
    bench.rules = {.warm_up_ms = 0, .budget_ms = 1, .least_batches = 1, .most_batches = 3};
  Json results = header(bench, settings);
  Json& entries = results["cases"] = Json::array();
  for (perf::Case const& one : cases) entries.push_back(perf::to_json(one, nullptr));
  if (!settings.out.empty()) perf::write_results(settings.out, results);
  bool all_right = true;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    perf::CaseResult const result = run_case(bench, cases[i]);
    std::fprintf(stderr, "[%zu/%zu] %s\n", i + 1, cases.size(),
                 perf::in_words(cases[i], result).c_str());
    entries[i] = perf::to_json(cases[i], &result);
    if (!settings.out.empty()) perf::write_results(settings.out, results);
    all_right = all_right && result.error.empty() && result.wrong() == 0;
  }
  return all_right ? apps::success : apps::incomplete;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_application("blockspan-perf-spmm", [&] {
    auto const settings = perf::parse_spmm_settings(argc, argv);
    return settings ? run(*settings) : apps::success;
  });
}
