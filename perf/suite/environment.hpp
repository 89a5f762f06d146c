#pragma once

#include <string>

#include "common/files/json_document.hpp"
#include "peers/contender.hpp"
#include "studies/study.hpp"

namespace blockspan::perf {

/// What a file of results begins with: the study and how its page shows it, device, date (UTC),
/// versions, commit, when the program was linked (UTC), and whether it was a quick run.
apps::Json begin_results(Exec const& exec, Study const& study, std::string const& commit,
                         bool quick);

}  // namespace blockspan::perf
