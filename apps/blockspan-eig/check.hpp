#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/support/lapack/lapack.hpp>
#include <blockspan/support/memory.hpp>

#include "blockspan-eig/result.hpp"

namespace blockspan::apps {

/// R := R - M Y (Y^H R) for an M-orthonormal basis Y of the constraints.
template <class Scalar, class Exec>
void remove_constraints(Exec const& exec, LinearOperator<Scalar, Exec> const* M,
                        Block<Scalar, Exec> const& constraints, Block<Scalar, Exec> const& R,
                        Workspace<Exec>& workspace) {
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
    M->apply(exec, Y, MY);
    rank = orthonormalize(exec, Y, MY, workspace).rank;
  } else {
    rank = orthonormalize(exec, Y, workspace).rank;
  }
  auto const used = std::pair(0, rank);
  for (int pass = 0; pass < 2; ++pass)
    project_out(exec, Kokkos::subview(MY, Kokkos::ALL, used), Kokkos::subview(Y, Kokkos::ALL, used),
                R, workspace);
}

/// V := 2^power V. Fences.
template <class Scalar, class Exec>
void scale_by(Exec const& exec, Block<Scalar, Exec> const& V, int power) {
  if (power == 0) return;
  Kokkos::View<double*, Kokkos::HostSpace> const factors("factors", V.extent(1));
  Kokkos::deep_copy(factors, std::ldexp(1.0, power));
  scale_columns(exec, factors, V);
  exec.fence("Blockspan::check_residuals: factors");
}

/// Y := 2^-exponent Op X in two steps: as much as is safe before the product, the rest after it.
template <class Scalar, class Exec>
void scaled_image(Exec const& exec, LinearOperator<Scalar, Exec> const& op, int exponent,
                  Block<Scalar, Exec> const& X, Block<Scalar, Exec> const& Y) {
  auto const scaled =
      allocate<Block<Scalar, Exec>>(exec, "Blockspan::scaled_vectors", X.extent(0), X.extent(1));
  int const before = std::clamp(-exponent, -900, 900);
  Kokkos::deep_copy(exec, scaled, X);
  scale_by(exec, scaled, before);
  op.apply(exec, scaled, Y);
  scale_by(exec, Y, -exponent - before);
}

/// Norms of the columns of R, which is enlarged where squares of residuals underflow. Fences.
template <class Scalar, class Exec>
Kokkos::View<double*, Kokkos::HostSpace> residual_norms(Exec const& exec,
                                                        Block<Scalar, Exec> const& R,
                                                        Workspace<Exec>& workspace) {
  constexpr double small = 1e-140;
  constexpr int power = 500;
  std::size_t const k = R.extent(1);
  Kokkos::View<double*, Kokkos::HostSpace> r("r", k), enlarged("enlarged", k);
  column_norms(exec, R, r, workspace);
  exec.fence("Blockspan::check_residuals");
  if (std::none_of(r.data(), r.data() + k, [](double norm) { return norm < small; })) return r;
  scale_by(exec, R, power);
  column_norms(exec, R, enlarged, workspace);
  exec.fence("Blockspan::check_residuals: small ones");
  for (std::size_t j = 0; j < k; ++j)
    if (r(j) < small) r(j) = std::ldexp(enlarged(j), -power);
  return r;
}

/// Residuals of the pairs (eigenvalues[j], X(:, j)), from A and M (null: the identity) themselves.
/// With constraints Y they are those of the problem projected by them: what lies in the span of
/// M Y does not count. norm_a, norm_b: the norms of the backward errors. A and M are applied to X
/// divided by powers of two near the norms, so that no scale of them over- or underflows. Fences.
/// Where A has its rows spread over ranks they call this together.
template <class Scalar, class Exec>
ResidualCheck check_residuals(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                              LinearOperator<Scalar, Exec> const* M, Block<Scalar, Exec> const& X,
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
  auto const unit = new_block("Blockspan::unit_vectors");
  auto const exponent = [](double norm) { return norm > 0 ? std::ilogb(norm) : 0; };
  int const e_a = exponent(norm_a), e_b = M != nullptr ? exponent(norm_b) : 0;
  Kokkos::deep_copy(exec, unit, Xk);
  scale_by(exec, unit, e_b / 2);  // X^H M X = I: now near one
  if (M != nullptr)
    scaled_image(exec, *M, e_b, unit, MX);
  else
    Kokkos::deep_copy(exec, MX, unit);
  scaled_image(exec, A, e_a, unit, R);
  std::vector<double> lambda;
  SmallMatrix<Scalar> minus_theta("Blockspan::minus_theta", k, k);
  for (std::size_t j = 0; j < k; ++j) {
    lambda.push_back(std::ldexp(eigenvalues[j], e_b - e_a));
    minus_theta(j, j) = -lambda[j];
  }
  combine(exec, Scalar(1), MX, minus_theta, Scalar(1), R);
  Workspace<Exec> workspace(A.row_space());
  if (constraints.extent(1) > 0) remove_constraints(exec, M, constraints, R, workspace);

  Kokkos::View<double*, Kokkos::HostSpace> x("x", k), mx("mx", k);
  column_norms(exec, unit, x, workspace);
  column_norms(exec, MX, mx, workspace);
  auto const r = residual_norms(exec, R, workspace);

  double const a = std::ldexp(norm_a, -e_a), b = std::ldexp(norm_b, -e_b);
  ResidualCheck check;
  for (std::size_t j = 0; j < k; ++j) {
    double const size = std::abs(lambda[j]);
    check.backward.push_back(r(j) == 0 ? 0 : r(j) / ((a + size * b) * x(j)));
    check.relative.push_back(size > 0 ? r(j) / (size * mx(j))
                                      : std::numeric_limits<double>::infinity());
  }
  return check;
}

}  // namespace blockspan::apps
