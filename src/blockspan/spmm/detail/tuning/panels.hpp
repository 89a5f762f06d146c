#pragma once

#include <cstdint>

namespace blockspan::detail::tuning {

// Where devices multiply a wide block in several products. See tuning.hpp.

/// Where so many groups of rows follow a diagonal: bytes of a row of X in a panel, if all columns
/// would push the rows in use out of the cache, and of all those rows. Same machine, microseconds
/// in one product and in panels of 64 columns: 7-point 128^3 (33,000 rows in use), n = 80 1415,
/// 1077; 96 1667, 1268; 128 2189, 1681; but 27-point 96^3 (19,000 rows), n = 128 1470, 1610 (two of
/// 64), and the graph wave 189, 217.
inline constexpr double panel_diagonal = 0.5;
inline constexpr std::int64_t panel_bytes = 512;
inline constexpr std::int64_t panel_cache_bytes = std::int64_t{20} << 20;

/// Whole rows that are not short: a panel is at least so many times what is left over. Same machine
/// and measure, up to two packs a lane in one product: 27-point, n = 66 1330, 950; 72 -, 955; 80
/// 1316, 1054 (three packs a lane: 1058); single columns, n = 65 1517, 1068. Below 64 columns three
/// packs a lane are as fast (n = 36 587, 615), and of short rows a few columns cost too much, which
/// are read and written as parts of sectors: 7-point, n = 34 591, 780. Not where rows are cut:
/// R-MAT 18, n = 34 217, 231.
inline constexpr std::int64_t panel_least_share = 8;

/// Windows: bytes of a row of X in a panel at least, and those left over at most. Same machine,
/// microseconds in one product and in panels: 27-point, n = 33, 36, 40 678, 629, 633; 603, 557,
/// 536; elasticity, n = 33 304, 289; but of more columns left over or of halves 27-point, n = 63,
/// 128 757, 1325; 890, 1355; elasticity, n = 48, 63 293, 340; 305, 400.
inline constexpr std::int64_t panel_window_bytes = 256;
inline constexpr std::int64_t panel_window_rest = 64;

}  // namespace blockspan::detail::tuning
