#pragma once

#include <cstdint>
#include <string>

namespace blockspan::apps {

/// Bytes of the host's memory that this process can still have: what the machine has free, swap
/// included, and what limits of its control group and of the process (ulimit -v) leave.
std::int64_t free_memory();

/// Throws Error where the free memory of the host does not even hold the blocks of vectors of a
/// problem with `rows` rows, `vectors` in all of `bytes` a scalar, so that nobody waits for a
/// failure later on. Does nothing where --backend lets a device have them. remedy: what needs less.
void require_room(std::string const& source, std::string const& backend, std::int64_t rows,
                  std::int64_t vectors, std::int64_t bytes, std::string const& remedy);

/// What is said where memory ran out and nobody knows for what.
std::string out_of_memory();

}  // namespace blockspan::apps
