#pragma once

#include "peers/contender.hpp"
#include "studies/study.hpp"

namespace blockspan::perf {

/// Bytes that can still be had where Exec computes; infinite where that cannot be told.
double free_bytes();

/// Throws Error where the matrix of a case, what its generation takes and the blocks of all
/// contenders would not fit: a host would not refuse them, but end the process. About right.
void require_room(Case const& one, std::string const& source);

}  // namespace blockspan::perf
