#pragma once

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/host/graph_pattern.hpp>
#include <blockspan/sparse/host/host_csr.hpp>

// The graph of a square matrix: vertices are rows; an edge joins i and j, i != j, where A stores an
// entry (i, j) or (j, i). Explicit zeros are entries; entries may repeat and be unsorted.
//
// Everything here is assembled on the host and copied to `exec`, which is fenced: O(entries
// log(row)). Results have sorted rows and the index types of A. Throws Error if A is not square or
// not valid (see validate()), if Offset cannot count the entries of the graph, or where memory is
// short.

namespace blockspan {

/// G, n x n: 1 for every edge, zero diagonal (not stored).
template <class Scalar, class Exec, class Matrix>
auto adjacency(Exec const& exec, Matrix const& A) {
  using Offset = typename Matrix::non_const_size_type;
  using Ordinal = typename Matrix::non_const_ordinal_type;
  auto const pattern = sparse::graph_pattern(sparse::to_host_pattern(A));
  return sparse::to_device(
      exec, sparse::graph_matrix<Scalar, Offset, Ordinal>(
                pattern, [](Ordinal, Ordinal, Ordinal) { return Scalar(1); }, false));
}

/// D - G, n x n: -1 for every edge, the number of neighbours on the diagonal, which is stored for
/// every row (0 for an isolated vertex). Positive semidefinite; row sums are 0.
template <class Scalar, class Exec, class Matrix>
auto graph_laplacian(Exec const& exec, Matrix const& A) {
  using Offset = typename Matrix::non_const_size_type;
  using Ordinal = typename Matrix::non_const_ordinal_type;
  auto const pattern = sparse::graph_pattern(sparse::to_host_pattern(A));
  return sparse::to_device(exec, sparse::graph_matrix<Scalar, Offset, Ordinal>(
                                     pattern,
                                     [](Ordinal i, Ordinal j, Ordinal degree) {
                                       return i == j ? static_cast<Scalar>(real_t<Scalar>(degree))
                                                     : Scalar(-1);
                                     },
                                     true));
}

}  // namespace blockspan
