#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/detail/symmetry_kernels.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan {

/// What find_asymmetry found. The entry is named only where the matrix is not Hermitian.
template <class Scalar>
struct SymmetryReport {
  bool hermitian = true;
  std::int64_t row = -1, column = -1;    ///< of the worst entry, from 0
  Scalar entry = Scalar(0);              ///< a(row, column)
  Scalar mirror = Scalar(0);             ///< a(column, row); 0 where none is stored
  real_t<Scalar> largest_in_row = 0;     ///< the largest |a(row, .)|
  real_t<Scalar> largest_in_column = 0;  ///< the largest |a(column, .)|
  bool exact = true;                     ///< every entry is the conjugate of its mirror, to the bit

  explicit operator bool() const { return hermitian; }
};

/// Whether A equals its conjugate transpose, to rounding; if not, the entry that is worst.
///
/// |a_ij - conj(a_ji)| may be 1e-6 max(|a_ij|, |a_ji|), or 1.2e-7 sqrt(r_i r_j) with the largest
/// entries r_i and r_j of the two rows: what is left where a matrix was summed up in single
/// precision or printed with six digits. Both are blind to a scaling of rows and columns, so that
/// one huge entry excuses no other. NaN is not judged.
///
/// For any KokkosSparse::CrsMatrix that validate() accepts. On `exec`, which it fences:
/// O(entries log(row)), memory for one number a row. Rows that are not sorted, or hold a column
/// twice, are put in order in a copy on the host first. Throws Error when A is not square, or where
/// memory is short.
template <class Exec, class Matrix>
auto find_asymmetry(Exec const& exec, Matrix const& A) {
  using Scalar = typename Matrix::non_const_value_type;
  require(A.numRows() == A.numCols(), "find_asymmetry", "the matrix is ", A.numRows(), " x ",
          A.numCols(), ", not square");
  if (A.nnz() == 0) return SymmetryReport<Scalar>{};
  detail::SymmetryCheck const check(exec, A.graph.row_map, A.graph.entries, A.values);
  auto const worst = check.in_order() ? check.worst() : real_t<Scalar>(2);  // not known
  if (worst <= 1) return SymmetryReport<Scalar>{.exact = worst == 0};
  auto const ordered = detail::rows_in_order(detail::to_host(A));
  Kokkos::DefaultHostExecutionSpace const host;
  detail::SymmetryCheck const of_ordered(host, ordered.offsets, ordered.indices, ordered.values);
  auto report = of_ordered.template describe<SymmetryReport<Scalar>>();
  report.exact = of_ordered.worst() == 0;
  return report;
}

/// (A + A^H) / 2 of a matrix that is Hermitian to rounding (see find_asymmetry): solvers may then
/// count on it to the last bit. On the places of A, whose graph is shared; an entry whose mirror is
/// not stored becomes zero. A itself, not copied, where it equals its conjugate transpose. Every
/// row must ascend, as readers and generators leave it: else, and where memory is short, Error is
/// thrown. On `exec`, which it fences: O(entries log(row)).
template <class Exec, class Matrix>
Matrix hermitian_mean(Exec const& exec, Matrix const& A) {
  require(A.numRows() == A.numCols(), "hermitian_mean", "the matrix is ", A.numRows(), " x ",
          A.numCols(), ", not square");
  if (A.nnz() == 0) return A;
  detail::SymmetryCheck const check(exec, A.graph.row_map, A.graph.entries, A.values);
  require(check.in_order(), "hermitian_mean", "the columns of a row do not ascend");
  if (check.worst() == 0) return A;
  using Values = typename Matrix::values_type::non_const_type;
  auto const means = allocate<Values>(exec, "Blockspan::hermitian_mean", A.values.extent(0));
  check.take_means(means);
  exec.fence("Blockspan::hermitian_mean");
  return Matrix("Blockspan::hermitian_mean", A.numCols(), means, A.graph);
}

}  // namespace blockspan
