#pragma once

#include <blockspan/sparse/detail/generator_hash.hpp>
#include <blockspan/sparse/detail/generator_keys.hpp>

namespace blockspan::detail {

/// Edge e of an R-MAT graph: at each of `scale` levels one of four quadrants, by 32 random bits
/// against thresholds made on the host.
template <class Exec>
struct RmatEdges {
  Keys<Exec> keys;  ///< one an edge
  int scale;
  std::uint64_t threshold[3];  ///< 2^32 * (a, a + b, a + b + c)
  std::uint64_t seed;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    std::int64_t row = 0, column = 0;
    for (int level = 0; level < scale; ++level) {
      std::uint64_t const bits =
          hash(seed, HashStream::edge, std::uint64_t(e), std::uint64_t(level)) >> 32;
      bool const lower = bits >= threshold[1];
      bool const right = lower ? bits >= threshold[2] : bits >= threshold[0];
      row = 2 * row + lower;
      column = 2 * column + right;
    }
    keys(e) = entry_key(row, column);
  }
};

/// Both (i, j) and (j, i) of every entry.
template <class Exec>
struct BothWays {
  GeneratedPattern<Exec> pattern;
  Keys<Exec> keys;  ///< two a nonzero
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t k = pattern.row_map(i); k < pattern.row_map(i + 1); ++k) {
      keys(2 * k) = entry_key(i, pattern.entries(k));
      keys(2 * k + 1) = entry_key(pattern.entries(k), i);
    }
  }
};

}  // namespace blockspan::detail
