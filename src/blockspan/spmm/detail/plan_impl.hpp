#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <blockspan/spmm/detail/check.hpp>
#include <blockspan/spmm/detail/device_facts.hpp>
#include <blockspan/spmm/detail/partition/cut_impl.hpp>
#include <blockspan/spmm/detail/partition/distances_impl.hpp>
#include <blockspan/spmm/detail/partition/group_impl.hpp>
#include <blockspan/spmm/detail/partition/mask_impl.hpp>
#include <blockspan/spmm/detail/partition/summary_impl.hpp>
#include <blockspan/spmm/detail/partition/transpose_impl.hpp>
#include <blockspan/spmm/detail/partition/window_impl.hpp>
#include <blockspan/spmm/detail/plan_state.hpp>
#include <blockspan/spmm/detail/published_kernels.hpp>
#include <blockspan/spmm/plan/model.hpp>
#include <blockspan/spmm/plan/read_facts.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::detail {

/// The groups of rows, where they are asked for; else their numbers, where they come into question,
/// and the list only where it may serve.
template <class Exec, class Ordinal>
RowGroupList<Exec, Ordinal> groups_for(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                       PatternSummary const& summary,
                                       SpmmPlanOptions const& options, DeviceFacts const& device) {
  if (options.algorithm != "auto")
    return find_spmm_variant(options.algorithm)->lists_groups()
               ? find_row_groups(exec, A, INT64_MAX)
               : RowGroupList<Exec, Ordinal>{};
  auto const& rows = summary.rows;
  if (!may_group(rows, device)) return {};
  std::int64_t const most = most_fetches_of_groups(rows);
  if (rows.nonzeros - summary.alike > most) return {};
  return find_row_groups(exec, A, most);
}

/// Blocks have one variant, and the groups that it needs.
template <class Exec, class Ordinal>
PreparedPattern<Exec, Ordinal> prepare_blocks(PatternRef<int, Ordinal> const& A,
                                              PatternSummary const& summary,
                                              SpmmPlanOptions const& options,
                                              DeviceFacts const& device) {
  auto const& variant = *find_spmm_variant("row_group");
  require(options.algorithm == "auto" || options.algorithm == variant.id, "blockspan::SpmmPlan",
          options.algorithm, " takes no blocks (", A.block, " x ", A.block, "): ", variant.id,
          " does");
  PreparedPattern<Exec, Ordinal> result;
  auto const& blocks = summary.rows;
  result.device = &device;
  result.pattern = A;
  result.statistics = statistics_of_blocks(blocks, A.block);
  result.reach = summary.reach * A.block;
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

/// in_order: the values stand as the columns do. Where they are looked up, windows and staged tiles
/// are taken only if asked for: they have a kernel for one width there, or a slow one.
template <class Exec, class Ordinal>
PreparedPattern<Exec, Ordinal> prepare(Exec const& exec, PatternRef<int, Ordinal> const& A,
                                       PatternSummary const& summary,
                                       SpmmPlanOptions const& options, ScalarKind const& scalar,
                                       bool in_order) {
  PreparedPattern<Exec, Ordinal> result;
  DeviceFacts const& device = device_facts(exec);
  if (A.block > 1) return prepare_blocks<Exec>(A, summary, options, device);
  result.device = &device;
  result.pattern = A;
  result.statistics = summary.rows;
  result.reach = summary.reach;
  result.groups = groups_for(exec, A, summary, options, device);
  bool const sorted = in_order && summary.sorted, choose = sorted && options.algorithm == "auto";
  auto const tiles =
      sorted ? tile_forms(result.statistics, options.columns, scalar, device) : TileForms{};
  bool const estimate = choose && may_take_windows(summary.rows, options.columns, scalar, device);
  auto const windows = estimate ? estimate_row_windows(exec, A) : WindowCount{};
  result.choice = choose_variant(result.statistics, result.groups.count, windows,
                                 choose ? tiles : TileForms{}, options, scalar, device);
  result.lanes = options.lanes;
  auto const& variant = *result.choice.variant;
  require(is_offered(variant, scalar_of_bytes(sizeof(double)), device), "blockspan::SpmmPlan",
          variant.id, " is not offered by ", Exec::name(), ": it needs ", variant.needs);
  auto const cut_tiles = PublishedTiles<Exec, Ordinal>::cut;
  if (variant.is_published()) require_published<Exec>("blockspan::SpmmPlan", variant, cut_tiles);
  bool const stand_by =
      variant.lists_windows() && groups_are_worth_it(result.statistics, result.groups.count);
  if (!variant.lists_groups() && !stand_by) result.groups.begin = {};
  if (variant.lists_pieces())
    result.list = cut_long_rows(exec, A,
                                {result.choice.piece, variant.skips_empty_rows(),
                                 variant.partition == SpmmPartition::sorted_segments});
  if (variant.lists_tiles())
    result.tiles = cut_tiles(exec, A, result.statistics, variant, options.piece_length);
  if (keeps_distances(result.statistics, variant, device))
    result.distances = column_distances(exec, A, summary);
  require(runs_on_host_v<Exec> || result.statistics.longest <= std::int64_t{UINT32_MAX},
          "blockspan::SpmmPlan", "a row has ", result.statistics.longest,
          " entries, more than a device kernel can count");
  if (variant.needs_sorted_rows() && !summary.sorted) {
    result.sorted = sort_rows(exec, A, result.statistics.nonzeros);
    result.pattern = result.sorted.ref();
    result.permutation = result.sorted.permutation.data();
  }
  if (variant.lists_windows()) result.windows = find_row_windows(exec, result.pattern);
  if (variant.stages_tiles() &&
      DeviceModel(result.statistics, options.columns, scalar, device).windows_take_tiles(tiles))
    result.masks = find_tile_masks(exec, result.pattern);
  return result;
}

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

}  // namespace blockspan::detail
