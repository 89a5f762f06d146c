#pragma once

#include <string>

#include <blockspan/solvers/status.hpp>

namespace blockspan::apps {

/// What the status of a column means for a linear solve and what to do next, a sentence or two.
std::string solve_advice(Status status);

}  // namespace blockspan::apps
