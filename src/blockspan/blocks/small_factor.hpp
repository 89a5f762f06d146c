#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <blockspan/support/lapack/lapack.hpp>

// The part of an orthonormalization on the host: coefficients C such that V C is closer to
// orthonormal, from the Gram matrix G of V.

namespace blockspan::blocks {

/// A column-major matrix on the host, in memory that Kokkos does not track.
template <class Scalar>
struct HostMatrix {
  std::vector<Scalar> values;
  SmallMatrix<Scalar> view;

  HostMatrix(int rows, int columns)
      : values(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)),
        view(values.data(), rows, columns) {}
  HostMatrix(HostMatrix&&) = default;
  HostMatrix& operator=(HostMatrix&&) = default;

  Scalar& operator()(int i, int j) const { return view(i, j); }
  int rows() const { return static_cast<int>(view.extent(0)); }
  int columns() const { return static_cast<int>(view.extent(1)); }
};

/// Threshold of pivot^2 or eigenvalue below which a Gram matrix of k unit columns is dominated by
/// rounding errors.
template <class Scalar>
real_t<Scalar> gram_noise(int k) {
  return std::max(real_t<Scalar>(50 * k), real_t<Scalar>(500)) * unit_roundoff<Scalar>;
}

/// D = diag(G)^-1/2, and `scaled` = D G D, which may alias G. False where a diagonal entry is not
/// positive.
template <class Scalar>
bool scale_to_unit_diagonal(SmallMatrix<Scalar> const& G, std::vector<real_t<Scalar>>& D,
                            SmallMatrix<Scalar> const& scaled) {
  using Real = real_t<Scalar>;
  std::size_t const k = G.extent(0);
  D.resize(k);
  for (std::size_t i = 0; i < k; ++i) {
    Real const g = real_part(G(i, i));
    if (!(g > 0)) return false;
    D[i] = Real(1) / std::sqrt(g);
  }
  for (std::size_t j = 0; j < k; ++j)
    for (std::size_t i = 0; i < k; ++i) scaled(i, j) = D[i] * G(i, j) * D[j];
  return true;
}

/// G := its Cholesky factor L, where pivots^2 below `floor` are replaced by `floor`: no column is
/// divided by noise, and no later column disturbs an earlier one. Returns the smallest pivot^2
/// found.
template <class Scalar>
real_t<Scalar> floored_cholesky(SmallMatrix<Scalar> const& G, real_t<Scalar> floor) {
  using Real = real_t<Scalar>;
  std::size_t const k = G.extent(0);
  Real smallest = 1;
  for (std::size_t j = 0; j < k; ++j) {
    Real const square = real_part(G(j, j)), pivot = std::sqrt(std::max(square, floor));
    smallest = std::min(smallest, square);
    G(j, j) = Scalar(pivot);
    for (std::size_t i = j + 1; i < k; ++i) G(i, j) /= pivot;
    for (std::size_t l = j + 1; l < k; ++l) {
      Scalar const factor = conjugate(G(l, j));
      for (std::size_t i = l; i < k; ++i) G(i, l) -= G(i, j) * factor;
    }
  }
  return smallest;
}

/// C = D L^-H with L L^H = G, where G is D times a Gram matrix times D and is overwritten. Returns
/// the smallest pivot^2. floor > 0: by floored_cholesky. floor = 0: by LAPACK's Cholesky; where it
/// fails, returns zero, and C is undefined.
template <class Scalar>
real_t<Scalar> cholesky_coefficients(SmallMatrix<Scalar> const& G,
                                     std::vector<real_t<Scalar>> const& D, real_t<Scalar> floor,
                                     SmallMatrix<Scalar> const& C) {
  using Real = real_t<Scalar>;
  std::size_t const k = G.extent(0);
  Real smallest = 1;
  if (floor > 0) {
    smallest = floored_cholesky(G, floor);
  } else {
    if (lapack::cholesky(G) != 0) return 0;
    for (std::size_t j = 0; j < k; ++j) {
      Real const square = squared_magnitude(G(j, j));
      if (!(square > 0)) return 0;
      smallest = std::min(smallest, square);
    }
  }
  if (lapack::invert_lower_triangle(G) != 0) return 0;
  for (std::size_t j = 0; j < k; ++j)
    for (std::size_t i = 0; i < k; ++i)
      C(i, j) = i <= j ? Scalar(D[i] * conjugate(G(j, i))) : Scalar(0);
  return smallest;
}

/// C = the columns of D U Lambda^-1/2 for the `count` largest of the eigenvalues lambda (ascending,
/// with eigenvectors U), the largest first; eigenvalues below `floor` are replaced by it. inverse,
/// if given: the rows of Lambda^1/2 U^H D^-1.
template <class Scalar>
void svqb_coefficients(SmallMatrix<Scalar> const& U, std::vector<real_t<Scalar>> const& lambda,
                       std::vector<real_t<Scalar>> const& D, int count, real_t<Scalar> floor,
                       SmallMatrix<Scalar> const& C, SmallMatrix<Scalar> const* inverse = nullptr) {
  using Real = real_t<Scalar>;
  int const k = static_cast<int>(U.extent(0));
  for (int j = 0; j < count; ++j) {
    int const from = k - 1 - j;
    Real const root = std::sqrt(std::max(lambda[static_cast<std::size_t>(from)], floor));
    for (int i = 0; i < k; ++i) {
      Real const d = D[static_cast<std::size_t>(i)];
      C(i, j) = d * (Real(1) / root) * U(i, from);
      if (inverse) (*inverse)(j, i) = conjugate(U(i, from)) * (root / d);
    }
  }
}

}  // namespace blockspan::blocks
