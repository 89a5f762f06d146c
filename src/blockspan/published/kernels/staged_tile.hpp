#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/published/kernels/team_kernel.hpp>
#include <blockspan/published/menu/operands.hpp>
#include <blockspan/published/menu/tuning.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/schedule.hpp>

namespace blockspan::published {

/// A team owns a block of rows and a panel of columns. It stages a tile of X, some rows of the
/// panel, in scratch; each thread reads the rows that its entries need; the next tile begins at the
/// least column not yet processed. So a row of X is read once per block of rows, however many
/// entries use it. The columns of every row are sorted.
template <class Scalar, class Ordinal, int Width, bool Wide>
struct StagedTile {
  static constexpr bool splits_rows = false;
  static constexpr unsigned blocks = tuning::device_blocks;
  static constexpr int own = tuning::tile_thread_rows;  ///< rows of a thread
  static constexpr int depth = 4;
  using P = Vector<Scalar, Width>;

  int const* row_offsets;  ///< rows + 1
  std::int64_t rows;
  AnyEntries<Scalar, Ordinal> entries;
  VectorAccess<Scalar, Width, Wide> X;
  int vectors;  ///< per row of X
  int lanes;    ///< of a thread: vectors of a panel, a power of two
  int panels;   ///< in the numbering of teams, panels vary fastest

  std::size_t scratch_bytes() const {
    return scratch_for(static_cast<std::size_t>(tuning::tile_rows * lanes) * sizeof(P));
  }

  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Team const& team, Consume const& consume) const {
    P* const tile = team_array<P>(team, tuning::tile_rows * lanes);
    int const first_vector = team.league_rank() % panels * lanes;
    std::int64_t const first_row =
        std::int64_t{team.league_rank() / panels} * team.team_size() * own + team.team_rank();
    auto const end_of_X = static_cast<Ordinal>(X.X.rows);
    Rest rest[own];
    Sum<Scalar, Width> sums[own] = {};  // every lane has its own
    BLOCKSPAN_UNROLL
    for (int r = 0; r < own; ++r)
      rest[r] = entries_of(first_row + std::int64_t{r} * team.team_size());
    for (;;) {
      Ordinal const begin = least_column(team, rest, end_of_X);
      if (begin == end_of_X) break;
      int const here = end_of_X - begin < Ordinal(tuning::tile_rows)
                           ? static_cast<int>(end_of_X - begin)
                           : tuning::tile_rows;
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, here * lanes), [&](int i) {
        int const vector = first_vector + i % lanes;
        tile[i] = X(begin + Ordinal(i / lanes), vector < vectors ? vector : vectors - 1);
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](int lane) {
        BLOCKSPAN_UNROLL
        for (int r = 0; r < own; ++r)
          take(tile + lane, begin, begin + Ordinal(here), rest[r], sums[r]);
      });
      team.team_barrier();
    }
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, lanes), [&](int lane) {
      if (first_vector + lane >= vectors) return;
      BLOCKSPAN_UNROLL
      for (int r = 0; r < own; ++r) {
        std::int64_t const row = first_row + std::int64_t{r} * team.team_size();
        if (row < rows)
          consume(RowSegment{row, 0, 0}, std::int64_t{first_vector + lane} * Width, sums[r]);
      }
    });
  }

 private:
  /// The entries of a row that are not yet processed.
  struct Rest {
    int next, last;
  };
  KOKKOS_FORCEINLINE_FUNCTION Rest entries_of(std::int64_t row) const {
    return row < rows ? Rest{row_offsets[row], row_offsets[row + 1]} : Rest{0, 0};
  }

  /// The least column that a row of the team needs next; `none` if all are finished.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION Ordinal least_column(Team const& team, Rest const* rest,
                                                   Ordinal none) const {
    Ordinal least = none;
    BLOCKSPAN_UNROLL
    for (int r = 0; r < own; ++r)
      if (rest[r].next < rest[r].last) {
        Ordinal const column = entries.column(rest[r].next);
        least = column < least ? column : least;
      }
    Ordinal of_team = least;
    team.team_reduce(Kokkos::Min<Ordinal>(of_team), of_team);
    return of_team;
  }

  /// Adds the products of a row's entries with columns below `end`, several at a time.
  KOKKOS_FORCEINLINE_FUNCTION void take(P const* tile, Ordinal begin, Ordinal end, Rest& rest,
                                        Sum<Scalar, Width>& sum) const {
    bool more = true;
    while (more && rest.next < rest.last) {
      Ordinal columns[depth];
      Scalar values[depth];
      BLOCKSPAN_UNROLL
      for (int u = 0; u < depth; ++u) {
        int const k = rest.last - rest.next > u ? rest.next + u : rest.last - 1;
        columns[u] = entries.column(k);
        values[u] = entries.value(k);
      }
      BLOCKSPAN_UNROLL
      for (int u = 0; u < depth; ++u) {
        more = more && rest.next < rest.last && columns[u] < end;
        if (!more) continue;
        P const x = tile[static_cast<int>(columns[u] - begin) * lanes];
        for (int j = 0; j < Width; ++j) sum.value[j] += values[u] * x.value[j];
        ++rest.next;
      }
    }
  }
};

}  // namespace blockspan::published
