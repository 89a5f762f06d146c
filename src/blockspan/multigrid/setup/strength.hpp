#pragma once

#include <blockspan/blocks/block.hpp>
#include <blockspan/multigrid/setup/graph.hpp>
#include <blockspan/multigrid/setup/lanes.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::levels {

/// |a|^2 v w for weights v, w of about 1 / |a|: the square alone may leave the range of numbers.
template <class Scalar>
KOKKOS_FUNCTION double weighted_square(Scalar const& a, real_t<Scalar> v, real_t<Scalar> w) {
  return real_part(conjugate(v * a) * (w * a));
}

/// W^1/2 A W^1/2 as a matrix of blocks between nodes: visits the Frobenius norms of a row of
/// blocks, without forming them. Rows of A are sorted, so nodes ascend along each of them.
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
          sum += weighted_square(A.values[at[r]], weights[first + r],
                                 weights[A.pattern.column_indices[at[r]]]);
      visit_block(next, Kokkos::sqrt(sum));
    }
  }
};

/// The same if all rows of a node have the same columns: lanes share the blocks of a row.
template <class Scalar>
struct LikeNodeRows {
  NodeRows<Scalar> nodes;
  int* counts;  ///< number of blocks of a node; null: fill the arrays
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
          sum += weighted_square(value, nodes.weights[row + r],
                                 nodes.weights[A.column_indices[first + k]]);
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

/// The graph of nodes with weights, in its own arrays or, if rows are nodes, with the edges of A.
template <class Exec>
struct NodeGraph {
  PatternRef<int, int> edges;
  Array<double, Exec> weights;
  Pattern<Exec> own = {};
};

/// If rows are nodes: weights := c_ij.
template <class Scalar>
struct RowWeights {
  MatrixRef<Scalar, int, int> A;
  real_t<Scalar> const* inverse_diagonal;
  double const* own;
  double* weights;

  KOKKOS_FUNCTION double norm(std::int64_t i, int k) const {
    return Kokkos::sqrt(weighted_square(A.values[k], inverse_diagonal[i],
                                        inverse_diagonal[A.pattern.column_indices[k]]));
  }
  template <class Lanes>
  KOKKOS_FUNCTION void operator()(Lanes const& lanes, std::int64_t i) const {
    int const first = A.pattern.row_offsets[i];
    lanes.each(A.pattern.row_offsets[i + 1] - first, [&](int p) {
      weights[first + p] = norm(i, first + p) * (own[i] * own[A.pattern.column_indices[first + p]]);
    });
  }
};

/// node_graph if rows are nodes.
template <class Exec, class Scalar>
NodeGraph<Exec> row_graph(Exec const& exec, Arena<Exec>& arena,
                          MatrixRef<Scalar, int, int> const& A,
                          real_t<Scalar> const* inverse_diagonal) {
  auto const& a = A.pattern;
  NodeGraph<Exec> graph{a, scratch_array<double>(exec, arena, a.entries)};
  auto const own = scratch_array<double>(exec, arena, a.rows);
  RowWeights<Scalar> const rows{A, inverse_diagonal, own.data(), graph.weights.data()};
  each(
      exec, "Blockspan::multigrid_diagonal_blocks", a.rows, KOKKOS_LAMBDA(std::int64_t i) {
        int const d = place_of(rows.A.pattern.column_indices, rows.A.pattern.row_offsets[i],
                               rows.A.pattern.row_offsets[i + 1], static_cast<int>(i));
        double const norm = d < 0 ? 0 : rows.norm(i, d);
        own(i) = norm > 0 ? 1 / Kokkos::sqrt(norm) : 0;
      });
  each_by_lanes(exec, "Blockspan::multigrid_fill_blocks", a.rows, lanes_for(a.entries, a.rows),
                rows);
  return graph;
}

/// The graph of nodes with weights c_ij = ||A_ij|| / sqrt(||A_ii|| ||A_jj||), blocks of
/// W^1/2 A W^1/2.
template <class Exec, class Scalar>
NodeGraph<Exec> node_graph(Exec const& exec, Arena<Exec>& arena,
                           MatrixRef<Scalar, int, int> const& A,
                           real_t<Scalar> const* inverse_diagonal, NodePartition<Exec> const& nodes,
                           Supernodes const& supernodes) {
  if (nodes.largest == 1) return row_graph<Exec, Scalar>(exec, arena, A, inverse_diagonal);
  std::int64_t const n = nodes.count;
  bool const alike = supernodes.begin != nullptr;
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
  Pattern<Exec> edges{nodes.count, nodes.count, offsets, {}};
  edges.indices = scratch_array<int>(exec, arena, offsets_of_counts(exec, offsets));
  NodeGraph<Exec> graph{edges.ref(), scratch_array<double>(exec, arena, edges.entries()), edges};
  auto const own = scratch_array<double>(exec, arena, n);
  auto const indices = edges.indices;
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
                ScaleEdges{graph.edges, own.data(), weights.data()});
  return graph;
}

