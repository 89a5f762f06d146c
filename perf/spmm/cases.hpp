#pragma once

#include <string>
#include <vector>

#include "common/json_document.hpp"
#include "spmm/settings.hpp"

namespace blockspan::perf {

using apps::Json;

/// One product to measure.
struct Case {
  std::string group;
  std::string spec;             ///< of a generator; empty where only the file will do
  std::string file;             ///< name of a real matrix; empty: none
  std::string scalar = "f64";   ///< f32, f64, c64, c128
  int columns = 1;              ///< of X and Y
  Json notes = Json::object();  ///< what the file of cases says besides: handed on to the results

  std::string name() const { return file.empty() ? spec : file; }
};

/// The cases that the command line asks for, in order. Throws Error where the file of the cases is
/// not as it should be or lacks a group.
std::vector<Case> choose_cases(SpmmSettings const& settings);

/// Where the matrix comes from: the file of that name in BLOCKSPAN_MATRIX_DIR, else the spec.
/// Throws Error where there is neither.
std::string source_of(Case const& one);

}  // namespace blockspan::perf
