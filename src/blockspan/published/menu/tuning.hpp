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

/// Entries of a tile of prefix_sum, a team's. (Reasoned.)
inline constexpr int team_scan = 1024;

/// Staged tiles of X: vectors of a panel, rows of X a tile (16 KiB), rows of A a thread.
inline constexpr int tile_vectors = 8;
inline constexpr int tile_rows = 128;
inline constexpr int tile_thread_rows = 2;

/// The largest A that is written out as a dense matrix.
inline constexpr std::int64_t device_dense_bytes = std::int64_t{8} << 30;
inline constexpr std::int64_t host_dense_bytes = std::int64_t{1} << 30;

}  // namespace blockspan::published::tuning
