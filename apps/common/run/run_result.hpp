#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/solvers/status.hpp>

#include "common/machine/dispatch.hpp"
#include "common/ranks/ranks.hpp"

namespace blockspan::apps {

/// Wall-clock seconds outside the solver, which keeps its own.
struct RunSeconds {
  double load = 0, setup = 0, check = 0, output = 0, total = 0;
};

/// What the results of the programs that solve have in common.
struct RunResult {
  Device device;
  RanksReport ranks;  ///< where several took part
  std::string scalar;
  std::int64_t rows = 0, nonzeros = 0;
  std::string product;         ///< who multiplied: the kernel's label, or a peer's name
  std::string product_reason;  ///< why the plan chose it; empty for a peer
  std::string preconditioner;  ///< its name; empty: none
  std::optional<MultigridReport> levels;
  std::vector<Status> status;  ///< per pair or column; what the check contradicts is not converged
  bool converged = false;      ///< the solver says so and the check confirms it
  std::vector<std::string> notes;
  std::vector<std::string> lost;  ///< outputs that could not be written, and why
  RunSeconds seconds;
};

}  // namespace blockspan::apps
