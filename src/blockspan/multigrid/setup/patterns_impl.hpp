#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/multigrid/setup/multiply_values.hpp>
#include <blockspan/multigrid/setup/team_product.hpp>
#include <blockspan/multigrid/setup/workers.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

// Patterns of products and transposes: rows are counted, then filled.

namespace blockspan::levels {

template <class Exec>
struct ScanCounts {
  Integers<Exec> offsets;
  std::int64_t rows;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool last) const {
    std::int64_t const count = i < rows ? offsets(i) : 0;
    if (last) offsets(i) = static_cast<int>(sum);
    sum += count;
  }
};

template <class Exec>
int offsets_of_counts(Exec const& exec, Integers<Exec> const& offsets) {
  auto const places = static_cast<std::int64_t>(offsets.extent(0));
  std::int64_t sum = 0;
  Kokkos::parallel_scan("Blockspan::multigrid_offsets",
                        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, places),
                        ScanCounts<Exec>{offsets, places - 1}, sum);
  exec.fence("Blockspan::multigrid_offsets");
  require(sum <= std::numeric_limits<int>::max(), "blockspan::multigrid", "a level would have ",
          sum, " entries, more than 32-bit offsets count");
  return static_cast<int>(sum);
}

/// The largest bound, and the sum of all.
template <class Exec>
BoundRows::Totals bound_rows(Exec const& exec, BoundRows const& rows) {
  BoundRows::Totals totals{0, 0};
  if (rows.supernodes_A.groups == 0) return totals;
  each(exec, "Blockspan::multigrid_bounds", rows.supernodes_A.groups, rows);
  Kokkos::parallel_scan(
      "Blockspan::multigrid_bounds",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows.supernodes_A.groups),
      rows, totals);
  exec.fence("Blockspan::multigrid_bounds");
  return totals;
}

/// The largest bound of the groups that teams have marked as too long.
template <class Exec>
std::int64_t widest_left_over(Exec const& exec, Integers<Exec> const& bounds) {
  return most_each(
      exec, "Blockspan::multigrid_left_over", static_cast<std::int64_t>(bounds.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & most) {
        if (-1 - bounds(i) > most) most = -1 - bounds(i);
      });
}

template <class Exec>
Supernodes find_supernodes(Exec const& exec, PatternRef<int, int> const& A,
                           Supernodes const& groups) {
  if (groups.begin == nullptr) return {};
  std::int64_t const unlike = count_each(
      exec, "Blockspan::multigrid_like_rows", A.rows,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum) {
        std::int64_t const first = groups.first(groups.of_row[i]);
        int const from = A.row_offsets[first], length = A.row_offsets[first + 1] - from;
        int const row = A.row_offsets[i];
        bool same = A.row_offsets[i + 1] - row == length;
        for (int k = 0; same && k < length && i > first; ++k)
          same = A.column_indices[row + k] == A.column_indices[from + k];
        if (!same) ++sum;
      });
  return unlike == 0 ? groups : Supernodes{};
}

/// Devices: see multiply_patterns.
template <class Exec>
Pattern<Exec> multiply_by_teams(Exec const& exec, Arena<Exec>& arena, PatternRef<int, int> const& A,
                                PatternRef<int, int> const& B, Supernodes const& supernodes_A,
                                Supernodes const& supernodes_B) {
  auto const bounds = scratch_array<int>(exec, arena, supernodes_A.groups);
  auto const before = scratch_array<std::int64_t>(exec, arena, supernodes_A.groups);
  BoundRows const rows{A, B, supernodes_A, supernodes_B, bounds.data(), before.data()};
  auto const bound = bound_rows(exec, rows);
  std::int64_t widest = bound.most;
  Pattern<Exec> C{static_cast<int>(A.rows),
                  static_cast<int>(B.columns),
                  kept_array<int>(exec, arena, A.rows + 1),
                  {}};
  int slots = 16;
  while (slots < 2 * widest && slots < 32 * ProductTeams::lanes_for(B)) slots *= 2;
  ProductTeams const teams(B, slots + 1, 2 * sizeof(int), warp_size_v<Exec>);
  while (slots + 1 > teams.room) slots /= 2;
  // lists that fit are filled by the counting pass, so that columns are found only once
  auto const lists =
      scratch_array<int>(exec, arena, bound.sum <= 4 * (A.entries + B.entries) ? bound.sum : 0);
  bool const listed = lists.extent(0) > 0;
  TeamProductRows by_teams{
      A, B, supernodes_A, supernodes_B, bounds.data(), slots, C.offsets.data()};
  if (listed) by_teams.lists = {before.data(), lists.data()};
  teams.launch(exec, "Blockspan::multigrid_count_product", supernodes_A.groups, by_teams);
  widest = slots >= 2 * widest ? 0 : widest_left_over(exec, bounds);
  std::optional<ProductRows<Exec>> left;
  if (widest > 0) left = with_workers(exec, arena, rows, bounds, C.offsets, widest, false);
  if (left) each(exec, "Blockspan::multigrid_count_product", left->workers.count, *left);
  C.indices = kept_array<int>(exec, arena, offsets_of_counts(exec, C.offsets));
  by_teams.indices = C.indices.data();
  if (C.entries() > 0) {
    if (listed)
      each_by_lanes(exec, "Blockspan::multigrid_fill_product", supernodes_A.groups,
                    lanes_for(C.entries(), C.rows),
                    CopyProductRows{supernodes_A, bounds.data(), by_teams.lists, C.offsets.data(),
                                    C.indices.data()});
    else
      teams.launch(exec, "Blockspan::multigrid_fill_product", supernodes_A.groups, by_teams);
    if (left) left->indices = C.indices;
    if (left) each(exec, "Blockspan::multigrid_fill_product", left->workers.count, *left);
  }
  exec.fence("Blockspan::multigrid_product");
  return C;
}

