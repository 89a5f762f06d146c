#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/backends.hpp"
#include "apps/process.hpp"
#include "support/files.hpp"

namespace blockspan::test {

using Json = nlohmann::json;

/// One run of blockspan-eig with a report.
struct EigRun {
  Outcome outcome;
  Json report;  ///< null if none was written
};

/// Runs blockspan-eig MATRIX ... --report and reads the report.
inline EigRun run_eig(std::vector<std::string> arguments) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  arguments.insert(arguments.end(), {"--report", path});
  EigRun run{run_app("blockspan-eig", arguments), {}};
  if (std::filesystem::exists(path)) run.report = Json::parse(read_text(path));
  return run;
}

inline std::vector<double> numbers(Json const& list) {
  std::vector<double> values;
  for (Json const& value : list)
    values.push_back(value.is_null() ? std::nan("") : value.get<double>());
  return values;
}

}  // namespace blockspan::test
