#pragma once

#include <Kokkos_Core.hpp>

#include <blockspan/support/scalar.hpp>

namespace blockspan::operators {

/// A Hermitian matrix of order up to 8 in the registers of one thread. The caller fills both
/// triangles, then calls balance(), one of the inversions, and inverse().
template <class Scalar>
struct SmallHermitian {
  using Real = real_t<Scalar>;
  static constexpr int most = 8;

  int order;
  Scalar a[most][most];
  Real scale[most];     ///< balance() replaces a by S a S with S = diag(scale)
  Real diagonal[most];  ///< of a, set by balance()

  /// Bound of the rounding errors of a pivot or an eigenvalue, relative to a unit diagonal: Demmel
  /// 1989 (LAPACK Working Note 14).
  KOKKOS_FUNCTION Real noise() const {
    return static_cast<Real>(2 * (order + 1)) * unit_roundoff<Scalar>;
  }

  KOKKOS_FUNCTION bool is_finite() const {
    for (int i = 0; i < order; ++i)
      for (int j = 0; j < order; ++j)
        if (!blockspan::is_finite(a[i][j])) return false;
    return true;
  }

  /// Replaces a by its Hermitian part and scales the diagonal to +-1 (a zero diagonal entry: by the
  /// largest entry of the row, a row of zeros as if its diagonal entry were `of_zeros`), so that
  /// the thresholds below do not depend on units.
  KOKKOS_FUNCTION void balance(Real of_zeros) {
    for (int i = 0; i < order; ++i) {
      a[i][i] = Scalar(real_part(a[i][i]));
      for (int j = 0; j < i; ++j) {
        a[i][j] = Real(0.5) * a[i][j] + Real(0.5) * conjugate(a[j][i]);
        a[j][i] = conjugate(a[i][j]);
      }
    }
    for (int i = 0; i < order; ++i) {
      Real size = Kokkos::abs(real_part(a[i][i]));
      if (size == 0)
        for (int j = 0; j < order; ++j) size = Kokkos::fmax(size, Kokkos::abs(a[i][j]));
      scale[i] = 1 / Kokkos::sqrt(size > 0 ? size : of_zeros);
    }
    for (int i = 0; i < order; ++i) {
      for (int j = 0; j < order; ++j) a[i][j] = (a[i][j] * scale[i]) * scale[j];
      diagonal[i] = real_part(a[i][i]);
    }
  }

  /// a := its inverse L^-H L^-1 from the Cholesky factor, stored in the lower triangle. False if a
  /// is not positive definite to working precision.
  KOKKOS_FUNCTION bool invert_definite() {
    Real const floor = noise();
    for (int j = 0; j < order; ++j) {
      Real pivot = diagonal[j];
      for (int k = 0; k < j; ++k) pivot -= squared_magnitude(a[j][k]);
      if (!(pivot > floor)) return false;
      Real const inverse = 1 / Kokkos::sqrt(pivot);
      for (int i = j + 1; i < order; ++i) {
        Scalar sum = a[i][j];
        for (int k = 0; k < j; ++k) sum -= a[i][k] * conjugate(a[j][k]);
        a[i][j] = sum * inverse;
      }
      a[j][j] = Scalar(inverse);  // of L^-1
    }
    invert_factor();
    multiply_factors();
    return true;
  }

  /// a := |a|^-1 from its eigenvalues and eigenvectors. Also valid after invert_definite() has
  /// failed, which leaves the strict upper triangle unchanged. Eigenvalues at the level of rounding
  /// errors are replaced by 1. Cyclic Jacobi rotations: Forsythe and Henrici 1960,
  /// doi:10.1090/S0002-9947-1960-0109825-2.
  KOKKOS_FUNCTION void invert_absolute() {
    Scalar vectors[most][most];
    Real largest = 0;
    for (int i = 0; i < order; ++i) {
      a[i][i] = Scalar(diagonal[i]);
      for (int j = 0; j < i; ++j) a[i][j] = conjugate(a[j][i]);
      for (int j = 0; j < order; ++j) {
        vectors[i][j] = Scalar(i == j ? 1 : 0);
        largest = Kokkos::fmax(largest, Kokkos::abs(a[i][j]));
      }
    }
    Real const negligible = unit_roundoff<Scalar> * largest;
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < 30; ++sweep) {
      rotated = false;
      for (int p = 0; p < order; ++p)
        for (int q = p + 1; q < order; ++q)
          if (Kokkos::abs(a[p][q]) > negligible) {
            rotate(p, q, vectors);
            rotated = true;
          }
    }
    Real inverses[most];
    for (int k = 0; k < order; ++k) {
      Real const size = Kokkos::abs(real_part(a[k][k]));
      inverses[k] = size > noise() * largest ? 1 / size : Real(1);
    }
    for (int i = 0; i < order; ++i)
      for (int j = 0; j <= i; ++j) {
        Scalar sum(0);
        for (int k = 0; k < order; ++k)
          sum += vectors[i][k] * conjugate(vectors[j][k]) * inverses[k];
        a[i][j] = i == j ? Scalar(real_part(sum)) : sum;
      }
  }

  /// Entry (i, j) of the inverse of the original matrix, exactly Hermitian.
  KOKKOS_FUNCTION Scalar inverse(int i, int j) const {
    return i >= j ? (a[i][j] * scale[i]) * scale[j] : conjugate((a[j][i] * scale[j]) * scale[i]);
  }

 private:
  /// The lower triangle := the inverse of L; its diagonal already holds the inverses.
  KOKKOS_FUNCTION void invert_factor() {
    for (int j = 0; j < order; ++j)
      for (int i = j + 1; i < order; ++i) {
        Scalar sum(0);
        for (int k = j; k < i; ++k) sum += a[i][k] * a[k][j];
        a[i][j] = -(sum * real_part(a[i][i]));
      }
  }

  /// The lower triangle := N^H N for N = L^-1 stored there.
  KOKKOS_FUNCTION void multiply_factors() {
    for (int i = 0; i < order; ++i)
      for (int j = 0; j <= i; ++j) {
        Scalar sum(0);
        for (int k = i; k < order; ++k) sum += conjugate(a[k][i]) * a[k][j];
        a[i][j] = i == j ? Scalar(real_part(sum)) : sum;
      }
  }

  /// Annihilates a_pq: a := J^H a J, vectors := vectors J.
  KOKKOS_FUNCTION void rotate(int p, int q, Scalar (&vectors)[most][most]) {
    Real const size = Kokkos::abs(a[p][q]);
    Scalar const phase = a[p][q] / size;
    Real const tau = (real_part(a[q][q]) - real_part(a[p][p])) / (2 * size);
    Real const t = (tau < 0 ? -1 : 1) / (Kokkos::abs(tau) + Kokkos::hypot(Real(1), tau));
    Real const c = 1 / Kokkos::sqrt(1 + t * t), s = t * c;
    for (int k = 0; k < order; ++k) {
      turn(a[k][p], a[k][q], c, s, phase);
      turn(vectors[k][p], vectors[k][q], c, s, phase);
    }
    for (int k = 0; k < order; ++k) turn(a[p][k], a[q][k], c, s, conjugate(phase));
    a[p][q] = a[q][p] = Scalar(0);
  }

  KOKKOS_FUNCTION static void turn(Scalar& x, Scalar& y, Real c, Real s, Scalar const& phase) {
    Scalar const before = x;
    x = c * before - s * (conjugate(phase) * y);
    y = s * (phase * before) + c * y;
  }
};

}  // namespace blockspan::operators
