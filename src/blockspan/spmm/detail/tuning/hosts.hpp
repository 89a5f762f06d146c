#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <blockspan/support/register_set.hpp>

namespace blockspan::detail::tuning {

// Kernels of hosts, and their model. See tuning.hpp.

/// The model of partition/predict.hpp for hosts, of one core (reasoned: some 1e9 entries, 1e10
/// bytes a second).
inline constexpr double host_model_entry = 1e-3;
inline constexpr double host_model_column = 2.5e-4;
inline constexpr double host_model_byte = 1e-4;

/// What an entry saves whose row of X was fetched for the row before, as a part of the time
/// of its columns, beyond the first few. One core of a Xeon with AVX-512, elasticity 20,
/// milliseconds without and with groups: n = 4 0.86, 0.83; 8 1.11, 0.97; 16 1.87, 1.19;
/// 32 3.62, 2.09; 64 7.8, 4.7; transposed n = 1 1.54, 1.65; 16 2.66, 2.19.
inline constexpr double host_model_group = 0.7;
inline constexpr int host_model_group_columns = 4;

/// A row is cut only when it alone could hold up a core; 4096 nonzeros are about 10 us
/// (reasoned, not measured).
inline constexpr std::int64_t host_piece = 4096;
inline constexpr std::int64_t host_longest_whole_row = 16384;

inline namespace BLOCKSPAN_REGISTERS {
/// Bytes of sums kept in registers while a row is read once: four registers, two of AVX-512 (four
/// took 1.2 to 1.3 times as long for rows of X of just 128 bytes; perf/notes/hosts.md).
inline constexpr int host_pack_bytes = std::min(4 * register_bytes, 128);
}  // namespace BLOCKSPAN_REGISTERS

/// A value of the transposed pattern is asked for this many entries ahead.
inline constexpr int host_prefetch = 32;

/// X whose rows are not contiguous is copied into row-major scratch first where it has at
/// least host_packed_columns columns and a row of A times its columns is at least host_packed_work:
/// below, strided loads cost less than the copy. Where it is not copied, this many columns at a
/// time (more would be more pages at a time).
inline constexpr std::int64_t host_packed_columns = 4;
inline constexpr std::int64_t host_packed_work = 48;
inline constexpr int host_strided_columns = 4;

/// Rows of X copied together; 64 rows of 32 doubles fit the first-level cache.
inline constexpr std::int64_t host_packed_rows = 64;

/// A Y of at least this many bytes is written around the caches, because it would not stay
/// in them, and lines written whole need not be read first.
inline constexpr std::int64_t host_stream_bytes = std::int64_t{32} << 20;

/// A team's block of rows holds about this many nonzeros (reasoned: large against the cost
/// of handing out a team, small against a core's share), and no more rows than this.
inline constexpr std::int64_t host_team_entries = 4096;
inline constexpr std::int64_t host_team_rows = 512;

}  // namespace blockspan::detail::tuning
