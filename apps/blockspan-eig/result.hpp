#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/solvers/lobpcg_mixed.hpp>

#include "common/machine/dispatch.hpp"
#include "common/ranks/ranks.hpp"

namespace blockspan::apps {

/// Residuals computed by the app from A, M and the vectors with Blockspan's plan-free product,
/// whatever product the solver used.
struct ResidualCheck {
  std::vector<double> backward;  ///< ||r|| / ((||A|| + |lambda| ||M||) ||x||)
  std::vector<double> relative;  ///< ||r|| / (|lambda| ||M x||), infinite for lambda = 0
};

/// Wall-clock seconds outside the solver, which keeps its own.
struct EigSeconds {
  double load = 0, setup = 0, check = 0, output = 0, total = 0;
};

/// Everything that a run of blockspan-eig found: what the table and the report show.
struct EigResult {
  Device device;
  RanksReport ranks;  ///< where several took part
  std::string scalar;
  std::int64_t rows = 0, nonzeros = 0, mass_nonzeros = 0;
  int block = 0;
  std::string product;         ///< who multiplied: the kernel's label, or a peer's name
  std::string product_reason;  ///< why the plan chose it; empty for a peer
  std::string preconditioner;  ///< its name; empty: none
  std::optional<MultigridReport> levels;
  LobpcgMixedReport<double> solver;
  ResidualCheck check;
  std::vector<Status> status;  ///< per pair; what the check contradicts is not converged
  bool converged = false;      ///< the solver says so and the check confirms it
  std::vector<std::string> notes;
  std::vector<std::string> lost;  ///< outputs that could not be written, and why
  EigSeconds seconds;
};

}  // namespace blockspan::apps
