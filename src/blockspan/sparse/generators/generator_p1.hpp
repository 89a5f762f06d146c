#pragma once

#include <blockspan/sparse/generators/generator_elasticity.hpp>
#include <blockspan/sparse/generators/generator_hash.hpp>

// Linear finite elements on tetrahedra: every cube of a grid is divided into six along its diagonal
// (Freudenthal 1942, doi:10.2307/1968813), and nodes are moved by up to an eighth of the spacing.
// Coordinates are integer multiples of a sixteenth of the spacing, so volumes and face normals are
// integers, and the contribution of an element is one quotient of them. Elements are added in the
// same order for both entries of a pair: the same bits on every backend, exactly symmetric.

namespace blockspan::sparse {

/// Node positions in sixteenths of the spacing; boundary nodes are not moved.
struct JitteredGrid {
  ElasticGrid grid;
  std::uint64_t seed;

  KOKKOS_FUNCTION void position(int const (&p)[3], int (&x)[3]) const {
    std::int64_t const n = grid.n, index = (p[2] * n + p[1]) * n + p[0];
    for (int axis = 0; axis < 3; ++axis) {
      bool const inside = p[axis] > 0 && p[axis] + 1 < grid.n;
      auto const bits = hash(seed, HashStream::jitter, static_cast<std::uint64_t>(index),
                             static_cast<std::uint64_t>(axis));
      x[axis] = 16 * p[axis] + (inside ? static_cast<int>(reduce_range(bits, 5)) - 2 : 0);
    }
  }
  /// Whether nodes at offset d share an element: all components have the same sign.
  KOKKOS_FUNCTION static bool meets(int const (&d)[3]) {
    bool const up = d[0] >= 0 && d[1] >= 0 && d[2] >= 0;
    return up || (d[0] <= 0 && d[1] <= 0 && d[2] <= 0);
  }
  KOKKOS_FUNCTION std::int64_t neighbours(int const (&p)[3]) const {
    std::int64_t count = 0;
    int d[3];
    for (int which = 0; which < 27; ++which)
      if (grid.neighbour(p, which, d) >= 0 && meets(d)) ++count;
    return count;
  }
};

/// A tetrahedron: corners of a cube on a path along the three axes in some order.
struct Tetrahedron {
  int corner[4][3];
  int normal[4][3];  ///< of the face opposite a corner; its length is twice the area
  int volume;        ///< times six

  KOKKOS_FUNCTION Tetrahedron(JitteredGrid const& nodes, int const (&cube)[3], int which) {
    int const first = which / 2, second = (first + 1 + which % 2) % 3;
    int const axes[3] = {first, second, 3 - first - second};
    int x[4][3];
    for (int v = 0; v < 4; ++v) {
      for (int axis = 0; axis < 3; ++axis)
        corner[v][axis] = v > 0 ? corner[v - 1][axis] : cube[axis];
      if (v > 0) ++corner[v][axes[v - 1]];
      nodes.position(corner[v], x[v]);
    }
    int edge[3][3];
    for (int e = 0; e < 3; ++e)
      for (int axis = 0; axis < 3; ++axis) edge[e][axis] = x[e + 1][axis] - x[0][axis];
    for (int axis = 0; axis < 3; ++axis) {
      normal[0][axis] = 0;
      int const u = (axis + 1) % 3, v = (axis + 2) % 3;
      for (int e = 0; e < 3; ++e) {
        int const *const a = edge[(e + 1) % 3], *const b = edge[(e + 2) % 3];
        normal[e + 1][axis] = a[u] * b[v] - a[v] * b[u];
        normal[0][axis] -= normal[e + 1][axis];
      }
    }
    volume = dot(edge[0], normal[1]);
    if (volume < 0) volume = -volume;
  }
  KOKKOS_FUNCTION static int dot(int const (&a)[3], int const (&b)[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
  /// The index of corner p, or -1.
  KOKKOS_FUNCTION int find(int const (&p)[3]) const {
    for (int v = 0; v < 4; ++v)
      if (corner[v][0] == p[0] && corner[v][1] == p[1] && corner[v][2] == p[2]) return v;
    return -1;
  }
};

/// Stiffness matrix of the Laplacian, or consistent mass matrix, on the unit cube.
struct P1Rule {
  static constexpr bool has_values = true;
  JitteredGrid nodes;
  bool mass;
  double denominator;  ///< 96 (n - 1); mass: 120 (16 (n - 1))^3

  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t row) const {
    int p[3];
    nodes.grid.node(row, p);
    return nodes.neighbours(p);
  }
  KOKKOS_FUNCTION void fill(std::int64_t row, int, int* columns, double* values) const {
    int p[3], d[3];
    nodes.grid.node(row, p);
    double sums[27];
    for (double& sum : sums) sum = 0;
    for (int cube = 0; cube < 8; ++cube) {
      int const base[3] = {p[0] - 1 + cube % 2, p[1] - 1 + cube / 2 % 2, p[2] - 1 + cube / 4};
      if (!is_cube(base)) continue;
      for (int which = 0; which < 6; ++which) add(Tetrahedron(nodes, base, which), p, sums);
    }
    int k = 0;
    for (int which = 0; which < 27; ++which) {
      std::int64_t const other = nodes.grid.neighbour(p, which, d);
      if (other < 0 || !JitteredGrid::meets(d)) continue;
      columns[k] = static_cast<int>(other);
      values[k++] = sums[which] / denominator;
    }
  }

  KOKKOS_FUNCTION bool is_cube(int const (&base)[3]) const {
    for (int const b : base)
      if (b < 0 || b + 1 >= nodes.grid.n) return false;
    return true;
  }
  KOKKOS_FUNCTION void add(Tetrahedron const& T, int const (&p)[3], double (&sums)[27]) const {
    int const i = T.find(p);
    for (int j = 0; i >= 0 && j < 4; ++j) {
      int const* const q = T.corner[j];
      int const place = q[0] - p[0] + 1 + 3 * (q[1] - p[1] + 1) + 9 * (q[2] - p[2] + 1);
      if (mass)
        sums[place] += T.volume * (i == j ? 2 : 1);
      else
        sums[place] += static_cast<double>(Tetrahedron::dot(T.normal[i], T.normal[j])) / T.volume;
    }
  }
};

}  // namespace blockspan::sparse
