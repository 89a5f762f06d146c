#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::levels {

/// Threads that share the rows of a product and keep a table each; the memory for tables limits
/// their count, on which the results do not depend.
struct Workers {
  struct Range {
    std::int64_t first, last, step;
  };

  std::int64_t count, rows;
  bool consecutive;  ///< hosts: neighbouring rows share the lines of a cache

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

/// The place of `wanted` among keys[first..last), ascending; -1: it is not there.
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

}  // namespace blockspan::levels
