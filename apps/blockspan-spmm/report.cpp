#include "blockspan-spmm/report.hpp"

#include "common/files/report_parts.hpp"

namespace blockspan::apps {

namespace {

Json problem(SpmmCommand const& command, SpmmProblem const& problem) {
  return {{"source", command.matrix},   {"scalar", problem.scalar},     {"rows", problem.rows},
          {"columns", problem.columns}, {"nonzeros", problem.nonzeros}, {"op", command.op}};
}

Json options(SpmmCommand const& command, SpmmResult const& result) {
  return {{"columns", command.columns},     {"scalar", result.problem.scalar},
          {"layout", command.layout},       {"op", command.op},
          {"algorithm", command.algorithm}, {"compare", command.compare},
          {"repeat", command.repeat},       {"seed", command.seed},
          {"backend", command.backend}};
}

Json bandwidth(CopyBandwidth const& copy) {
  return {{"gbytes", 1e-9 * copy.bytes_per_second},
          {"array_bytes", copy.array_bytes},
          {"batches", copy.batches},
          {"method",
           "a Kokkos kernel copies an array of doubles; bytes read and written together, "
           "fastest batch"}};
}

Json checked(SpmmResult const& result) {
  Json list = Json::array();
  for (CheckedRows const& width : result.checked)
    list.push_back({{"columns", width.columns},
                    {"bytes", result.problem.bytes(width.columns)},
                    {"flops", result.problem.flops(width.columns)},
                    {"rows", width.rows},
                    {"all_rows", width.all_rows}});
  return list;
}

void add_verdict(Json& run, Verdict const& verdict) {
  run["right"] = verdict.right;
  run["deterministic"] = verdict.deterministic;
  run["error"] = verdict.error;
  run["error_bound"] = verdict.error_bound;
  run["worst"] = {{"row", verdict.row}, {"column", verdict.column}};
  run["not_a_number"] = verdict.not_a_number;
}

void add_times(Json& run, SpmmResult const& result, SpmmRun const& of) {
  Timing const& times = *of.times;
  run["ms"] = {{"median", times.median_ms}, {"min", times.min_ms}, {"max", times.max_ms}};
  run["repeats"] = times.batches;
  run["launches"] = times.launches;
  run["gflops"] = result.gflops(of);
  run["gbytes"] = result.gbytes(of);
  run["share_of_floor"] = result.share_of_floor(of);
}

Json run_members(SpmmResult const& result, SpmmRun const& of) {
  Json run;
  for (char const* key :
       {"columns", "requested", "ran", "refused", "right", "deterministic", "error", "error_bound",
        "worst", "not_a_number", "setup_ms", "first_ms", "ms", "repeats", "launches", "gflops",
        "gbytes", "share_of_floor", "explain"})
    run[key] = nullptr;
  run["columns"] = of.columns;
  run["requested"] = of.requested;
  if (!of.refused.empty()) {
    run["refused"] = of.refused;
    return run;
  }
  run["ran"] = of.ran;
  add_verdict(run, of.verdict);
  run["setup_ms"] = of.setup_ms;
  run["first_ms"] = of.first_ms;
  if (of.times) add_times(run, result, of);
  run["explain"] = of.explanation;
  return run;
}

}  // namespace

std::string report_text(SpmmCommand const& command, SpmmResult const& result) {
  Json runs = Json::array();
  for (SpmmRun const& run : result.runs) runs.push_back(run_members(result, run));
  return to_text({{"schema", "blockspan-spmm/1"},
                  {"versions", to_json(versions())},
                  {"problem", problem(command, result.problem)},
                  {"backend", result.device.backend},
                  {"device", to_json(result.device)},
                  {"options", options(command, result)},
                  {"bandwidth", bandwidth(result.copy)},
                  {"checked", checked(result)},
                  {"right", result.wrong() == 0},
                  {"runs", runs}});
}

}  // namespace blockspan::apps
