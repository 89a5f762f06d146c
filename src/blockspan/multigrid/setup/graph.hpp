#pragma once

#include <cstdint>

#include <blockspan/multigrid/setup/arrays.hpp>

namespace blockspan::levels {

/// Most rows of a node: unknowns of a mesh node, or near-null vectors.
inline constexpr int most_rows_of_node = 16;

/// Rows that belong together: the unknowns of a mesh node, or the columns of an aggregate.
template <class Exec>
struct NodePartition {
  int count = 0;
  Integers<Exec> of_row;  ///< rows
  Integers<Exec> begin;   ///< count + 1: the rows of a node are consecutive
  int largest = 1;        ///< rows of a node at most

  /// The rows of nodes, for matrices in which they have the same columns.
  Supernodes groups() const {
    if (largest == 1 || count == 0) return {};
    return {begin.data(), count, largest, of_row.data()};
  }
};

/// Undirected graph with weights; an edge of a node to itself counts for nothing.
template <class Exec>
struct WeightedGraph {
  Pattern<Exec> edges;
  Array<double, Exec> weights;
};

template <class Exec>
struct Aggregates {
  int count = 0;
  Integers<Exec> of_node;  ///< -1: a node without a neighbour
  std::int64_t largest = 0, left_out = 0;
  int rounds = 0;  ///< of independent sets
};

// Defined in graph_impl.hpp, compiled once a backend. They wait for the instance.

/// Nodes of `size` rows each, but for those that other ranks have of the first and the last one.
/// first: row of all that is this rank's first.
template <class Exec>
NodePartition<Exec> equal_nodes(Exec const& exec, Arena<Exec>& arena, std::int64_t first, int rows,
                                int size);

/// Disjoint connected groups of nodes, numbered in the order of their roots:
///   1. roots are a maximal independent set of distance two; a root's neighbours join it
///   2. the same among the nodes left, for roots that have two neighbours there
///   3. each node left joins the neighbouring aggregate it is tied to most (the smaller root where
///      sums are equal), round after round.
/// Only minima and sums in a fixed order decide: the result is the same on every backend.
/// Sources: Bell, Dalton and Olson 2012, doi:10.1137/110838844; Kelley and Rajamanickam 2022,
/// arXiv:2204.02934.
template <class Exec>
Aggregates<Exec> aggregate(Exec const& exec, Arena<Exec>& arena, WeightedGraph<Exec> const& graph);

/// Aggregates of aggregates.
template <class Exec>
Aggregates<Exec> aggregate_again(Exec const& exec, Arena<Exec>& arena,
                                 WeightedGraph<Exec> const& graph, Aggregates<Exec> const& fine);

}  // namespace blockspan::levels
