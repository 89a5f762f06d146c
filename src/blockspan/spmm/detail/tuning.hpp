#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <blockspan/support/register_set.hpp>

/// Numbers that were chosen rather than derived and that several files read, with what chose each.
/// Those of one kernel or one rule are in its file; those of the plan's model are
/// ModelParameters (plan/facts.hpp). Figures are microseconds on one H200, CUDA 13.0, double.
namespace blockspan::detail::tuning {

/// Threads of a team, and blocks asked of the compiler, which bound its registers: 48 at <256, 5>.
/// 7-point 128^3, 27-point 96^3, elasticity 44^3 x 3. One vector a lane, depth 4, n = 8: 168, 176,
/// 148 at 5 blocks; 238, 223, 164 at 6 (spills); 311, 226, 164 at 4 with depth 8. Two vectors, n =
/// 32: 428, 446, 347 at 5 blocks and depth 2; 487, 467, 338 at 3 and 4; 605, 500, 335 at 4 and 4.
inline constexpr unsigned device_threads = 256;
inline constexpr unsigned device_blocks = 5;

/// Nonzeros whose loads are in flight in one lane, by vectors a lane; of single columns, as many as
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
  bool ends_by_place = false;     ///< an end is a place, not a number of nonzeros left
  bool loads_first = false;       ///< some nonzeros are all loaded before their products
};

/// Column-major X: a lane owns a row, and this many bytes of its columns at a time (where few hold
/// all of them; otherwise); as many thread blocks as those registers allow. With 4, 8 and 16
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

/// Lengths of segments that the model chooses among (the best of R-MAT of 0.1, 0.4, 2.0 and 15.7
/// million nonzeros, n = 8, are 32, 64, 64 and 512; 512 costs 2.6, 1.5, 2.6 and 1 times the best),
/// and classes of them by length where they are sorted: longer ones do not fill them.
inline constexpr std::int64_t device_segment_lengths[] = {32, 64, 128, 256, 512};
inline constexpr int segment_classes = 16;

/// Rows of a group, at most: what the sums of a lane have registers for. Rows of more entries than
/// the second are not compared: one thread does that, and a group is its work too. (Reasoned.)
inline constexpr int group_rows = 4;
inline constexpr std::int64_t group_longest_row = 4096;

/// Windows of rows on tensor cores: columns of a tile, which is as many bits of a row's mask (16
/// and 8, n = 8: elasticity 82, 92; 27-point 144, 163), and rows of a window, the columns of the
/// instruction (16 by two of them fetch less of X, but multiply twice the places; n = 16, 32, 64:
/// 27-point 246, 432, 727). Tiles of a plan: their masks and columns are counted in 32 bits.
inline constexpr int window_columns = 16;
inline constexpr int window_rows = 8;
inline constexpr std::int64_t window_most_tiles = std::int64_t{1} << 28;

inline namespace BLOCKSPAN_REGISTERS {
/// Hosts: bytes of sums kept in registers while a row is read once: four registers, two of AVX-512
/// (four took 1.2 to 1.3 times as long for rows of X of just 128 bytes; perf/notes/hosts.md).
inline constexpr int host_vector_bytes = std::min(4 * register_bytes, 128);
}  // namespace BLOCKSPAN_REGISTERS

/// Hosts: columns at a time of an X that is neither contiguous nor copied (more would be more pages
/// at a time); rows of X copied together (64 of 32 doubles fit the first-level cache).
inline constexpr int host_strided_columns = 4;
inline constexpr std::int64_t host_packed_rows = 64;

/// A Y of at least this many bytes is written around the caches, because it would not stay in them,
/// and lines written whole need not be read first.
inline constexpr std::int64_t host_stream_bytes = std::int64_t{32} << 20;

/// A team's block of rows holds about this many nonzeros (reasoned: large against the cost of
/// handing out a team, small against a core's share), and no more rows than this.
inline constexpr std::int64_t host_team_entries = 4096;
inline constexpr std::int64_t host_team_rows = 512;

}  // namespace blockspan::detail::tuning
