#pragma once

#include <string>

#include "blockspan-eig/command.hpp"
#include "blockspan-eig/result.hpp"

namespace blockspan::apps {

/// Why the run ended as it did and what to do next, in one sentence that is true of this run.
std::string advice(EigCommand const& command, EigResult const& result);

}  // namespace blockspan::apps
