#pragma once

#include <string>

#include "blockspan-solve/command.hpp"
#include "blockspan-solve/result.hpp"

namespace blockspan::apps {

/// What the stop reason of this run means and what to do next, in one sentence.
std::string solve_advice(SolveCommand const& command, SolveResult const& result);

}  // namespace blockspan::apps
