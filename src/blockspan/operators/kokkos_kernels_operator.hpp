#pragma once

#include <memory>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/operators/peer_product.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

namespace operators {

/// The scalars it is compiled for: KokkosSparse_spmv.hpp takes half a minute to compile per type.
template <class Scalar>
inline constexpr bool has_kokkos_kernels_operator_v =
    std::is_same_v<Scalar, double> || std::is_same_v<Scalar, Kokkos::complex<double>>;

template <class Scalar, class Exec>
std::unique_ptr<PeerProduct<Scalar, Exec>> make_kokkos_kernels_product(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A);
template <class Scalar, class Exec>
std::unique_ptr<LinearOperator<Scalar, Exec>> make_kokkos_kernels_operator(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A);

}  // namespace operators

/// The product of a sparse matrix of any shape, with int offsets, by KokkosSparse::spmv; A is
/// shared, not copied. Throws Error for scalars other than double and Kokkos::complex<double>. Link
/// Blockspan::kokkos_kernels.
template <class Scalar, class Exec>
std::unique_ptr<PeerProduct<Scalar, Exec>> kokkos_kernels_product(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
  if constexpr (operators::has_kokkos_kernels_operator_v<Scalar>)
    return operators::make_kokkos_kernels_product<Scalar, Exec>(exec, A);
  else
    fail("blockspan::kokkos_kernels_product",
         "compiled for double and complex double only (matrix ", A.numRows(), " x ", A.numCols(),
         ")");
}

/// A square sparse matrix as an operator whose product is KokkosSparse::spmv on rank-2 views, for
/// comparing results and times. A: n x n with int offsets; shared, not copied. Its norm_bound is
/// that of MatrixOperator. The constructor fences the instance; whether a product fences depends on
/// Kokkos Kernels. Throws Error if A is not square, and for scalars other than double and
/// Kokkos::complex<double>. Link Blockspan::kokkos_kernels.
template <class Scalar, class Exec>
std::unique_ptr<LinearOperator<Scalar, Exec>> kokkos_kernels_operator(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A) {
  if constexpr (operators::has_kokkos_kernels_operator_v<Scalar>)
    return operators::make_kokkos_kernels_operator<Scalar, Exec>(exec, A);
  else
    fail("blockspan::kokkos_kernels_operator",
         "compiled for double and complex double only (matrix ", A.numRows(), " x ", A.numCols(),
         ")");
}

}  // namespace blockspan
