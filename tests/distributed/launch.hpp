#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/process.hpp"
#include <gmock/gmock.h>

namespace blockspan::test {

/// mpirun -n ranks words, by the launcher that CMake has found; ended after a hundred seconds. Open
/// MPI's does not wait, seconds as a rule, for the end of ranks whose status is not zero.
inline Outcome run_on_ranks(int ranks, std::vector<std::string> const& words) {
  std::vector<std::string> all = {"OMPI_MCA_odls_base_sigkill_timeout=0", "timeout", "100"};
  std::istringstream launcher(BLOCKSPAN_MPIRUN);
  for (std::string word; std::getline(launcher, word, '|');) all.push_back(word);
  all.push_back(std::to_string(ranks));
  all.insert(all.end(), words.begin(), words.end());
  return run_program("/usr/bin/env", all);
}

inline Outcome run_on_ranks(int ranks, std::string const& app,
                            std::vector<std::string> const& arguments) {
  std::vector<std::string> all = {app_path(app).string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_on_ranks(ranks, all);
}

/// The words that start one rank more beside those before.
inline std::vector<std::string> and_one(std::string const& app,
                                        std::vector<std::string> const& arguments) {
  std::string const launcher = BLOCKSPAN_MPIRUN;
  std::vector<std::string> words{":", launcher.substr(launcher.rfind('|') + 1), "1",
                                 app_path(app).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

/// Exit status 2, and one line of the program on stderr (a launcher may say more).
inline void expect_refused_on_ranks(std::string const& app,
                                    std::vector<std::string> const& arguments,
                                    std::string const& line) {
  auto const outcome = run_on_ranks(2, app, arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  std::istringstream err(outcome.err);
  int lines = 0;
  for (std::string each; std::getline(err, each);)
    if (each.rfind(app + ":", 0) == 0) {
      ++lines;
      EXPECT_THAT(each, ::testing::HasSubstr(line));
    }
  EXPECT_EQ(lines, 1) << outcome.err;
}

}  // namespace blockspan::test
