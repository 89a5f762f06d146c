#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <blockspan/solvers/exact.hpp>
#include <blockspan/solvers/lobpcg_mixed.hpp>

#include "common/run/run_result.hpp"

namespace blockspan::apps {

/// Residuals computed by the app from A, M and the vectors with Blockspan's plan-free product,
/// whatever product the solver used.
struct ResidualCheck {
  std::vector<double> backward;  ///< ||r|| / ((||A|| + |lambda| ||M||) ||x||)
  std::vector<double> relative;  ///< ||r|| / (|lambda| ||M x||), infinite for lambda = 0
};

/// Everything that a run of blockspan-eig found: what the table and the report show.
struct EigResult : RunResult {
  std::int64_t mass_nonzeros = 0;
  int block = 0;
  LobpcgMixedReport<double> solver;
  ResidualCheck check;
  std::optional<ExactReport> exact;  ///< --near, --interval; its pairs are the solver's
  std::optional<EigenCount> count;   ///< --count
};

}  // namespace blockspan::apps
