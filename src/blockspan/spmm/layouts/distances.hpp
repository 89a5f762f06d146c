#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// The distance of the k-th entry's column from its row.
template <class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t distance_of(PatternRef<int, Ordinal> const& A,
                                                     std::int64_t row, int k) {
  return Kokkos::abs(std::int64_t{A.column_indices[k]} - row);
}

/// Sums entries whose column is farther from their row than `limit`.
template <class Ordinal>
struct CountFarEntries {
  PatternRef<int, Ordinal> A;
  std::int64_t limit;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& sum) const {
    for (int k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k)
      sum += distance_of(A, row, k) > limit;
  }
};
template <class Ordinal>
struct FarthestEntry {
  PatternRef<int, Ordinal> A;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& most) const {
    for (int k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k)
      most = Kokkos::max(most, distance_of(A, row, k));
  }
};

/// Part of the entries whose column lies further from their row than a sixteenth of all rows: more
/// than a band order leaves of a grid of some size, less than chance does. Waits for the instance.
template <class Exec, class Ordinal>
double share_of_far_columns(Exec const& exec, PatternRef<int, Ordinal> const& A) {
  Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>> const rows(exec, 0, A.rows);
  std::int64_t far = 0;
  Kokkos::parallel_reduce("Blockspan::spmm_plan::far_columns", rows,
                          CountFarEntries<Ordinal>{A, A.rows / 16}, far);
  return static_cast<double>(far) / static_cast<double>(std::max<std::int64_t>(1, A.entries));
}

/// A team thread a row, so that its lanes write contiguously.
template <class Exec, class Ordinal>
struct WriteDistances {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Team = typename Policy::member_type;
  static constexpr int lanes = 8, team_rows = 32;
  PatternRef<int, Ordinal> A;
  DistanceArray<Exec> distances;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    std::int64_t const row = std::int64_t{team.league_rank()} * team_rows + team.team_rank();
    if (row >= A.rows) return;
    Kokkos::parallel_for(
        Kokkos::ThreadVectorRange(team, A.row_offsets[row], A.row_offsets[row + 1]), [&](int k) {
          distances(k) = static_cast<std::int16_t>(std::int64_t{A.column_indices[k]} - row);
        });
  }
};

/// Empty where a distance does not fit. O(rows + nonzeros).
template <class Exec, class Ordinal>
DistanceArray<Exec> column_distances(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                     PatternSummary const& summary) {
  using Write = WriteDistances<Exec, Ordinal>;
  std::int64_t largest = summary.half_bandwidth;
  if (!summary.sorted)
    Kokkos::parallel_reduce(
        "Blockspan::spmm_plan::largest_distance",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, A.rows),
        FarthestEntry<Ordinal>{A}, Kokkos::Max<std::int64_t>(largest));
  if (largest > INT16_MAX) return {};
  auto const distances =
      allocate<DistanceArray<Exec>>(exec, "Blockspan::spmm_plan::distances", A.entries);
  auto const teams = static_cast<int>(ceil_div(A.rows, std::int64_t{Write::team_rows}));
  Kokkos::parallel_for("Blockspan::spmm_plan::distances",
                       typename Write::Policy(exec, teams, Write::team_rows, Write::lanes),
                       Write{A, distances});
  exec.fence("Blockspan::spmm_plan::column_distances");
  return distances;
}

}  // namespace blockspan::detail