/// The response to a pulse at a row after two steps x := (I - W A / b) x: c_ij = h_ij / sqrt(h_ii
/// h_jj), H = G^2, G = I - W^1/2 A W^1/2 / b, is close to one where smooth errors are nearly equal
/// in i and j, whatever the sign of a_ij. Only computed on the pattern of A; h_ij is the product of
/// two rows of G.
template <class Scalar, class Exec>
struct Pulses {
  PatternRef<int, int> A;
  Scalar const* G;
  Block<Scalar, Exec> near_null;  ///< one column
  double const* norms;            ///< 1 / sqrt(h_ii)

  KOKKOS_FUNCTION Scalar product(std::int64_t i, std::int64_t j) const {
    int a = A.row_offsets[i], b = A.row_offsets[j];
    int const end_a = A.row_offsets[i + 1], end_b = A.row_offsets[j + 1];
    Scalar sum(0);
    while (a < end_a && b < end_b) {
      int const of_a = A.column_indices[a], of_b = A.column_indices[b];
      if (of_a == of_b) sum += G[a] * conjugate(G[b]);
      a = of_a <= of_b ? next(a, end_a, of_b, end_b - b) : a;
      b = of_b <= of_a ? next(b, end_b, of_a, end_a - a) : b;
    }
    return sum;
  }
  /// c / (1 - c), zero if c is not positive.
  KOKKOS_FUNCTION double strength(std::int64_t i, std::int64_t j) const {
    double const size_i = Kokkos::abs(near_null(i, 0)), size_j = Kokkos::abs(near_null(j, 0));
    if (i == j || !(size_i > 0 && size_j > 0)) return 0;
    auto const turn = conjugate(near_null(i, 0)) / size_i * (near_null(j, 0) / size_j);
    double const c = real_part(product(i, j) * turn) * (norms[i] * norms[j]);
    return c > 1e-4 ? c / Kokkos::max(1 - c, 1e-4) : 0;
  }

