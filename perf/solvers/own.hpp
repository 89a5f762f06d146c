#pragma once

#include <string>
#include <vector>

#include "solvers/problem.hpp"

namespace blockspan::perf {

/// One of Blockspan's ways to solve a problem.
struct OwnSolver {
  std::string id;      ///< "auto", "block", "lobpcg/kokkos-kernels"
  std::string family;  ///< blockspan; with other products: other-products
  std::string method;  ///< of linear systems: auto, pseudo-block, single-reduction, block
  std::string spmm;    ///< whose product: blockspan, kokkos-kernels, cusparse
  std::string preconditioner = "jacobi";  ///< as the apps' --preconditioner takes it
};

std::vector<OwnSolver> own_solvers(SolverProblem const& problem);

/// Solves: once to warm up, once with a fence after each phase for the phases, then `solves` times
/// at least, up to 20 within half a second. bytes_per_second: of a copy, for the floor of an
/// iteration. Fills in problem.norm_a. Throws Error where the product or solver refuses.
Answer solve_by_own(SolverProblem& problem, OwnSolver const& solver, int solves,
                    double bytes_per_second);

}  // namespace blockspan::perf
