#pragma once

#include <cstdint>
#include <vector>

namespace blockspan::apps {

/// Which rows of a product to check, ascending: all of them where the sum of (length + 1) is at
/// most `limit`; else the first, the last and the longest row, whatever they cost, and as many
/// others, spread over the matrix, as fit into `limit`.
std::vector<std::int64_t> choose_rows(std::vector<std::int64_t> const& lengths, std::int64_t limit);

}  // namespace blockspan::apps
