#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/published/detail/stage.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/inner/pack_access.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/tuning.hpp>

namespace blockspan::detail {

/// Staged loads: the lanes of a team thread read a chunk of entries together, coalesced, and keep
/// it in `Stage`; then each lane walks the chunk for its pack of `Width` neighbouring columns.
/// Portable: where a thread has one lane, that lane does both.
template <class Scalar, class Ordinal, int Width, bool Wide, class Stage>
struct StagedLanes {
  static constexpr unsigned blocks = tuning::device_blocks;
  static constexpr std::size_t thread_scratch_bytes = Stage::bytes;

  AnyEntries<Scalar, Ordinal> entries;
  PackAccess<Scalar, Width, Wide> X;
  int packs;  ///< in a row of X
  int lanes;  ///< of a thread

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION Stage stage(Team const& team) const {
    return Stage(team, lanes);
  }

  /// consume(column, sum) for all columns, once each, on the lane that has the sum.
  template <class Team, class Piece, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const& team, Stage& stage, Piece const& piece,
                                                Consume const& consume) const {
    for (int first = 0; first < packs; first += lanes) {
      Sum<Scalar, Width> sum{};  // every lane has its own
      for (int k = piece.first; k < piece.last; k += stage.size()) {
        auto const left = piece.last - k;
        int const count = left < stage.size() ? left : stage.size();
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, count), [&](int i) {
          stage.put(i, entries.column(k + i), entries.value(k + i));
        });
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](int lane) {
          int const pack = first + lane < packs ? first + lane : packs - 1;
          for (int i = 0; i < count; ++i) X.add_product(stage.value(i), stage.column(i), pack, sum);
        });
      }
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](int lane) {
        if (first + lane < packs) consume(std::int64_t{first + lane} * Width, sum);
      });
    }
  }
};

}  // namespace blockspan::detail
