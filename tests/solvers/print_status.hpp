#pragma once

#include <ostream>

#include <blockspan/solvers/status.hpp>

namespace blockspan {
inline void PrintTo(Status status, std::ostream* out) { *out << to_string(status); }
}  // namespace blockspan
