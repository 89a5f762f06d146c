#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/support/lapack.hpp>
#include <blockspan/support/memory.hpp>

#include "blockspan-eig/result.hpp"

namespace blockspan::apps {

/// R := R - M Y (Y^H R) for an M-orthonormal basis Y of the constraints.
template <class Scalar, class Exec>
void remove_constraints(Exec const& exec, CrsMatrix<Scalar, Exec> const* M,
                        Block<Scalar, Exec> const& constraints, Block<Scalar, Exec> const& R) {
  auto const copy_of = [&](Block<Scalar, Exec> const& from) {
    auto const to = allocate<Block<Scalar, Exec>>(exec, "Blockspan::constraints", from.extent(0),
                                                  from.extent(1));
    Kokkos::deep_copy(exec, to, from);
    return to;
  };
  auto const Y = copy_of(constraints);
  auto const MY = M != nullptr ? copy_of(Y) : Y;
  int rank;
  if (M != nullptr) {
    spmm(exec, Op::none, Scalar(1), *M, Y, Scalar(0), MY);
    rank = orthonormalize(exec, Y, MY).rank;
  } else {
    rank = orthonormalize(exec, Y).rank;
  }
  auto const used = std::pair(0, rank);
  for (int pass = 0; pass < 2; ++pass)
    project_out(exec, Kokkos::subview(MY, Kokkos::ALL, used), Kokkos::subview(Y, Kokkos::ALL, used),
                R);
}

/// Residuals of the pairs (eigenvalues[j], X(:, j)), from A and M (null: the identity) themselves.
/// With constraints Y they are those of the problem projected by them: what lies in the span of
/// M Y does not count. norm_a, norm_b: the norms of the backward errors. Everything is divided by
/// norm_a, so that no scale of A over- or underflows. Fences.
template <class Scalar, class Exec>
ResidualCheck check_residuals(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                              CrsMatrix<Scalar, Exec> const* M, Block<Scalar, Exec> const& X,
                              Block<Scalar, Exec> const& constraints,
                              std::vector<double> const& eigenvalues, double norm_a,
                              double norm_b) {
  auto const n = X.extent(0);
  auto const k = eigenvalues.size();
  auto const Xk = Kokkos::subview(X, Kokkos::ALL, std::pair<std::size_t, std::size_t>(0, k));
  auto const new_block = [&](std::string const& label) {
    return allocate<Block<Scalar, Exec>>(exec, label, n, k);
  };
  auto const R = new_block("Blockspan::residuals");
  auto const MX = new_block("Blockspan::mass_times_vectors");
  double const scale = norm_a > 0 ? 1 / norm_a : 1;

  if (M != nullptr)
    spmm(exec, Op::none, Scalar(1), *M, Xk, Scalar(0), MX);
  else
    Kokkos::deep_copy(exec, MX, Xk);
  SmallMatrix<Scalar> minus_theta("Blockspan::minus_theta", k, k);
  for (std::size_t j = 0; j < k; ++j) minus_theta(j, j) = -eigenvalues[j] * scale;
  combine(exec, Scalar(1), MX, minus_theta, Scalar(0), R);
  spmm(exec, Op::none, Scalar(scale), A, Xk, Scalar(1), R);
  if (constraints.extent(1) > 0) remove_constraints(exec, M, constraints, R);

  using Norms = Kokkos::View<double*, Kokkos::HostSpace>;
  Norms r("r", k), x("x", k), mx("mx", k);
  column_norms(exec, R, r);
  column_norms(exec, Xk, x);
  column_norms(exec, MX, mx);
  exec.fence("Blockspan::check_residuals");

  ResidualCheck check;
  for (std::size_t j = 0; j < k; ++j) {
    double const lambda = std::abs(eigenvalues[j]) * scale;
    check.backward.push_back(r(j) / ((norm_a * scale + lambda * norm_b) * x(j)));
    check.relative.push_back(lambda > 0 ? r(j) / (lambda * mx(j))
                                        : std::numeric_limits<double>::infinity());
  }
  return check;
}

}  // namespace blockspan::apps
