#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>

namespace blockspan::products {

/// A group costs each entry's index and row of X once, and a value a row: the first
/// two weigh this many values where the plan chooses how many rows a group may have. (Reasoned.)
inline constexpr double group_fetch = 2;

/// Whether a row has the columns of the one before. Most differ from it in length or first column:
/// then nothing else is read.
template <class Ordinal>
KOKKOS_FUNCTION bool continues_run(PatternRef<int, Ordinal> const& A, std::int64_t row) {
  if (row == 0) return false;
  int const before = A.row_offsets[row - 1], first = A.row_offsets[row];
  int const length = A.row_offsets[row + 1] - first;
  if (length == 0 || length > tuning::group_longest_row || first - before != length) return false;
  for (int k = 0; k < length; ++k)
    if (A.column_indices[before + k] != A.column_indices[first + k]) return false;
  return true;
}

/// A scan with the maximum: run(row) becomes the row where the row's run begins.
template <class Exec, class Ordinal>
struct SpreadRuns {
  using value_type = std::int64_t;
  RowArray<Exec, Ordinal> run;

  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& begin, bool final) const {
    join(begin, static_cast<std::int64_t>(run(row)));
    if (final) run(row) = static_cast<Ordinal>(begin);
  }
  KOKKOS_FUNCTION void init(std::int64_t& begin) const { begin = 0; }
  KOKKOS_FUNCTION void join(std::int64_t& a, std::int64_t const& b) const { a = a < b ? b : a; }
};

/// Runs are cut into groups of `most` rows, the last one of a run maybe of fewer.
template <class Run>
KOKKOS_FORCEINLINE_FUNCTION bool begins_group(Run const& run, std::int64_t row, int most) {
  return (row - static_cast<std::int64_t>(run(row))) % most == 0;
}

/// Of groups of at most 2, 3, ... rows.
struct GroupCounts {
  GroupCount of[tuning::group_rows - 1];
};

/// A reduction: the counts for every possible size of a group.
template <class Exec, class Ordinal>
struct CountGroups {
  using value_type = GroupCounts;
  RowArray<Exec, Ordinal> run;
  int const* row_offsets;

  KOKKOS_FUNCTION void operator()(std::int64_t row, GroupCounts& sum) const {
    auto const length = static_cast<std::int64_t>(row_offsets[row + 1] - row_offsets[row]);
    for (int most = 2; most <= tuning::group_rows; ++most)
      if (begins_group(run, row, most)) {
        ++sum.of[most - 2].groups;
        sum.of[most - 2].fetches += length;
      }
  }
  KOKKOS_FUNCTION void init(GroupCounts& sum) const { sum = {}; }
  KOKKOS_FUNCTION void join(GroupCounts& a, GroupCounts const& b) const {
    for (int i = 0; i < tuning::group_rows - 1; ++i) {
      a.of[i].groups += b.of[i].groups;
      a.of[i].fetches += b.of[i].fetches;
    }
  }
};

/// The largest size of a group, chosen to minimize the loads.
inline int rows_of_group(GroupCounts const& counts) {
  int best = 2;
  auto const loads = [&](int most) {
    return (group_fetch + most) * static_cast<double>(counts.of[most - 2].fetches);
  };
  for (int most = 3; most <= tuning::group_rows; ++most)
    if (loads(most) < loads(best)) best = most;
  return best;
}

template <class Exec, class Ordinal>
struct MarkRuns {
  PatternRef<int, Ordinal> A;
  RowArray<Exec, Ordinal> run;
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    run(row) = static_cast<Ordinal>(continues_run(A, row) ? 0 : row);
  }
};

/// A scan over the rows.
template <class Exec, class Ordinal>
struct WriteGroups {
  using value_type = std::int64_t;
  RowArray<Exec, Ordinal> run, begin;
  int most;
  std::int64_t groups, rows;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& before, bool final) const {
    bool const begins = begins_group(run, row, most);
    if (final && begins) begin(before) = static_cast<Ordinal>(row);
    if (final && row == rows - 1) begin(groups) = static_cast<Ordinal>(rows);
    if (begins) ++before;
  }
};

/// Puts every row into one group: consecutive rows with the same columns in the same order are
/// together, up to 2, 3 or 4 of them, whichever leaves the least to load; a row without entries, or
/// of more than tuning::group_longest_row, is alone. If they fetch more than `most_fetches`, they
/// are counted, but not listed. Four passes over the rows; the columns are read where two rows
/// agree so far: O(rows + nonzeros).
template <class Exec, class Ordinal>
RowGroupList<Exec, Ordinal> find_row_groups(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                            std::int64_t most_fetches) {
  RowGroupList<Exec, Ordinal> list;
  if (A.rows == 0) return list;
  PartedArray<Exec, Ordinal> array(exec, "Blockspan::spmm_plan::groups", 2 * A.rows + 1);
  RowArray<Exec, Ordinal> const run = array.take(A.rows);
  IndexRange<Exec> const all_rows(exec, 0, A.rows);
  Kokkos::parallel_for("Blockspan::spmm_plan::mark_runs", all_rows,
                       MarkRuns<Exec, Ordinal>{A, run});
  Kokkos::parallel_scan("Blockspan::spmm_plan::spread_runs", all_rows,
                        SpreadRuns<Exec, Ordinal>{run});
  GroupCounts counts;
  Kokkos::parallel_reduce("Blockspan::spmm_plan::count_groups", all_rows,
                          CountGroups<Exec, Ordinal>{run, A.row_offsets}, counts);
  list.most = rows_of_group(counts);
  list.count = counts.of[list.most - 2];
  if (list.count.fetches > most_fetches) return list;
  list.begin = array.take(list.count.groups + 1);
  Kokkos::parallel_scan(
      "Blockspan::spmm_plan::write_groups", all_rows,
      WriteGroups<Exec, Ordinal>{run, list.begin, list.most, list.count.groups, A.rows});
  exec.fence("Blockspan::spmm_plan::find_row_groups");
  return list;
}

}  // namespace blockspan::products
