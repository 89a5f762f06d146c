#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::products {

/// How far to the right of its row the k-th entry's column is.
template <class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t distance_of(PatternRef<int, Ordinal> const& A,
                                                     std::int64_t row, int k) {
  return std::int64_t{A.column_indices[k]} - row;
}

/// Sums entries whose column is farther from their row than `limit`.
template <class Ordinal>
struct CountFarEntries {
  PatternRef<int, Ordinal> A;
  std::int64_t limit;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& sum) const {
    for (int k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k)
      sum += Kokkos::abs(distance_of(A, row, k)) > limit;
  }
};
template <class Ordinal>
struct RangeOfDistances {
  using Range = Kokkos::MinMaxScalar<std::int64_t>;
  PatternRef<int, Ordinal> A;
  KOKKOS_FUNCTION void operator()(std::int64_t row, Range& range) const {
    for (int k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      range.min_val = Kokkos::min(range.min_val, distance_of(A, row, k));
      range.max_val = Kokkos::max(range.max_val, distance_of(A, row, k));
    }
  }
};

/// Part of the entries whose column lies further from their row than a sixteenth of all rows: more
/// than a band order leaves of a grid of some size, less than chance does. Waits for the instance.
template <class Exec, class Ordinal>
double share_of_far_columns(Exec const& exec, PatternRef<int, Ordinal> const& A) {
  IndexRange<Exec> const rows(exec, 0, A.rows);
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
  ColumnDistances<Exec> distances;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    std::int64_t const row = std::int64_t{team.league_rank()} * team_rows + team.team_rank();
    if (row >= A.rows) return;
    Kokkos::parallel_for(
        Kokkos::ThreadVectorRange(team, A.row_offsets[row], A.row_offsets[row + 1]), [&](int k) {
          distances.values(k) = static_cast<std::int16_t>(distance_of(A, row, k) - distances.shift);
        });
  }
};

/// Empty where they do not fit. O(rows + nonzeros).
template <class Exec, class Ordinal>
ColumnDistances<Exec> column_distances(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                       PatternSummary const& summary) {
  using Write = WriteDistances<Exec, Ordinal>;
  ColumnDistances<Exec> distances;
  if (!summary.sorted || summary.half_bandwidth > INT16_MAX) {
    Kokkos::MinMaxScalar<std::int64_t> range;
    Kokkos::parallel_reduce("Blockspan::spmm_plan::range_of_distances",
                            IndexRange<Exec>(exec, 0, A.rows), RangeOfDistances<Ordinal>{A},
                            Kokkos::MinMax<std::int64_t>(range));
    if (range.max_val - range.min_val > 2 * INT16_MAX) return {};
    if (std::max(range.max_val, -range.min_val) > INT16_MAX)
      distances.shift = (range.min_val + range.max_val) / 2;
  }
  distances.values =
      allocate<decltype(distances.values)>(exec, "Blockspan::spmm_plan::distances", A.entries);
  auto const teams = static_cast<int>(ceil_div(A.rows, std::int64_t{Write::team_rows}));
  Kokkos::parallel_for("Blockspan::spmm_plan::distances",
                       typename Write::Policy(exec, teams, Write::team_rows, Write::lanes),
                       Write{A, distances});
  exec.fence("Blockspan::spmm_plan::column_distances");
  return distances;
}

}  // namespace blockspan::products
