#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <blockspan/support/registers/register_set.hpp>

// The table of hosts, by instruction set (BLOCKSPAN_REGISTERS): what their kernels are compiled
// with, and what a plan expects of them. What chose a figure stands with it.

namespace blockspan::products::tuning {

inline namespace BLOCKSPAN_REGISTERS {
/// Hosts: bytes of sums kept in registers while a row is read once: four registers, two of AVX-512
/// (four took 1.2 to 1.3 times as long for rows of X of just 128 bytes; perf/notes/hosts.md).
inline constexpr int host_vector_bytes = std::min(4 * register_bytes, 128);

/// Vectors of this many bytes prefetch rows of X.
inline constexpr int host_asking_bytes = std::min(128, host_vector_bytes);

/// Bytes of sums kept in registers for each row of a group: eight registers with four rows.
inline constexpr int host_group_vector_bytes = 2 * register_bytes;

/// Rows of a slice (layouts/row_slices.hpp): two registers of sums at most, for even and odd
/// entries each; and of a window in which rows are sorted: one core of an EPYC 9004, n = 1, no
/// slices, windows of 8, 64, 256, 1024 rows: delaunay_n15 0.22, 0.12, 0.10, 0.09, 0.09 ms; 7-point
/// 40^3 0.22, 0.19, 0.18, 0.17, 0.17.
inline constexpr int slice_rows = register_bytes >= 32 ? 8 : 4;
inline constexpr int slice_window = 256;

/// Columns of a host's pass over a row: eight registers hold their sums, as in HostRows.
inline constexpr int sixteen_bit_host_columns = 8 * register_bytes / int(sizeof(float));
}  // namespace BLOCKSPAN_REGISTERS

/// Hosts: columns at a time of an X that is neither contiguous nor copied (more would be more pages
/// at a time); rows of X copied together (64 of 32 doubles fit the first-level cache).
inline constexpr int host_strided_columns = 4;
inline constexpr std::int64_t host_packed_rows = 64;

/// A value of the transposed pattern is prefetched this many entries ahead.
inline constexpr int host_prefetch = 32;

/// A Y of at least this many bytes is written around the caches, because it would not stay in them,
/// and lines written whole need not be read first.
inline constexpr std::int64_t host_stream_bytes = std::int64_t{32} << 20;

/// A team's block of rows holds about this many nonzeros (reasoned: large against the cost of
/// handing out a team, small against a core's share), and no more rows than this.
inline constexpr std::int64_t host_team_entries = 4096;
inline constexpr std::int64_t host_team_rows = 512;

// Whole rows (kernels/rows_host.hpp, direct_registers.hpp).

/// Registers that hold the sums of a row of Y while a row of A is read: eight, of complex scalars
/// four by real and four by imaginary parts (perf/notes/hosts.md).
inline constexpr int host_registers_of_pass = 8;
/// Rows that have all their passes before the next ones begin: what is far from each other in time
/// is not open in memory any more.
inline constexpr std::int64_t host_rows_of_passes = 8;
/// Rows of a Y by columns that are written together, of at least the second many columns, bytes of
/// their tile, and bytes after which lines share a set of the first-level cache
/// (perf/notes/hosts.md).
inline constexpr std::int64_t host_tile_rows = 16;
inline constexpr std::int64_t host_tile_columns = 8;
inline constexpr std::int64_t host_tile_bytes = 1 << 14;
inline constexpr std::int64_t host_set_bytes = 1 << 12;
/// Bytes of the partial sums of a row: its entries alternate among independent chains.
inline constexpr int host_chain_bytes = 128;

/// Chains of sums, at most (latency over throughput of an addition), and the length of a row from
/// which there are several. One core of an EPYC 9004, n = 1, without and with: elasticity
/// 44 15.2, 12.4 ms; 7-point 100^3 9.2, 11.7 ms, hence the bound.
inline constexpr int host_chains = 4;
inline constexpr int host_chained_row = 16;

/// Columns left at the end, up to this many, are multiplied in one pass over the row (elasticity
/// 44, n = 7: 47 -> 30 ms).
inline constexpr int host_last_few = 8;

/// A row of X is prefetched this many entries ahead, where X has at least host_asked_block bytes.
/// Two cores of an EPYC, 32 columns, milliseconds without and with 16, 24, 32:
/// wing 2.00, 1.27, 1.42, 1.41; wave 7.01, 6.59, 6.20, 6.10; 7-point 64^3 6.42, 6.06, 5.94, 5.41;
/// but 4.5 MiB of X (memplus) 0.23, 0.27.
inline constexpr int host_rows_ahead = 24;
inline constexpr std::size_t host_line_bytes = 64;
inline constexpr std::int64_t host_asked_block = std::int64_t{8} << 20;

/// Columns of a pass of 16-bit scalars where a row of X is not contiguous, and read element by
/// element.
inline constexpr int sixteen_bit_strided_columns = 8;

// Sampled products (kernels/sampled.hpp).

/// Reals of a row that a host thread multiplies before it goes on to the next columns.
inline constexpr int sampled_panel = 256;
/// Entries ahead whose rows of Y a host prefetches, and how many bytes of them. One thread of an
/// EPYC with AVX2, beside other jobs, 20,000 rows of 25 random entries, double, n = 8, 32, 64, ms
/// without prefetches and with them: 3.9, 13.0, 38.4; 3.2, 5.1, 13.2.
inline constexpr int sampled_rows_ahead = 16;
inline constexpr int sampled_asked_bytes = 512;

// What a plan expects: one core, reasoned.

/// Hosts: X whose rows are not contiguous is copied first from this many columns, and this many
/// products a row, on: below, strided loads cost less than the copy.
inline constexpr std::int64_t host_packed_columns = 4;
inline constexpr double host_packed_work = 48;

struct HostRowsCosts {
  /// A row of many nonzeros could hold up the others.
  static constexpr std::int64_t host_longest_row = 16384;
  static constexpr double host_column = 2.5e-4;  ///< us: a nonzero and a column
};

struct HostSegmentsCosts {
  static constexpr std::int64_t host_segment = 4096;
  static constexpr double host_listed_row = 1.2e-3;  ///< us: the list costs a little
};

}  // namespace blockspan::products::tuning
