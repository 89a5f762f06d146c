#pragma once

#include <vector>

#include <blockspan/solvers/conjugate_gradient.hpp>

#include "common/run/run_result.hpp"

namespace blockspan::apps {

/// Everything that a run of blockspan-solve found: what the table and the report show.
struct SolveResult : RunResult {
  int columns = 0;
  CgReport<double> solver;
  /// ||b - A x|| / ||b|| from A, B and X in twice the precision, whatever product the solver used;
  /// 0 where b = 0 and x = 0.
  std::vector<double> true_residuals;
  std::vector<double> rhs_norms;  ///< ||b||
  int exponent = 0;               ///< the matrix was scaled by 2^exponent for the solve
};

}  // namespace blockspan::apps
