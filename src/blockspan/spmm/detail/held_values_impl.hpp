#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/check.hpp>
#include <blockspan/spmm/detail/plan_state.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Values of the transpose; those of a block stand by rows, as a block of the matrix does.
template <class Scalar>
struct TransposeValues {
  Scalar const* values;
  int const* permutation;
  std::int64_t block;
  Scalar* transposed;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (block == 1) {  // no divisions
      transposed[i] = values[permutation[i]];
      return;
    }
    std::int64_t const size = block * block, entry = i / size;
    std::int64_t const row = i % size / block, column = i % block;
    transposed[i] =
        values[static_cast<std::int64_t>(permutation[entry]) * size + column * block + row];
  }
};

/// What speaks against a symmetry, as bits.
enum Asymmetry : unsigned { not_symmetric = 1, not_hermitian = 2, not_either = 3 };

template <class Ordinal>
struct ComparePatterns {
  PatternRef<int, Ordinal> A, transposed;

  KOKKOS_FUNCTION void operator()(std::int64_t i, unsigned& found) const {
    if (i <= A.rows && A.row_offsets[i] != transposed.row_offsets[i]) found |= not_either;
    if (i < transposed.entries && A.column_indices[i] != transposed.column_indices[i])
      found |= not_either;
  }
};

template <class Scalar>
struct CompareValues {
  Scalar const* values;
  Scalar const* transposed;

  KOKKOS_FUNCTION void operator()(std::int64_t i, unsigned& found) const {
    if (values[i] != transposed[i]) found |= not_symmetric;
    if (values[i] != conjugate(transposed[i])) found |= not_hermitian;
  }
};

template <class Exec, class Compare>
unsigned compare(Exec const& exec, char const* label, std::int64_t count, Compare const& each) {
  unsigned found = 0;
  Kokkos::parallel_reduce(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), each,
      Kokkos::BOr<unsigned>(found));
  return found;
}

/// Whether A is its own transpose, told by the arrays of both: rows in another order are not seen
/// through.
template <class Exec, class Scalar, class Ordinal>
Symmetry symmetry_of(Exec const& exec, MatrixRef<Scalar, int, Ordinal> const& A,
                     MatrixRef<Scalar, int, Ordinal> const& transposed) {
  auto const& pattern = transposed.pattern;
  if (A.pattern.rows != pattern.rows || pattern.rows == 0) return Symmetry::none;
  unsigned found = compare(exec, "Blockspan::spmm_plan::compare_patterns",
                           std::max(pattern.rows + 1, pattern.entries),
                           ComparePatterns<Ordinal>{A.pattern, pattern});
  if (found != not_either)
    found |= compare(exec, "Blockspan::spmm_plan::compare_values",
                     pattern.entries * pattern.block * pattern.block,
                     CompareValues<Scalar>{A.values, transposed.values});
  if ((found & not_symmetric) == 0) return Symmetry::symmetric;
  return (found & not_hermitian) == 0 ? Symmetry::hermitian : Symmetry::none;
}

template <class Exec, class Scalar, class Ordinal>
void hold_transpose_of_panel(Exec const& exec, PlanState<Exec, Ordinal>& plan,
                             MatrixRef<Scalar, int, Ordinal> const& A) {
  auto& held = plan.held;
  held.belong_to(A.values);
  held.has_transpose = false;  // and so it stays where memory is short
  held.symmetry = Symmetry::none;
  transposed_of(exec, plan);
  PatternRef<int, Ordinal> pattern = plan.transposed->pattern.ref();
  pattern.block = plan.given.block;
  auto const* const permutation = plan.transposed->pattern.permutation.data();
  std::int64_t const count = pattern.entries * pattern.block * pattern.block;
  held.transposed.resize(exec, static_cast<std::size_t>(count) * sizeof(Scalar));
  auto* const values = held.transposed.template as<Scalar>();
  Kokkos::parallel_for("Blockspan::spmm_plan::transpose_values",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count),
                       TransposeValues<Scalar>{A.values, permutation, pattern.block, values});
  held.symmetry = symmetry_of<Exec, Scalar, Ordinal>(exec, A, {pattern, values});
  exec.fence("Blockspan::spmm_plan::hold_transpose");
  if (held.symmetry == Symmetry::none) {
    bool const is_prepared = held.prepared.pattern.row_offsets == pattern.row_offsets;
    if (!is_prepared) held.prepared = prepare_in_order(exec, plan, pattern);
  } else {
    held.prepared = {};
    held.transposed.clear();
    std::lock_guard const lock(plan.transposing);
    plan.transposed.reset();
  }
  held.has_transpose = true;
}

