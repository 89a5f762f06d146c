#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/study.hpp"

namespace blockspan::perf {

/// The command line of blockspan-perf.
struct Command {
  enum class What { run, list, compare };
  What what = What::run;
  std::vector<std::string> studies;  ///< names; empty: all, unless specs are given
  std::vector<std::string> specs;    ///< of matrices to measure
  Scope scope;
  std::string backend = "auto";
  std::string out = "perf-results";   ///< folder of the results
  std::string commit;                 ///< of Blockspan, for the record
  std::string python = "python3";     ///< for peers and Nsight Compute
  std::string scripts;                ///< folder of the peers' scripts
  double peer_seconds = 900;          ///< that a peer of the solvers may take
  bool flush = false;                 ///< cold caches
  bool fresh = false;                 ///< drop what an earlier run left
  int at_most = -1;                   ///< cases in this run; negative: all
  std::string fault;                  ///< id of the contender whose results are spoilt
  std::vector<std::string> compared;  ///< two files or folders
};

/// Nothing where --help or --version was asked for and answered. Throws Error for wrong usage.
std::optional<Command> parse_command(int argc, char** argv);

}  // namespace blockspan::perf
