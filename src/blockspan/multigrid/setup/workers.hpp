#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multigrid/setup/arrays.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::levels {

/// Threads that share the rows of a product, each with its own table. Their number is limited by
/// the memory for tables; the results do not depend on it.
struct Workers {
  struct Range {
    std::int64_t first, last, step;
  };

  std::int64_t count, rows;
  bool consecutive;  ///< hosts: adjacent rows share cache lines

  template <class Exec>
  Workers(Exec const& exec, std::int64_t all_rows, std::int64_t table_bytes)
      : rows(all_rows), consecutive(runs_on_host_v<Exec>) {
    constexpr std::int64_t budget = std::int64_t{1} << 28;
    std::int64_t const threads = consecutive ? exec.concurrency() : std::int64_t{1} << 16;
    std::int64_t const affordable = std::max<std::int64_t>(
        consecutive ? threads : 1, budget / std::max<std::int64_t>(table_bytes, 1));
    count = std::min({threads, affordable, std::max<std::int64_t>(rows, 1)});
  }

  KOKKOS_FUNCTION Range rows_of(std::int64_t worker) const {
    if (consecutive) return {worker * rows / count, (worker + 1) * rows / count, 1};
    return {worker, rows, count};
  }
};

/// Heapsort: in place, without recursion.
KOKKOS_INLINE_FUNCTION void heap_sort(int* keys, int count) {
  auto const sink = [keys](int root, int end) {
    int const key = keys[root];
    while (2 * root + 1 < end) {
      int child = 2 * root + 1;
      if (child + 1 < end && keys[child + 1] > keys[child]) ++child;
      if (keys[child] <= key) break;
      keys[root] = keys[child];
      root = child;
    }
    keys[root] = key;
  };
  for (int root = count / 2 - 1; root >= 0; --root) sink(root, count);
  for (int end = count - 1; end > 0; --end) {
    int const largest = keys[0];
    keys[0] = keys[end];
    keys[end] = largest;
    sink(0, end);
  }
}

KOKKOS_INLINE_FUNCTION void sort_ascending(int* keys, int count) {
  KOKKOS_IF_ON_HOST((std::sort(keys, keys + count);))
  KOKKOS_IF_ON_DEVICE((heap_sort(keys, count);))
}

/// The position of `wanted` in the ascending keys[first..last); -1 if absent.
KOKKOS_INLINE_FUNCTION int place_of(int const* keys, int first, int last, int wanted) {
  while (first < last) {
    int const middle = first + (last - first) / 2;
    if (keys[middle] == wanted) return middle;
    if (keys[middle] < wanted)
      first = middle + 1;
    else
      last = middle;
  }
  return -1;
}

/// The distinct columns of rows of A B, found by a table per worker: a hash table for the row, or,
/// on hosts if affordable, a dense table that stores for every column the last row that used it. On
/// devices for the rows that TeamProductRows leaves.
template <class Exec>
struct ProductRows {
  PatternRef<int, int> A, B;
  Supernodes supernodes_A, supernodes_B;
  Integers<Exec> bounds;  ///< devices: -1 - bound of the entries of a row; >= 0: done
  Integers<Exec> tables;
  std::int64_t table_size;
  bool dense;  ///< hosts, dense table; then columns are always listed
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
      if (fill) sort_ascending(out, found);
      for (int r = fill ? 1 : 0; r < supernodes_A.rows(group); ++r) {
        if (!fill) offsets(i + r) = found;
        for (int k = 0; fill && k < found; ++k) out[r * found + k] = out[k];
      }
    }
  }

  /// Writes the columns to out, in any order (null: only counts; if `dense`, with space for one
  /// more); returns their number.
  KOKKOS_FUNCTION int columns(std::int64_t worker, std::int64_t group, int bound, int* out) const {
    int* const table = table_of(worker);
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
        if (dense) {  // new columns are unpredictable: no branch
          out[found] = column;
          found += table[column] != stamp ? 1 : 0;
          table[column] = stamp;
        } else if (insert(table, size, column)) {
          if (out != nullptr) out[found] = column;
          ++found;
        }
      }
    }
    return found;
  }

  KOKKOS_FUNCTION int* table_of(std::int64_t worker) const {
    return tables.data() + worker * table_size;
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

/// bounds[g] := an upper bound of the entries of a row of group g of A B; before[g] := the sum of
/// earlier bounds.
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
  KOKKOS_FUNCTION int bound(std::int64_t group) const {
    std::int64_t const i = supernodes_A.first(group);
    std::int64_t sum = 0;
    int const end = A.row_offsets[i + 1];
    for (int a = A.row_offsets[i]; a < end;
         a += supernodes_B.run_length(A.column_indices, a, end, supernodes_B.most)) {
      int const k = A.column_indices[a];
      sum += B.row_offsets[k + 1] - B.row_offsets[k];
    }
    return static_cast<int>(sum < B.columns ? sum : B.columns);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t group) const { bounds[group] = bound(group); }
  KOKKOS_FUNCTION void operator()(std::int64_t group, Totals& totals, bool last) const {
    if (last) before[group] = totals.sum;
    join(totals, {bounds[group], bounds[group]});
  }
};

/// The workers that find the rows of C, each with a table of its own: for rows of at most `widest`
/// columns, or dense, with an entry for every column of B.
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

}  // namespace blockspan::levels
