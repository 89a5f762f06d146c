#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <blockspan/spmm/variants.hpp>

#include "apps/backends.hpp"
#include "apps/process.hpp"
#include "support/files.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {

using Json = nlohmann::json;

/// One run of blockspan-spmm with a report.
struct SpmmAppRun {
  Outcome outcome;
  Json report;  ///< null if none was written
};

/// Runs blockspan-spmm MATRIX ... --report and reads the report. Few batches: nothing here depends
/// on exact times.
inline SpmmAppRun run_spmm(std::vector<std::string> arguments) {
  TemporaryFolder const folder;
  std::string const path = folder / "report.json";
  arguments.insert(arguments.end(), {"--repeat", "3", "--report", path});
  SpmmAppRun run{run_app("blockspan-spmm", arguments), {}};
  if (std::filesystem::exists(path)) run.report = Json::parse(read_text(path));
  return run;
}

/// The ids of the menu.
inline std::vector<std::string> spmm_ids() {
  std::vector<std::string> ids;
  for (auto const& variant : spmm_variants) ids.emplace_back(variant.id);
  return ids;
}

}  // namespace blockspan::test
