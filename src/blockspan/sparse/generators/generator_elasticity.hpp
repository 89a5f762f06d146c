#pragma once

#include <blockspan/sparse/generators/generator_grid.hpp>

// Linear elasticity on a grid of 8-node bricks. Shape functions are products of 1D hat functions,
// and the grid is a tensor product too, so every integral over the body factorizes into integrals
// of hats along each axis, which are small integers over a common denominator. An entry is thus an
// exact integer (no element loop, no order of summation) divided once by an exact integer: the same
// bits on every backend, and exactly symmetric. 2 x 2 x 2 Gauss quadrature integrates these
// products exactly, so it gives the same matrix up to rounding.

namespace blockspan::sparse {

/// Integrals of the hats p and p + d (|d| <= 1) on a line of n nodes with spacing 1.
struct HatIntegrals {
  int n;

  /// 6 * integral of the product.
  KOKKOS_FUNCTION int mass(int p, int d) const { return d == 0 ? 2 * elements(p) : 1; }
  /// Integral of the product of the derivatives.
  KOKKOS_FUNCTION int stiffness(int p, int d) const { return d == 0 ? elements(p) : -1; }
  /// 2 * integral of (derivative of hat p) * (hat p + d).
  KOKKOS_FUNCTION int slope_value(int p, int d) const { return d == 0 ? imbalance(p) : -d; }
  /// 2 * integral of (hat p) * (derivative of hat p + d).
  KOKKOS_FUNCTION int value_slope(int p, int d) const { return d == 0 ? imbalance(p) : d; }

  KOKKOS_FUNCTION int elements(int p) const { return (p > 0) + (p + 1 < n); }
  KOKKOS_FUNCTION int imbalance(int p) const { return (p > 0) - (p + 1 < n); }
};

/// 72 * integral of (d/dx_k of the shape function of node p) * (d/dx_l of that of node p + d),
/// spacing 1.
KOKKOS_INLINE_FUNCTION int gradient_product(HatIntegrals hats, int const (&p)[3], int const (&d)[3],
                                            int k, int l) {
  int product = k == l ? 2 : 3;
  for (int axis = 0; axis < 3; ++axis) {
    if (axis == k && axis == l)
      product *= hats.stiffness(p[axis], d[axis]);
    else if (axis == k)
      product *= hats.slope_value(p[axis], d[axis]);
    else if (axis == l)
      product *= hats.value_slope(p[axis], d[axis]);
    else
      product *= hats.mass(p[axis], d[axis]);
  }
  return product;
}

/// Numbering of the unknowns 3 * node + component, of the nodes x >= first_x; n nodes an edge.
struct ElasticGrid {
  int n;
  int first_x;  ///< 1 when clamped at x = 0, else 0

  KOKKOS_FUNCTION int line() const { return n - first_x; }
  KOKKOS_FUNCTION void node(std::int64_t index, int (&p)[3]) const {
    p[0] = static_cast<int>(index % line()) + first_x;
    p[1] = static_cast<int>(index / line() % n);
    p[2] = static_cast<int>(index / line() / n);
  }
  KOKKOS_FUNCTION int neighbours(int const (&p)[3]) const {
    HatIntegrals const hats{n};
    return (1 + (p[0] > first_x) + (p[0] + 1 < n)) * (1 + hats.elements(p[1])) *
           (1 + hats.elements(p[2]));
  }
  /// Neighbour 0 .. 26 in ascending order: sets its offset d from p; returns its index, or -1
  /// outside.
  KOKKOS_FUNCTION std::int64_t neighbour(int const (&p)[3], int which, int (&d)[3]) const {
    d[0] = which % 3 - 1;
    d[1] = which / 3 % 3 - 1;
    d[2] = which / 9 - 1;
    int const x = p[0] + d[0], y = p[1] + d[1], z = p[2] + d[2];
    if (x < first_x || x >= n || y < 0 || y >= n || z < 0 || z >= n) return -1;
    return (std::int64_t(z) * n + y) * line() + (x - first_x);
  }
};

/// E = 1 and nu = 0.3 give lambda = 15/26 and mu = 10/26: with g = gradient_product, the entry
/// (i, j) of a 3 x 3 block is (5/26) (3 g_ij + 2 g_ji + 2 delta_ij trace g) / 72 / (n - 1).
struct ElasticityRule {
  static constexpr bool has_values = true;
  ElasticGrid grid;
  double denominator;  ///< 26 * 72 * (n - 1)

  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t row) const {
    int p[3];
    grid.node(row / 3, p);
    return 3 * grid.neighbours(p);
  }
  KOKKOS_FUNCTION void fill(std::int64_t row, int, int* columns, double* values) const {
    HatIntegrals const hats{grid.n};
    int p[3], d[3];
    grid.node(row / 3, p);
    int const i = static_cast<int>(row % 3);
    int k = 0;
    for (int which = 0; which < 27; ++which) {
      std::int64_t const other = grid.neighbour(p, which, d);
      if (other < 0) continue;
      for (int j = 0; j < 3; ++j) {
        int entry = 3 * gradient_product(hats, p, d, i, j) + 2 * gradient_product(hats, p, d, j, i);
        for (int axis = 0; i == j && axis < 3; ++axis)
          entry += 2 * gradient_product(hats, p, d, axis, axis);
        columns[k] = static_cast<int>(3 * other + j);
        values[k++] = static_cast<double>(5 * entry) / denominator;
      }
    }
  }
};

/// Consistent mass matrix of density 1: couples equal components only.
struct ElasticityMassRule {
  static constexpr bool has_values = true;
  ElasticGrid grid;
  double denominator;  ///< 216 * (n - 1)^3

  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t row) const {
    int p[3];
    grid.node(row / 3, p);
    return grid.neighbours(p);
  }
  KOKKOS_FUNCTION void fill(std::int64_t row, int, int* columns, double* values) const {
    HatIntegrals const hats{grid.n};
    int p[3], d[3];
    grid.node(row / 3, p);
    int k = 0;
    for (int which = 0; which < 27; ++which) {
      std::int64_t const other = grid.neighbour(p, which, d);
      if (other < 0) continue;
      int const entry = hats.mass(p[0], d[0]) * hats.mass(p[1], d[1]) * hats.mass(p[2], d[2]);
      columns[k] = static_cast<int>(3 * other + row % 3);
      values[k++] = static_cast<double>(entry) / denominator;
    }
  }
};

}  // namespace blockspan::sparse
