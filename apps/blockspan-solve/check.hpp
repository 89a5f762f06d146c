#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <blockspan/communication/row_space.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::apps {

/// What the app finds out about every column by itself.
struct ColumnCheck {
  std::vector<double> residual;   ///< ||b - A x|| / ||b||; 0 where both are zero
  std::vector<double> rhs_norms;  ///< ||b||, infinite where it overflows
};

/// max |b_ij| of column j; waits for it. A function of its own: nvcc accepts no kernel from a
/// function that has a local type among its template arguments.
template <class Scalar, class Exec>
double largest_in_column(Exec const& exec, Block<Scalar, Exec> const& B, std::size_t j) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "Blockspan::check_residuals",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::size_t>>(exec, 0, B.extent(0)),
      KOKKOS_LAMBDA(std::size_t i, double& most) {
        most = Kokkos::fmax(most, static_cast<double>(Kokkos::abs(B(i, j))));
      },
      Kokkos::Max<double>(largest));
  return largest;
}

/// The residuals from A = 2^-exponent times the matrix that subtract(X, R) multiplies, R -= A X in
/// twice the precision, and where N has columns (orthonormal), of the part of B that they leave.
/// B's largest entries give the powers of two by which columns are scaled, so that no right-hand
/// side over- or underflows; A is scaled for the same reason. Where rows are spread over ranks,
/// these call this together. Fences.
template <class Scalar, class Exec, class Subtract>
ColumnCheck check_residuals(Exec const& exec, RowSpace const& rows, Subtract const& subtract,
                            int exponent, Block<Scalar, Exec> const& N,
                            Block<Scalar, Exec> const& B, Block<Scalar, Exec> const& X) {
  auto const n = X.extent(0), k = X.extent(1);
  Communicator const ranks = rows.communicator();
  Workspace<Exec> workspace(rows);
  Kokkos::View<double*, Kokkos::HostSpace> factors("factors", k), r("r", k), b("b", k),
      whole("b", k);
  for (std::size_t j = 0; j < k; ++j) {
    double const largest = ranks.largest(largest_in_column<Scalar>(exec, B, j));
    // the inverse of the least positive value overflows
    factors(j) = largest > 0 ? std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1021, 1021)) : 1.0;
  }
  auto const scaled = [&](Block<Scalar, Exec> const& from) {
    auto const to = allocate<Block<Scalar, Exec>>(exec, "Blockspan::check", n, k);
    Kokkos::deep_copy(exec, to, from);
    scale_columns(exec, factors, to);
    return to;
  };
  auto const project = [&](Block<Scalar, Exec> const& from) {
    if (N.extent(1) > 0) project_out(exec, N, N, from, workspace);
  };
  auto const R = scaled(B), Y = scaled(X);
  column_norms(exec, R, whole, workspace);
  project(R);
  column_norms(exec, R, b, workspace);
  Kokkos::View<double*, Kokkos::HostSpace> const unscale("factors", k);
  Kokkos::deep_copy(unscale, std::ldexp(1.0, -exponent));
  if (exponent != 0) scale_columns(exec, unscale, Y);
  subtract(Y, R);
  project(R);
  column_norms(exec, R, r, workspace);
  exec.fence("Blockspan::check_residuals");
  ColumnCheck result;
  for (std::size_t j = 0; j < k; ++j) {
    // nothing is left of a right-hand side that lies in the null space
    double const size = b(j) > 1e-13 * whole(j) ? b(j) : whole(j);
    result.residual.push_back(size > 0 ? r(j) / size : r(j));
    result.rhs_norms.push_back(size / factors(j));
  }
  return result;
}

}  // namespace blockspan::apps
