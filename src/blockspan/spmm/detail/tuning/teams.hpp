#pragma once

#include <cstddef>
#include <cstdint>

namespace blockspan::detail::tuning {

// Tiles of X that a team shares. See tuning.hpp.

/// Tiles of X staged with bulk copies (SharedTiles): warps of a team that multiply;
/// rows of A a warp; rows of X a tile (48 or 64 KiB, two of them) and entries of a row in a tile
/// that are staged, by the packs side by side. Together some 200 KB of scratch, so a team has a
/// multiprocessor to itself. One H200, 8192 x 4096, 10 % full, microseconds (of a kernel with the
/// starts of all tiles listed): double, n = 64, three tiles of 96 rows 107, two of 128 100; n = 16,
/// two of 256 and 384 rows 42, 38.
inline constexpr int shared_tile_warps = 16;
inline constexpr int shared_tile_warp_rows = 4;
template <int Lanes>
inline constexpr int shared_tile_rows = Lanes == 32   ? 128
                                        : Lanes == 16 ? 256
                                                      : 384;
template <int Lanes>
inline constexpr int shared_tile_entries = Lanes == 32   ? 32
                                           : Lanes == 16 ? 48
                                                         : 80;

/// They stand in for staged tiles from so many packs in a row of X on, where so large a part of all
/// places has an entry. Same machine, a row's lanes (one pack each) and shared tiles: double, n =
/// 64, 8192 x 4096, 3 % 48, 51; 10 % 158, 105; 13 % 217, 128; 20 % 317, 208; float, n = 128, 3 %
/// 44, 51; 10 % 141, 101; 20 % 282, 197. Copies by the warps that multiply took 123 at 10 %, n =
/// 64; counts of a tile's entries exchanged between lanes in place of kept in registers 126.
inline constexpr int shared_tile_packs = 8;
inline constexpr double shared_tile_least_fill = 0.02;

/// The plan takes them where so large a part of all places is full (from 16 packs on; fewer) and of
/// the panels is used, where the mean row has no more than so much of what is staged in a tile, and
/// where there are so many teams; it then expects this part of the time of whole rows. Double, as
/// above, whole rows (two packs a lane) and shared tiles: 3 %, n = 64, 128 43, 51; 91, 105; 5.3 %
/// 75, 67; 155, 135; 9.7 %, n = 16, 32, 64, 128 47, 38; 88, 59; 143, 102; 277, 204; 13.5 %, n = 64
/// 201, 136; but 4096 x 4096 with 5 % in a regular pattern, n = 128 47, 65. 20 % (staged: 25 % with
/// 32 packs side by side, 19 % with 16, 21 % with 8), n = 16, 32, 64: shared tiles 110, 171, 208;
/// 13 % 52, 82, 128.
inline constexpr double shared_tile_plan_fill = 0.06;
inline constexpr double shared_tile_plan_fill_of_few = 0.08;
inline constexpr double shared_tile_used = 0.8;
inline constexpr double shared_tile_most_staged = 0.8;
inline constexpr int shared_tile_least_teams = 96;
inline constexpr double model_shared_tiles = 0.75;

/// Windows of rows that share tiles of X on tensor cores (SharedWindows): rows of a team; rows of X
/// in a tile, which is as many bits of a row's mask. Same machine, 8192 x
/// 4096, microseconds as above and by windows: double, 9.7 %, n = 16, 32, 48, 64, 128 38, 59, 107,
/// 103, 204; 34, 52, 73, 91, 179; 7.5 % 32, 50, 87, 84, 170; 34, 52, 72, 90, 178; 5.6 %, n = 32, 64
/// 43, 70; 52, 91; 15 %, n = 16, 64, 128 54, 146, 284; 39, 92, 181; 38 %, n = 64 601, 95; complex
/// double, 9.7 %, n = 16, 32, by rows 127, 271, by windows 106, 190. Tensor cores alone would take
/// 72 (n = 64).
inline constexpr int shared_window_rows = 64;
inline constexpr int shared_window_columns = 64;

/// The plan asks for them where so large a part of all places is full. The model expects a launch
/// and, for as many teams as there are multiprocessors, a time a tile and one a group of eight
/// packs in it (fitted to the figures above; 16384 rows, n = 16, 32, 64: 71, 104, 180; 2048 x 2048
/// 19, 28, 48; 64 x 40000 292, 468, 824); whole rows so full take a time an entry and one a column
/// of it (double, n = 16, 32, 64, 128, 9.7 % 47, 88, 143, 277; 5.6 % 30, 49, 79, 153).
inline constexpr double shared_window_least_fill = 0.05;
inline constexpr double model_shared_window_launch = 4;
inline constexpr double model_shared_window_tile = 0.2;
inline constexpr double model_shared_window_group = 0.29;
inline constexpr double model_shared_window_complex_group = 0.68;
inline constexpr double model_full_row_entry = 5e-6;
inline constexpr double model_full_row_column = 0.65e-6;
inline constexpr double model_full_row_complex = 1.6;
inline constexpr int model_multiprocessors = 132;

}  // namespace blockspan::detail::tuning
