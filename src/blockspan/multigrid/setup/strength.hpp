#pragma once

#include <blockspan/multigrid/setup/graph.hpp>
#include <blockspan/multigrid/setup/lanes.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::levels {

/// W^1/2 A W^1/2 as a matrix of blocks between nodes: the Frobenius norms of a row of blocks,
/// without forming them. Rows of A are in order, so nodes ascend along each of them.
template <class Scalar>
struct NodeRows {
  MatrixRef<Scalar, int, int> A;
  real_t<Scalar> const* weights;
  int const *of_row, *begin;

  template <class Visit>
  KOKKOS_FUNCTION void visit(std::int64_t node, Visit const& visit_block) const {
    constexpr int none = Kokkos::Experimental::finite_max_v<int>;
    auto const& offsets = A.pattern.row_offsets;
    int const first = begin[node], rows = begin[node + 1] - first;
    int at[most_rows_of_node];
    for (int r = 0; r < rows; ++r) at[r] = offsets[first + r];
    for (;;) {
      int next = none;
      for (int r = 0; r < rows; ++r)
        if (at[r] < offsets[first + r + 1]) {
          int const other = of_row[A.pattern.column_indices[at[r]]];
          if (other < next) next = other;
        }
      if (next == none) return;
      double sum = 0;
      for (int r = 0; r < rows; ++r)
        for (; at[r] < offsets[first + r + 1] && of_row[A.pattern.column_indices[at[r]]] == next;
             ++at[r])
          sum += squared_magnitude(A.values[at[r]]) * weights[first + r] *
                 weights[A.pattern.column_indices[at[r]]];
      visit_block(next, Kokkos::sqrt(sum));
    }
  }
};

/// The same where all rows of a node have the same columns: lanes share the blocks of a row.
template <class Scalar>
struct LikeNodeRows {
  NodeRows<Scalar> nodes;
  int* counts;  ///< of blocks of a node; null: fill
  int const* offsets = nullptr;
  int* indices = nullptr;
  double *norms = nullptr, *own = nullptr;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t node) const {
    auto const& A = nodes.A.pattern;
    int const row = nodes.begin[node], first = A.row_offsets[row];
    int const length = A.row_offsets[row + 1] - first;
    auto const starts = [&](int p) {
      int const k = first + p;
      return p == 0 || nodes.of_row[A.column_indices[k]] != nodes.of_row[A.column_indices[k - 1]];
    };
    if (counts != nullptr) {
      int const count = lanes.template sum<int>(length, [&](int p) { return starts(p) ? 1 : 0; });
      lanes.each(1, [&](int) { counts[node] = count; });
      return;
    }
    lanes.each(1, [&](int) { own[node] = 0; });
    lanes.number(length, starts, [&](int p, int block) {
      int const other = nodes.of_row[A.column_indices[first + p]];
      double sum = 0;
      for (int r = 0; r < nodes.begin[node + 1] - row; ++r)
        for (int k = p; k < length && nodes.of_row[A.column_indices[first + k]] == other; ++k) {
          auto const value = nodes.A.values[first + k + r * length];
          sum += squared_magnitude(value) * nodes.weights[row + r] *
                 nodes.weights[A.column_indices[first + k]];
        }
      double const norm = Kokkos::sqrt(sum);
      indices[offsets[node] + block] = other;
      norms[offsets[node] + block] = norm;
      if (other == node && norm > 0) own[node] = 1 / Kokkos::sqrt(norm);
    });
  }
};

/// weights := w_ij own_i own_j.
struct ScaleEdges {
  PatternRef<int, int> edges;
  double const* own;
  double* weights;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t i) const {
    int const first = edges.row_offsets[i];
    lanes.each(edges.row_offsets[i + 1] - first,
               [&](int p) { weights[first + p] *= own[i] * own[edges.column_indices[first + p]]; });
  }
};

