#pragma once

#include <blockspan/sparse/generators/generator_hash.hpp>

namespace blockspan::sparse {

/// The point of a grid, x fastest.
struct GridPoint {
  int x, y, z;
};

struct Grid {
  int nx, ny, nz;

  KOKKOS_FUNCTION std::int64_t points() const { return std::int64_t(nx) * ny * nz; }
  KOKKOS_FUNCTION GridPoint point(std::int64_t i) const {
    return {static_cast<int>(i % nx), static_cast<int>(i / nx % ny), static_cast<int>(i / nx / ny)};
  }
  KOKKOS_FUNCTION bool contains(GridPoint p) const {
    return p.x >= 0 && p.x < nx && p.y >= 0 && p.y < ny && p.z >= 0 && p.z < nz;
  }
  KOKKOS_FUNCTION std::int64_t index(GridPoint p) const {
    return (std::int64_t(p.z) * ny + p.y) * nx + p.x;
  }
};

/// The neighbours of a point in ascending index order: -z -y -x +x +y +z.
KOKKOS_INLINE_FUNCTION GridPoint grid_neighbour(GridPoint p, int face) {
  int const axis = face < 3 ? 2 - face : face - 3;
  int const step = face < 3 ? -1 : 1;
  return {p.x + (axis == 0 ? step : 0), p.y + (axis == 1 ? step : 0), p.z + (axis == 2 ? step : 0)};
}
KOKKOS_INLINE_FUNCTION int face_axis(int face) { return face < 3 ? 2 - face : face - 3; }

/// The same coefficient on all faces of an axis; the diagonal is computed on the host.
struct ConstantCoefficients {
  double axis[3];
  double sum;
  KOKKOS_FUNCTION double face(Grid const&, GridPoint, int f) const { return axis[face_axis(f)]; }
  KOKKOS_FUNCTION double diagonal(Grid const&, GridPoint) const { return sum; }
};

/// Cubes of `width` points with coefficient 1 or `contrast`; a face has the harmonic mean of its
/// two points, a boundary face the coefficient of its point. Sums of table values in a fixed order:
/// no products that a compiler could contract.
struct JumpCoefficients {
  double mean[3];  ///< indexed by the number of high points at the face: 1, harmonic mean, contrast
  int width;
  std::uint64_t seed;

  KOKKOS_FUNCTION int is_high(GridPoint p) const {
    auto const yz = (std::uint64_t(p.z / width) << 32) | std::uint64_t(p.y / width);
    return static_cast<int>(hash(seed, HashStream::jump, std::uint64_t(p.x / width), yz) >> 63);
  }
  KOKKOS_FUNCTION double face(Grid const& grid, GridPoint p, int f) const {
    GridPoint const q = grid_neighbour(p, f);
    return mean[is_high(p) + is_high(grid.contains(q) ? q : p)];
  }
  KOKKOS_FUNCTION double diagonal(Grid const& grid, GridPoint p) const {
    double sum = 0;
    for (int f = 0; f < 6; ++f) sum += face(grid, p, f);
    return sum;
  }
};

/// A point and its six neighbours (four where nz = 1): off-diagonal entries are minus the face
/// coefficients.
template <class Coefficients>
struct SevenPointRule {
  static constexpr bool has_values = true;
  Grid grid;
  Coefficients coefficients;

  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t i) const {
    GridPoint const p = grid.point(i);
    return 1 + (p.x > 0) + (p.x + 1 < grid.nx) + (p.y > 0) + (p.y + 1 < grid.ny) + (p.z > 0) +
           (p.z + 1 < grid.nz);
  }
  KOKKOS_FUNCTION void fill(std::int64_t i, int, int* columns, double* values) const {
    GridPoint const p = grid.point(i);
    int k = 0;
    for (int f = 0; f < 6; ++f) {
      if (f == 3) {
        columns[k] = static_cast<int>(i);
        values[k++] = coefficients.diagonal(grid, p);
      }
      GridPoint const q = grid_neighbour(p, f);
      if (!grid.contains(q)) continue;
      columns[k] = static_cast<int>(grid.index(q));
      values[k++] = -coefficients.face(grid, p, f);
    }
  }
};

/// A point and its 26 neighbours: diagonal 26, off-diagonal -1.
struct TwentySevenPointRule {
  static constexpr bool has_values = true;
  Grid grid;

  KOKKOS_FUNCTION static int neighbours(int p, int n) { return 1 + (p > 0) + (p + 1 < n); }
  KOKKOS_FUNCTION std::int64_t row_length(std::int64_t i) const {
    GridPoint const p = grid.point(i);
    return neighbours(p.x, grid.nx) * neighbours(p.y, grid.ny) * neighbours(p.z, grid.nz);
  }
  KOKKOS_FUNCTION void fill(std::int64_t i, int, int* columns, double* values) const {
    GridPoint const p = grid.point(i);
    int k = 0;
    for (int neighbour = 0; neighbour < 27; ++neighbour) {
      GridPoint const q{p.x + neighbour % 3 - 1, p.y + neighbour / 3 % 3 - 1,
                        p.z + neighbour / 9 - 1};
      if (!grid.contains(q)) continue;
      columns[k] = static_cast<int>(grid.index(q));
      values[k++] = neighbour == 13 ? 26.0 : -1.0;
    }
  }
};

}  // namespace blockspan::sparse