template <class Exec>
Pattern<Exec> multiply_patterns(Exec const& exec, Arena<Exec>& arena, PatternRef<int, int> const& A,
                                PatternRef<int, int> const& B, Supernodes const& supernodes_A,
                                Supernodes const& supernodes_B) {
  if constexpr (runs_on_host_v<Exec>)
    return multiply_on_host<Exec, double>(exec, arena, {A, nullptr}, {B, nullptr}, supernodes_A,
                                          supernodes_B, false,
                                          std::numeric_limits<std::int64_t>::max())
        ->pattern;
  else
    return multiply_by_teams(exec, arena, A, B, groups_of_rows(supernodes_A, A.rows), supernodes_B);
}

template <class Exec>
bool is_in_order(Exec const& exec, PatternRef<int, int> const& A) {
  return count_each(
             exec, "Blockspan::multigrid_order", A.rows,
             KOKKOS_LAMBDA(std::int64_t i, std::int64_t & faults) {
               for (int k = A.row_offsets[i] + 1; k < A.row_offsets[i + 1]; ++k)
                 if (A.column_indices[k - 1] >= A.column_indices[k]) ++faults;
             }) == 0;
}

template <class Exec>
Pattern<Exec> diagonal_pattern(Exec const& exec, Arena<Exec>& arena, int n) {
  Pattern<Exec> I{n, n, kept_array<int>(exec, arena, n + 1), kept_array<int>(exec, arena, n)};
  auto const offsets = I.offsets, indices = I.indices;
  each(
      exec, "Blockspan::multigrid_diagonal", n + 1, KOKKOS_LAMBDA(std::int64_t i) {
        offsets(i) = static_cast<int>(i);
        if (i < n) indices(i) = static_cast<int>(i);
      });
  return I;
}

template <class Exec>
Pattern<Exec> full_pattern(Exec const& exec, Arena<Exec>& arena, int n) {
  std::int64_t const entries = static_cast<std::int64_t>(n) * n;
  Pattern<Exec> full{n, n, kept_array<int>(exec, arena, n + 1),
                     kept_array<int>(exec, arena, entries)};
  auto const offsets = full.offsets, indices = full.indices;
  each(
      exec, "Blockspan::multigrid_dense", n + 1,
      KOKKOS_LAMBDA(std::int64_t i) { offsets(i) = static_cast<int>(i * n); });
  each(
      exec, "Blockspan::multigrid_dense", entries, KOKKOS_LAMBDA(std::int64_t k) {
        indices(k) =
            static_cast<int>(static_cast<std::uint32_t>(k) % static_cast<std::uint32_t>(n));
      });
  return full;
}

template <class Exec>
Transposed<Exec> transposed(Exec const& exec, Arena<Exec>& arena, Pattern<Exec> const& A) {
  Transposed<Exec> const T{{A.columns, A.rows, kept_array<int>(exec, arena, A.columns + 1),
                            kept_array<int>(exec, arena, A.entries())},
                           kept_array<int>(exec, arena, A.entries())};
  transpose_pattern(exec, arena, A.ref(),
                    TransposedPattern<Exec, int>{A.columns, A.rows, T.pattern.offsets,
                                                 T.pattern.indices, T.places});
  return T;
}

template <class Exec>
Pattern<Exec> members(Exec const& exec, Arena<Exec>& arena, Integers<Exec> const& class_of,
                      int classes) {
  auto const n = static_cast<std::int64_t>(class_of.extent(0));
  Pattern<Exec> A{classes, static_cast<int>(n), scratch_array<int>(exec, arena, classes + 1),
                  scratch_array<int>(exec, arena, n)};
  auto const found =
      group_by_key(exec, arena, class_of.data(), n, classes, A.offsets.data(), A.indices.data());
  A.indices = Kokkos::subview(A.indices, std::pair<std::int64_t, std::int64_t>(0, found));
  return A;
}

}  // namespace blockspan::levels