/// The graph of nodes with weights c_ij = ||A_ij|| / sqrt(||A_ii|| ||A_jj||), blocks of
/// W^1/2 A W^1/2.
template <class Exec, class Scalar>
WeightedGraph<Exec> node_graph(Exec const& exec, Arena<Exec>& arena,
                               MatrixRef<Scalar, int, int> const& A,
                               real_t<Scalar> const* inverse_diagonal,
                               NodePartition<Exec> const& nodes, Supernodes const& supernodes) {
  std::int64_t const n = nodes.count;
  bool const alike = nodes.largest == 1 || supernodes.begin != nullptr;
  int const lanes = lanes_for(A.pattern.entries, A.pattern.rows);
  NodeRows<Scalar> const rows{A, inverse_diagonal, nodes.of_row.data(), nodes.begin.data()};
  auto const offsets = scratch_array<int>(exec, arena, n + 1);
  if (alike)
    each_by_lanes(exec, "Blockspan::multigrid_count_blocks", n, lanes,
                  LikeNodeRows<Scalar>{rows, offsets.data()});
  else
    each(
        exec, "Blockspan::multigrid_count_blocks", n, KOKKOS_LAMBDA(std::int64_t i) {
          int count = 0;
          rows.visit(i, [&](int, double) { ++count; });
          offsets(i) = count;
        });
  WeightedGraph<Exec> graph{{nodes.count, nodes.count, offsets, {}}, {}};
  graph.edges.indices = scratch_array<int>(exec, arena, offsets_of_counts(exec, offsets));
  graph.weights = scratch_array<double>(exec, arena, graph.edges.entries());
  auto const own = scratch_array<double>(exec, arena, n);
  auto const indices = graph.edges.indices;
  auto const weights = graph.weights;
  if (alike)
    each_by_lanes(exec, "Blockspan::multigrid_fill_blocks", n, lanes,
                  LikeNodeRows<Scalar>{rows, nullptr, offsets.data(), indices.data(),
                                       weights.data(), own.data()});
  else
    each(
        exec, "Blockspan::multigrid_fill_blocks", n, KOKKOS_LAMBDA(std::int64_t i) {
          int place = offsets(i);
          double root = 0;
          rows.visit(i, [&](int j, double norm) {
            if (j == i && norm > 0) root = 1 / Kokkos::sqrt(norm);
            indices(place) = j;
            weights(place++) = norm;
          });
          own(i) = root;
        });
  each_by_lanes(exec, "Blockspan::multigrid_scale_blocks", n, lanes,
                ScaleEdges{graph.edges.ref(), own.data(), weights.data()});
  return graph;
}

/// sqrt(theta m_i), m_i the largest c_ij of a node.
struct LargestEdge {
  PatternRef<int, int> edges;
  double const* weights;
  double theta;
  double* roots;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t i) const {
    int const first = edges.row_offsets[i], length = edges.row_offsets[i + 1] - first;
    double const largest = lanes.template largest<double>(length, [&](int p) {
      return edges.column_indices[first + p] != i ? weights[first + p] : 0;
    });
    lanes.each(1, [&](int) { roots[i] = Kokkos::sqrt(theta * largest); });
  }
};

/// Counts the strong edges of a node, or lists them.
struct StrongEdges {
  PatternRef<int, int> edges;
  double const *weights, *roots;
  int* counts;  ///< null: list
  int const* offsets = nullptr;
  int* indices = nullptr;
  double* kept = nullptr;

  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t i) const {
    int const first = edges.row_offsets[i], length = edges.row_offsets[i + 1] - first;
    auto const strong = [&](int p) {
      int const j = edges.column_indices[first + p];
      double const weight = weights[first + p];
      return j != i && weight > 0 && weight >= roots[i] * roots[j];
    };
    if (counts != nullptr) {
      int const count = lanes.template sum<int>(length, [&](int p) { return strong(p) ? 1 : 0; });
      lanes.each(1, [&](int) { counts[i] = count; });
      return;
    }
    lanes.number(length, strong, [&](int p, int place) {
      indices[offsets[i] + place] = edges.column_indices[first + p];
      kept[offsets[i] + place] = weights[first + p];
    });
  }
};

/// The edges with c_ij >= theta sqrt(m_i m_j), m_i the largest c_ij of node i: blind to a scaling
/// of rows and columns, and the same seen from both ends. like: rows of A.
template <class Exec, class Scalar>
WeightedGraph<Exec> strong_graph(Exec const& exec, Arena<Exec>& arena,
                                 MatrixRef<Scalar, int, int> const& A,
                                 real_t<Scalar> const* inverse_diagonal,
                                 NodePartition<Exec> const& nodes, Supernodes const& supernodes,
                                 double theta) {
  auto const graph = node_graph(exec, arena, A, inverse_diagonal, nodes, supernodes);
  auto const all = graph.edges.ref();
  std::int64_t const n = nodes.count;
  int const lanes = lanes_for(all.entries, all.rows);
  auto const roots = scratch_array<double>(exec, arena, n);
  each_by_lanes(exec, "Blockspan::multigrid_largest_block", n, lanes,
                LargestEdge{all, graph.weights.data(), theta, roots.data()});
  auto const offsets = scratch_array<int>(exec, arena, n + 1);
  each_by_lanes(exec, "Blockspan::multigrid_count_strong", n, lanes,
                StrongEdges{all, graph.weights.data(), roots.data(), offsets.data()});
  WeightedGraph<Exec> result{{nodes.count, nodes.count, offsets, {}}, {}};
  result.edges.indices = scratch_array<int>(exec, arena, offsets_of_counts(exec, offsets));
  result.weights = scratch_array<double>(exec, arena, result.edges.entries());
  each_by_lanes(exec, "Blockspan::multigrid_fill_strong", n, lanes,
                StrongEdges{all, graph.weights.data(), roots.data(), nullptr, offsets.data(),
                            result.edges.indices.data(), result.weights.data()});
  exec.fence("Blockspan::multigrid_strong");
  return result;
}

}  // namespace blockspan::levels
