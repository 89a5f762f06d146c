#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/parts/carry.hpp>

// Schedules: which segments of rows a thread of a team multiplies. Their arrays belong to the plan.

namespace blockspan::products {

/// What one team thread multiplies at a time: the nonzeros first .. last - 1 of one row.
struct RowSegment {
  std::int64_t target;  ///< >= 0: the row, complete; < 0: the carry slot -1 - target of a cut row
  int first;
  int last;

  KOKKOS_FORCEINLINE_FUNCTION bool complete() const { return target >= 0; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row() const { return target; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t slot() const { return -1 - target; }

  /// As a group of one row (RowGroup).
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION int row_at(int) const { return 0; }
};

/// One that a plan has listed.
struct ListedSegment : RowSegment {
  static constexpr bool is_listed = true;
};
template <class Segment>
inline constexpr bool is_listed_v = requires {
  Segment::is_listed;
};

/// A row, and one of the passes over its columns.
struct RowPass : RowSegment {
  int pass;
};
template <class Segment>
inline constexpr bool is_pass_v = requires(Segment const& segment) {
  segment.pass;
};

/// Hands the segments of a schedule to the threads of its teams: team t owns the segments
/// [t * per_team, (t + 1) * per_team), a thread of it every team_size-th of them.
struct SegmentsOfTeam {
  std::int64_t segments;  ///< of the whole product
  std::int64_t per_team;  ///< >= 1

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Team const& team, Function const& function) const {
    std::int64_t const begin = per_team * team.league_rank();
    std::int64_t const end = begin + per_team < segments ? begin + per_team : segments;
    for (std::int64_t p = begin + team.team_rank(); p < end; p += team.team_size()) function(p);
  }
};

/// The same where a team has a thread for each of its segments: no registers are needed between one
/// segment and the next.
struct SegmentOfThread {
  std::int64_t segments;
  std::int64_t per_team;  ///< team size

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(Team const& team, Function const& function) const {
    std::int64_t const p = per_team * team.league_rank() + team.team_rank();
    if (p < segments) function(p);
  }
};

/// A segment is a row.
template <class Share = SegmentsOfTeam>
struct WholeRows {
  static constexpr bool splits_rows = false;
  using Segment = RowSegment;

  Share share;
  int const* row_offsets;  ///< rows + 1

  KOKKOS_FORCEINLINE_FUNCTION Segment at(std::int64_t row) const {
    return {row, row_offsets[row], row_offsets[row + 1]};
  }

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_segment(Team const& team,
                                                    Function const& function) const {
    // in 32 bits, which hold it: kernels of whole rows have no register to spare
    share.for_each(team, [&](std::int64_t row) { function(at(static_cast<int>(row))); });
  }
};

/// Segments that a plan has listed. A complete row is written by the epilogue at once; the sums of
/// a cut row's segments go to the carry.
template <class Scalar, class Ordinal, class Share = SegmentsOfTeam>
struct CutRows : Carry<Scalar, Ordinal> {
  static constexpr bool splits_rows = true;
  using Segment = ListedSegment;

  Share share;
  Ordinal const* target;  ///< segments: see RowSegment::target
  int const* first;       ///< segments
  int const* last;        ///< segments

  KOKKOS_FORCEINLINE_FUNCTION Segment at(std::int64_t p) const {
    return {{static_cast<std::int64_t>(target[p]), first[p], last[p]}};
  }

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_segment(Team const& team,
                                                    Function const& function) const {
    share.for_each(team, [&](std::int64_t p) { function(at(p)); });
  }
};

/// A segment is a pass over a row, for few rows with many columns: the passes run in parallel, the
/// first of all rows before the second, so that a part of X is in use at a time. Traffic: A once a
/// pass.
struct RowPasses {
  static constexpr bool splits_rows = false;
  using Segment = RowPass;

  SegmentsOfTeam share;  ///< of the passes
  std::int64_t rows;
  int const* row_offsets;  ///< rows + 1

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_segment(Team const& team,
                                                    Function const& function) const {
    share.for_each(team, [&](std::int64_t p) {
      std::int64_t const pass = p / rows, row = p - pass * rows;
      function(Segment{{row, row_offsets[row], row_offsets[row + 1]}, static_cast<int>(pass)});
    });
  }
};

}  // namespace blockspan::products
