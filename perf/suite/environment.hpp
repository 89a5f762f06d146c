#pragma once

#include <string>

#include "common/json_document.hpp"
#include "peers/contender.hpp"

namespace blockspan::perf {

/// Where, when and with what a run takes place: device, date (UTC), versions, commit, when the
/// program was linked (UTC).
apps::Json describe_environment(Exec const& exec, std::string const& commit);

}  // namespace blockspan::perf
