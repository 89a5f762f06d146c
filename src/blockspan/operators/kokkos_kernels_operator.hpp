#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/detail/matrix_measures.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>

namespace blockspan {

/// A square sparse matrix as an operator whose product is Kokkos Kernels' KokkosSparse::spmv on
/// rank-2 views: a peer, for comparing answers and times. A: n x n with int offsets; shared, not
/// copied. Its norm_bound is the same as MatrixOperator's. Waits for the instance when it is made;
/// whether a product waits is up to Kokkos Kernels. Throws Error if A is not square.
/// Compiled in the library (that header takes long): scalars and backends of the library.
template <class Scalar, class Exec>
std::unique_ptr<LinearOperator<Scalar, Exec>> kokkos_kernels_operator(
    Exec const& exec, CrsMatrix<Scalar, Exec> const& A);

}  // namespace blockspan
