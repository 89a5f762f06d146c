#pragma once

#include "blockspan-solve/command.hpp"
#include "blockspan-solve/result.hpp"
#include "common/files/output_file.hpp"
#include "common/ranks/ranks.hpp"
#include "common/run/progress.hpp"

namespace blockspan::apps {

/// Loads the problem, solves it, checks the residuals and writes the solution to `solution` on one
/// backend, on all ranks together; solution: null on others than rank 0, and where nothing is
/// written. The result is rank 0's to show. Throws Error for bad input, on all ranks. Compiled once
/// per backend and scalar.
template <class Scalar, class Exec>
SolveResult solve(Exec const& exec, SolveCommand const& command, ProgressLine& progress,
                  OutputFile* solution, Communicator const& ranks);

}  // namespace blockspan::apps
