#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <blockspan/support/lapack.hpp>

// The host's share of an orthonormalization: coefficients C such that V C is closer to orthonormal,
// from the Gram matrix G of V.

namespace blockspan::detail {

/// A column-major matrix of the host that Kokkos does not count as an allocation.
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

/// Below which pivot^2 or eigenvalue a Gram matrix of unit columns holds little but rounding
/// errors.
template <class Scalar>
real_t<Scalar> gram_noise(int k) {
  return std::max(real_t<Scalar>(50 * k), real_t<Scalar>(500)) * unit_roundoff<Scalar>;
}

template <class Scalar>
struct SmallFactor {
  HostMatrix<Scalar> coefficients;    ///< k x k
  real_t<Scalar> smallest_pivot = 0;  ///< of the Cholesky factor; 0 if it broke down
  bool svqb = false;
};

/// C = D L^-H for the factor L of D G D, in G's order. Pivots^2 below `floor` count as `floor` (so
/// no column is divided by noise, and no later column disturbs an earlier one); floor < 0: it gives
/// up at the first such pivot. G is overwritten. Returns the smallest pivot found, or 0.
template <class Scalar>
real_t<Scalar> cholesky_coefficients(HostMatrix<Scalar> const& G,
                                     std::vector<real_t<Scalar>> const& D, real_t<Scalar> floor,
                                     HostMatrix<Scalar> const& C) {
  using Real = real_t<Scalar>;
  int const k = G.rows();
  Real smallest = 1;
  for (int j = 0; j < k; ++j) {
    Real pivot = real_part(G(j, j));
    smallest = std::min(smallest, pivot);
    pivot = std::sqrt(std::max(pivot, floor));
    G(j, j) = Scalar(pivot);
    for (int i = j + 1; i < k; ++i) G(i, j) /= pivot;
    for (int l = j + 1; l < k; ++l) {
      Scalar const factor = conjugate(G(l, j));
      for (int i = l; i < k; ++i) G(i, l) -= G(i, j) * factor;
    }
  }
  lapack::invert_lower_triangle(G.view);
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < k; ++i)
      C(i, j) = i <= j ? Scalar(D[static_cast<std::size_t>(i)] * conjugate(G(j, i))) : Scalar(0);
  return smallest > 0 ? std::sqrt(smallest) : Real(0);
}

/// C = D U Lambda^-1/2 for D G D = U Lambda U^H, largest eigenvalue first; those below `noise`
/// times the largest count as that. G is overwritten. Returns whether the eigensolver succeeded.
template <class Scalar>
bool svqb_coefficients(HostMatrix<Scalar> const& G, std::vector<real_t<Scalar>> const& D,
                       real_t<Scalar> noise, HostMatrix<Scalar> const& C) {
  using Real = real_t<Scalar>;
  int const k = G.rows();
  std::vector<Real> eigenvalues;
  if (lapack::hermitian_eigen(G.view, eigenvalues) != 0) return false;
  Real const floor = noise * eigenvalues.back();
  for (int j = 0; j < k; ++j) {
    int const from = k - 1 - j;
    Real const root = std::sqrt(std::max(eigenvalues[static_cast<std::size_t>(from)], floor));
    for (int i = 0; i < k; ++i) C(i, j) = D[static_cast<std::size_t>(i)] / root * G(i, from);
  }
  return true;
}

}  // namespace blockspan::detail
