#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include <blockspan/spmm/detail/check.hpp>
#include <blockspan/spmm/detail/plan_impl.hpp>
#include <blockspan/spmm/detail/row_panels.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

/// Row offsets of a panel, from 0 on.
template <class Offset>
struct NarrowOffsets {
  Offset const* offsets;
  Offset base;
  int* narrow;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    narrow[i] = static_cast<int>(offsets[i] - base);
  }
};

/// The first row behind the panel that begins with row `first`: as many rows as fit.
template <class View>
std::int64_t end_of_panel(View const& offsets, std::int64_t rows, std::int64_t first,
                          std::int64_t most_entries) {
  using Offset = typename View::non_const_value_type;
  auto const* const begin = offsets.data();
  auto const most = static_cast<Offset>(static_cast<std::int64_t>(begin[first]) + most_entries);
  std::int64_t const end = std::upper_bound(begin + first, begin + rows + 1, most) - begin - 1;
  return std::max(end, first + 1);
}

/// Where panels begin: the rows, and their first entries.
template <class Offset, class Ordinal>
std::vector<RowPanel<Ordinal>> panel_borders(PatternRef<Offset, Ordinal> const& A,
                                             Kokkos::View<Offset const*, Kokkos::HostSpace> offsets,
                                             std::int64_t most_entries) {
  std::vector<RowPanel<Ordinal>> panels;
  for (std::int64_t first = 0; first < A.rows;) {
    std::int64_t const end = end_of_panel(offsets, A.rows, first, most_entries);
    auto const begin = static_cast<std::int64_t>(offsets(first));
    std::int64_t const entries = static_cast<std::int64_t>(offsets(end)) - begin;
    require(entries <= most_panel_entries, "blockspan::SpmmPlan", "row ", first + 1, " has ",
            entries, " entries, more than 2^31 - 1");
    panels.push_back(
        {first,
         begin,
         {end - first, A.columns, entries, nullptr, A.column_indices + begin, A.block}});
    first = end;
  }
  return panels;
}

template <class Exec, class Offset, class Ordinal>
RowPanels<Exec, Ordinal> cut_into_panels(Exec const& exec, PatternRef<Offset, Ordinal> const& A,
                                         std::int64_t most_entries) {
  RowPanels<Exec, Ordinal> result;
  bool const is_cut = A.entries > most_entries && A.rows > 0;
  PatternRef<int, Ordinal> const whole{A.rows,  A.columns,        A.entries,
                                       nullptr, A.column_indices, A.block};
  result.panels = {{0, 0, whole}};
  if constexpr (std::is_same_v<Offset, int>) {
    result.panels[0].pattern.row_offsets = A.row_offsets;
    if (!is_cut) return result;
  }
  if (A.rows == 0) return result;
  using Given = Kokkos::View<Offset const*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>;
  Given const given(A.row_offsets, static_cast<std::size_t>(A.rows + 1));
  if (is_cut) {
    Kokkos::View<Offset*, Kokkos::HostSpace> const on_host =
        allocate<Kokkos::View<Offset*, Kokkos::HostSpace>>(
            Kokkos::DefaultHostExecutionSpace(), "Blockspan::spmm_plan::offsets on the host",
            A.rows + 1);
    Kokkos::deep_copy(exec, on_host, given);
    exec.fence("Blockspan::spmm_plan::offsets");
    result.panels = panel_borders<Offset, Ordinal>(A, on_host, most_entries);
  }
  auto const count = static_cast<std::int64_t>(result.panels.size());
  result.offsets = allocate<Kokkos::View<int*, typename Exec::memory_space>>(
      exec, "Blockspan::spmm_plan::offsets", A.rows + count);
  for (std::int64_t p = 0; p < count; ++p) {
    auto& panel = result.panels[static_cast<std::size_t>(p)];
    int* const narrow = result.offsets.data() + panel.first_row + p;
    Offset const* const wide = A.row_offsets + panel.first_row;
    auto const base = static_cast<Offset>(panel.first_entry);
    Kokkos::parallel_for(
        "Blockspan::spmm_plan::narrow_offsets",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, panel.pattern.rows + 1),
        NarrowOffsets<Offset>{wide, base, narrow});
    panel.pattern.row_offsets = narrow;
  }
  exec.fence("Blockspan::spmm_plan::narrow_offsets");
  return result;
}

/// The statistics of neighbouring rows together.
inline RowStatistics joined(RowStatistics a, RowStatistics const& b) {
  a.shortest = std::min(a.shortest, b.shortest);
  a.longest = std::max(a.longest, b.longest);
  a.rows += b.rows;
  a.nonzeros += b.nonzeros;
  a.empty_rows += b.empty_rows;
  a.group_work += b.group_work;
  a.diagonal_groups += b.diagonal_groups;
  return a;
}

template <class Exec, class Offset, class Ordinal>
std::shared_ptr<PlanPanels<Exec, Ordinal>> make_plan_panels(
    Exec const& exec, PatternRef<Offset, Ordinal> const& A, SpmmPlanOptions const& options,
    ScalarKind const& scalar, std::shared_ptr<void const> owner, std::int64_t most_entries) {
  auto plan = std::make_shared<PlanPanels<Exec, Ordinal>>();
  plan->given = without_offset_type(A);
  check_blocks("blockspan::SpmmPlan", plan->given);
  plan->owner = std::move(owner);
  plan->most_entries = most_entries;
  plan->rows = cut_into_panels(exec, A, most_entries);
  for (auto const& panel : plan->rows.panels) {
    plan->states.push_back(make_plan_state(exec, panel.pattern, options, scalar));
    auto const& rows = plan->states.back()->plain.statistics;
    plan->statistics = plan->states.size() == 1 ? rows : joined(plan->statistics, rows);
  }
  return plan;
}

template <class Exec, class Offset, class Ordinal>
bool has_pattern(Exec const& exec, PlanPanels<Exec, Ordinal> const& plan,
                 PatternRef<Offset, Ordinal> const& A) {
  auto const rows = cut_into_panels(exec, A, plan.most_entries);
  return std::equal(rows.panels.begin(), rows.panels.end(), plan.states.begin(), plan.states.end(),
                    [&](auto const& panel, auto const& state) {
                      return summarize(exec, panel.pattern).fingerprint == state->fingerprint;
                    });
}

}  // namespace blockspan::detail
