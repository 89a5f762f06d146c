#pragma once

#include "blockspan-eig/command.hpp"
#include "blockspan-eig/result.hpp"
#include "common/files/output_file.hpp"
#include "common/ranks/ranks.hpp"
#include "common/run/progress.hpp"

namespace blockspan::apps {

/// Loads the problem, solves it, checks the residuals and writes the eigenvectors to `vectors` on
/// one backend, on all ranks together; vectors: null on others than rank 0, and where nothing is
/// written. The result is rank 0's to show. Throws Error for bad input, on all ranks. Compiled once
/// per backend and scalar.
template <class Scalar, class Exec>
EigResult solve(Exec const& exec, EigCommand const& command, ProgressLine& progress,
                OutputFile* vectors, Communicator const& ranks);

}  // namespace blockspan::apps
