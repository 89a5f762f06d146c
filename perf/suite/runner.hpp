#pragma once

#include "suite/command.hpp"

namespace blockspan::perf {

/// Runs the studies that the command line asks for and writes their results. Returns the exit
/// status: incomplete where a result was wrong, a case failed or cases are left. Throws Error for
/// bad input.
int run_studies(Command const& command);

/// Prints the studies, a line each and what they reproduce.
void list_studies(Command const& command);

}  // namespace blockspan::perf
