#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/host/host_csr.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::sparse {

/// The pattern of a matrix on the host.
template <class Offset, class Ordinal>
struct HostPattern {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  HostArray<Offset const> offsets;   ///< rows + 1
  HostArray<Ordinal const> indices;  ///< entries
};

/// Neighbours of every vertex, ascending, without the vertex itself.
template <class Ordinal>
struct Neighbours {
  std::vector<std::size_t> offsets;  ///< vertices + 1
  std::vector<Ordinal> indices;

  std::size_t vertices() const { return offsets.size() - 1; }
};

template <class Matrix>
auto to_host_pattern(Matrix const& A) {
  using Offset = typename Matrix::non_const_size_type;
  using Ordinal = typename Matrix::non_const_ordinal_type;
  Kokkos::HostSpace const host;
  return HostPattern<Offset, Ordinal>{static_cast<std::int64_t>(A.numRows()),
                                      static_cast<std::int64_t>(A.numCols()),
                                      Kokkos::create_mirror_view_and_copy(host, A.graph.row_map),
                                      Kokkos::create_mirror_view_and_copy(host, A.graph.entries)};
}

/// Calls edge(i, j) for every entry off the diagonal.
template <class Offset, class Ordinal, class Edge>
void for_each_edge(HostPattern<Offset, Ordinal> const& A, Edge const& edge) {
  for (std::int64_t row = 0; row < A.rows; ++row) {
    for (Offset p = A.offsets(row); p < A.offsets(row + 1); ++p) {
      auto const column = static_cast<std::int64_t>(A.indices(p));
      if (column != row) edge(static_cast<std::size_t>(row), static_cast<std::size_t>(column));
    }
  }
}

/// Sorts each row of `graph` and drops repeated neighbours.
template <class Ordinal>
void sort_neighbours(Neighbours<Ordinal>& graph) {
  std::size_t out = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < graph.vertices(); ++i) {
    std::size_t const end = graph.offsets[i + 1];
    auto const first = graph.indices.begin() + static_cast<std::ptrdiff_t>(begin);
    auto const last = graph.indices.begin() + static_cast<std::ptrdiff_t>(end);
    std::sort(first, last);
    auto const unique = std::unique(first, last);
    auto const target = graph.indices.begin() + static_cast<std::ptrdiff_t>(out);
    std::copy(first, unique, target);
    graph.offsets[i] = out;
    out += static_cast<std::size_t>(unique - first);
    begin = end;
  }
  graph.offsets.back() = out;
  graph.indices.resize(out);
}

/// The graph of A + A^T.
template <class Offset, class Ordinal>
Neighbours<Ordinal> graph_pattern(HostPattern<Offset, Ordinal> const& A) {
  require(A.rows == A.columns, "graph", "a graph needs a square matrix, not ", A.rows, " x ",
          A.columns);
  require_walkable<Offset, Ordinal>("graph", A.columns, A.offsets, A.indices);
  Neighbours<Ordinal> graph;
  auto const rows = static_cast<std::size_t>(A.rows);
  graph.offsets.assign(rows + 1, 0);
  for_each_edge(A, [&](std::size_t i, std::size_t j) {
    ++graph.offsets[i];
    ++graph.offsets[j];
  });
  // Each offset is the end of its row at first and is decremented to its start as the row is
  // filled.
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  graph.indices.resize(graph.offsets.back());
  for_each_edge(A, [&](std::size_t i, std::size_t j) {
    graph.indices[--graph.offsets[i]] = static_cast<Ordinal>(j);
    graph.indices[--graph.offsets[j]] = static_cast<Ordinal>(i);
  });
  sort_neighbours(graph);
  return graph;
}

/// A matrix with value(i, j, degree of i) for every edge and, if `diagonal`, on the diagonal.
template <class Scalar, class Offset, class Ordinal, class Value>
HostCsr<Scalar, Offset, Ordinal> graph_matrix(Neighbours<Ordinal> const& graph, Value const& value,
                                              bool diagonal) {
  std::size_t const rows = graph.vertices();
  std::size_t const entries = graph.indices.size() + (diagonal ? rows : 0);
  require(entries <= static_cast<std::size_t>(std::numeric_limits<Offset>::max()), "graph", entries,
          " entries do not fit ", 8 * sizeof(Offset), "-bit offsets");
  auto const vertices = static_cast<std::int64_t>(rows);
  auto const A = zero_csr<Scalar, Offset, Ordinal>(vertices, vertices, entries);
  std::size_t out = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    auto const row = static_cast<Ordinal>(i);
    auto const degree = static_cast<Ordinal>(graph.offsets[i + 1] - graph.offsets[i]);
    auto const put = [&](Ordinal column) {
      A.indices(out) = column;
      A.values(out++) = value(row, column, degree);
    };
    std::size_t p = graph.offsets[i];
    for (; p < graph.offsets[i + 1] && graph.indices[p] < row; ++p) put(graph.indices[p]);
    if (diagonal) put(row);
    for (; p < graph.offsets[i + 1]; ++p) put(graph.indices[p]);
    A.offsets(i + 1) = static_cast<Offset>(out);
  }
  return A;
}

/// Connected component of every vertex, numbered in the order of their smallest vertices.
struct Components {
  std::vector<std::size_t> of;
  std::size_t count = 0;
};

template <class Ordinal>
Components components(Neighbours<Ordinal> const& graph) {
  constexpr auto none = std::numeric_limits<std::size_t>::max();
  Components result{std::vector<std::size_t>(graph.vertices(), none), 0};
  std::vector<std::size_t> reached;
  for (std::size_t start = 0; start < graph.vertices(); ++start) {
    if (result.of[start] != none) continue;
    result.of[start] = result.count;
    reached.assign(1, start);
    while (!reached.empty()) {
      std::size_t const i = reached.back();
      reached.pop_back();
      for (std::size_t p = graph.offsets[i]; p < graph.offsets[i + 1]; ++p) {
        auto const j = static_cast<std::size_t>(graph.indices[p]);
        if (result.of[j] != none) continue;
        result.of[j] = result.count;
        reached.push_back(j);
      }
    }
    ++result.count;
  }
  return result;
}

}  // namespace blockspan::sparse
