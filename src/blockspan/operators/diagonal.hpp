#pragma once

#include <Kokkos_Core.hpp>

#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/spmm/compiled.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

/// The diagonal of the n x n matrix A, in memory of `exec`: n scalars, repeated entries added up,
/// zero where A stores none. Asynchronous. O(nonzeros). Throws Error if A is not square, or where
/// memory is short.
template <class Exec, class Matrix>
Kokkos::View<sparse::scalar_t<Matrix>*, typename Exec::memory_space> diagonal(Exec const& exec,
                                                                              Matrix const& A) {
  products::require_compiled_product<Exec, sparse::scalar_t<Matrix>, sparse::offset_t<Matrix>,
                                     sparse::ordinal_t<Matrix>>();
  require(A.numRows() == A.numCols(), "blockspan::diagonal", "the matrix must be square (",
          A.numRows(), " x ", A.numCols(), ")");
  return operators::diagonal_on_device(exec, sparse::matrix_ref<Exec>(A));
}

}  // namespace blockspan
