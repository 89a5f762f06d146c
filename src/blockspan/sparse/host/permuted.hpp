#pragma once

#include <vector>

#include <blockspan/sparse/host/graph_pattern.hpp>

namespace blockspan::sparse {

/// The new index of every vertex in the reverse Cuthill-McKee order: breadth first, neighbours by
/// degree, then reversed; components one after another. By Kokkos Kernels. O(edges log(degree)).
///
/// Source: Cuthill and McKee 1969, doi:10.1145/800195.805928 (the order); George 1971, Stanford
/// STAN-CS-71-208 (its reversal).
std::vector<int> rcm_places(Neighbours<int> const& graph);

}  // namespace blockspan::sparse
