#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/kernels/rows/slices_host.hpp>
#include <blockspan/spmm/launch/check.hpp>
#include <blockspan/spmm/layouts/lane_slices.hpp>
#include <blockspan/spmm/prepared/plan_state.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// What contradicts a symmetry, as bits.
enum Asymmetry : unsigned { not_symmetric = 1, not_hermitian = 2, not_either = 3 };

template <class Ordinal>
struct ComparePatterns {
  PatternRef<int, Ordinal> a, t;
  KOKKOS_FUNCTION void operator()(std::int64_t i, unsigned& found) const {
    if (i <= a.rows && a.row_offsets[i] != t.row_offsets[i]) found |= not_either;
    if (i < t.entries && a.column_indices[i] != t.column_indices[i]) found |= not_either;
  }
};
template <class Scalar>
struct CompareValues {
  Scalar const *values, *of_transpose;
  KOKKOS_FUNCTION void operator()(std::int64_t i, unsigned& found) const {
    if (values[i] != of_transpose[i]) found |= not_symmetric;
    if (values[i] != conjugate(of_transpose[i])) found |= not_hermitian;
  }
};
template <class Scalar>
struct TransposeValues {
  Scalar const* given;
  int const* permutation;
  Scalar* values;
  std::int64_t block;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (block == 1) {  // no divisions
      values[i] = given[permutation[i]];
      return;
    }
    std::int64_t const size = block * block;
    std::int64_t const entry = i / size, row = i % size / block, column = i % block;
    values[i] = given[permutation[entry] * size + column * block + row];  // blocks by rows
  }
};

/// Whether A is its own transpose, decided from the arrays of both: rows in another order are not
/// seen through.
template <class Exec, class Scalar, class Ordinal>
Symmetry symmetry_of(Exec const& exec, MatrixRef<Scalar, int, Ordinal> const& A,
                     MatrixRef<Scalar, int, Ordinal> const& transposed) {
  auto const& pattern = transposed.pattern;
  if (A.pattern.rows != pattern.rows || pattern.rows == 0) return Symmetry::none;
  unsigned of_pattern = 0, of_values = 0;
  auto const& t = pattern;
  Kokkos::parallel_reduce("Blockspan::spmm_plan::compare_patterns",
                          IndexRange<Exec>(exec, 0, std::max(t.rows + 1, t.entries)),
                          ComparePatterns<Ordinal>{A.pattern, t},
                          Kokkos::BOr<unsigned>(of_pattern));
  if (of_pattern != 0) return Symmetry::none;
  Kokkos::parallel_reduce("Blockspan::spmm_plan::compare_values",
                          IndexRange<Exec>(exec, 0, t.entries * t.block * t.block),
                          CompareValues<Scalar>{A.values, transposed.values},
                          Kokkos::BOr<unsigned>(of_values));
  if ((of_values & not_symmetric) == 0) return Symmetry::symmetric;
  return (of_values & not_hermitian) == 0 ? Symmetry::hermitian : Symmetry::none;
}

template <class Exec, class Scalar, class Ordinal>
void hold_transpose_of_panel(Exec const& exec, PlanState<Exec, Ordinal>& plan,
                             MatrixRef<Scalar, int, Ordinal> const& A,
                             std::shared_ptr<void const> const& array) {
  auto& cached = plan.cached;
  cached.belong_to(A.values, array);
  cached.has_transpose = false;  // and so it stays where memory is short
  cached.symmetry = Symmetry::none;
  transposed_of(exec, plan);
  PatternRef<int, Ordinal> pattern = plan.transposed->pattern.ref();
  pattern.block = plan.given.block;
  auto const* const permutation = plan.transposed->pattern.permutation.data();
  std::int64_t const count = pattern.entries * pattern.block * pattern.block;
  cached.transposed.resize(exec, static_cast<std::size_t>(count) * sizeof(Scalar));
  auto* const values = cached.transposed.template as<Scalar>();
  Kokkos::parallel_for("Blockspan::spmm_plan::transpose_values", IndexRange<Exec>(exec, 0, count),
                       TransposeValues<Scalar>{A.values, permutation, values, pattern.block});
  cached.symmetry = symmetry_of<Exec, Scalar, Ordinal>(exec, A, {pattern, values});
  exec.fence("Blockspan::spmm_plan::hold_transpose");
  if (cached.symmetry == Symmetry::none) {
    bool const is_prepared = cached.prepared.pattern.row_offsets == pattern.row_offsets;
    if (!is_prepared) cached.prepared = prepare_in_order(exec, plan, pattern);
  } else {
    cached.prepared = {};
    cached.transposed.clear();
    std::lock_guard const lock(plan.transposing);
    plan.transposed.reset();
  }
  cached.has_transpose = true;
}

