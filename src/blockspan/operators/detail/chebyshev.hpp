#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

// Defined in chebyshev_impl.hpp, compiled once per backend and scalar (and offset).

/// What the rows of a matrix tell of W A for positive weights W.
template <class Scalar>
struct RowMeasures {
  /// The largest row sum of |W A|, rounded up; NaN if an entry is NaN.
  real_t<Scalar> largest_sum = 0;
  /// The first row whose diagonal entry is negative, or zero in a row with other entries: proof
  /// that a Hermitian A is indefinite. -1: there is none.
  std::int64_t indefinite_row = -1;
};

/// Waits for the instance. O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
RowMeasures<Scalar> measure_rows(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                                 real_t<Scalar> const* weights);

/// Y = Z + momentum (Z - Y) + step W (R - AZ), rows contiguous. Terms that are zero by definition
/// are neither read nor computed: Z, AZ and the old Y in the first step, the old Y in the second.
enum class ChebyshevTerms { first, second, all };
template <class Scalar>
struct ChebyshevStep {
  ChebyshevTerms terms;
  real_t<Scalar> momentum, step;
};

/// One kernel. Does not wait.
template <class Exec, class Scalar>
void chebyshev_step(Exec const& exec, ChebyshevStep<Scalar> const& coefficients,
                    real_t<Scalar> const* weights, BlockRef<Scalar const> const& R,
                    BlockRef<Scalar const> const& AZ, BlockRef<Scalar const> const& Z,
                    BlockRef<Scalar> const& Y);

}  // namespace blockspan::detail
