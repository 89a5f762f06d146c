#pragma once

#include <memory>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/kokkos_kernels_operator.hpp>
#include <blockspan/operators/refreshable_operator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

namespace operators {

template <class Scalar, class Exec>
std::unique_ptr<RefreshableOperator<Scalar, Exec>> make_gauss_seidel(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A);

}  // namespace operators

/// One symmetric Gauss-Seidel sweep as a preconditioner of a Hermitian matrix A = L + D + L^H,
///   Y = (D + L^H)^-1 D (D + L)^-1 X,
/// Hermitian positive definite if D is positive, by Kokkos Kernels' multicolor sweeps. L is the
/// strict lower triangle in the order of the colors, so that the result differs between backends.
/// The coloring is deterministic: equal runs on one backend give the same bits.
///
/// A: n x n with int offsets; shared, not copied: its values must not change until refresh.
/// Repeated entries add up, columns may be unsorted. The setup colors the graph of A + A^H and
/// makes a permuted copy of A. A product reads that copy twice and permutes X and Y into copies;
/// memory for three blocks is kept, and reallocated whenever the number of columns changes. Runs on
/// the instance of its construction; a product on another instance fences both. Kokkos Kernels may
/// fence.
///
/// Throws Error if A is not square, a diagonal entry is not positive and finite (naming the row),
/// where memory for the diagonal is short (allocations inside Kokkos Kernels throw exceptions of
/// Kokkos), and for scalars other than double and Kokkos::complex<double>. Link
/// Blockspan::kokkos_kernels.
///
/// Source: Saad 2003, Iterative Methods for Sparse Linear Systems, sections 10.2 and 12.4; Deveci,
/// Boman, Devine and Rajamanickam 2016, doi:10.1109/IPDPS.2016.54.
template <class Scalar, class Exec>
std::unique_ptr<RefreshableOperator<Scalar, Exec>> gauss_seidel(Exec const& exec,
                                                                CrsMatrix<Scalar, Exec> const& A) {
  if constexpr (operators::has_kokkos_kernels_operator_v<Scalar>)
    return operators::make_gauss_seidel<Scalar, Exec>(exec, A);
  else
    fail("blockspan::gauss_seidel", "compiled for double and complex double only (matrix ",
         A.numRows(), " x ", A.numCols(), ")");
}

}  // namespace blockspan
