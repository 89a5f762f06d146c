#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <blockspan/spmm/kernels/adaptive/adaptive_choice.hpp>
#include <blockspan/spmm/kernels/clusters/clusters_choice.hpp>
#include <blockspan/spmm/kernels/groups/groups_choice.hpp>
#include <blockspan/spmm/kernels/windows/windows_choice.hpp>
#include <blockspan/spmm/launch/check.hpp>
#include <blockspan/spmm/launch/kernel_table.hpp>
#include <blockspan/spmm/launch/team_scratch.hpp>
#include <blockspan/spmm/layouts/cut_rows.hpp>
#include <blockspan/spmm/layouts/distances.hpp>
#include <blockspan/spmm/layouts/row_clusters.hpp>
#include <blockspan/spmm/layouts/row_groups.hpp>
#include <blockspan/spmm/layouts/row_tiles.hpp>
#include <blockspan/spmm/layouts/row_windows.hpp>
#include <blockspan/spmm/layouts/summary.hpp>
#include <blockspan/spmm/layouts/tile_masks.hpp>
#include <blockspan/spmm/layouts/transpose.hpp>
#include <blockspan/spmm/plan.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/plan/read_facts.hpp>
#include <blockspan/spmm/prepared/facts.hpp>
#include <blockspan/spmm/prepared/plan_state.hpp>
#include <blockspan/spmm/prepared/row_panels.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::products {

/// The groups of rows, where requested; else their counts, where they are candidates, and the list
/// only where a plan may use it.
template <class Exec, class Ordinal>
RowGroupList<Exec, Ordinal> groups_for(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                       PatternSummary const& summary,
                                       SpmmPlanOptions const& options, ScalarKind const& scalar,
                                       DeviceFacts const& device) {
  if (options.algorithm != "auto")
    return find_spmm_variant(options.algorithm)->lists_groups()
               ? find_row_groups(exec, A, INT64_MAX)
               : RowGroupList<Exec, Ordinal>{};
  auto const& rows = summary.rows;
  if (scalar.is_sixteen_bit() || !GroupsChoice::may_pay(rows, device)) return {};
  std::int64_t const most = GroupsChoice::most_fetches(rows);
  if (rows.nonzeros - summary.grouping_candidates > most) return {};
  return find_row_groups(exec, A, most);
}

/// Blocks have one variant, and the groups that it needs.
template <class Exec, class Ordinal>
PreparedPattern<Exec, Ordinal> prepare_blocks(PatternRef<int, Ordinal> const& A,
                                              PatternSummary const& summary,
                                              SpmmPlanOptions const& options,
                                              DeviceFacts const& device) {
  auto const& variant = spmm_variant(SpmmKernelId::groups);
  require(options.algorithm == "auto" || options.algorithm == variant.id, "blockspan::SpmmPlan",
          options.algorithm, " takes no blocks (", A.block, " x ", A.block, "): ", variant.id,
          " does");
  PreparedPattern<Exec, Ordinal> result;
  auto const& blocks = summary.rows;
  result.device = &device;
  result.pattern = A;
  result.statistics = statistics_of_blocks(blocks, A.block);
  result.half_bandwidth = summary.half_bandwidth * A.block;
  require(result.statistics.longest < INT32_MAX, "blockspan::SpmmPlan", "a row of blocks has ",
          result.statistics.longest, " entries in each of its rows");
  result.groups = groups_of_blocks<Exec>(A, blocks.nonzeros);
  result.lanes = options.lanes;
  auto const size = std::to_string(A.block);
  result.choice = {&variant,
                   0,
                   "the matrix is stored in blocks of " + size + " x " + size,
                   "all others: they take no blocks",
                   {}};
  return result;
}

/// The segments or tiles that the chosen variant works through.
template <class Exec, class Ordinal>
void list_work(Exec const& exec, PatternRef<int, Ordinal> const& A, SpmmPlanOptions const& options,
               ScalarKind const& scalar, PreparedPattern<Exec, Ordinal>& result) {
  auto const& variant = *result.choice.variant;
  if (variant.lists_segments()) {
    RowArray<Exec, Ordinal> order;
    if (variant.clusters_rows && A.rows == A.columns) order = cluster_rows(exec, A);
    result.list = cut_long_rows(exec, A,
                                {result.choice.segment, variant.skips_empty_rows(),
                                 variant.kernel == SpmmKernelId::segments_sorted},
                                {order.data()});
  }
  if (AdaptiveChoice::cuts_tiles(variant, result.choice.asked, result.statistics, scalar,
                                 *result.device))
    result.tiles =
        cut_row_classes(exec, A,
                        {AdaptiveChoice::tile_work(result.statistics), tuning::adaptive_row_work,
                         tuning::adaptive_alone, AdaptiveChoice::longest_part(result.statistics)});
  else if (variant.lists_tiles())
    result.tiles = registered<Exec>("blockspan::SpmmPlan", tile_table<Exec, Ordinal>(), variant)(
        exec, A, result.statistics, options.segment_length);
}

