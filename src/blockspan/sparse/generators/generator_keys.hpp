#pragma once

#include <algorithm>

#include <Kokkos_Core.hpp>
#include <Kokkos_Sort.hpp>

#include <blockspan/sparse/generators/generator_pattern.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/bisect.hpp>
#include <blockspan/support/interruption.hpp>

// Patterns from a list of entries in any order: an entry is the 64-bit key row * 2^32 + column, so
// that sorted keys are sorted entries.

namespace blockspan::sparse {

template <class Exec>
using Keys = Kokkos::View<std::uint64_t*, Kokkos::Device<Exec, typename Exec::memory_space>>;

KOKKOS_INLINE_FUNCTION std::uint64_t entry_key(std::int64_t row, std::int64_t column) {
  return (std::uint64_t(row) << 32) | std::uint64_t(column);
}

/// Sorts segments of an array, one per thread, then merges them pairwise.
template <class Exec>
struct SortSegments {
  std::uint64_t* data;
  std::int64_t size;
  std::int64_t segments;
  std::int64_t width;  ///< segments in a sorted run; 0: the segments are not sorted yet

  std::int64_t bound(std::int64_t segment) const {
    return std::min(size, ceil_div(size, segments) * std::min(segment, segments));
  }
  void operator()(std::int64_t p) const {
    if (width == 0)
      std::sort(data + bound(p), data + bound(p + 1));
    else
      std::inplace_merge(data + bound(2 * p * width), data + bound((2 * p + 1) * width),
                         data + bound((2 * p + 2) * width));
  }
};

/// Sorts ascending. On host backends not by Kokkos::sort, whose bins of equal key ranges are very
/// unbalanced for the long rows of a power-law graph.
template <class Exec>
void sort_keys(Exec const& exec, Keys<Exec> const& keys) {
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                           typename Exec::memory_space>::accessible) {
    auto const size = static_cast<std::int64_t>(keys.extent(0));
    constexpr std::int64_t most = 1 << 22;  // keys of a segment: sorted in some tenths of a second
    std::int64_t const threads = size < 10000 ? 1 : exec.concurrency();
    std::int64_t const segments =
        ceil_div(std::max(ceil_div(size, most), threads), threads) * threads;
    for (std::int64_t first = 0; first < segments; first += threads) {
      InterruptionCheck::step();
      Kokkos::parallel_for("Blockspan::generate::sort",
                           IndexRange<Exec>(exec, first, first + threads),
                           SortSegments<Exec>{keys.data(), size, segments, 0});
      exec.fence("Blockspan::generate: segments are sorted");
    }
    for (std::int64_t width = 1; width < segments; width *= 2) {
      InterruptionCheck::step();
      Kokkos::parallel_for("Blockspan::generate::merge",
                           IndexRange<Exec>(exec, 0, ceil_div(segments, 2 * width)),
                           SortSegments<Exec>{keys.data(), size, segments, width});
      exec.fence("Blockspan::generate: segments are merged");
    }
  } else {
    Kokkos::sort(exec, keys);
  }
}

/// Copies the first of each run of equal keys to `unique`; the reduction only counts them.
template <class Exec>
struct CompactKeys {
  using value_type = std::int64_t;
  Keys<Exec> keys;
  Keys<Exec> unique;

  KOKKOS_FUNCTION bool is_first(std::int64_t k) const { return k == 0 || keys(k) != keys(k - 1); }
  KOKKOS_FUNCTION void operator()(std::int64_t k, std::int64_t& count) const {
    if (is_first(k)) ++count;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t k, std::int64_t& count, bool is_final) const {
    if (!is_first(k)) return;
    if (is_final) unique(count) = keys(k);
    ++count;
  }
};

/// The keys without duplicates. Sorts `keys` in place.
template <class Exec>
Keys<Exec> sorted_unique_keys(Exec const& exec, Keys<Exec> const& keys, NonzeroLimit const& limit) {
  sort_keys(exec, keys);
  InterruptionCheck::step();
  IndexRange<Exec> const policy(exec, 0, static_cast<std::int64_t>(keys.extent(0)));
  std::int64_t count = 0;
  Kokkos::parallel_reduce("Blockspan::generate::count_unique", policy, CompactKeys<Exec>{keys, {}},
                          count);
  exec.fence("Blockspan::generate: number of nonzeros");
  limit.check(count);
  auto const unique = allocate<Keys<Exec>>(exec, "Blockspan::generate::unique_keys", count);
  Kokkos::parallel_scan("Blockspan::generate::compact", policy, CompactKeys<Exec>{keys, unique});
  return unique;
}

/// Row i starts at the first key that is at least i * 2^32.
template <class Exec>
struct RowsOfKeys {
  Keys<Exec> keys;
  typename GeneratedPattern<Exec>::Offsets row_map;  // rows + 1

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    row_map(i) = first_where(std::size_t(0), keys.extent(0),
                             [&](std::size_t k) { return keys(k) >= entry_key(i, 0); });
  }
};

template <class Exec>
struct ColumnsOfKeys {
  Keys<Exec> keys;
  typename GeneratedPattern<Exec>::Indices entries;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const {
    entries(k) = static_cast<int>(keys(k) & 0xffffffffu);
  }
};

/// A pattern without values from sorted keys without duplicates.
template <class Exec>
GeneratedPattern<Exec> pattern_of_keys(Exec const& exec, Keys<Exec> const& keys, std::int64_t rows,
                                       std::int64_t columns) {
  using Pattern = GeneratedPattern<Exec>;
  auto const size = static_cast<std::int64_t>(keys.extent(0));
  Pattern pattern{
      .rows = rows,
      .columns = columns,
      .row_map =
          allocate<typename Pattern::Offsets>(exec, "Blockspan::generate::row_map", rows + 1),
      .entries = allocate<typename Pattern::Indices>(exec, "Blockspan::generate::entries", size),
      .values = {}};
  Kokkos::parallel_for("Blockspan::generate::rows_of_keys", IndexRange<Exec>(exec, 0, rows + 1),
                       RowsOfKeys<Exec>{keys, pattern.row_map});
  Kokkos::parallel_for("Blockspan::generate::columns_of_keys", IndexRange<Exec>(exec, 0, size),
                       ColumnsOfKeys<Exec>{keys, pattern.entries});
  return pattern;
}

}  // namespace blockspan::sparse
