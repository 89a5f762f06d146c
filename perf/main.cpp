// blockspan-perf: studies of Blockspan's products and solvers with those of others, every result
// checked. perf/README.md says how; perf/report.py makes pages of the results.
#include "common/run/application.hpp"
#include "suite/command.hpp"
#include "suite/compare.hpp"
#include "suite/runner.hpp"

namespace {

namespace apps = blockspan::apps;
namespace perf = blockspan::perf;

int run(perf::Command const& command) {
  using What = perf::Command::What;
  switch (command.what) {
    case What::list:
      perf::list_studies(command);
      return apps::success;
    case What::compare:
      return perf::compare(command.compared[0], command.compared[1]) ? apps::success
                                                                     : apps::incomplete;
    case What::run:
      break;
  }
  return perf::run_studies(command);
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_application("blockspan-perf", [&] {
    auto const command = perf::parse_command(argc, argv);
    return command ? run(*command) : apps::success;
  });
}
