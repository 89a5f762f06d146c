#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <vector>

#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/multigrid/setup/team_product.hpp>
#include <blockspan/multigrid/setup/workers.hpp>
#include <blockspan/spmm/layouts/pattern.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/out_of_memory.hpp>

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

/// The distinct columns of rows of A B, found by a table of a worker's own: a hash table of the
/// row, or, on hosts where that is affordable, a place for every column with the row that was there
/// last. Devices: of the rows that teams have left over (TeamProductRows).
template <class Exec>
struct ProductRows {
  PatternRef<int, int> A, B;
  Supernodes supernodes_A, supernodes_B;
  Integers<Exec> bounds;  ///< of the entries of a row; devices: -1 - bound, other groups are done
  Integers<Exec> tables;
  std::int64_t table_size;
  bool dense;  ///< hosts; columns are not only counted
  Workers workers;
  Integers<Exec> offsets;
  Integers<Exec> indices;  ///< empty: count only

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    auto const range = workers.rows_of(worker);
    bool const fill = indices.extent(0) > 0;
    for (std::int64_t group = range.first; group < range.last; group += range.step) {
      if (bounds(group) >= 0) continue;
      std::int64_t const i = supernodes_A.first(group);
      int* const out = fill ? indices.data() + offsets(i) : nullptr;
      int const found = columns(worker, group, -1 - bounds(group), out);
      for (int r = fill ? 1 : 0; r < supernodes_A.rows(group); ++r) {
        if (!fill) offsets(i + r) = found;
        for (int k = 0; fill && k < found; ++k) out[r * found + k] = out[k];
      }
    }
  }

  /// To out, ascending (null: only counted; `dense`: there is room for one more); returns how many.
  KOKKOS_FUNCTION int columns(std::int64_t worker, std::int64_t group, int bound, int* out) const {
    int* const table = tables.data() + worker * table_size;
    std::int64_t const i = supernodes_A.first(group);
    int const stamp = static_cast<int>(group);
    std::int64_t size = 4;
    while (size < 2 * static_cast<std::int64_t>(bound)) size *= 2;
    for (std::int64_t k = 0; !dense && k < size; ++k) table[k] = -1;
    int found = 0;
    int const end = A.row_offsets[i + 1];
    for (int a = A.row_offsets[i]; a < end;
         a += supernodes_B.run_length(A.column_indices, a, end, supernodes_B.most)) {
      int const k = A.column_indices[a];
      for (int b = B.row_offsets[k]; b < B.row_offsets[k + 1]; ++b) {
        int const column = B.column_indices[b];
        if (dense) {  // nobody can predict which are new: no branch
          out[found] = column;
          found += table[column] != stamp ? 1 : 0;
          table[column] = stamp;
        } else if (insert(table, size, column)) {
          if (out != nullptr) out[found] = column;
          ++found;
        }
      }
    }
    if (out != nullptr) sort_ascending(out, found);
    return found;
  }

  KOKKOS_FUNCTION static bool insert(int* table, std::int64_t size, int column) {
    std::int64_t place = (static_cast<std::uint32_t>(column) * 2654435769u >> 7) & (size - 1);
    while (table[place] >= 0) {
      if (table[place] == column) return false;
      place = (place + 1) & (size - 1);
    }
    table[place] = column;
    return true;
  }
};

/// bounds[g] := how many entries a row of group g of A B may have, and the sum of those before.
struct BoundRows {
  struct Totals {
    std::int64_t sum, most;
  };
  using value_type = Totals;

  PatternRef<int, int> A, B;
  Supernodes supernodes_A, supernodes_B;
  int* bounds;
  std::int64_t* before;

  KOKKOS_FUNCTION void init(Totals& totals) const { totals = {0, 0}; }
  KOKKOS_FUNCTION void join(Totals& to, Totals const& from) const {
    to.sum += from.sum;
    if (from.most > to.most) to.most = from.most;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t group) const {
    std::int64_t const i = supernodes_A.first(group);
    std::int64_t sum = 0;
    int const end = A.row_offsets[i + 1];
    for (int a = A.row_offsets[i]; a < end;
         a += supernodes_B.run_length(A.column_indices, a, end, supernodes_B.most)) {
      int const k = A.column_indices[a];
      sum += B.row_offsets[k + 1] - B.row_offsets[k];
    }
    bounds[group] = static_cast<int>(sum < B.columns ? sum : B.columns);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t group, Totals& totals, bool last) const {
    if (last) before[group] = totals.sum;
    join(totals, {bounds[group], bounds[group]});
  }
};

/// The most, and on devices the sum of all bounds.
template <class Exec>
BoundRows::Totals bound_rows(Exec const& exec, BoundRows const& rows) {
  BoundRows::Totals totals{0, 0};
  if (rows.supernodes_A.groups == 0) return totals;
  each(exec, "Blockspan::multigrid_bounds", rows.supernodes_A.groups, rows);
  if constexpr (runs_on_host_v<Exec>) {
    totals.most = most_each(exec, "Blockspan::multigrid_bounds", rows.supernodes_A.groups,
                            [=](std::int64_t group, std::int64_t& most) {
                              if (rows.bounds[group] > most) most = rows.bounds[group];
                            });
  } else {
    Kokkos::parallel_scan("Blockspan::multigrid_bounds",
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                              exec, 0, rows.supernodes_A.groups),
                          rows, totals);
    exec.fence("Blockspan::multigrid_bounds");
  }
  return totals;
}

