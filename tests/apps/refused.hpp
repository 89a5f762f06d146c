#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/process.hpp"
#include "support/files.hpp"

namespace blockspan::test {

/// Expects that `app` answers with the one line "app: `message`", exit status 2, nothing on stdout
/// and no report.
inline void expect_refused(std::string const& app, std::vector<std::string> arguments,
                           std::string const& message) {
  TemporaryFolder const folder;
  std::string const report = folder / "report.json";
  if (std::find(arguments.begin(), arguments.end(), "--report") == arguments.end())
    arguments.insert(arguments.begin(), {"--report", report});
  Outcome const outcome = run_app(app, arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, app + ": " + message + "\n");
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "something was left behind";
}

}  // namespace blockspan::test
