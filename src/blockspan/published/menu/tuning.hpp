#pragma once

#include <cstdint>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/host.hpp>

namespace blockspan::published::tuning {

using namespace products::tuning;

// What the published kernels stage and tile, and the dense product. As spmm/devices/hopper.hpp and
// host.hpp.

/// Entries of a chunk that the lanes of a thread stage in scratch (GE-SpMM takes a warp's 32), and
/// the least lanes of such a thread: more threads a team would be more chunks than scratch has room
/// for.
inline constexpr int staged_entries = 32;
inline constexpr int staged_lanes = 8;

/// Tiles of merge_path and equal_entries: work of a team thread. Devices: few enough that all
/// threads are busy, enough that the sums of cut rows stay a small part of the traffic (reasoned).
inline constexpr std::int64_t device_thread_tile = 128;
inline constexpr std::int64_t host_thread_tile = 4096;

/// Tiles of whole teams (row_classes, prefix_sum): entries of a common tile of short rows, whose
/// products lie in scratch; a row of more than team_longest entries is cut. (Reasoned: 1024
/// products of 16 bytes leave room for ten teams on a multiprocessor; a team of 256 reads 8192
/// entries in 32 turns.)
inline constexpr int team_stream = 512;
inline constexpr std::int64_t team_longest = 8192;
inline constexpr int team_scan = 1024;

/// The first of these for one vector of columns: threads of a team, entries of a thread whose loads
/// are in flight, and lanes among which the rows of a tile share. One H200, one column,
/// microseconds with 256 threads, one entry and a lane a row; with these; with 8 in flight; with 64
/// and 256 lanes: R-MAT 20 211, 150, 171, 153, 150; R-MAT 18 60, 41, 47, 44, 41; 98e6 random
/// nonzeros 1560, 1257,
/// -, 1252, 1322; email-Enron 8.8, 7.3, -, 13, 7.8; cit-HepPh 9.4, 8.2, -, 14, 8.8; wave 19, 14, -,
/// 14, 17; but wiki-Vote 8.1, 9.2, -, 16, 8.1. (Sums of a row that wait for one load at a time
/// took half as much again.)
inline constexpr int team_stream_threads = 128;
inline constexpr int team_stream_depth = 4;
inline constexpr int team_stream_lanes = 128;

/// Staged tiles of X: vectors of a panel, rows of X a tile (16 KiB), rows of A a thread.
inline constexpr int tile_vectors = 8;
inline constexpr int tile_rows = 128;
inline constexpr int tile_thread_rows = 2;

/// The largest A that is written out as a dense matrix.
inline constexpr std::int64_t device_dense_bytes = std::int64_t{8} << 30;
inline constexpr std::int64_t host_dense_bytes = std::int64_t{1} << 30;

}  // namespace blockspan::published::tuning
