#pragma once

#include <optional>
#include <string>
#include <vector>

namespace blockspan::perf {

/// The command line of blockspan-perf-spmm.
struct SpmmSettings {
  std::string cases;                ///< file of the cases
  std::vector<std::string> groups;  ///< of these only; empty: all
  bool quick = false;  ///< few products of each kernel; on small cases if no others are named
  std::string out;     ///< file for the results; empty: none
  std::string commit;  ///< of Blockspan, for the record
  std::vector<std::string> specs;
};

/// Nothing where --help or --version was asked for and answered. Throws Error for wrong usage.
std::optional<SpmmSettings> parse_spmm_settings(int argc, char** argv);

}  // namespace blockspan::perf
