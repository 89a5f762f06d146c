#pragma once

#include <cstdint>

namespace blockspan::detail::tuning {

// Groups of rows that share their columns. See tuning.hpp.

/// Rows of a group, at most: what the sums of a lane have registers for.
inline constexpr int group_rows = 4;

/// A group of as many rows costs an entry's index and its row of X once, and as many values: the
/// first two weigh this many values where the plan chooses how many rows a group may have.
/// (Reasoned: an index, a row of X, a value are a load each.)
inline constexpr double group_fetch = 2;

/// Rows of more entries than this are not compared: one thread does that, and a group is the work
/// of one thread as well. (Reasoned.)
inline constexpr std::int64_t group_longest_row = 4096;

/// A place in a row of blocks is an int, and so is the number after the last.
inline constexpr std::int64_t longest_block_row = INT32_MAX;

/// Groups are worth it where each row of X that is fetched serves this many rows on average
/// (reasoned), and on devices from so many rows on. Same machine, groups of three, 8 columns,
/// microseconds without and with groups: elasticity of 1,344 rows 5.5 and 6.6, of 22,800 16.0 and
/// 13.7, of 252,000 139.5 and 106.7.
inline constexpr double group_least_share = 1.5;
inline constexpr std::int64_t device_group_least_rows = 8192;

}  // namespace blockspan::detail::tuning
