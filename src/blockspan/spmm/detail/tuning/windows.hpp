#pragma once

#include <cstdint>

namespace blockspan::detail::tuning {

// Windows of rows on tensor cores. See tuning.hpp.

/// Windows of rows on tensor cores: columns of a tile, which is as many bits of a row's mask. Same
/// machine, here and below a scratch kernel with the same loop, microseconds with 16 and 8, n = 8:
/// elasticity 44^3 x 3 82, 92; 27-point 96^3 144, 163.
inline constexpr int window_columns = 16;

/// Rows of a window: columns of the instruction. 16, by two instructions, fetch a tenth less of X
/// of 27-point 96^3 and a quarter less of elasticity, but multiply twice the places; n = 16, 32, 64
/// at best: 246, 432, 727 and 111, 187, 299 (8 rows: the figures at WindowPacks).
inline constexpr int window_rows = 8;

/// Windows come into question from so many columns and rows on (fewer leave multiprocessors
/// waiting; n = 8, windows and the best of the others: bcsstk29, 1,749 windows, 6.6, 8.7; nasa4704,
/// 588 of them, 5.3, 5.3; at n = 32 11.6, 16.8; 7.8, 6.4); where rows have so many nonzeros, and
/// each row of X that is fetched serves so many of them, on average (with so few columns, which
/// leave half of the lanes idle, so many); and up to rows of so many nonzeros (reasoned: one thread
/// merges those of a window). n = 4, 8, 16, 32, 64: elasticity (4.2) 74, 83; 80, 114; 106, 167;
/// 164, 257; 273, 423; 27-point 96^3 (2.2) 130, 115; 141, 165; 205, 281; 335, 420; 628, 768; with
/// the kernels before, n = 8, 16, 32, 64: a band of 33 77, 134; 108, 188; 150, 279; 282, 498;
/// 7-point (1.2), n = 8 120, 92; random (0.9) 43, 42. Shorter rows, the best of the others over
/// windows, n = 4, 5, 6, 8, 16, 32, 64: 9-point 500^2 (2.2) 0.79, 0.99, 1.14, 1.20, 1.10, 1.15,
/// 0.97; 200^2 1.04, 1.44, 1.16, 1.18, 1.08, 1.27, 1.33; 1e6 rows of a band of 9 (4.5) 0.83, 1.05,
/// 1.19, 1.26, 1.28, 1.30, 1.04; 5e5 of a band of 7 (3.5), n = 4, 8, 16, 32, 64 0.73, 1.05, 1.08,
/// 1.15, 0.96. Odd widths, n = 3, 5, 7: elasticity 73, 131; 76, 157; 79, 181; 27-point 129, 126;
/// 134, 158; 138, 171.
inline constexpr int window_least_columns = 3;
inline constexpr int window_few_columns = 4;
inline constexpr std::int64_t window_least_rows = 1536 * window_rows;
inline constexpr double window_least_row = 8.5;
inline constexpr double window_least_row_of_few = 12;
inline constexpr double window_least_share = 2;
inline constexpr double window_least_share_of_few = 3;
inline constexpr std::int64_t window_longest_row = 1024;

/// Of double rows that do not follow a diagonal, are as even as this (the imbalance of the row
/// statistics) and as many, whose X the first-level cache serves less well: less will do. Same
/// machine, triangulations of random points, the best of the others over windows, n = 4, 5, 6, 8,
/// 16, 24, 32, 64: in the plane, 2e5 rows, reverse Cuthill-McKee (each row of X serves 1.38) 0.96,
/// 1.09, 1.15, 1.08, 1.02, 0.92, 1.15, 1.00; in the order of Morton's curve (1.69) 0.95, 1.12,
/// 1.24, 1.22, 1.08, 0.97, 1.22, 1.05; in space, 1e5 rows (1.58) 1.05, 1.42, 1.39, 1.28, 1.19,
/// 0.99, 1.08, 1.03; (1.86) 1.19, 1.79, 1.59, 1.37, 1.42, 1.19, 1.29, 1.22; wave (1.43) 1.05, 1.36,
/// 1.27, 1.18, 1.09, 0.93, 1.08, 1.01; delaunay_n15 (1.33) 1.04, 1.19, 1.19, 1.02, 1.20, 1.29,
/// 1.24, 1.16; but Dubcova1, 16,129 rows (1.53), 0.92, 1.13, 0.89, 0.88, 1.02, 0.64, 0.63, 0.78,
/// and on a diagonal the 5-point grid 600^2 (1.25), n = 4, 8, 16, 32 0.64, 0.98, 0.84, 0.88.
inline constexpr double window_scattered_diagonal = 0.25;
inline constexpr double window_scattered_imbalance = 1.5;
inline constexpr std::int64_t window_scattered_rows = std::int64_t{1} << 15;
inline constexpr double window_least_row_scattered = 5.5;
inline constexpr double window_least_share_scattered = 1.3;

/// Tiles of a plan: their masks and columns are counted in 32 bits.
inline constexpr std::int64_t window_most_tiles = std::int64_t{1} << 28;

/// Windows that an estimate looks at, and columns of a window up to which it counts.
inline constexpr std::int64_t window_samples = 1024;
inline constexpr int window_sample_columns = 1024;

}  // namespace blockspan::detail::tuning
