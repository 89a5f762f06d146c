#pragma once

#include "blockspan-solve/command.hpp"
#include "blockspan-solve/result.hpp"

namespace blockspan::apps {

/// Fills in status, converged and notes from the solver's report and the app's own check.
void judge(SolveResult& result, SolveCommand const& command);

/// The first status of a column that is no success, or converged.
Status stop_reason(SolveResult const& result);

}  // namespace blockspan::apps
