#pragma once

#include <cmath>
#include <vector>

#include <blockspan/solvers/exact/pencil.hpp>

namespace blockspan::exact {

/// Jacobi's rotation of rows and columns i, j of the Hermitian A that makes A(i, j) zero, and of
/// the columns of V.
template <class Scalar>
void rotate(SmallMatrix<Scalar> const& A, SmallMatrix<Scalar> const& V, int i, int j) {
  double const size = Kokkos::abs(A(i, j));
  Scalar const phase = conjugate(A(i, j)) / size;
  double const zeta = (real_part(A(j, j)) - real_part(A(i, i))) / (2 * size);
  double const t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1.0, zeta));
  double const c = 1 / std::hypot(1.0, t), s = t * c;
  int const n = static_cast<int>(A.extent(0));
  auto const columns = [&](SmallMatrix<Scalar> const& B) {
    for (int r = 0; r < n; ++r) {
      Scalar const x = B(r, i), y = phase * B(r, j);
      B(r, i) = c * x - s * y;
      B(r, j) = s * x + c * y;
    }
  };
  columns(A), columns(V);
  for (int r = 0; r < n; ++r) {
    Scalar const x = A(i, r), y = conjugate(phase) * A(j, r);
    A(i, r) = c * x - s * y;
    A(j, r) = s * x + c * y;
  }
  A(i, j) = A(j, i) = Scalar(0);
}

/// Removes from nearly right pairs what a dense eigensolver has mixed into them. Its errors have
/// the size of rounding of the largest eigenvalue, which spoils small ones and their vectors where
/// values or masses differ by decades; Gram matrices of the vectors themselves have errors of the
/// size of their entries, and Jacobi's rotations keep that. X: n x k, X^H M X = I nearly. energies:
/// |x|^T (|K| + |lambda| |M|) |x|, k.
///
/// Source: Demmel and Veselic 1992, doi:10.1137/0613074 (Jacobi's method is more accurate than QR).
template <class Scalar, class Exec>
void polish(Pencil<Scalar, Exec>& pencil, Block<Scalar, Exec> const& X,
            std::vector<double> const& energies) {
  constexpr int most_sweeps = 4;
  constexpr double rounding = 8 * unit_roundoff<double>;
  auto const& exec = pencil.exec;
  int const k = static_cast<int>(X.extent(1));
  auto const KX = pencil.new_block("KX", k);
  auto const MX = pencil.with_mass(X).mx;
  pencil.multiply(X, KX);
  auto const A = solvers::small_matrix<Scalar>(k, k), G = solvers::small_matrix<Scalar>(k, k);
  gram(exec, X, KX, A, pencil.workspace);
  gram(exec, X, MX, G, pencil.workspace);
  solvers::symmetrize(A, 1.0), solvers::symmetrize(G, 1.0);
  // V = (X^H M X)^-1/2 and V A V, both to first order
  auto const V = solvers::small_matrix<Scalar>(k, k);
  std::vector<double> diagonal;
  for (int j = 0; j < k; ++j) diagonal.push_back(real_part(A(j, j)));
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < k; ++i) {
      Scalar const excess = G(i, j) - Scalar(i == j ? 1 : 0);
      V(i, j) = Scalar(i == j ? 1 : 0) - excess / 2.0;
      A(i, j) -= excess * (diagonal[i] + diagonal[j]) / 2.0;
    }
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool rotated = false;
    for (int j = 1; j < k; ++j)
      for (int i = 0; i < j; ++i) {
        double const noise = rounding * std::sqrt(energies[i]) * std::sqrt(energies[j]);
        if (!(Kokkos::abs(A(i, j)) > noise)) continue;
        rotate(A, V, i, j);
        rotated = true;
      }
    if (!rotated) break;
  }
  combine_in_place(exec, X, V, pencil.workspace);
}

}  // namespace blockspan::exact
