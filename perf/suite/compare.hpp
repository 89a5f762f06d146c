#pragma once

#include <string>
#include <vector>

namespace blockspan::perf {

/// What is worse in the second of two results (files, or folders whose files of equal names are
/// compared), a line each: a kernel slower by more than the noise, no longer right, or lost. Slower
/// by more than the noise: the median grew by more than a twentieth and by more than the two
/// spreads between quartiles together (in records without them: half of all that lies between
/// least and most). Throws Error where they cannot be read or have nothing in common.
std::vector<std::string> what_became_worse(std::string const& old_path,
                                           std::string const& new_path);

/// Prints that, and notes on what makes the two hard to compare. Whether nothing is worse.
bool compare(std::string const& old_path, std::string const& new_path);

}  // namespace blockspan::perf