 private:
  /// The position after k, or, in a row far longer than the rest of the other one, the position of
  /// the first column not less than `wanted`, by bisection.
  KOKKOS_FUNCTION int next(int k, int end, int wanted, int others) const {
    if (end - k <= 16 * others || A.column_indices[k] >= wanted) return k + 1;
    int low = k + 1, high = end;
    while (low < high) {
      int const middle = low + (high - low) / 2;
      if (A.column_indices[middle] < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// G of Pulses, and the reciprocal norms of its rows. Asynchronous.
template <class Exec, class Scalar>
void steps_of_pulses(Exec const& exec, MatrixRef<Scalar, int, int> const& A,
                     real_t<Scalar> const* weights, real_t<Scalar> upper,
                     Array<Scalar, Exec> const& G, Array<double, Exec> const& norms) {
  each(
      exec, "Blockspan::multigrid_pulse_steps", A.pattern.rows, KOKKOS_LAMBDA(std::int64_t i) {
        double sum = 0;
        for (int k = A.pattern.row_offsets[i]; k < A.pattern.row_offsets[i + 1]; ++k) {
          int const j = A.pattern.column_indices[k];
          G(k) = Scalar(j == i ? 1 : 0) -
                 A.values[k] * (Kokkos::sqrt(weights[i]) * Kokkos::sqrt(weights[j]) / upper);
          sum += squared_magnitude(G(k));
        }
        norms(i) = sum > 0 ? 1 / Kokkos::sqrt(sum) : 0;
      });
}

/// The graph of rows with the weights of Pulses. Source: Olson, Schroder and Tuminaro 2010,
/// doi:10.1137/080741422 (the evolution measure, here in a symmetric form).
template <class Exec, class Scalar>
NodeGraph<Exec> pulse_graph(Exec const& exec, Arena<Exec>& arena,
                            MatrixRef<Scalar, int, int> const& A, real_t<Scalar> const* weights,
                            real_t<Scalar> upper, Block<Scalar, Exec> const& near_null) {
  std::int64_t const n = A.pattern.rows, entries = A.pattern.entries;
  NodeGraph<Exec> graph{A.pattern, scratch_array<double>(exec, arena, entries)};
  auto const norms = scratch_array<double>(exec, arena, n);
  auto const G = scratch_array<Scalar>(exec, arena, entries);
  steps_of_pulses(exec, A, weights, upper, G, norms);
  Pulses<Scalar, Exec> const pulses{A.pattern, G.data(), near_null, norms.data()};
  auto const strengths = graph.weights;
  each(
      exec, "Blockspan::multigrid_pulses", n, KOKKOS_LAMBDA(std::int64_t i) {
        for (int k = A.pattern.row_offsets[i]; k < A.pattern.row_offsets[i + 1]; ++k)
          strengths(k) = pulses.strength(i, A.pattern.column_indices[k]);
      });
  exec.fence("Blockspan::multigrid_pulses");
  return graph;
}

/// roots(i) := sqrt(theta m_i), m_i the largest c_ij of node i.
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
  int* counts;  ///< null: list the edges
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

/// The edges with c_ij >= theta sqrt(m_i m_j), m_i the largest c_ij of node i: invariant under
/// scaling of rows and columns, and symmetric.
template <class Exec>
WeightedGraph<Exec> strong_graph(Exec const& exec, Arena<Exec>& arena, NodeGraph<Exec> const& graph,
                                 double theta) {
  auto const& all = graph.edges;
  std::int64_t const n = all.rows;
  int const lanes = lanes_for(all.entries, all.rows);
  auto const roots = scratch_array<double>(exec, arena, n);
  each_by_lanes(exec, "Blockspan::multigrid_largest_block", n, lanes,
                LargestEdge{all, graph.weights.data(), theta, roots.data()});
  auto const offsets = scratch_array<int>(exec, arena, n + 1);
  each_by_lanes(exec, "Blockspan::multigrid_count_strong", n, lanes,
                StrongEdges{all, graph.weights.data(), roots.data(), offsets.data()});
  int const nodes = static_cast<int>(n);
  WeightedGraph<Exec> result{{nodes, nodes, offsets, {}}, {}};
  result.edges.indices = scratch_array<int>(exec, arena, offsets_of_counts(exec, offsets));
  result.weights = scratch_array<double>(exec, arena, result.edges.entries());
  each_by_lanes(exec, "Blockspan::multigrid_fill_strong", n, lanes,
                StrongEdges{all, graph.weights.data(), roots.data(), nullptr, offsets.data(),
                            result.edges.indices.data(), result.weights.data()});
  exec.fence("Blockspan::multigrid_strong");
  return result;
}

}  // namespace blockspan::levels