template <class Exec, class Scalar, class Ordinal>
void hold_transpose(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                    MatrixRef<Scalar, void, Ordinal> const& A) {
  check_plan("blockspan::SpmmPlan::hold_transpose", plan, A.pattern);
  for (std::size_t p = 0; p < plan.states.size(); ++p) {
    auto const& panel = plan.rows.panels[p];
    hold_transpose_of_panel<Exec, Scalar, Ordinal>(exec, *plan.states[p],
                                                        {panel.pattern, values_of(A, panel)});
  }
}

/// Rounds the values; counts those that lose more than `loss` of their magnitude.
template <class Scalar>
struct RoundValues {
  Scalar const* values;
  single_t<Scalar>* rounded;
  real_t<Scalar> loss;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& lost) const {
    rounded[i] = single_t<Scalar>(values[i]);
    if constexpr (is_complex_v<Scalar>)
      lost +=
          keeps(values[i].real(), rounded[i].real()) && keeps(values[i].imag(), rounded[i].imag())
              ? 0
              : 1;
    else
      lost += keeps(values[i], rounded[i]) ? 0 : 1;
  }

 private:
  KOKKOS_FUNCTION bool keeps(real_t<Scalar> value, float single) const {
    auto const kept = static_cast<real_t<Scalar>>(single);
    return value == kept || Kokkos::abs(value - kept) <= loss * Kokkos::abs(value);
  }
};

template <class Exec, class Scalar, class Ordinal>
bool hold_singles_of_panel(Exec const& exec, PlanState<Exec, Ordinal>& plan, Scalar const* values,
                           SpmmSingles allowed) {
  std::int64_t const count = plan.plain.statistics.nonzeros;
  auto& held = plan.held;
  held.belong_to(values);
  held.singles.resize(exec, static_cast<std::size_t>(count) * sizeof(single_t<Scalar>));
  real_t<Scalar> const loss = allowed == SpmmSingles::rounded ? unit_roundoff<float> : 0;
  std::int64_t lost = 0;
  Kokkos::parallel_reduce(
      "Blockspan::spmm_plan::round_values",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count),
      RoundValues<Scalar>{values, held.singles.template as<single_t<Scalar>>(), loss}, lost);
  exec.fence("Blockspan::spmm_plan::hold_single_precision");
  if (lost > 0) held.singles.clear();
  return lost == 0;
}

template <class Exec, class Scalar, class Ordinal>
bool hold_single_precision(Exec const& exec, PlanPanels<Exec, Ordinal>& plan,
                           MatrixRef<Scalar, void, Ordinal> const& A, SpmmSingles allowed) {
  constexpr char const* where = "blockspan::SpmmPlan::hold_single_precision";
  check_plan(where, plan, A.pattern);
  require(!std::is_same_v<Scalar, single_t<Scalar>>, where, "the matrix is in single precision");
  require(A.pattern.block == 1, where, "takes no blocks (", A.pattern.block, " x ", A.pattern.block,
          ")");
  bool all = true;
  for (std::size_t p = 0; all && p < plan.states.size(); ++p)
    all = hold_singles_of_panel(exec, *plan.states[p], values_of(A, plan.rows.panels[p]), allowed);
  if (!all)
    for (auto const& state : plan.states) state->held.singles.clear();
  return all;
}

}  // namespace blockspan::detail
