#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/process.hpp"
#include "support/files.hpp"

namespace blockspan::test {

using Json = nlohmann::json;

/// One run of an app with a report.
struct ReportRun {
  Outcome outcome;
  Json report;  ///< null if none was written
};

/// Runs APP ... --report and reads the report.
inline ReportRun run_with_report(std::string const& app, std::vector<std::string> arguments) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  arguments.insert(arguments.end(), {"--report", path});
  ReportRun run{run_app(app, arguments), {}};
  if (std::filesystem::exists(path)) run.report = Json::parse(read_text(path));
  return run;
}

}  // namespace blockspan::test
