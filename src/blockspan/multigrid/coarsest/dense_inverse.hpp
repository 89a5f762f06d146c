#pragma once

#include <blockspan/support/lapack/lapack.hpp>

namespace blockspan::levels {

/// A Hermitian positive semidefinite matrix inverted on its range.
template <class Scalar>
struct DenseInverse {
  SmallMatrix<Scalar> inverse;
  int null_vectors = 0;
  bool finite = true;
  bool too_large = false;  ///< for eigenvalues, which would have been needed
  double lowest = 0;  ///< eigenvalue of the scaled matrix, over the largest; where it was looked at
};

/// With S = |diag A|^-1/2: S (S A S)^-1 S by Cholesky where no pivot is below 1e-11 n; otherwise by
/// eigenvalues, of which those up to 1e-13 n times the largest are zero: their inverse is zero,
/// or, if `positive`, that of the largest, so that the result is positive definite. Of more than
/// `most` rows there are no eigenvalues: they take a hundred times as long as a Cholesky factor.
/// Averaged with its adjoint. A is overwritten. O(n^3) on one thread of the host. float is not
/// compiled.
template <class Scalar>
DenseInverse<Scalar> invert_on_range(SmallMatrix<Scalar> const& A, bool positive, std::size_t most);

}  // namespace blockspan::levels
