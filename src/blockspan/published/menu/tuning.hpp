#pragma once

#include <cstdint>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/host.hpp>

namespace blockspan::published::tuning {

using namespace products::tuning;

// Constants of the published kernels: staging, tiles, and the dense product. Like
// spmm/devices/hopper.hpp and host.hpp.

/// Entries of a chunk that the lanes of a thread stage in scratch (32 in GE-SpMM, a warp), and the
/// minimum of lanes of such a thread: with fewer lanes a team has more threads, and their chunks
/// exceed the scratch.
inline constexpr int staged_entries = 32;
inline constexpr int staged_lanes = 8;

/// Tiles of `merge` and `balanced`: work of a team thread. On devices small enough that all threads
/// are busy, and large enough that the carried sums of divided rows are a small part of the traffic
/// (estimated, not measured).
inline constexpr std::int64_t device_thread_tile = 128;
inline constexpr std::int64_t host_thread_tile = 4096;

/// Entries of a tile of prefix_sum, one tile per team. (Estimated, not measured.)
inline constexpr int team_scan = 1024;

/// Staged tiles of X: vectors of a panel, rows of X per tile (16 KiB), rows of A per thread.
inline constexpr int tile_vectors = 8;
inline constexpr int tile_rows = 128;
inline constexpr int tile_thread_rows = 2;

/// The largest A, in bytes, that is expanded to a dense matrix.
inline constexpr std::int64_t device_dense_bytes = std::int64_t{8} << 30;
inline constexpr std::int64_t host_dense_bytes = std::int64_t{1} << 30;

}  // namespace blockspan::published::tuning
