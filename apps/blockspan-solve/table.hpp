#pragma once

#include <iosfwd>

#include "blockspan-solve/command.hpp"
#include "blockspan-solve/result.hpp"

namespace blockspan::apps {

/// Prints what was solved, where, the table of columns, why the run stopped and how long it took.
void print_result(std::ostream& out, SolveCommand const& command, SolveResult const& result);

}  // namespace blockspan::apps
