#pragma once

#include <cstddef>
#include <cstdint>

// The table of NVIDIA's Hopper: what kernels of devices are compiled with. When and how they are
// chosen: hopper_plan.hpp. Other devices run by it too, until they have a table; what depends on
// how many multiprocessors, bytes of cache or scratch there are is computed from DeviceFacts. What
// chose a figure stands with it: microseconds on one H200, CUDA 13.0, double, unless it says
// otherwise.

namespace blockspan::products::tuning {

/// Threads of a team, and blocks asked of the compiler, which bound its registers: 48 at <256, 5>.
/// 7-point 128^3, 27-point 96^3, elasticity 44^3 x 3. One vector a lane, depth 4, n = 8: 168, 176,
/// 148 at 5 blocks; 238, 223, 164 at 6 (spills); 311, 226, 164 at 4 with depth 8. Two vectors, n =
/// 32: 428, 446, 347 at 5 blocks and depth 2; 487, 467, 338 at 3 and 4; 605, 500, 335 at 4 and 4.
inline constexpr unsigned device_threads = 256;
inline constexpr unsigned device_blocks = 5;

/// Nonzeros whose loads are in flight in one lane, by vectors a lane; of single columns the depth
/// of one vector (two and four, 7-point n = 11, 31: 240, 535; 212, 515; 27-point 262, 576; 232,
/// 559).
template <int Vectors>
inline constexpr int device_depth = Vectors >= 2 ? 2 : 4;

/// Rows of this many nonzeros keep the depth of one vector with two vectors a lane. Without and
/// with: 8192 rows of 399, n = 64 -, 143; elasticity by rows, n = 32, 64 347, 319; 563, 541; R-MAT
/// 18 150, 139; 268, 263; 27-point some 5 and 3 % less.
inline constexpr double device_deep_row = 16;

/// What the code of a kernel with direct loads does so that registers are left for loads in flight.
struct LaneCode {
  bool segment_a_thread = false;  ///< no loop over segments
  bool passes_outside = false;    ///< passes over the columns are around the loop over segments
  bool tail_in_flight = false;    ///< the last few nonzeros are loaded before all products
  bool ends_by_place = false;     ///< an end is a place, not a count of nonzeros left
  bool loads_first = false;       ///< some nonzeros are all loaded before their products
};

/// Column-major X: a lane owns a row, and this many bytes of its columns at a time (where few hold
/// all of them; otherwise); blocks as those registers allow. With 4, 8 and 16
/// columns (the last with 2 nonzeros in flight) and the row-major product: 7-point n = 8 -, 182, -,
/// 165; 64 -, 985, 1102, 799; 27-point n = 4 137, -, -, 133; 8 -, 181, -, 169; 64 -, 1053, 1151,
/// 792.
inline constexpr int device_few_column_bytes = 32;
inline constexpr int device_column_bytes = 64;

/// Column-major X of more columns than that, by way of scratch: rows of a thread, which is a warp,
/// and bytes of the entries that a team keeps.
inline constexpr int staged_column_rows = 32;
inline constexpr int staged_column_bytes = 11 << 10;

/// Entries of a tile that a team copies through scratch from one layout to another.
inline constexpr int device_copy_bits = 10;

/// Width of a lane's load, the widest there is; lanes of a team thread at most, as a power of two.
inline constexpr int device_vector_bytes = 16;
inline constexpr int device_lane_bits = 5;

/// Rows of fewer nonzeros than this are short: their lanes are few, so that a warp owns more rows.
/// n = 64 with 8 lanes in two passes and with 16 in one: 7-point 800, 890; 27-point 810, 800.
inline constexpr double device_short_row = 12;

/// From this many listed segments on, the registers of device_many_segment_blocks.
inline constexpr std::int64_t device_few_listed = 65536;

/// Rows of a group, at most: what the sums of a lane have registers for. Rows of more entries than
/// the second are not compared: one thread does that, and a group is its work too. (Reasoned.)
inline constexpr int group_rows = 4;
inline constexpr std::int64_t group_longest_row = 4096;

/// Clusters of rows: rows of one, and of a large one, about; sets that a sample looks at, their
/// rows, and entries of a row that it reads. (Reasoned.)
inline constexpr std::int64_t rows_of_cluster = 48, rows_of_large_cluster = 4096,
                              cluster_samples = 128;
inline constexpr int cluster_sample_rows = 16, cluster_sample_entries = 64;

/// Windows of rows on tensor cores: columns of a tile, a bit each of a row's mask (16
/// and 8, n = 8: elasticity 82, 92; 27-point 144, 163), and rows of a window, the columns of the
/// instruction (16 by two of them fetch less of X, but multiply twice the places; n = 16, 32, 64:
/// 27-point 246, 432, 727). Tiles of a plan: their masks and columns are counted in 32 bits.
inline constexpr int window_columns = 16;
inline constexpr int window_rows = 8;
inline constexpr std::int64_t window_most_tiles = std::int64_t{1} << 28;

// Direct loads by lanes (kernels/direct_lanes.hpp).

/// Blocks for one vector of floats a lane, without lanes over nonzeros: with 5 and 6, microseconds,
/// 7-point n = 16 147, 142; R-MAT 20 211, 219. Of doubles six are slower.
inline constexpr unsigned device_lean_blocks = 6;

/// Blocks for lanes over the nonzeros of many listed segments: with 5 and 4, R-MAT 18, n = 2, 4 55,
/// 63; 48, 55; but of 36,000 segments, n = 8 21, 26.
inline constexpr unsigned device_many_segment_blocks = 4;

/// Blocks for two vectors a lane at the depth of one (device_deep_row), and for a lane that owns a
/// row of column-major X (device_column_bytes): what its registers allow.
inline constexpr unsigned device_deep_blocks = 4;
template <int Bytes>
inline constexpr unsigned device_column_blocks = Bytes > device_few_column_bytes ? 2 : 3;

/// Nonzeros in flight in a lane for a group of rows, by its rows: 64 registers hold them without
/// spills. Elasticity 44^3 x 3, n = 1, 8, 64: 69, 107, 413 us; without groups 73, 139, 563.
template <int Rows>
inline constexpr int device_group_depth = Rows == 2 ? 4 : 2;
inline constexpr unsigned device_group_blocks = 4;

/// What measured best for listed segments and whole rows, because registers and the order of loads
/// are the compiler's. One H200, CUDA 13.0, double, microseconds without and with: listed, R-MAT
/// 20, n = 16, 64 345, 1156; 333, 1141; three vectors, 27-point n = 24 376, 344; two deep ones, n =
/// 64 773, 765; one vector, 7-point n = 1, 8 64.6, 162; 59.2, 160; columns of column-major X,
/// 27-point n = 32 514, 483. Lanes over nonzeros, groups and two shallow vectors lose by any of it
/// (27-point n = 2 92; 94 to 101). Loads first: R-MAT 20, n = 31 739, 717; 7-point, n = 15 341,
/// 319; but whole rows with one vector or four columns 7-point, n = 4, 31 99, 514; 110, 610, listed
/// ones with five R-MAT 18, n = 33 199, 290. `known`: lanes of two vectors that the compiler knows
/// (DirectLanes::Across), whole rows with none and all of it: spins 19, n = 64 371, 337.
constexpr LaneCode lane_code(bool listed, int vectors, bool entry_lanes, bool deep, bool single,
                             bool known) {
  if (deep && vectors > 2)  // column-major X
    return {.segment_a_thread = true, .tail_in_flight = true};
  if (single && vectors > 1)
    return {.segment_a_thread = true,
            .passes_outside = true,
            .tail_in_flight = true,
            .ends_by_place = true,
            .loads_first = vectors == 2 || (listed && vectors < 5)};
  if (listed || vectors == 3 || known)
    return {.segment_a_thread = true,
            .passes_outside = true,
            .tail_in_flight = true,
            .ends_by_place = true,
            .loads_first = true};
  if (deep) return {.segment_a_thread = true, .passes_outside = true, .loads_first = true};
  if (vectors == 1 && !entry_lanes)
    return {.segment_a_thread = true, .tail_in_flight = true, .ends_by_place = true};
  return {};
}

// Kernels of their own.

/// Pairs of rows: nonzeros of each of the two whose loads are in flight in a lane; blocks.
/// A scratch kernel, one row and 4, 2 and 2, 2 and 1 (two at a time): P1 mesh of 150,000 nodes
/// 11.5, 10.5, 10.5; in random order 20.4, 21.5, 20.8; three unknowns a node 26.0, 25.6, 25.3; four
/// queues (8.7 a row) 14.3, 12.3, 13.8.
inline constexpr unsigned row_pairs_depth = 2;
template <bool Complex>
inline constexpr unsigned row_pairs_blocks = Complex ? 3 : 6;

/// Copies in slices for one column (kernels/row_pairs/lane_slices.hpp): rows of a slice; gaps over
/// entries at most (reasoned); bytes of a row's entries at least (5-point 1000^2 in float has 30:
/// 17.8 for 13.3; with 42 or more 0.94 to 1.5 times as fast, perf/notes/rows.md); by sums of a row,
/// loads in flight of a lane and blocks. 7-point 128^3, 100^3 with 2 sums, 27-point 80^3 with 8:
/// depth 4 and 5 blocks 53.8, 22.9, -; 4 and 4 58.3, 23.8, -; 8 and 3 62.5, 24.9, 38.3; 8 and 4 -,
/// -, 37.4; the next loads not ahead 54.7, 23.5, 44.6; loads that stay in the caches 52.6, 27.4,
/// 47.9.
inline constexpr int lane_slice_rows = 32;
inline constexpr double lane_slice_gaps = 0.25;
inline constexpr std::int64_t lane_slice_row_bytes = 36;
template <int Parts>
inline constexpr int lane_slice_depth = Parts > 4 ? 8 : 4;
template <int Parts>
inline constexpr unsigned lane_slice_blocks = Parts > 8   ? 3
                                              : Parts > 4 ? 4
                                                          : 5;

/// Tiles of short rows, or of a part of a long one (kernels/adaptive): threads of a team; loads in
/// flight of one; work of a tile, an entry 1 and a row two more (RowClasses); blocks.
/// Tiles of 512 entries: preferential attachment of 2e5, R-MAT 18, power law of 2e5, circuit of 1e6
/// with these 34, 39, 26, 39; 12 blocks 35, 41, 29, 38; 16 (spills) 40, 51, 34, 39; depth 8 and
/// 1,024 entries 37, 49, 32, 36; 256 threads and 1,024 35, 42, 31, 37; 64 and 256 34, 40, 27, 39.
/// 512 entries and rows at most, and work by two and four a row, 8 and 64 columns: R-MAT 18 of 4 a
/// row 29, 123; 27, 112; 27, 111; power law 30, 169; 29, 166; 29, 168. Rows of more entries than
/// adaptive_alone have a tile to themselves, or several (with 512 the same, but several columns
/// would wait for the longest row of a tile).
inline constexpr int adaptive_threads = 128, adaptive_depth = 4;
inline constexpr std::int64_t adaptive_tile_work = 640, adaptive_row_work = 2, adaptive_alone = 128;
template <std::size_t Bytes>
inline constexpr unsigned adaptive_blocks = Bytes > sizeof(double) ? 8 : 10;

/// The same tiles for several columns: threads of a team at most, half of them up to eight lanes a
/// row; blocks; lanes of a row at most, as a power of two; entries of a row above which the
/// threads of a warp share it.
/// Lanes with two vectors, 8 a row, and with one, 32 a row, n = 16, 32, 64: circuit of 3e5 60, 94,
/// 179; 52, 85, 153; R-MAT 18 of 4 a row 63, 92, 185; 51, 74, 121; power law of 2e5 76, 130, 278;
/// 62, 100, 170; log-normal rows of 8 77, 140, 301; 64, 105, 195. With 128 threads 16 columns gain
/// (power law 54, 46), 32 lose (circuit 87, 95). Rows of more than 32 and 16 entries by warps, n =
/// 2, 8, 32: power law 28, 36, 100; 21, 30, 90; 21, 30, 90; log-normal 27, 38, 105; 24, 33, 101;
/// 27, 35, 98; attachment 24, 31, 97; 25, 32, 99; 29, 35, 99. Persistent teams with bulk copies of
/// the next tile, six blocks, and equal shares of a tile's entries a thread (a scratch kernel):
/// slower.
inline constexpr int adaptive_block_threads = 256;
inline constexpr unsigned adaptive_block_blocks = 5;
inline constexpr int adaptive_few_lanes = 8, adaptive_lane_bits = 5;
inline constexpr int adaptive_by_warp = 32;

/// Entries of a team of sddmm, hosts too: there one thread, here its threads have a few each.
inline constexpr int sampled_entries = 256;
inline constexpr int sampled_team_threads = 8;

/// Nonzeros whose loads are in flight in a lane of a device, as of one vector (device_depth).
inline constexpr int sixteen_bit_depth = 4;

/// Eight blocks would spill.
inline constexpr unsigned device_sparse_blocks = 6;

/// Column-major X of more columns than a lane owns: the lanes of a thread copy the entries of their
/// rows to scratch first. One H200, row-major, column-major without scratch (27-point: by copies)
/// and with it, n = 16, 32, 64, microseconds: 7-point 245, 422, 792; 263, 502, 985; 256, 464, 944;
/// 27-point 205, 331, 634; -, 476, 940; 235, 415, 789. Occupancy, in percent, leaves room in the
/// first-level cache.
inline constexpr int staged_column_threads = 4;
inline constexpr unsigned staged_column_copies = 9;
inline constexpr unsigned staged_column_depth_short = 2;
inline constexpr unsigned staged_column_depth = 3;
template <unsigned Depth>
inline constexpr unsigned staged_column_teams = Depth == staged_column_depth ? 4 : 5;
inline constexpr int staged_column_occupancy = 25;

/// Blocks, by the groups of eight vectors (0: of eight single columns) that a warp multiplies at
/// once. A scratch kernel, n = 32: two groups 343 at 4 blocks, 360 at 3; n = 64: four groups 638 at
/// 2 blocks, 780 at 3 (spills). Complex values need twice the registers. What else was tried:
/// perf/notes/windows.md.
template <int Groups, bool Complex>
inline constexpr unsigned window_blocks = Groups == 4 || (Groups == 2 && Complex) ? 2
                                          : Complex                               ? 3
                                          : Groups == 0                           ? 5
                                                                                  : 4;
/// Of four times eight single columns: elasticity, n = 31, with 4 and 3 blocks 211, 166.
inline constexpr unsigned window_blocks_of_four_eights = 3;

/// Kernels with more reals a row issue all loads of a tile before its products: elasticity, n
/// = 24, 32 without and with 169, 177; 157, 164. With fewer the compiler does so by itself.
inline constexpr int window_reals_in_any_order = 16;

/// Tiles of X that a team shares, by lanes: warps that multiply; rows of A a warp; rows of X a tile
/// (48 or 64 KiB, two of them) and entries of a row in a tile that are staged, by the vectors side
/// by side. Together some 200 KB of scratch, so a team has a multiprocessor to itself. 8192 x 4096,
/// 10 % full, n = 64: three tiles of 96 rows 107, two of 128 100; n = 16, two of 256 and 384
/// 42, 38.
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

/// Bytes of scratch of such a team, at most.
inline constexpr std::size_t shared_tile_scratch = 227 << 10;

/// They replace staged tiles from this many vectors in a row of X on.
inline constexpr int shared_tile_vectors = 8;

/// Windows of rows that share tiles of X on tensor cores: rows of a team; rows of X in a tile,
/// a bit each of a row's mask.
inline constexpr int shared_window_rows = 64;
inline constexpr int shared_window_columns = 64;

/// Producer warps of a team.
inline constexpr int shared_tile_fetchers = 3;

/// Parts of a tile that warps share; stages of the pipeline (complex values leave room for two);
/// producer warps.
inline constexpr int shared_window_parts = 2;
template <bool Complex>
inline constexpr int shared_window_stages = Complex ? 2 : 3;
inline constexpr int shared_window_fetchers = 4;

}  // namespace blockspan::products::tuning
