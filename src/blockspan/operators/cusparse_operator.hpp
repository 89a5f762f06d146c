#pragma once

#include <memory>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>

namespace blockspan {

/// A square sparse matrix as an operator whose product is cuSPARSE's SpMM (row-major, algorithm
/// CSR_ALG2, preprocessed once per width) on the instance's stream: a peer, for comparing answers
/// and times. A: n x n with int offsets; shared, not copied. Its norm_bound is the same as
/// MatrixOperator's. The first product of a width allocates a buffer and waits. Not for two threads
/// at once. Throws Error with cuSPARSE's own words if a call fails, if A is not square, and on
/// every backend but CUDA.
template <class Scalar, class Exec>
std::unique_ptr<LinearOperator<Scalar, Exec>> cusparse_operator(Exec const& exec,
                                                                CrsMatrix<Scalar, Exec> const& A);

}  // namespace blockspan
