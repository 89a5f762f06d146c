#pragma once

#include <memory>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/kokkos_kernels_operator.hpp>
#include <blockspan/operators/refreshable_operator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

namespace detail {

template <class Scalar, class Exec>
std::unique_ptr<RefreshableOperator<Scalar, Exec>> make_incomplete_lu(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A);

}  // namespace detail

/// Y = (L U)^-1 X with the incomplete factors of A on the pattern of A, ILU(0), by Kokkos Kernels'
/// spiluk and sptrsv. For a Hermitian A whose factorization does not break down, U = D L^H up to
/// rounding with a positive D: Hermitian positive definite. Slow: the triangular solves work column
/// by column and level by level, many small kernels each; meant for comparison and for matrices
/// that nothing else helps.
///
/// A: n x n with int offsets, of Hermitian pattern; copied, with columns sorted and duplicates
/// added up. refresh factors the values anew and keeps the levels. Memory: two copies of A and two
/// columns; a product allocates nothing of Blockspan's. Setup and products run on the instance
/// given, setup also on the default one, for which it waits; Kokkos Kernels may fence. Equal runs
/// on one backend give the same bits.
///
/// Throws Error if A is not square, a diagonal entry of A or of U is not positive and finite
/// (naming the row: A is not positive definite, or the factorization breaks down as it may where A
/// is no H-matrix), where memory for the two columns or the factors is short, and for scalars other
/// than double and Kokkos::complex<double>. Link Blockspan::kokkos_kernels.
///
/// Source: Meijerink and van der Vorst 1977, doi:10.1090/S0025-5718-1977-0438681-4.
template <class Scalar, class Exec>
std::unique_ptr<RefreshableOperator<Scalar, Exec>> incomplete_lu(Exec const& exec,
                                                                 CrsMatrix<Scalar, Exec> const& A) {
  if constexpr (detail::has_kokkos_kernels_operator_v<Scalar>)
    return detail::make_incomplete_lu<Scalar, Exec>(exec, A);
  else
    fail("blockspan::incomplete_lu", "compiled for double and complex double only (matrix ",
         A.numRows(), " x ", A.numCols(), ")");
}

}  // namespace blockspan
