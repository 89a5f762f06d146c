#pragma once

#include "blockspan-solve/command.hpp"
#include "blockspan-solve/result.hpp"
#include "common/output_file.hpp"
#include "common/progress.hpp"
#include "common/ranks.hpp"

namespace blockspan::apps {

/// Loads the problem, solves it, checks the residuals and writes the solution to `solution` (if not
/// null) on one backend. Throws Error for bad input. Compiled once per backend and scalar.
template <class Scalar, class Exec>
SolveResult solve(Exec const& exec, SolveCommand const& command, ProgressLine& progress,
                  OutputFile* solution);

/// The same by several ranks together; on others than rank 0 without a file. Throws Error on all.
template <class Scalar, class Exec>
SolveResult solve_on_ranks(Exec const& exec, SolveCommand const& command, ProgressLine& progress,
                           OutputFile* solution, Communicator const& ranks);

}  // namespace blockspan::apps
