#pragma once

#include <iosfwd>

#include "blockspan-spmm/command.hpp"
#include "blockspan-spmm/result.hpp"

namespace blockspan::apps {

/// Prints what was multiplied, where, what a copy reaches there, a line a kernel and the verdict.
void print_result(std::ostream& out, SpmmCommand const& command, SpmmResult const& result);

}  // namespace blockspan::apps
