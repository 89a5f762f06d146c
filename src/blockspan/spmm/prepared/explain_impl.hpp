#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <blockspan/spmm/layouts/distances.hpp>
#include <blockspan/spmm/plan.hpp>
#include <blockspan/spmm/plan/explain.hpp>
#include <blockspan/spmm/prepared/facts.hpp>
#include <blockspan/spmm/prepared/row_panels.hpp>
#include <blockspan/support/error.hpp>

// What a plan reports: its kernel, its reasons and its decisions, in words.

namespace blockspan::products {

template <class Exec, class Ordinal>
std::string explain_prepared(char const* what, PreparedPattern<Exec, Ordinal> const& prepared,
                             int columns, std::size_t scalar_bytes) {
  ExplainedPattern const A{prepared.facts(),     prepared.choice,
                           prepared.groups.most, {prepared.list.cut_rows, prepared.list.slots},
                           prepared.tiles.tiles, {prepared.tiles.cut_rows, prepared.tiles.slots}};
  BlockLayout const column_major{false, true, false, false};
  return explain_pattern(what, A, columns, decision_at(prepared, columns, scalar_bytes),
                         decision_at(prepared, columns, scalar_bytes, column_major),
                         *prepared.device);
}

template <class Exec, class Ordinal>
std::string explain_panel(PlanState<Exec, Ordinal>& plan, int columns, std::size_t scalar_bytes) {
  auto const& rows = plan.plain.statistics;
  auto const& launch = decision_at(plan.plain, columns, scalar_bytes).first();
  std::string words = explain_prepared("A", plan.plain, columns, scalar_bytes) + "  " +
                      explain_bytes(plan.plain.facts(), launch, columns, scalar_bytes);
  if (plan.given.block == 1 && order_may_matter(rows, columns, scalar_bytes))
    words += explain_order(rows, share_of_far_columns(Exec{}, plan.given), columns, scalar_bytes,
                           *plan.plain.device);
  auto const& cached = plan.cached;
  if (cached.symmetry != Symmetry::none)
    words += std::string("transpose of A: none is needed, the values stored are those of a ") +
             (cached.symmetry == Symmetry::symmetric ? "symmetric" : "Hermitian") + " matrix\n";
  std::lock_guard const lock(plan.transposing);
  if (plan.transposed) {
    words += explain_prepared("transpose of A", plan.transposed->prepared, columns, scalar_bytes);
    if (cached.has_transpose)
      words += "  reads values stored in its order, " + std::to_string(cached.transposed.bytes()) +
               " bytes\n";
  }
  return words;
}

// For tuned_plan.

/// Whether the device of the plan has what the variant needs.
template <class Exec, class Ordinal>
bool offers(PlanPanels<Exec, Ordinal> const& plan, SpmmVariant const& variant) {
  auto const& first = plan.first();
  return is_offered(variant, first.scalar, *first.plain.device);
}

template <class Exec, class Ordinal>
bool runs_without_published(PlanPanels<Exec, Ordinal> const& plan, SpmmVariant const& variant,
                            int columns, std::size_t scalar_bytes) {
  auto const& launch = decision_at(plan.first().plain, columns, scalar_bytes).first();
  return launch.variant == &variant && !launch.is_registered();
}

template <class Exec, class Ordinal>
void set_reason(PlanPanels<Exec, Ordinal>& plan, std::string const& reason) {
  for (auto const& state : plan.states) state->plain.choice.reason = reason;
}

template <class Exec, class Ordinal>
void allow_fallbacks(PlanPanels<Exec, Ordinal>& plan) {
  for (auto const& state : plan.states) {
    state->options.algorithm = "auto";
    state->plain.choice.asked = false;
    state->plain.memo = std::make_shared<DecisionMemo>();
  }
}

template <class Exec, class Ordinal>
RowStatistics const& statistics_of(PlanPanels<Exec, Ordinal> const& plan) {
  return plan.statistics;
}

template <class Exec, class Ordinal>
std::string_view algorithm_of(PlanPanels<Exec, Ordinal> const& plan) {
  return plan.first().plain.choice.variant->id;
}

template <class Exec, class Ordinal>
std::string kernel_of(PlanPanels<Exec, Ordinal> const& plan, int columns,
                      std::size_t scalar_bytes) {
  require(columns >= 1, "blockspan::SpmmPlan::kernel", "columns must be positive (", columns, ")");
  return decision_at(plan.first().plain, columns, scalar_bytes).first().variant->label;
}

template <class Exec, class Ordinal>
std::string explain_plan(PlanPanels<Exec, Ordinal>& plan, int columns, std::size_t scalar_bytes) {
  require(columns >= 1, "blockspan::SpmmPlan::explain", "columns must be positive (", columns, ")");
  std::string words;
  if (plan.is_cut())
    words = "A has more than 2^31 entries: it is multiplied in " +
            std::to_string(plan.states.size()) + " panels of rows, of which the first is\n";
  return words + explain_panel(plan.first(), columns, scalar_bytes);
}

}  // namespace blockspan::products