/// The largest bound of the groups that teams have marked.
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

/// Hosts: the columns of a worker's rows go to a list of its own, and from there to their places
/// when all are counted, so that they are found once.
template <class Exec>
void multiply_on_host(Exec const& exec, Arena<Exec>& arena, ProductRows<Exec> const& rows,
                      Pattern<Exec>& C) {
  std::vector<std::vector<int>> lists(static_cast<std::size_t>(rows.workers.count));
  std::atomic<bool> memory_is_short = false;  // no exception may leave a parallel region
  auto const& supernodes = rows.supernodes_A;
  auto const find = [&](std::int64_t worker) {
    auto& list = lists[static_cast<std::size_t>(worker)];
    auto const range = rows.workers.rows_of(worker);
    std::size_t used = 0;
    for (std::int64_t group = range.first; group < range.last; ++group) {
      std::size_t const room = used + static_cast<std::size_t>(rows.bounds(group)) + 1;
      if (list.size() < room) list.resize(std::max(room, 2 * list.size()));
      int const found = rows.columns(worker, group, rows.bounds(group), list.data() + used);
      used += static_cast<std::size_t>(found);
      for (int r = 0; r < supernodes.rows(group); ++r)
        C.offsets(supernodes.first(group) + r) = found;
    }
  };
  each(exec, "Blockspan::multigrid_find_product", rows.workers.count, [&](std::int64_t worker) {
    try {
      find(worker);
    } catch (std::bad_alloc const&) {
      memory_is_short = true;
    }
  });
  if (memory_is_short)
    throw OutOfMemory("Blockspan::multigrid: out of memory: no room for the pattern of a product");
  C.indices = kept_array<int>(exec, arena, offsets_of_counts(exec, C.offsets));
  each(exec, "Blockspan::multigrid_fill_product", rows.workers.count, [&](std::int64_t worker) {
    auto const* from = lists[static_cast<std::size_t>(worker)].data();
    auto const range = rows.workers.rows_of(worker);
    for (std::int64_t group = range.first; group < range.last; ++group) {
      std::int64_t const i = supernodes.first(group);
      int const found = C.offsets(i + 1) - C.offsets(i);
      for (int r = 0; r < supernodes.rows(group); ++r)
        std::copy_n(from, found, C.indices.data() + C.offsets(i + r));
      from += found;
    }
  });
}

/// `bound` with the workers that find the rows of C, each with a table of its own: for rows of
/// `widest` columns at most, or dense, with a place for every column of B.
template <class Exec>
ProductRows<Exec> with_workers(Exec const& exec, Arena<Exec>& arena, BoundRows const& bound,
                               Integers<Exec> const& bounds, Integers<Exec> const& offsets,
                               std::int64_t widest, bool dense) {
  std::int64_t size = 4;
  while (size < 2 * widest) size *= 2;
  if (dense) size = bound.B.columns;
  Workers const workers(exec, bound.supernodes_A.groups,
                        size * static_cast<std::int64_t>(sizeof(int)));
  auto const tables = scratch_array<int>(exec, arena, workers.count * size);
  if (dense) Kokkos::deep_copy(exec, tables, -1);
  return {bound.A,
          bound.B,
          bound.supernodes_A,
          bound.supernodes_B,
          bounds,
          tables,
          size,
          dense,
          workers,
          offsets,
          {}};
}

template <class Exec>
Pattern<Exec> multiply_patterns(Exec const& exec, Arena<Exec>& arena, PatternRef<int, int> const& A,
                                PatternRef<int, int> const& B, Supernodes const& given_supernodes_A,
                                Supernodes const& supernodes_B) {
  Supernodes const supernodes_A =
      given_supernodes_A.begin == nullptr ? Supernodes{nullptr, A.rows, 1} : given_supernodes_A;
  auto const bounds = scratch_array<int>(exec, arena, supernodes_A.groups);
  auto const before =
      scratch_array<std::int64_t>(exec, arena, runs_on_host_v<Exec> ? 0 : supernodes_A.groups);
  BoundRows const rows{A, B, supernodes_A, supernodes_B, bounds.data(), before.data()};
  auto const bound = bound_rows(exec, rows);
  std::int64_t widest = bound.most;
  Pattern<Exec> C{static_cast<int>(A.rows),
                  static_cast<int>(B.columns),
                  kept_array<int>(exec, arena, A.rows + 1),
                  {}};
  if constexpr (runs_on_host_v<Exec>) {
    bool const dense = B.columns * static_cast<std::int64_t>(exec.concurrency()) <= (1 << 27);
    multiply_on_host(exec, arena, with_workers(exec, arena, rows, bounds, C.offsets, widest, dense),
                     C);
  } else {
    int slots = 16;
    while (slots < 2 * widest && slots < 32 * ProductTeams::lanes_for(B)) slots *= 2;
    ProductTeams const teams(B, slots + 1, 2 * sizeof(int), warp_size_v<Exec>);
    while (slots + 1 > teams.room) slots /= 2;
    // lists that are kept are found once
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
  }
  exec.fence("Blockspan::multigrid_product");
  return C;
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
      exec, "Blockspan::multigrid_dense", entries,
      KOKKOS_LAMBDA(std::int64_t k) { indices(k) = static_cast<int>(k % n); });
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
