#pragma once

#include "blockspan-eig/command.hpp"
#include "blockspan-eig/result.hpp"
#include "common/output_file.hpp"
#include "common/progress.hpp"

namespace blockspan::apps {

/// Loads the problem, solves it, checks the residuals and writes the eigenvectors to `vectors`
/// (if not null) on one backend. Throws Error for bad input. Compiled once per backend and scalar.
template <class Scalar, class Exec>
EigResult solve(Exec const& exec, EigCommand const& command, ProgressLine& progress,
                OutputFile* vectors);

}  // namespace blockspan::apps