template <class Exec, class Scalar, class Ordinal>
void hold_transpose(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                    MatrixRef<Scalar, void, Ordinal> const& A,
                    std::shared_ptr<void const> const& array) {
  check_plan("blockspan::SpmmPlan::hold_transpose", plan, A.pattern);
  for (std::size_t p = 0; p < plan.states.size(); ++p) {
    auto const& panel = plan.rows.panels[p];
    hold_transpose_of_panel<Exec, Scalar, Ordinal>(exec, *plan.states[p],
                                                   {panel.pattern, values_of(A, panel)}, array);
  }
}

/// Whether products with one column of such a pattern may be read from slices.
template <class Scalar, class Exec, class Ordinal>
bool may_hold_slices(PreparedPattern<Exec, Ordinal> const& plain) {
  SpmmVariant const& variant = *decision_at(plain, 1, sizeof(Scalar)).first().variant;
  if constexpr (has_slices_v<Exec, Scalar>) return variant.kernel == SpmmKernelId::rows;
  return variant.reads_slices && !plain.distances.empty();
}

/// Slices of a panel's matrix, which may hold some; null: it does not. old: of the same pattern, or
/// null.
template <class Exec, class Scalar, class Ordinal>
std::shared_ptr<void const> slices_of_panel(Exec const& exec,
                                            PreparedPattern<Exec, Ordinal> const& plain,
                                            MatrixRef<Scalar, int, Ordinal> const& A,
                                            void const* old) {
  if constexpr (has_slices_v<Exec, Scalar>) {
    using Slices = RowSlices<Scalar, Exec, Ordinal>;
    return std::make_shared<Slices const>(
        make_row_slices(exec, A, old ? *static_cast<Slices const*>(old) : Slices{}));
  } else if constexpr (has_lane_slices_v<Exec, Scalar>) {
    using Slices = LaneSlices<Scalar, Exec>;
    auto slices = old ? *static_cast<Slices const*>(old) : Slices{};
    if (fill_lane_slices(exec, A, plain.distances.shift, slices))
      return std::make_shared<Slices const>(slices);
  }
  return nullptr;
}

template <class Exec, class Scalar, class Ordinal>
bool hold_slices(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                 MatrixRef<Scalar, void, Ordinal> const& A,
                 std::shared_ptr<void const> const& array) {
  check_plan("blockspan::SpmmPlan::hold_slices", plan, A.pattern);
  if constexpr (!has_slices_v<Exec, Scalar> && !has_lane_slices_v<Exec, Scalar>) return false;
  bool held = false;
  for (std::size_t p = 0; p < plan.states.size(); ++p) {
    auto& state = *plan.states[p];
    auto const& panel = plan.rows.panels[p];
    if (state.given.block > 1 || !may_hold_slices<Scalar>(state.plain)) continue;
    MatrixRef<Scalar, int, Ordinal> const part{panel.pattern, values_of(A, panel)};
    state.cached.belong_to(part.values, array);
    // and so it stays where memory is short
    auto const old = std::exchange(state.cached.slices, nullptr);
    state.cached.slices = slices_of_panel(exec, state.plain, part, old.get());
    held = held || state.cached.slices;
    if (!state.cached.slices && !state.cached.has_transpose) state.cached = {};
  }
  return held;
}

}  // namespace blockspan::products
