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

/// Bounds from one pass over the rows; NaN if an entry is NaN, zero without rows.
template <class Real>
struct RowBounds {
  Real norm = 0;    ///< upper bound of the inf-norm, the largest row sum of |a_ij|
  Real lowest = 0;  ///< lower bound of Re a_ii - sum over j != i of |a_ij| (Gershgorin)
};
/// Computes both, rounded outwards by the rounding errors of their sums. Fences the instance.
/// O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
RowBounds<real_t<Scalar>> row_bounds(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A);

template <class Exec, class Scalar, class Offset, class Ordinal>
real_t<Scalar> max_row_sum(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A) {
  return row_bounds(exec, A).norm;
}

/// Whether the entries of every row sum to zero, up to rounding. Fences the instance. O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
bool rows_sum_to_zero(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A);

/// a_ii for every row, repeated entries added up, zero where none is stored. Asynchronous.
template <class Exec, class Scalar, class Offset, class Ordinal>
Kokkos::View<Scalar*, typename Exec::memory_space> diagonal_on_device(
    Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A);

/// y_i = sum over j of |a_ij| x_j. Fences the instance. O(nonzeros).
template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply_magnitudes(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                         real_t<Scalar> const* x, real_t<Scalar>* y);

/// R -= A X for the rows of A, with products and sums in twice the working precision, rounded once.
/// Asynchronous. O(nonzeros) a column, about ten times the work of a product.
template <class Exec, class Scalar, class Offset, class Ordinal>
void subtract_product(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                      BlockRef<Scalar const> const& X, BlockRef<Scalar> const& R);

/// Orthonormal vectors that may be in the null space of a Hermitian positive semidefinite A
/// (null_vectors.hpp); no columns where none are found, or where they would need more than `work`
/// multiplications. Fences the instance.
template <class Exec, class Scalar, class Offset, class Ordinal>
Block<Scalar, Exec> null_vectors_of(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                                    std::int64_t work);

/// The real parts of the diagonal, on the host. Fences the instance.
template <class Exec, class Scalar, class Offset, class Ordinal>
std::vector<real_t<Scalar>> real_diagonal(Exec const& exec,
                                          MatrixRef<Scalar, Offset, Ordinal> const& A);

/// y_ij = weight_i x_ij. Asynchronous.
template <class Exec, class Scalar>
void scale_rows(Exec const& exec, real_t<Scalar> const* weights, BlockRef<Scalar const> const& X,
                BlockRef<Scalar> const& Y);

/// factor_i = 1 / |a_ii|, and 0 where a_ii is zero (or 1 / |a_ii| overflows). Fences the instance.
template <class Exec, class Scalar, class Offset, class Ordinal>
Kokkos::View<real_t<Scalar>*, typename Exec::memory_space> inverse_magnitudes(
    Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A);

/// Replaces factors that are zero by the largest factor of all ranks, or by 1 where all are zero.
/// Fences the instance; called by all ranks.
template <class Exec, class Scalar>
void weigh_zero_diagonals(Exec const& exec, std::int64_t rows, real_t<Scalar>* factors,
                          Communicator const& all);

}  // namespace blockspan::operators
