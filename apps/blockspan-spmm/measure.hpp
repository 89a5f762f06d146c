#pragma once

#include <blockspan/communication/communicator.hpp>

#include "blockspan-spmm/command.hpp"
#include "blockspan-spmm/ranks_result.hpp"
#include "blockspan-spmm/result.hpp"
#include "common/run/progress.hpp"

namespace blockspan::apps {

/// Loads the matrix, runs every kernel at every width, checks its results and times those that are
/// right, on one backend. Throws Error for bad input, and for a kernel that was asked for by its
/// name and cannot serve it. Compiled once per backend, for every scalar.
template <class Scalar, class Exec>
SpmmResult measure(Exec const& exec, SpmmCommand const& command, ProgressLine& progress);

/// The product of a matrix on several ranks; see measure_on_ranks.hpp. Compiled as measure is.
template <class Scalar, class Exec>
RanksResult measure_on_ranks(Exec const& exec, SpmmCommand const& command, ProgressLine& progress,
                             Communicator const& ranks);

}  // namespace blockspan::apps
