#pragma once

#include <cstdint>

#include <blockspan/multigrid/setup/arrays.hpp>

namespace blockspan::levels {

/// The maximum number of rows of a node: unknowns of a mesh node, or near-null vectors.
inline constexpr int most_rows_of_node = 16;

/// Rows that are aggregated together: the unknowns of a mesh node, or the columns of an aggregate.
template <class Exec>
struct NodePartition {
  int count = 0;
  Integers<Exec> of_row;  ///< rows
  Integers<Exec> begin;   ///< count + 1: the rows of a node are consecutive
  int largest = 1;        ///< rows of the largest node

  /// The rows of nodes as groups, for matrices in which they have the same columns.
  Supernodes groups() const {
    if (largest == 1 || count == 0) return {};
    return {begin.data(), count, largest, of_row.data()};
  }
};

/// Undirected graph with weights; edges from a node to itself are ignored.
template <class Exec>
struct WeightedGraph {
  Pattern<Exec> edges;
  Array<double, Exec> weights;
};

template <class Exec>
struct Aggregates {
  int count = 0;
  Integers<Exec> of_node;  ///< -1: a node without neighbours
  std::int64_t largest = 0, left_out = 0;
  int rounds = 0;  ///< of independent sets
};

// Defined in graph_impl.hpp, compiled once per backend. They may fence.

/// Nodes of `size` rows each; the first and last may be partly on other ranks. first: global index
/// of the first local row.
template <class Exec>
NodePartition<Exec> equal_nodes(Exec const& exec, Arena<Exec>& arena, std::int64_t first, int rows,
                                int size);

/// Disjoint connected groups of nodes, numbered in the order of their roots:
///   1. roots are a maximal independent set of distance two; the neighbours of a root join it
///   2. the same for the remaining nodes, for roots with at least two remaining neighbours
///   3. each remaining node joins the neighbouring aggregate with the largest sum of weights (the
///      smaller root if sums are equal), round after round.
/// Decided by minima and sums in a fixed order only: the result is the same on every backend.
/// Sources: Bell, Dalton and Olson 2012, doi:10.1137/110838844; Kelley and Rajamanickam 2022,
/// arXiv:2204.02934.
template <class Exec>
Aggregates<Exec> aggregate(Exec const& exec, Arena<Exec>& arena, WeightedGraph<Exec> const& graph);

/// Aggregates of aggregates.
template <class Exec>
Aggregates<Exec> aggregate_again(Exec const& exec, Arena<Exec>& arena,
                                 WeightedGraph<Exec> const& graph, Aggregates<Exec> const& fine);

}  // namespace blockspan::levels
