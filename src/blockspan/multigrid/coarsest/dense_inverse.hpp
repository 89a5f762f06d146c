#pragma once

#include <blockspan/support/lapack/lapack.hpp>

namespace blockspan::levels {

/// The inverse of a Hermitian positive semidefinite matrix on its range.
template <class Scalar>
struct DenseInverse {
  SmallMatrix<Scalar> inverse;
  int null_vectors = 0;
  bool finite = true;
  bool too_large = false;  ///< eigenvalues would have been needed, but there are too many rows
  double lowest = 0;  ///< least eigenvalue of the scaled matrix over the largest; 0: not computed
};

/// With S = |diag A|^-1/2: S (S A S)^-1 S by Cholesky if no L_ii^2 is below 1e-11 n;
/// otherwise by eigenvalues. Those up to 1e-13 n times the largest count as zero: their inverse is
/// zero, or, if `positive`, that of the largest, so that the result is positive definite. For more
/// than `most` rows eigenvalues are not computed: they take a hundred times as long as a Cholesky
/// factor. The result is averaged with its adjoint. A is overwritten. O(n^3) on one thread of the
/// host. Compiled for double and complex double.
template <class Scalar>
DenseInverse<Scalar> invert_on_range(SmallMatrix<Scalar> const& A, bool positive, std::size_t most);

}  // namespace blockspan::levels
