#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

// Defined in matrix_measures_impl.hpp, compiled once per backend, scalar and offset.

/// What one pass over the rows tells; NaN if an entry is NaN, zeros without rows.
template <class Real>
struct RowBounds {
  Real norm = 0;    ///< above the inf-norm, the largest row sum of |a_ij|
  Real lowest = 0;  ///< below the least Re a_ii - sum over j != i of |a_ij| (Gershgorin)
};
/// Both are rounded outwards by the rounding error of their sums. Waits for the instance.
/// O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
RowBounds<real_t<Scalar>> row_bounds(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A);

template <class Exec, class Scalar, class Offset, class Ordinal>
real_t<Scalar> max_row_sum(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A) {
  return row_bounds(exec, A).norm;
}

/// Whether the entries of every row add up to zero, to rounding. Waits for the instance.
/// O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
bool rows_sum_to_zero(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A);

/// diagonal(i) = a_ii, the sum of its duplicates, zero where there is none. Does not wait.
template <class Exec, class Scalar, class Offset, class Ordinal>
void read_diagonal(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A, Scalar* diagonal);

/// y_i = sum over j of |a_ij| x_j. Waits for the instance. O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply_magnitudes(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                         real_t<Scalar> const* x, real_t<Scalar>* y);

/// y_ij = factor_i x_ij. Does not wait.
template <class Exec, class Scalar>
void scale_rows(Exec const& exec, real_t<Scalar> const* factors, BlockRef<Scalar const> const& X,
                BlockRef<Scalar> const& Y);

/// factor_i = 1 / |d_i|, and 1 where d_i is zero (or 1 / |d_i| overflows). Does not wait.
template <class Exec, class Scalar>
void invert_magnitudes(Exec const& exec, Scalar const* diagonal, std::int64_t length,
                       real_t<Scalar>* factors);

}  // namespace blockspan::detail
