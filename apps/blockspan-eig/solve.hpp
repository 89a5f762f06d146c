#pragma once

#include "blockspan-eig/command.hpp"
#include "blockspan-eig/result.hpp"
#include "common/output_file.hpp"
#include "common/progress.hpp"
#include "common/ranks.hpp"

namespace blockspan::apps {

/// Loads the problem, solves it, checks the residuals and writes the eigenvectors to `vectors`
/// (if not null) on one backend. Throws Error for bad input. Compiled once per backend and scalar.
template <class Scalar, class Exec>
EigResult solve(Exec const& exec, EigCommand const& command, ProgressLine& progress,
                OutputFile* vectors);

/// The same by several ranks together; on others than rank 0 without a file. Throws Error on all.
template <class Scalar, class Exec>
EigResult solve_on_ranks(Exec const& exec, EigCommand const& command, ProgressLine& progress,
                         OutputFile* vectors, Communicator const& ranks);

}  // namespace blockspan::apps
