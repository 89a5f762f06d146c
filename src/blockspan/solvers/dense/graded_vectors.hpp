#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/lobpcg/thresholds.hpp>

// Eigenvectors of graded matrices, whose small eigenvalues have digits of their own: what solvers
// that reduce to tridiagonal form give is right to u ||A|| only.
namespace blockspan::eigen {

/// G and the signs J of F = G J G^H.
template <class Scalar>
struct SignedFactor {
  SmallMatrix<Scalar> columns;
  std::vector<int> signs;
};

/// F = G J G^H of a regular Hermitian F, by complete pivoting (Bunch and Parlett 1971,
/// doi:10.1137/0708060), which leaves the columns of G graded as F is. F is destroyed. Nothing for
/// a singular F. O(n^3).
template <class Scalar>
std::optional<SignedFactor<Scalar>> signed_factor(SmallMatrix<Scalar> const& F) {
  using Real = real_t<Scalar>;
  int const n = static_cast<int>(F.extent(0));
  SignedFactor<Scalar> result{small_matrix<Scalar>(n, n), {}};
  auto const& G = result.columns;
  std::vector<int> left(n);  // rows without a pivot yet
  for (int i = 0; i < n; ++i) left[i] = i;
  // a column of G from that of F, and what it subtracts from the rest
  auto const add_column = [&](std::vector<Scalar> const& g, int sign) {
    int const k = static_cast<int>(result.signs.size());
    for (int i = 0; i < n; ++i) G(i, k) = Scalar(0);
    for (int const i : left) G(i, k) = g[i];
    for (int const j : left) {
      Scalar const factor = Real(sign) * conjugate(g[j]);
      for (int const i : left) F(i, j) -= g[i] * factor;
    }
    result.signs.push_back(sign);
  };
  while (!left.empty()) {
    int p = left[0], r = p, s = p;
    Real diagonal = 0, coupled = 0;
    for (int const j : left)
      for (int const i : left) {
        Real const size = Kokkos::abs(F(i, j));
        if (i == j && size > diagonal) diagonal = size, p = i;
        if (i < j && size > coupled) coupled = size, r = i, s = j;
      }
    if (!(std::max(diagonal, coupled) > 0) || !std::isfinite(diagonal + coupled))
      return std::nullopt;
    std::vector<Scalar> g(n), h(n);
    constexpr Real balance = Real(0.6403882032022076);  // (1 + sqrt 17) / 8
    if (diagonal >= balance * coupled) {
      Real const pivot = real_part(F(p, p)), root = std::sqrt(std::abs(pivot));
      for (int const i : left) g[i] = F(i, p) / root;
      add_column(g, pivot > 0 ? 1 : -1);
      std::erase(left, p);
      continue;
    }
    // The block of rows r and s has a pivot of each sign: its eigenvectors are two columns.
    Real const a = real_part(F(r, r)), c = real_part(F(s, s)), b = Kokkos::abs(F(r, s));
    Scalar const phase = F(r, s) / b;
    Real const half = (a - c) / 2, radius = std::hypot(half, b), middle = (a + c) / 2;
    Real const high = middle + radius, low = middle - radius;
    if (!(high > 0) || !(low < 0)) return std::nullopt;
    Real const angle = std::atan2(b, half) / 2, cosine = std::cos(angle), sine = std::sin(angle);
    for (int const i : left) {
      Scalar const fr = F(i, r), fs = F(i, s) * conjugate(phase);
      g[i] = (fr * cosine + fs * sine) / std::sqrt(high);
      h[i] = (fs * cosine - fr * sine) / std::sqrt(-low);
    }
    add_column(g, 1);
    add_column(h, -1);
    std::erase(left, r), std::erase(left, s);
  }
  return result;
}

/// Orthogonal columns Y V, V^H J V = J, in place of Y, by plane rotations of pairs of columns,
/// hyperbolic ones where their signs differ (Veselic 1993, doi:10.1007/BF01388691; definite J:
/// one-sided Jacobi, Demmel and Veselic 1992, doi:10.1137/0613074). What is small along graded
/// columns keeps its digits. False where the arithmetic fails; whether the columns are orthogonal
/// enough is for the caller to measure. O(n^3) a sweep.
template <class Scalar>
bool orthogonalize_by_rotations(SmallMatrix<Scalar> const& Y, std::vector<int> const& signs) {
  using Real = real_t<Scalar>;
  constexpr int most_sweeps = 30;
  int const n = static_cast<int>(Y.extent(0)), k = static_cast<int>(Y.extent(1));
  Real const small = 2 * std::sqrt(static_cast<Real>(n)) * Thresholds<Real>::u;
  auto const column = [&](int j) { return Y.data() + static_cast<std::size_t>(j) * Y.stride(1); };
  auto const dot = [&](Scalar const* x, Scalar const* y) {
    Scalar sums[4] = {};  // four at a time, which a compiler does not do by itself
    int i = 0;
    for (; i + 4 <= n; i += 4)
      for (int q = 0; q < 4; ++q) sums[q] += conjugate(x[i + q]) * y[i + q];
    for (; i < n; ++i) sums[0] += conjugate(x[i]) * y[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  };
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool rotated = false;
    for (int p = 0; p < k; ++p)
      for (int q = p + 1; q < k; ++q) {
        Scalar* const x = column(p);
        Scalar* const y = column(q);
        Real const a = real_part(dot(x, x)), b = real_part(dot(y, y));
        Scalar const product = dot(x, y);
        Real const c = Kokkos::abs(product);
        if (!std::isfinite(a + b + c)) return false;
        // Of a small column what lies along a large one counts in the large one's units.
        if (!(c > small * std::min(a, b))) continue;
        rotated = true;
        Scalar const phase = product / c;
        bool const alike = signs[p] == signs[q];
        Real t;  // tangent of the angle, or hyperbolic tangent
        if (alike) {
          Real const zeta = (b - a) / (2 * c);
          t = (zeta < 0 ? Real(-1) : Real(1)) / (std::abs(zeta) + std::hypot(Real(1), zeta));
        } else {
          Real const zeta = (a + b) / (2 * c);
          if (!(zeta > 1)) return false;
          t = 1 / (zeta + std::sqrt(zeta - 1) * std::sqrt(zeta + 1));
        }
        Real const cosine = 1 / std::sqrt(alike ? 1 + t * t : (1 - t) * (1 + t));
        Real const sine = cosine * t;
        Scalar const of_x = sine * phase, of_y = sine * conjugate(phase);
        Real const sign = alike ? Real(1) : Real(-1);
        for (int i = 0; i < n; ++i) {
          Scalar const xi = x[i], yi = y[i];
          x[i] = cosine * xi - of_y * yi;
          y[i] = sign * of_x * xi + cosine * yi;
        }
      }
    if (!rotated) break;
  }
  return true;
}

}  // namespace blockspan::eigen
