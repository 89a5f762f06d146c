#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/backends.hpp"
#include "apps/process.hpp"
#include "apps/report_run.hpp"
#include "support/files.hpp"

namespace blockspan::test {

/// Runs blockspan-eig MATRIX ... --report and reads the report.
inline ReportRun run_eig(std::vector<std::string> const& arguments) {
  return run_with_report("blockspan-eig", arguments);
}

inline std::vector<double> numbers(Json const& list) {
  std::vector<double> values;
  for (Json const& value : list)
    values.push_back(value.is_null() ? std::nan("") : value.get<double>());
  return values;
}

}  // namespace blockspan::test