/// in_order: the values are stored in the order of the columns. Where they are looked up, windows
/// and staged tiles are taken only if asked for: they have a kernel for one width there, or a slow
/// one.
template <class Exec, class Ordinal>
PreparedPattern<Exec, Ordinal> prepare(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                       PatternSummary const& summary,
                                       SpmmPlanOptions const& options, ScalarKind const& scalar,
                                       bool in_order) {
  PreparedPattern<Exec, Ordinal> result;
  DeviceFacts const& device = device_facts(exec);
  check_rows("blockspan::SpmmPlan", A, device.is_host);
  if (A.block > 1) return prepare_blocks<Exec>(A, summary, options, device);
  result.device = &device;
  result.pattern = A;
  result.statistics = summary.rows;
  result.half_bandwidth = summary.half_bandwidth;
  result.groups = groups_for(exec, A, summary, options, scalar, device);
  bool const sorted = in_order && summary.sorted, choose = sorted && options.algorithm == "auto";
  auto const tiles =
      sorted ? tile_forms(result.statistics, options.columns, scalar, device) : TileForms{};
  WindowCount windows;
  if constexpr (tensor::available<Exec, double>)
    if (choose && WindowsChoice::may_pay(summary.rows, options.columns, scalar, device))
      windows = estimate_row_windows(exec, A);
  bool const clusters =
      choose && ClustersChoice::may_pay(summary.rows, options.columns, scalar, device);
  ClusterSample sample;
  if (clusters || (choose && AdaptiveChoice::needs(scalar, device) &&
                   AdaptiveChoice::may_be_scattered(summary.rows, device)))
    sample = sample_clusters(exec, A);
  result.neighbours = sample.of_neighbours;
  result.choice =
      choose_variant(result.statistics, result.groups.count, windows, choose ? tiles : TileForms{},
                     options, scalar, device, clusters ? sample : ClusterSample{});
  result.lanes = options.lanes;
  auto const& variant = *result.choice.variant;
  require(is_offered(variant, scalar_of_bytes(sizeof(double)), device), "blockspan::SpmmPlan",
          variant.id, " is not offered by ", Exec::name(), ": it needs ", variant.needs);
  bool const is_fallback =
      variant.lists_windows() && GroupsChoice::pay(result.statistics, result.groups.count);
  if (!variant.lists_groups() && !is_fallback) result.groups.begin = {};
  list_work(exec, A, options, scalar, result);
  if (!scalar.is_sixteen_bit() && keeps_distances(result.statistics, variant, device))
    result.distances = column_distances(exec, A, summary);
  if (variant.sorted_rows && !summary.sorted) {
    result.sorted = sort_rows(exec, A, result.statistics.nonzeros);
    result.pattern = result.sorted.ref();
    result.permutation = result.sorted.permutation.data();
  }
  if constexpr (tensor::available<Exec, double>)
    if (variant.lists_windows()) result.windows = find_row_windows(exec, result.pattern);
  if constexpr (windows_share_tiles_v<Exec>)
    if (variant.reads_masks != nullptr &&
        variant.reads_masks({result.statistics, {}, {}, tiles, options.columns, 0, scalar, device}))
      result.masks = find_tile_masks(exec, result.pattern);
  return result;
}

/// Inspects the pattern and prepares the variant.
template <class Exec, class Ordinal>
std::shared_ptr<PlanState<Exec, Ordinal>> make_plan_state(Exec const& exec,
                                                          PatternRef<int, Ordinal> const& A,
                                                          SpmmPlanOptions const& options,
                                                          ScalarKind const& scalar) {
  auto state = std::make_shared<PlanState<Exec, Ordinal>>();
  state->options = options;
  state->scalar = scalar;
  state->given = A;
  auto const summary = summarize(exec, A);
  state->plain = prepare(exec, A, summary, options, scalar, true);
  state->fingerprint = summary.fingerprint;
  return state;
}

template <class Exec, class Ordinal>
PreparedPattern<Exec, Ordinal> const& transposed_of(Exec const& exec,
                                                    PlanState<Exec, Ordinal>& plan) {
  std::lock_guard const lock(plan.transposing);
  if (!plan.transposed) {
    TransposedState<Exec, Ordinal> state;
    auto const& given = plan.given;
    state.pattern = transpose_pattern(exec, given,
                                      plan.plain.statistics.nonzeros / (given.block * given.block));
    auto pattern = state.pattern.ref();
    pattern.block = given.block;
    state.prepared =
        prepare(exec, pattern, summarize(exec, pattern), plan.options, plan.scalar, false);
    state.prepared.permutation = state.pattern.permutation.data();
    plan.transposed = std::move(state);
  }
  return plan.transposed->prepared;
}

template <class Exec, class Ordinal>
PreparedPattern<Exec, Ordinal> prepare_in_order(Exec const& exec,
                                                PlanState<Exec, Ordinal> const& plan,
                                                PatternRef<int, Ordinal> const& pattern) {
  return prepare(exec, pattern, summarize(exec, pattern), plan.options, plan.scalar, true);
}

/// The first row behind the panel that begins with row `first`: behind all rows that fit.
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

template <class Offset>
struct NarrowOffsets {
  Offset const* wide;
  Offset base;
  int* narrow;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    narrow[i] = static_cast<int>(wide[i] - base);
  }
};

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
    Kokkos::parallel_for("Blockspan::spmm_plan::narrow_offsets",
                         IndexRange<Exec>(exec, 0, panel.pattern.rows + 1),
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
  reserve_team_scratch(exec);
  for (auto const& panel : plan->rows.panels) {
    plan->states.push_back(make_plan_state(exec, panel.pattern, options, scalar));
    auto const& rows = plan->states.back()->plain.statistics;
    plan->statistics = plan->states.size() == 1 ? rows : joined(plan->statistics, rows);
  }
  return plan;
}

template <class Exec, class Ordinal>
std::shared_ptr<PlanPanels<Exec, Ordinal>> without_copies(PlanPanels<Exec, Ordinal> const& plan) {
  auto result = std::make_shared<PlanPanels<Exec, Ordinal>>(plan);
  for (auto& state : result->states) {
    auto own = std::make_shared<PlanState<Exec, Ordinal>>();
    own->options = state->options;
    own->scalar = state->scalar;
    own->given = state->given;
    own->plain = state->plain;
    own->fingerprint = state->fingerprint;
    state = std::move(own);
  }
  return result;
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

}  // namespace blockspan::products
