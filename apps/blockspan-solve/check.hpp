#pragma once

#include <cmath>
#include <vector>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/memory.hpp>

#include "blockspan-solve/scaled_matrix.hpp"

namespace blockspan::apps {

/// What the app finds out about every column by itself.
struct ColumnCheck {
  std::vector<double> residual;   ///< ||b - A x|| / ||b||; 0 where both are zero
  std::vector<double> rhs_norms;  ///< ||b||, infinite where it overflows
};

/// The residuals from A itself, and where N has columns (orthonormal), of the part of B that they
/// leave. host_B holds what B does: its largest entries give the powers of two by which columns are
/// scaled, so that no right-hand side over- or underflows. A: scaled for the same reason. Fences.
template <class Scalar, class Exec>
ColumnCheck check_residuals(Exec const& exec, ScaledMatrix<Scalar, Exec> const& A,
                            Block<Scalar, Exec> const& N, HostBlock<Scalar> const& host_B,
                            Block<Scalar, Exec> const& B, Block<Scalar, Exec> const& X) {
  auto const n = X.extent(0), k = X.extent(1);
  Kokkos::View<double*, Kokkos::HostSpace> factors("factors", k), r("r", k), b("b", k),
      whole("b", k);
  for (std::size_t j = 0; j < k; ++j) {
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i)
      largest = std::fmax(largest, static_cast<double>(Kokkos::abs(host_B(i, j))));
    factors(j) = largest > 0 ? std::ldexp(1.0, -std::ilogb(largest)) : 1.0;
  }
  auto const scaled = [&](Block<Scalar, Exec> const& from) {
    auto const to = allocate<Block<Scalar, Exec>>(exec, "Blockspan::check", n, k);
    Kokkos::deep_copy(exec, to, from);
    scale_columns(exec, factors, to);
    return to;
  };
  auto const project = [&](Block<Scalar, Exec> const& from) {
    if (N.extent(1) > 0) project_out(exec, N, N, from);
  };
  auto const R = scaled(B), Y = scaled(X);
  column_norms(exec, R, whole);
  project(R);
  column_norms(exec, R, b);
  Kokkos::View<double*, Kokkos::HostSpace> const unscale("factors", k);
  Kokkos::deep_copy(unscale, std::ldexp(1.0, -A.exponent));
  if (A.exponent != 0) scale_columns(exec, unscale, Y);
  spmm(exec, Op::none, Scalar(-1), A.matrix, Y, Scalar(1), R);
  project(R);
  column_norms(exec, R, r);
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
