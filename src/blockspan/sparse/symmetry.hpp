#pragma once

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/checks/symmetry_kernels.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan {

/// Result of find_asymmetry: the entry that differs most from its mirror, if any differs.
template <class Scalar>
struct SymmetryReport {
  std::int64_t row = -1, column = -1;  ///< of that entry, from 0
  Scalar entry = Scalar(0);            ///< a(row, column)
  Scalar mirror = Scalar(0);           ///< a(column, row); 0 where none is stored
  /// |a_ij - conj(a_ji)| / max(|a_ij|, |a_ji|), up to 2; 1 where one of the two is zero.
  real_t<Scalar> difference = 0;

  /// Bound of rounding differences between two computations of one value: 8 units in the last
  /// place.
  static constexpr real_t<Scalar> rounding = 8 * std::numeric_limits<real_t<Scalar>>::epsilon();
  /// The same for sums of products in any order, for find_scaled_asymmetry.
  static constexpr real_t<Scalar> rounding_of_sums =
      64 * std::numeric_limits<real_t<Scalar>>::epsilon();

  bool exact() const { return difference == 0; }  ///< exactly Hermitian
  explicit operator bool() const { return difference <= rounding; }
};

/// Whether A equals its conjugate transpose up to rounding, and the entry that differs most.
///
/// Two entries may differ by a few units in the last place of the larger one. Each pair is judged
/// relative to its own size, so the result does not depend on the scaling of rows and columns. A
/// nonzero entry whose mirror is zero, stored or not, is never rounding, however small it is. NaN
/// is not judged.
///
/// For any valid KokkosSparse::CrsMatrix (see validate()). On `exec`, which it fences: a matrix
/// that is exactly Hermitian costs one pass, O(entries), about the time of a product with sixteen
/// columns (decided by a hash of 64 bits: wrong with probability 2^-64). Any other matrix is
/// searched on the host, O(entries log(row)); rows that are not sorted, or contain a column twice,
/// are sorted there first. Throws Error when A is not square, or where memory is short.
template <class Exec, class Matrix>
auto find_asymmetry(Exec const& exec, Matrix const& A) {
  using Report = SymmetryReport<typename Matrix::non_const_value_type>;
  require(A.numRows() == A.numCols(), "find_asymmetry", "the matrix is ", A.numRows(), " x ",
          A.numCols(), ", not square");
  if (A.nnz() == 0 || sparse::equals_adjoint(exec, A.graph.row_map, A.graph.entries, A.values))
    return Report{};
  sparse::Mirrors const mirrors(sparse::rows_in_order(sparse::to_host(A)));
  return mirrors.template most<Report>(mirrors.of_pair);
}

/// The same with differences relative to the largest entries of the row and the column: after
/// scaling of rows and columns that makes these 1 (Ruiz 2001, RAL-TR-2001-034). In computed sums of
/// products of a Hermitian matrix, such as P^H A P, mirrored entries differ by a few units in the
/// last place of the summands, which can be large relative to a small entry: see
/// `rounding_of_sums`. O(entries log(row)), on the host. Throws as find_asymmetry.
template <class Exec, class Matrix>
auto find_scaled_asymmetry(Exec const& exec, Matrix const& A) {
  using Scalar = typename Matrix::non_const_value_type;
  using Report = SymmetryReport<Scalar>;
  require(A.numRows() == A.numCols(), "find_scaled_asymmetry", "the matrix is ", A.numRows(), " x ",
          A.numCols(), ", not square");
  if (A.nnz() == 0 || sparse::equals_adjoint(exec, A.graph.row_map, A.graph.entries, A.values))
    return Report{};
  sparse::Mirrors const mirrors(sparse::rows_in_order(sparse::to_host(A)));
  auto const scale = mirrors.scales();
  return mirrors.template most<Report>(
      [&](std::int64_t i, std::int64_t j, Scalar const& value, Scalar const& mirror) {
        return sparse::magnitude(Scalar(value - mirror)) / scale[static_cast<std::size_t>(i)] /
               scale[static_cast<std::size_t>(j)];
      });
}

/// (A + A^H) / 2, exactly Hermitian: an entry without a mirror becomes two of half its value. Rows
/// of the result are sorted. A itself, not copied, where it equals its conjugate transpose and its
/// rows are sorted. On the host, then copied to `exec`, which it fences: O(entries log(row)).
/// Throws Error when A is not square, or where memory is short.
template <class Exec, class Matrix>
Matrix hermitian_mean(Exec const& exec, Matrix const& A) {
  require(A.numRows() == A.numCols(), "hermitian_mean", "the matrix is ", A.numRows(), " x ",
          A.numCols(), ", not square");
  if (A.nnz() == 0) return A;
  if (sparse::equals_adjoint(exec, A.graph.row_map, A.graph.entries, A.values) &&
      sparse::rows_ascend(exec, A.graph.row_map, A.graph.entries))
    return A;
  auto const ordered = sparse::rows_in_order(sparse::to_host(A));
  return sparse::to_device(exec, sparse::mean_of(ordered, sparse::adjoint_of(ordered)));
}

}  // namespace blockspan
