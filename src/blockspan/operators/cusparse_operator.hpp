#pragma once

#include <memory>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/operators/peer_product.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

/// cuSPARSE's SpMM algorithms for compressed rows. `fastest`: the first product of a width times
/// these and the default one, for one contiguous column also those of SpMV, all preprocessed, and
/// keeps the fastest. (cuSPARSE 12 documents the same bits on every run only for csr_alg3 of SpMM
/// and csr_alg2 of SpMV.)
enum class CusparseAlgorithm { csr_alg1, csr_alg2, csr_alg3, fastest };

namespace operators {
/// Both are defined for CUDA only.
template <class Scalar, class Exec>
std::unique_ptr<PeerProduct<Scalar, Exec>> make_cusparse_product(Exec const& exec,
                                                                 CrsMatrix<Scalar, Exec> const& A,
                                                                 CusparseAlgorithm algorithm);
template <class Scalar, class Exec>
std::unique_ptr<LinearOperator<Scalar, Exec>> make_cusparse_operator(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A, CusparseAlgorithm algorithm);
}  // namespace operators

/// The product of a sparse matrix of any shape, with int offsets, by cuSPARSE on the stream of the
/// instance; A is shared, not copied. Throws Error with cuSPARSE's message if a call fails, where
/// memory for a buffer is short, and on every backend but CUDA. Link Blockspan::cusparse.
template <class Scalar, class Exec>
std::unique_ptr<PeerProduct<Scalar, Exec>> cusparse_product(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
    CusparseAlgorithm algorithm = CusparseAlgorithm::fastest) {
  if constexpr (support::on_cuda_v<Exec>)
    return operators::make_cusparse_product<Scalar, Exec>(exec, A, algorithm);
  else
    fail("blockspan::cusparse_product", "needs the CUDA backend (this is ", exec.name(),
         ", matrix ", A.numRows(), " x ", A.numCols(), ")");
}

/// A square sparse matrix as an operator whose product is cuSPARSE's SpMM (row-major, preprocessed
/// once per width) on the stream of the instance, for comparing results and times. A: n x n with
/// int offsets; shared, not copied. Its norm_bound is that of MatrixOperator. The first product of
/// a width allocates a buffer and fences. Not thread-safe. Throws Error with cuSPARSE's message if
/// a call fails, if A is not square, where memory for the buffer is short, and on every backend but
/// CUDA. Link Blockspan::cusparse.
template <class Scalar, class Exec>
std::unique_ptr<LinearOperator<Scalar, Exec>> cusparse_operator(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
    CusparseAlgorithm algorithm = CusparseAlgorithm::csr_alg2) {
  if constexpr (support::on_cuda_v<Exec>)
    return operators::make_cusparse_operator<Scalar, Exec>(exec, A, algorithm);
  else
    fail("blockspan::cusparse_operator", "needs the CUDA backend (this is ", exec.name(),
         ", matrix ", A.numRows(), " x ", A.numCols(), ")");
}

}  // namespace blockspan
