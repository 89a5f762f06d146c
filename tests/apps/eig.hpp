#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/process.hpp"
#include "support/files.hpp"
#include "support/types.hpp"

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

namespace detail {
template <class... Execs>
std::vector<std::string> backend_names(::testing::Types<Execs...>) {
  std::vector<std::string> names{Execs::name()...};
  for (std::string& name : names)
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return names;
}
}  // namespace detail

/// The backends of this build as the command line calls them.
inline std::vector<std::string> backends() { return detail::backend_names(Backends()); }

inline bool has_cuda() {
  auto const names = backends();
  return std::find(names.begin(), names.end(), "cuda") != names.end();
}

/// Names parameterized tests after a backend.
inline std::string backend_test_name(::testing::TestParamInfo<std::string> const& info) {
  return info.param;
}

}  // namespace blockspan::test
