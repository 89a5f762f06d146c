#pragma once

#include <string>

#include "spmm/cases.hpp"
#include "spmm/result.hpp"

namespace blockspan::perf {

/// A case as the results hold it; one that did not run yet where `result` is null.
Json to_json(Case const& one, CaseResult const* result);

/// The line of a case for whoever watches: the times and who was fastest.
std::string in_words(Case const& one, CaseResult const& result);

/// Replaces the file as a whole, so that a reader never sees half of it. Throws Error.
void write_results(std::string const& path, Json const& results);

}  // namespace blockspan::perf
