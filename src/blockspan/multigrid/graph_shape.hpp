#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <blockspan/support/scalar.hpp>

namespace blockspan {

/// Properties of a matrix' graph that predict which method suits, before any is tried.
struct GraphShape {
  /// The levels of a breadth-first search are as narrow as in a planar graph: the iterations with a
  /// polynomial or Jacobi grow with the number of levels, and factors stay small.
  bool narrow = false;
  /// The off-diagonal entries with the sign of the diagonal sum up to more than a twelfth of the
  /// others, as in matrices of plates, or of anisotropy that is not aligned with the grid. Strength
  /// of connection then misleads coarsening.
  bool mixed_signs = false;
  /// Fewer than three quarters of the rows have as many entries as the row before, all of similar
  /// size: not a grid with smooth coefficients, where a hierarchy needs a third of the usual work.
  bool uneven = false;
  /// Work of factors with a dense block of the average width w of a level, w^3, in products with A.
  double dissection = 0;
};

/// The shape of a square CrsMatrix in host memory, by a breadth-first search from a row far from
/// the middle one; if it reaches fewer than half of the rows, the graph does not count as narrow.
/// O(entries), the time of some iterations.
template <class Matrix>
GraphShape graph_shape(Matrix const& A) {
  auto const n = static_cast<std::size_t>(A.numRows());
  if (n == 0) return {};
  auto const& offsets = A.graph.row_map;
  auto const& columns = A.graph.entries;
  std::vector<char> seen(n, 0);
  std::vector<std::size_t> reached;
  auto const levels_from = [&](std::size_t row, char mark) {
    reached.assign(1, row);
    seen[row] = mark;
    int levels = 0;
    for (std::size_t next = 0; next < reached.size(); ++levels)
      for (std::size_t const end = reached.size(); next < end; ++next)
        for (auto p = offsets(reached[next]); p < offsets(reached[next] + 1); ++p) {
          auto const j = static_cast<std::size_t>(columns(p));
          if (std::exchange(seen[j], mark) != mark) reached.push_back(j);
        }
    return levels;
  };
  levels_from(n / 2, 1);
  double const levels = levels_from(reached.back(), 2), rows = static_cast<double>(reached.size()),
               width = rows / levels;
  // a square of the plane has levels of between half a side and one and a half
  GraphShape shape{.narrow = 2 * reached.size() >= n && width * width <= 2.25 * rows};
  shape.dissection = width * width * width / std::max<double>(offsets(n), 1);
  double of_diagonal = 0, others = 0;
  std::size_t even = 0;
  for (std::size_t i = 0, length = 0; i < n; ++i) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (auto p = offsets(i); p < offsets(i + 1); ++p) {
      double const value = static_cast<double>(real_part(A.values(p))), size = std::abs(value);
      if (static_cast<std::size_t>(columns(p)) == i || size == 0) continue;
      (value > 0 ? of_diagonal : others) += size;
      least = std::min(least, size), most = std::max(most, size);
    }
    auto const before =
        std::exchange(length, static_cast<std::size_t>(offsets(i + 1) - offsets(i)));
    if (length == before && most <= 4 * least) ++even;
  }
  shape.mixed_signs = 12 * of_diagonal > others;
  shape.uneven = 4 * even < 3 * n;
  return shape;
}

}  // namespace blockspan
