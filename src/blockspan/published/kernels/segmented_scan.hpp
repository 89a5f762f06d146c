#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/published/kernels/team_kernel.hpp>
#include <blockspan/published/menu/tuning.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/parts/cut_tiles.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/load.hpp>

namespace blockspan::published {

/// The products of a tile are stored in scratch, and a segmented prefix sum, which restarts at the
/// beginning of every row, leaves the sum of a row at its last entry (Blelloch, Heroux, Zagha
/// 1993). Differences of plain prefix sums would be shorter, but suffer from cancellation. One
/// column at a time: the method for a single column.
///
/// A worker scans its own consecutive entries, then the last sums of the workers are scanned by
/// recursive doubling.
template <class Scalar, class Ordinal>
struct SegmentedScan {
  static constexpr bool splits_rows = true;
  static constexpr unsigned blocks = tuning::device_blocks;
  static constexpr int capacity = tuning::team_scan;  ///< entries of a tile

  CutTiles<Scalar, Ordinal> tiles;
  AnyEntries<Scalar, Ordinal> entries;
  BlockRef<Scalar const> X;
  int workers;  ///< threads of a team

  std::size_t scratch_bytes() const {
    return scratch_for(capacity * (sizeof(Scalar) + sizeof(int)) +
                       2 * static_cast<std::size_t>(workers) * sizeof(LastSum));
  }

  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Team const& team, Consume const& consume) const {
    std::int64_t const tile = team.league_rank();
    auto* const sums = team_array<Scalar>(team, capacity);
    auto* const heads = team_array<int>(team, capacity);
    auto* const last_sums = team_array<LastSum>(team, 2 * workers);
    int const begin = tiles.entry[tile];
    auto const count = tiles.entry[tile + 1] - begin;
    int const own = (count + workers - 1) / workers;
    auto const parts = static_cast<int>(tiles.parts(tile));
    mark_heads(team, tile, parts, count, heads);
    for (std::int64_t column = 0; column < X.columns; ++column) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count), [&](int i) {
        int const k = begin + i;
        sums[i] = entries.value(k) * X(static_cast<std::int64_t>(entries.column(k)), column);
      });
      team.team_barrier();
      scan_own(team, own, count, heads, sums, last_sums);
      LastSum const* const scanned = scan_workers(team, last_sums);
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, parts), [&](int p) {
        auto const segment = tiles.part(tile, p);
        Sum<Scalar, 1> sum{};
        if (segment.first < segment.last) {
          auto const first = segment.first - begin;
          auto const last = segment.last - begin - 1;
          int const worker = last / own;
          sum.value[0] = sums[last];
          if (first < worker * own) sum.value[0] += scanned[worker - 1].sum;
        }
        consume(segment, column, sum);
      });
      team.team_barrier();
    }
  }

 private:
  /// The sum of a worker's last segment, and whether the segment began within the worker's entries.
  struct LastSum {
    Scalar sum;
    int closed;
  };

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void mark_heads(Team const& team, std::int64_t tile, int parts,
                                              int count, int* heads) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count), [&](int i) { heads[i] = 0; });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, parts), [&](int p) {
      auto const segment = tiles.part(tile, p);
      if (segment.first < segment.last) heads[segment.first - tiles.entry[tile]] = 1;
    });
    team.team_barrier();
  }

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void scan_own(Team const& team, int own, int count, int const* heads,
                                            Scalar* sums, LastSum* last_sums) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, workers), [&](int worker) {
      LastSum mine{Scalar(0), 0};
      for (int i = worker * own; i < (worker + 1) * own && i < count; ++i) {
        if (heads[i] != 0) mine = {Scalar(0), 1};
        mine.sum += sums[i];
        sums[i] = mine.sum;
      }
      last_sums[worker] = mine;
    });
    team.team_barrier();
  }

  /// Inclusive scan over the workers, alternating between the halves of `last_sums`; returns the
  /// half with the result.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION LastSum const* scan_workers(Team const& team,
                                                          LastSum* last_sums) const {
    LastSum *from = last_sums, *to = last_sums + workers;
    for (int step = 1; step < workers; step *= 2) {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, workers), [&](int worker) {
        LastSum mine = from[worker];
        if (worker >= step && mine.closed == 0) {
          mine.sum = from[worker - step].sum + mine.sum;
          mine.closed = from[worker - step].closed;
        }
        to[worker] = mine;
      });
      team.team_barrier();
      LastSum* const other = from;
      from = to;
      to = other;
    }
    return from;
  }
};

}  // namespace blockspan::published
