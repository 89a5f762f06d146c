#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/dense/dense_pencil.hpp>
#include <blockspan/solvers/dense/graded_vectors.hpp>

// Dense pencils whose small eigenvalues reductions to tridiagonal form lose.
namespace blockspan::eigen {

/// M := diag(2^(sign exponents)) M
template <class Scalar>
void scale_rows(SmallMatrix<Scalar> const& M, std::vector<int> const& exponents, int sign) {
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i < M.extent(0); ++i)
      M(i, j) *= std::ldexp(real_t<Scalar>(1), sign * exponents[i]);
}
/// M := M diag(2^exponents)
template <class Scalar>
void scale_columns(SmallMatrix<Scalar> const& M, std::vector<int> const& exponents) {
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i < M.extent(0); ++i)
      M(i, j) *= std::ldexp(real_t<Scalar>(1), exponents[j]);
}

/// All pairs by orthogonal columns of L^-1 G, A + sigma B = G J G^H and B = L L^H. The scale of G
/// is that in which B has ones on its diagonal. False where there is no bound.
template <class Scalar>
bool DensePencil<Scalar>::graded(Real sigma) {
  if (n_ > largest_graded || enough()) return false;
  Matrix const F = shifted(sigma);
  std::vector<int> exponents(n_, 0);
  for (int i = 0; i < n_ && generalized(); ++i)
    exponents[i] = -std::ilogb(real_part(pencil_.b()(i, i))) / 2;
  scale_rows(F, exponents, 1), scale_columns(F, exponents);
  auto const G = signed_factor(F);
  if (!G) return false;
  Matrix const Y = G->columns;
  scale_rows(Y, exponents, -1);
  Matrix const L = generalized() ? copy(pencil_.b()) : Matrix();
  if (generalized()) {
    if (!(factor(L) > 0)) return false;
    lapack::solve_lower(lapack::Transform::none, L, Y);
  }
  if (!orthogonalize_by_rotations(Y, G->signs)) return false;
  normalize_columns(Y);
  if (generalized()) lapack::solve_lower(lapack::Transform::adjoint, L, Y);
  Pairs now;
  now.method = "one-sided Jacobi";
  now.vectors = Y;
  pencil_.measure(now);
  auto const error = pencil_.relative_error(now.vectors, sigma);
  if (!error) return false;
  for (int j = 0; j < n_; ++j) now.bound.push_back(*error * std::abs(now.theta[j] + sigma));
  now.loss = *error;
  now.vectors = part(now.vectors, 0, n_, 0, guarded_);
  for (auto* values : {&now.theta, &now.bound, &now.noise, &now.rounding, &now.backward})
    values->resize(guarded_);
  finish(now);
  return true;
}

/// Of each index the pair of the smaller bound.
template <class Scalar>
auto DensePencil<Scalar>::merged(Pairs const& one, Pairs const& other) const -> Pairs {
  Pairs const& longer = one.theta.size() < other.theta.size() ? other : one;
  Pairs const& shorter = &longer == &one ? other : one;
  Pairs both = longer;
  both.vectors = small_matrix<Scalar>(n_, static_cast<int>(longer.theta.size()));
  copy_small(longer.vectors, both.vectors);
  for (int j = 0; j < static_cast<int>(shorter.theta.size()); ++j) {
    if (!(shorter.bound[j] < longer.bound[j])) continue;
    both.theta[j] = shorter.theta[j], both.bound[j] = shorter.bound[j];
    both.noise[j] = shorter.noise[j], both.rounding[j] = shorter.rounding[j];
    both.backward[j] = shorter.backward[j];
    copy_small(part(shorter.vectors, 0, n_, j, 1), part(both.vectors, 0, n_, j, 1));
  }
  both.loss = pencil_.orthogonality_loss(both.vectors);
  bool const same_basis = both.loss < Real(1e-3);  // what is left of one pair in another
  if (!same_basis || !std::is_sorted(both.theta.begin(), both.theta.end()))
    both.loss = infinite_bound;
  else
    both.loss = pencil_.orthonormalize(both.vectors);
  return both;
}

}  // namespace blockspan::eigen
