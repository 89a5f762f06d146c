#include "blockspan-spmm/ranks_result.hpp"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>

#include "common/files/report_parts.hpp"
#include "common/files/words.hpp"

namespace blockspan::apps {

double RanksRun::hidden() const {
  if (!(exchange_ms > 0)) return 0;
  return std::clamp((local_ms + exchange_ms - product_ms) / exchange_ms, 0.0, 1.0);
}

int RanksResult::wrong() const {
  return static_cast<int>(std::count_if(runs.begin(), runs.end(),
                                        [](RanksRun const& run) { return !run.verdict.right; }));
}

void print_result(std::ostream& out, SpmmCommand const& command, RanksResult const& result) {
  auto const& problem = result.problem;
  out << "matrix   " << command.matrix << "  (" << grouped(problem.rows) << " x "
      << grouped(problem.columns) << ", " << grouped(problem.nonzeros) << " nonzeros, "
      << problem.scalar << ")\n"
      << "product  Y = A X, X random, " << (command.layout == "left" ? "column-major" : "row-major")
      << "\n"
      << "where    " << in_words(result.device) << ", on each rank\n"
      << "ranks    " << result.ranks.in_words() << " and column\n"
      << "times    of the slowest rank: the product, its work without the exchange, the exchange "
         "alone,\n         and the part of the exchange that the work hides\n\n"
      << "  columns          ms     local  exchange    hidden   GFLOP/s     error  bits\n";
  for (RanksRun const& run : result.runs) {
    out << formatted("%9.0f", run.columns) << formatted("%12.4f", run.product_ms)
        << formatted("%10.4f", run.local_ms) << formatted("%10.4f", run.exchange_ms)
        << formatted("%8.0f %%", 100 * run.hidden())
        << formatted("%10.2f", problem.flops(run.columns) / run.product_ms * 1e-6)
        << formatted("%10.1e", run.verdict.error)
        << (run.verdict.deterministic ? "  equal" : "  vary")
        << (run.verdict.right ? "" : "  WRONG") << "\n";
    std::istringstream lines(command.explain ? run.interior : "");
    for (std::string line; std::getline(lines, line);) out << "      " << line << "\n";
  }
  out << "\n"
      << (result.wrong() > 0 ? "WRONG: " + std::to_string(result.wrong()) + " of " : "All ")
      << result.runs.size() << " results" << (result.wrong() > 0 ? "" : " right") << "\n"
      << std::flush;
}

std::string report_text(SpmmCommand const& command, RanksResult const& result) {
  Json runs = Json::array();
  for (RanksRun const& run : result.runs)
    runs.push_back(
        {{"columns", run.columns},
         {"interior", run.interior},
         {"ms",
          {{"product", run.product_ms}, {"local", run.local_ms}, {"exchange", run.exchange_ms}}},
         {"hidden", run.hidden()},
         {"batches", run.batches},
         {"launches", run.launches},
         {"gflops", result.problem.flops(run.columns) / run.product_ms * 1e-6},
         {"checked", run.checked},
         {"right", run.verdict.right},
         {"deterministic", run.verdict.deterministic},
         {"error", run.verdict.error},
         {"error_bound", run.verdict.error_bound},
         {"not_a_number", run.verdict.not_a_number}});
  auto const& problem = result.problem;
  return to_text({{"schema", "blockspan-spmm-ranks/1"},
                  {"versions", to_json(versions())},
                  {"problem",
                   {{"source", command.matrix},
                    {"scalar", problem.scalar},
                    {"rows", problem.rows},
                    {"columns", problem.columns},
                    {"nonzeros", problem.nonzeros}}},
                  {"backend", result.device.backend},
                  {"device", to_json(result.device)},
                  {"ranks", to_json(result.ranks)},
                  {"options",
                   {{"columns", command.columns},
                    {"layout", command.layout},
                    {"algorithm", command.algorithm},
                    {"repeat", command.repeat},
                    {"seed", command.seed}}},
                  {"right", result.wrong() == 0},
                  {"runs", runs}});
}

}  // namespace blockspan::apps
