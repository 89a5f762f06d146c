#pragma once

#include <string>

#include "spmm/result.hpp"
#include "studies/study.hpp"

namespace blockspan::perf {

/// What a case's entry in the results says in addition to its identity.
Json to_json(CaseResult const& result);

/// The line of a case for whoever watches: the times and who was fastest.
std::string in_words(Case const& one, CaseResult const& result);

}  // namespace blockspan::perf
