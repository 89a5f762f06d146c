#pragma once

#include <functional>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/lapack/lapack.hpp>

namespace blockspan::eigen {

/// lapack::hermitian_eigen, or what does the same elsewhere.
template <class Scalar>
using Eigensolver =
    std::function<int(SmallMatrix<Scalar> const& G, std::vector<real_t<Scalar>>& eigenvalues)>;

/// Order from which a device takes less time than LAPACK on one thread of its host. On an H200 and
/// its host in double: 0.56 and 0.20 ms at order 48, 1.14 and 0.87 at 96, 1.1 and 2.2 at 144, this
/// with the slowest kernels of OpenBLAS; with others the host is nearly twice as fast.
constexpr int least_device_order = 144;

/// Defined for CUDA only. From least_device_order on by cuSOLVER's divide and conquer on the
/// instance, which it fences; by LAPACK below, and where cuSOLVER fails, so that statuses are those
/// of LAPACK everywhere. The handle and the memory come with the first matrix that needs them, and
/// are shared by copies: not for two threads at once.
template <class Scalar, class Exec>
Eigensolver<Scalar> device_eigensolver(Exec const& exec);

/// The eigensolver for the small matrices of a solve on `exec`.
template <class Scalar, class Exec>
Eigensolver<Scalar> small_eigensolver([[maybe_unused]] Exec const& exec) {
  if constexpr (on_cuda_v<Exec>)
    return device_eigensolver<Scalar>(exec);
  else
    return lapack::hermitian_eigen<Scalar>;
}

/// An orthonormal basis of what is orthogonal to the r orthonormal columns of R: the null vectors
/// of R R^H.
template <class Scalar>
SmallMatrix<Scalar> orthogonal_complement(SmallMatrix<Scalar> const& R,
                                          Eigensolver<Scalar> const& eigen) {
  int const n = static_cast<int>(R.extent(0)), r = static_cast<int>(R.extent(1));
  auto const projector = small_matrix<Scalar>(n, n);
  lapack::multiply(lapack::Transform::none, lapack::Transform::adjoint, Scalar(1), R, R, Scalar(0),
                   projector);
  std::vector<real_t<Scalar>> ignored;
  eigen(projector, ignored);
  return part(projector, 0, n, 0, n - r);
}

}  // namespace blockspan::eigen
