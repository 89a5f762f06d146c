#pragma once

#include <cstdint>

namespace blockspan::detail {

/// Every number of the product's kernels that was chosen rather than derived, with what chose it.
namespace tuning {

/// Devices. One H200, CUDA 13.0, Kokkos 4.7.0, 7-point 128^3 and elasticity 44^3 x 3 at n = 4..32:
/// as a TeamPolicy functor with LaunchBounds <256, 6> the product takes 1.00 to 1.07 times a
/// hand-launched kernel; <256, 2> takes 1.04 to 1.45, <256, 8> up to 1.92, <128, 12> 1.00 to 1.07.
inline constexpr unsigned device_threads = 256;
inline constexpr unsigned device_blocks = 6;

/// Loads of rows of X in flight in one lane. 4 to 8 served a hand-launched kernel best on the same
/// machine; 4 keeps complex double within the registers of <256, 6> (reasoned, not measured here).
inline constexpr int device_depth = 4;

/// Width of a lane's load. 16 bytes is the widest load there is.
inline constexpr int device_pack_bytes = 16;

/// Lanes of a team thread, at most: the width of a warp.
inline constexpr int device_max_lanes = 32;

/// Devices: rows are cut above this many nonzeros. One H200, R-MAT scale 20: whole rows take 30
/// times as long as pieces. Where there are too few rows to fill the device (512 x 394792 with 2242
/// nonzeros a row) pieces of 128 were the best of a hand-launched kernel. Not yet tuned here.
inline constexpr std::int64_t device_piece = 512;
inline constexpr std::int64_t device_piece_few_rows = 128;
inline constexpr std::int64_t device_few_rows = 16384;

/// Hosts: a row is cut only when it alone could hold up a core; 4096 nonzeros are about 10 us
/// (reasoned, not measured).
inline constexpr std::int64_t host_piece = 4096;
inline constexpr std::int64_t host_longest_whole_row = 16384;

/// Hosts: bytes of sums kept in registers while a row is read once: four of the widest registers.
inline constexpr int host_pack_bytes = 256;
/// Hosts: bytes of one register of the target, as the compiler was told.
#if defined(__AVX512F__)
inline constexpr int host_register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int host_register_bytes = 32;
#else
inline constexpr int host_register_bytes = 16;
#endif

/// Hosts: at most so many chains of sums (the latency of an addition in its throughput), in rows of
/// so many nonzeros or more. One core of an EPYC 9004 (2.6 GHz, AVX-512), n = 1: elasticity 44 (77
/// nonzeros a row) 15.2 -> 12.4 ms with chains; 7-point 100^3 9.2 -> 11.7 ms, hence the bound.
inline constexpr int host_chains = 4;
inline constexpr int host_chained_row = 16;

/// Hosts: so many columns or fewer, left at the end, are multiplied in one pass over the row. Same
/// core, elasticity 44, n = 7: 47 -> 30 ms.
inline constexpr int host_last_few = 8;

/// Hosts: a value of the transposed pattern is asked for this many entries ahead.
inline constexpr int host_prefetch = 32;

/// Hosts: X whose rows are not contiguous is copied into row-major scratch first where it has at
/// least host_packed_columns columns and a row of A times its columns is at least host_packed_work:
/// below, strided loads cost less than the copy. Where it is not copied, this many columns at a
/// time (more would be more pages at a time).
inline constexpr std::int64_t host_packed_columns = 4;
inline constexpr std::int64_t host_packed_work = 48;
inline constexpr int host_strided_columns = 4;

/// Hosts: rows of X copied together; 64 rows of 32 doubles fit the first-level cache.
inline constexpr std::int64_t host_packed_rows = 64;

/// Hosts: a Y of at least this many bytes is written around the caches, because it would not stay
/// in them, and lines written whole need not be read first.
inline constexpr std::int64_t host_stream_bytes = std::int64_t{32} << 20;

/// Hosts: a team's block of rows holds about this many nonzeros (reasoned: large against the cost
/// of handing out a team, small against a core's share), and no more rows than this.
inline constexpr std::int64_t host_team_entries = 4096;
inline constexpr std::int64_t host_team_rows = 512;

}  // namespace tuning
}  // namespace blockspan::detail
