#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <blockspan/solvers/status.hpp>

namespace blockspan::capi {

/// The number of a status in blockspan.h.
std::int32_t number_of(Status status);
/// The spelling of a number, "unknown" where it is none.
char const* name_of_status(std::int32_t number);

std::vector<std::string> names_of(std::vector<Status> const& statuses);
/// Nothing for null.
void give_statuses(std::vector<Status> const& statuses, std::int32_t* out);

}  // namespace blockspan::capi
