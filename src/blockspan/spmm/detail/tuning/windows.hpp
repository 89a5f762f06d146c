#pragma once

#include <cstdint>

namespace blockspan::detail::tuning {

// Windows of rows on tensor cores. See tuning.hpp.

/// Windows of rows on tensor cores: columns of a tile, which is as many bits of a row's mask. Same
/// machine, here and below a scratch kernel with the same loop, microseconds with 16 and 8, n = 8:
/// elasticity 44^3 x 3 82, 92; 27-point 96^3 144, 163.
inline constexpr int window_columns = 16;

/// Rows of a window where the plan's columns are up to this many; above: 16, whose instruction does
/// twice the work and whose rows share more of X, but leave more of a tile empty. 8 and 16 rows, n
/// = 8, 16, 32, 64: elasticity 80, 122, 197, 357 and 82, 116, 177, 302; 27-point 143, 231, 411, 779
/// and 166, 250, 407, 730.
inline constexpr int window_few_rows_columns = 16;

/// Groups of eight packs that a warp multiplies at once, the blocks asked of the compiler, and the
/// steps of a tile (4 columns each) whose rows of X are on their way together, by groups (0: eight
/// single columns or fewer). Elasticity, 16 rows, n = 32: two groups in one pass 178 at 3 blocks,
/// 195 at 2; two passes of one group 202. n = 64: four groups 302, two passes of two 327. Steps: as
/// many as there are registers for (ptxas). Complex values take twice as many. Values fetched a
/// tile ahead, all of a window asked into the L2 cache, or neighbouring columns in one lane gained
/// nothing.
template <int Groups, int Rows, bool Complex>
inline constexpr unsigned window_blocks = Groups == 0                               ? 4
                                          : Groups == 1 && Rows == 8 && !Complex    ? 4
                                          : Groups == 4 || (Groups == 2 && Complex) ? 2
                                                                                    : 3;
template <int Groups>
inline constexpr int window_steps = Groups == 4   ? 1
                                    : Groups == 2 ? 2
                                                  : 4;

/// Single columns of a pass where packs do not fit X; more of them go by way of a copy of X.
inline constexpr int window_single_columns = 8;

/// Windows come into question from so many columns on; from so many of them with 8 and with 16 rows
/// (fewer leave multiprocessors waiting: 27-point 40^3, n = 8, 8,000 windows of 8 rows 20, rows 24;
/// n = 32, 4,000 of 16 rows 60, rows 50; elasticity 20, n = 8, 2,850 of 8 rows 16, groups 20;
/// bcsstk29, n = 8, 1,749 of 8 rows 5.8, rows 9.2; bcsstk15, 494 of them 5.4, rows 5.3); where rows
/// have so many nonzeros, and each row of X that is fetched serves so many of them, on average:
/// with up to 8 columns, with 8 rows, with 16; and up to rows of so many nonzeros (reasoned: one
/// thread merges those of a window). The kernel here, windows and the best of the others:
/// elasticity (4.2 and 5.8) n = 8 94, 117; 16 134, 174; 32 197, 264; 64 344, 430; 27-point (2.2
/// and 2.5) 168, 170; 257, 285; 461, 449; 872, 801; a band of 33 85, 159 at n = 8; 7-point (1.2)
/// 120, 92; random (0.9) 43, 42. Odd widths, in passes of eight single columns, and the best of the
/// others: elasticity n = 3, 5, 7, 9, 13, 31 80, 131; 82, 157; 85, 181; 131, 201; 138, 257; 301,
/// 470; even ones n = 4, 6 80, 81; 83, 104; 27-point n = 5, 7, 9 153, 165; 156, 182; 278, 250.
inline constexpr int window_least_columns = 6;
inline constexpr int window_least_odd_columns = 3;
inline constexpr std::int64_t window_least_of_8_rows = 1536;
inline constexpr std::int64_t window_least_of_16_rows = 8192;
inline constexpr double window_least_row = 12;
inline constexpr double window_least_share_of_8_columns = 3;
inline constexpr double window_least_share_of_8_rows = 2;
inline constexpr double window_least_share_of_16_rows = 4;
inline constexpr std::int64_t window_longest_row = 1024;

/// Windows that an estimate looks at, and columns of a window up to which it counts.
inline constexpr std::int64_t window_samples = 1024;
inline constexpr int window_sample_columns = 1024;

}  // namespace blockspan::detail::tuning
