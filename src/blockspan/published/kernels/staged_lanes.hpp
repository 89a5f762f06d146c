#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/published/kernels/stage.hpp>
#include <blockspan/published/menu/operands.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/load.hpp>

namespace blockspan::published {

/// Staged loads: the lanes of a team thread load a chunk of entries together, coalesced, into
/// `Stage`; then each lane traverses the chunk for its vector of `Width` adjacent columns.
/// Portable: a thread with a single lane does both.
template <class Scalar, class Ordinal, int Width, bool Wide, class Stage>
struct StagedLanes {
  static constexpr unsigned blocks = tuning::device_blocks;
  static constexpr std::size_t thread_scratch_bytes() { return Stage::bytes; }

  AnyEntries<Scalar, Ordinal> entries;
  VectorAccess<Scalar, Width, Wide> X;
  int vectors;  ///< per row of X
  int lanes;    ///< of a thread

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION Stage stage(Team const& team) const {
    return Stage(team, lanes);
  }

  /// Calls consume(column, sum) once for every column, on the lane that has the sum.
  template <class Team, class Segment, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const& team, Stage& stage,
                                                Segment const& segment,
                                                Consume const& consume) const {
    for (int first = 0; first < vectors; first += lanes) {
      Sum<Scalar, Width> sum{};  // every lane has its own
      for (int k = segment.first; k < segment.last; k += stage.size()) {
        auto const left = segment.last - k;
        int const count = left < stage.size() ? left : stage.size();
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, count), [&](int i) {
          stage.put(i, entries.column(k + i), entries.value(k + i));
        });
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](int lane) {
          int const vector = first + lane < vectors ? first + lane : vectors - 1;
          for (int i = 0; i < count; ++i)
            X.add_product(stage.value(i), stage.column(i), vector, sum);
        });
      }
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](int lane) {
        if (first + lane < vectors) consume(std::int64_t{first + lane} * Width, sum);
      });
    }
  }
};

}  // namespace blockspan::published
