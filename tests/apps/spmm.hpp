#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <blockspan/spmm/variants.hpp>

#include "apps/backends.hpp"
#include "apps/process.hpp"
#include "apps/report_run.hpp"
#include "support/files.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {

/// Runs blockspan-spmm MATRIX ... --report and reads the report. Few batches: nothing here depends
/// on exact times.
inline ReportRun run_spmm(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--repeat", "3"});
  return run_with_report("blockspan-spmm", arguments);
}

/// The ids of the menu.
inline std::vector<std::string> spmm_ids() {
  std::vector<std::string> ids;
  for (auto const* const variant : spmm_variants()) ids.emplace_back(variant->id);
  return ids;
}

}  // namespace blockspan::test
