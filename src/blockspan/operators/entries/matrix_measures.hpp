#pragma once

#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/communication/communicator.hpp>
#include <blockspan/sparse/matrix_ref.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::operators {

// Defined in matrix_measures_impl.hpp, compiled once per backend, scalar and offset.

/// Bounds from one pass over the rows; NaN if an entry is NaN, zeros without rows.
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

/// a_ii for every row, the sum of its duplicates, zero where there is none. Does not wait.
template <class Exec, class Scalar, class Offset, class Ordinal>
Kokkos::View<Scalar*, typename Exec::memory_space> diagonal_on_device(
    Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A);

/// y_i = sum over j of |a_ij| x_j. Waits for the instance. O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply_magnitudes(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                         real_t<Scalar> const* x, real_t<Scalar>* y);

/// R -= A X for the rows of A, with products and sums in twice the working precision, rounded once.
/// Does not wait. O(nonzeros) a column, some ten times the work of a product.
template <class Exec, class Scalar, class Offset, class Ordinal>
void subtract_product(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                      BlockRef<Scalar const> const& X, BlockRef<Scalar> const& R);

/// Orthonormal vectors that a Hermitian positive semidefinite A may map to zero (null_vectors.hpp);
/// no columns where there are none, or where `work` multiplications are too few. Waits for the
/// instance.
template <class Exec, class Scalar, class Offset, class Ordinal>
Block<Scalar, Exec> null_vectors_of(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                                    std::int64_t work);

/// The real parts of the diagonal, on the host. Waits for the instance.
template <class Exec, class Scalar, class Offset, class Ordinal>
std::vector<real_t<Scalar>> real_diagonal(Exec const& exec,
                                          MatrixRef<Scalar, Offset, Ordinal> const& A);

/// y_ij = weight_i x_ij. Does not wait.
template <class Exec, class Scalar>
void scale_rows(Exec const& exec, real_t<Scalar> const* weights, BlockRef<Scalar const> const& X,
                BlockRef<Scalar> const& Y);

/// factor_i = 1 / |a_ii|, and 0 where a_ii is zero (or 1 / |a_ii| overflows). Waits for the
/// instance.
template <class Exec, class Scalar, class Offset, class Ordinal>
Kokkos::View<real_t<Scalar>*, typename Exec::memory_space> inverse_magnitudes(
    Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A);

/// The largest factor of all ranks in place of those that are zero; 1 where all are. Waits for the
/// instance; all ranks call together.
template <class Exec, class Scalar>
void weigh_zero_diagonals(Exec const& exec, std::int64_t rows, real_t<Scalar>* factors,
                          Communicator const& all);

}  // namespace blockspan::operators
