#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>

#include "common/machine/dispatch.hpp"
#include "common/ranks/ranks.hpp"

namespace blockspan::apps {

/// Wall-clock seconds outside the solver, which keeps its own.
struct SolveSeconds {
  double load = 0, setup = 0, check = 0, output = 0, total = 0;
};

/// Everything that a run of blockspan-solve found: what the table and the report show.
struct SolveResult {
  Device device;
  RanksReport ranks;  ///< where several took part
  std::string scalar;
  std::int64_t rows = 0, nonzeros = 0;
  int columns = 0;
  std::string product;         ///< who multiplied: the kernel's label, or a peer's name
  std::string product_reason;  ///< why the plan chose it; empty for a peer
  std::string preconditioner;  ///< its name; empty: none
  std::optional<MultigridReport> levels;
  CgReport<double> solver;
  /// ||b - A x|| / ||b|| from A, B and X in twice the precision, whatever product the solver used;
  /// 0 where b = 0 and x = 0.
  std::vector<double> true_residuals;
  std::vector<double> rhs_norms;  ///< ||b||
  std::vector<Status> status;     ///< per column; what the check contradicts is not converged
  int exponent = 0;               ///< the matrix was scaled by 2^exponent for the solve
  bool converged = false;         ///< the solver says so and the check confirms it
  std::vector<std::string> notes;
  std::vector<std::string> lost;  ///< outputs that could not be written, and why
  SolveSeconds seconds;
};

}  // namespace blockspan::apps
