#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/host/graph_pattern.hpp>
#include <blockspan/sparse/host/host_csr.hpp>
#include <blockspan/sparse/host/permuted.hpp>

// Reorders rows so that neighbours in the graph of a matrix are close together, and the rows of X
// that a product reads stay in the caches. Vectors are permuted by permute_rows
// (multivector/permute_rows.hpp).
//
// As for graphs, the work is done on the host and the results are copied to `exec`, which is
// fenced. Throws Error if A is not square or not valid (see validate()).

namespace blockspan {

/// An order of n rows: new row k is old row from(k), old row i is new row to(i). Y(k, :) =
/// X(from(k), :) permutes vectors into the new order, Z(i, :) = Y(to(i), :) permutes them back.
template <class Exec, class Ordinal = int>
struct Ordering {
  using View = Kokkos::View<Ordinal*, Kokkos::Device<Exec, typename Exec::memory_space>>;
  View from, to;
};

/// A matrix in a new order, with its bandwidth, max |i - j| over the entries, before and after.
template <class Matrix, class Exec>
struct Reordered {
  Matrix matrix;
  Ordering<Exec, typename Matrix::non_const_ordinal_type> ordering;
  std::int64_t bandwidth_before = 0, bandwidth_after = 0;
};

/// The reverse Cuthill-McKee order of the graph of A + A^T: breadth first, neighbours by degree,
/// then reversed; components one after another, each from a vertex of least degree. By Kokkos
/// Kernels. O(entries log(row)).
///
/// Source: Cuthill and McKee 1969, doi:10.1145/800195.805928 (the order); George 1971, Stanford
/// STAN-CS-71-208 (its reversal).
template <class Exec, class Matrix>
auto reverse_cuthill_mckee(Exec const& exec, Matrix const& A) {
  using Ordinal = typename Matrix::non_const_ordinal_type;
  auto const graph = sparse::graph_pattern(sparse::to_host_pattern(A));
  return sparse::to_ordering<Ordering<Exec, Ordinal>>(exec, sparse::rcm_places(graph));
}

/// P A P^T: row k of the result is row from(k) of A with its columns renumbered and sorted;
/// repeated entries are kept, in their order. A: n x n, types are kept. O(entries log(row)). Also
/// throws Error if the ordering is not a permutation of n rows, and where memory is short.
template <class Exec, class Matrix>
auto reorder(Exec const& exec, Matrix const& A,
             Ordering<Exec, typename Matrix::non_const_ordinal_type> const& ordering) {
  return sparse::to_device(exec, sparse::permuted(sparse::to_host(A), sparse::to_places(ordering)));
}

/// A in reverse Cuthill-McKee order.
template <class Exec, class Matrix>
auto reorder(Exec const& exec, Matrix const& A) {
  auto const ordering = reverse_cuthill_mckee(exec, A);
  auto const result = reorder(exec, A, ordering);
  return Reordered<std::remove_cv_t<decltype(result)>, Exec>{
      result, ordering, sparse::bandwidth(sparse::to_host_pattern(A)),
      sparse::bandwidth(sparse::to_host_pattern(result))};
}

}  // namespace blockspan
