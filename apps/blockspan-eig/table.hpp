#pragma once

#include <iosfwd>

#include "blockspan-eig/command.hpp"
#include "blockspan-eig/result.hpp"

namespace blockspan::apps {

/// Prints what was solved, where, the table of pairs, why the run stopped and how long it took.
void print_result(std::ostream& out, EigCommand const& command, EigResult const& result);

}  // namespace blockspan::apps
