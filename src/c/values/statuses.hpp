#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <blockspan/solvers/status.hpp>

namespace blockspan::capi {

/// The code of a status in blockspan.h.
std::int32_t number_of(Status status);
/// The name of a status code, "unknown" for invalid ones.
char const* name_of_status(std::int32_t number);

std::vector<std::string> names_of(std::vector<Status> const& statuses);
/// Does nothing if `out` is null.
void give_statuses(std::vector<Status> const& statuses, std::int32_t* out);

}  // namespace blockspan::capi
