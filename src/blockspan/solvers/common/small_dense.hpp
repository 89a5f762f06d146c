#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <blockspan/support/lapack/lapack.hpp>
#include <blockspan/support/memory.hpp>
#include <blockspan/support/scalar.hpp>

// Plain loops on the small host matrices of a solver (a few hundred rows at most).
namespace blockspan::solvers {

template <class Scalar>
SmallMatrix<Scalar> small_matrix(int rows, int columns) {
  return allocate<SmallMatrix<Scalar>>(Kokkos::DefaultHostExecutionSpace(),
                                       "Blockspan::solvers::small", rows, columns);
}

/// The rows x columns submatrix of M that starts at (i, j); shares the memory.
template <class Scalar>
SmallMatrix<Scalar> part(SmallMatrix<Scalar> const& M, int i, int rows, int j, int columns) {
  return Kokkos::subview(M, std::pair<int, int>(i, i + rows), std::pair<int, int>(j, j + columns));
}

template <class Scalar>
void copy_small(SmallMatrix<Scalar> const& from, SmallMatrix<Scalar> const& to) {
  for (std::size_t j = 0; j < from.extent(1); ++j)
    for (std::size_t i = 0; i < from.extent(0); ++i) to(i, j) = from(i, j);
}

/// to := from^H
template <class Scalar>
void copy_adjoint(SmallMatrix<Scalar> const& from, SmallMatrix<Scalar> const& to) {
  for (std::size_t j = 0; j < to.extent(1); ++j)
    for (std::size_t i = 0; i < to.extent(0); ++i) to(i, j) = conjugate(from(j, i));
}

template <class Scalar>
void set_identity(SmallMatrix<Scalar> const& M) {
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i < M.extent(0); ++i) M(i, j) = Scalar(i == j ? 1 : 0);
}

/// M := factor (M + M^H) / 2.
template <class Scalar>
void symmetrize(SmallMatrix<Scalar> const& M, real_t<Scalar> factor) {
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i <= j; ++i) {
      Scalar const value = factor * (M(i, j) + conjugate(M(j, i))) / real_t<Scalar>(2);
      M(i, j) = value;
      M(j, i) = conjugate(value);
    }
}

/// ||M - M^H||_F
template <class Scalar>
real_t<Scalar> skew_norm(SmallMatrix<Scalar> const& M) {
  real_t<Scalar> sum = 0;
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i < M.extent(0); ++i)
      sum += squared_magnitude(Scalar(M(i, j) - conjugate(M(j, i))));
  return std::sqrt(sum);
}

/// max |M_ij - conj(M_ji)|
template <class Scalar>
real_t<Scalar> largest_skew(SmallMatrix<Scalar> const& M) {
  real_t<Scalar> largest = 0;
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i <= j; ++i)
      largest =
          std::max<real_t<Scalar>>(largest, Kokkos::abs(Scalar(M(i, j) - conjugate(M(j, i)))));
  return largest;
}
/// max |M_ij|
template <class Scalar>
real_t<Scalar> largest_entry(SmallMatrix<Scalar> const& M) {
  real_t<Scalar> largest = 0;
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i < M.extent(0); ++i)
      largest = std::max<real_t<Scalar>>(largest, Kokkos::abs(M(i, j)));
  return largest;
}

/// The row sums of |M_ij|.
template <class Scalar>
std::vector<real_t<Scalar>> row_sums(SmallMatrix<Scalar> const& M) {
  std::vector<real_t<Scalar>> sums(M.extent(0), 0);
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i < M.extent(0); ++i) sums[i] += Kokkos::abs(M(i, j));
  return sums;
}
template <class Scalar>
real_t<Scalar> infinity_norm(SmallMatrix<Scalar> const& M) {
  auto const sums = row_sums(M);
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

/// The sum of squares of all entries.
template <class Scalar>
real_t<Scalar> squared_norm(SmallMatrix<Scalar> const& M) {
  real_t<Scalar> sum = 0;
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i < M.extent(0); ++i) sum += squared_magnitude(M(i, j));
  return sum;
}

template <class Scalar>
bool all_finite(SmallMatrix<Scalar> const& M) {
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i < M.extent(0); ++i)
      if (!is_finite(M(i, j))) return false;
  return true;
}

/// max |M - diag(d)|; d empty means the identity.
template <class Scalar>
real_t<Scalar> defect_from_diagonal(SmallMatrix<Scalar> const& M,
                                    std::vector<real_t<Scalar>> const& d = {}) {
  real_t<Scalar> worst = 0;
  for (std::size_t j = 0; j < M.extent(1); ++j)
    for (std::size_t i = 0; i < M.extent(0); ++i) {
      Scalar value = M(i, j);
      if (i == j) value -= Scalar(d.empty() ? real_t<Scalar>(1) : d[j]);
      worst = std::max(worst, std::sqrt(squared_magnitude(value)));
    }
  return worst;
}

/// Scales the columns of Z to unit 2-norm; zero columns stay.
template <class Scalar>
void normalize_columns(SmallMatrix<Scalar> const& Z) {
  for (std::size_t j = 0; j < Z.extent(1); ++j) {
    real_t<Scalar> sum = 0;
    for (std::size_t i = 0; i < Z.extent(0); ++i) sum += squared_magnitude(Z(i, j));
    if (!(sum > 0)) continue;
    real_t<Scalar> const factor = real_t<Scalar>(1) / std::sqrt(sum);
    for (std::size_t i = 0; i < Z.extent(0); ++i) Z(i, j) *= factor;
  }
}

/// C = op(A) op(B)
template <class Scalar>
void product(SmallMatrix<Scalar> const& A, SmallMatrix<Scalar> const& B,
             SmallMatrix<Scalar> const& C, lapack::Transform a = lapack::Transform::none) {
  lapack::multiply(a, lapack::Transform::none, Scalar(1), A, B, Scalar(0), C);
}

}  // namespace blockspan::solvers
