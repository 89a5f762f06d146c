#pragma once

#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

/// A lower bound of the eigenvalues of the Hermitian matrix A: the least
/// Re a_ii - sum over j != i of |a_ij|, less its rounding error (Gershgorin 1931). Sharp for
/// diagonal matrices; useless, since negative, where A is not diagonally dominant. NaN if an entry
/// is NaN, 0 without rows.
///
/// A: n x n, stored with both triangles. Waits for the instance. O(nonzeros). Throws Error if A is
/// not square.
template <class Exec, class Matrix>
real_t<sparse::scalar_t<Matrix>> gershgorin_lower_bound(Exec const& exec, Matrix const& A) {
  require(A.numRows() == A.numCols(), "blockspan::gershgorin_lower_bound",
          "the matrix must be square (", A.numRows(), " x ", A.numCols(), ")");
  return operators::row_bounds(exec, sparse::matrix_ref<Exec>(A)).lowest;
}

}  // namespace blockspan
