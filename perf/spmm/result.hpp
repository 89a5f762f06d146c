#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "blockspan-spmm/result.hpp"
#include "common/files/json_document.hpp"
#include "peers/contender.hpp"
#include "spmm/stopwatch.hpp"

namespace blockspan::perf {

/// One kernel on one case.
struct KernelResult {
  std::string id, family;  ///< as Contender's
  Order order = Order::row;
  bool whole_rows = false;
  std::string ran;                            ///< Blockspan's: the kernel that multiplied
  std::string refused;                        ///< why it could not serve the case; empty: it could
  double setup_ms = 0;                        ///< before the first product
  apps::Verdict verdict;                      ///< if not refused
  std::optional<Times> times;                 ///< if right
  std::string unconverged;                    ///< (solvers) why the result does not count
  apps::Json solver = apps::Json::object();   ///< (solvers) what else there is to say
  apps::Json profile = apps::Json::object();  ///< (profiles) what was counted; no time

  bool wrong() const {
    return refused.empty() && unconverged.empty() && profile.empty() && !verdict.right;
  }
};

/// One case, as far as it came.
struct CaseResult {
  std::string source;   ///< the spec or the name of the file that was read
  std::string error;    ///< why the case as a whole failed; empty: it did not
  std::string refused;  ///< why it cannot be made on this machine; empty: it can
  std::int64_t rows = 0, columns = 0, nonzeros = 0;  ///< of the matrix
  std::int64_t longest = 0, empty_rows = 0;          ///< rows
  double mean = 0, imbalance = 1;                    ///< of the lengths of the rows
  double floor_bytes = 0, floor_ms = 0;              ///< compulsory traffic, and its time
  double gather_bytes = 0, gather_ms = 0;            ///< a row of X for each nonzero, and its time
  std::int64_t checked_rows = 0;
  apps::Json levels = {};  ///< (hierarchies) the report of multigrid
  std::vector<KernelResult> kernels;

  /// The right and fastest kernel of a family, or null; of blockspan without its own choices.
  KernelResult const* best(std::string const& family) const;
  /// The kernel with this id, or null.
  KernelResult const* find(std::string const& id) const;
  int wrong() const;
};

}  // namespace blockspan::perf
