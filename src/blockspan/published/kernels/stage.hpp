#pragma once

#include <cstddef>

#include <Kokkos_Core.hpp>

#include <blockspan/published/menu/tuning.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>

namespace blockspan::published {

// Storage for a chunk of entries that the lanes of a team thread load together, one entry per lane,
// before every lane uses all of them.

/// In the team scratch of the thread.
template <class Scalar, class Ordinal>
struct ScratchStage {
  static constexpr int chunk = tuning::staged_entries;
  static constexpr std::size_t bytes = chunk * (sizeof(Scalar) + sizeof(Ordinal)) + sizeof(Scalar);

  Ordinal* columns;
  Scalar* values;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION ScratchStage(Team const& team, int) {
    auto const& scratch = team.thread_scratch(0);
    values =
        static_cast<Scalar*>(scratch.get_shmem_aligned(chunk * sizeof(Scalar), alignof(Scalar)));
    columns =
        static_cast<Ordinal*>(scratch.get_shmem_aligned(chunk * sizeof(Ordinal), alignof(Ordinal)));
  }
  KOKKOS_FORCEINLINE_FUNCTION int size() const { return chunk; }
  KOKKOS_FORCEINLINE_FUNCTION void put(int i, Ordinal column, Scalar const& value) {
    columns[i] = column;
    values[i] = value;
  }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(int i) const { return columns[i]; }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(int i) const { return values[i]; }
};

/// In registers, one entry per lane, broadcast from there. All lanes read the same entry at the
/// same time. With a single lane a chunk is one entry.
template <class Scalar, class Ordinal>
struct LaneStage {
  static constexpr std::size_t bytes = 0;

  int lanes;
  Ordinal own_column = 0;
  Scalar own_value = Scalar(0);

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION LaneStage(Team const&, int lanes_of_thread)
      : lanes(lanes_of_thread) {}
  KOKKOS_FORCEINLINE_FUNCTION int size() const { return lanes; }
  KOKKOS_FORCEINLINE_FUNCTION void put(int, Ordinal column, Scalar const& value) {
    own_column = column;
    own_value = value;
  }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(int i) const {
    return broadcast(own_column, i, lanes);
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(int i) const { return broadcast(own_value, i, lanes); }
};

}  // namespace blockspan::published
