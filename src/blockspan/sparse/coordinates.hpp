#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/sparse/generator_spec.hpp>
#include <blockspan/sparse/generators/generator_p1.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan {

/// Coordinates of the nodes of an elasticity, elasticity-mass, p1 or p1-mass matrix in the unit
/// cube, nodes x 3, in the order of its rows (elasticity: of its groups of three rows). Throws
/// Error for another spec, or where memory is short. Computed on the host; fences `exec`.
template <class Real, class Exec>
Block<Real, Exec> generate_coordinates(Exec const& exec, GeneratorSpec const& spec) {
  bool const jittered = spec.name.starts_with("p1");
  require((jittered || spec.name.starts_with("elasticity")) && !spec.permuted,
          "generate_coordinates", "'", spec.text, "' has no nodes in space");
  int const n = static_cast<int>(spec.sizes[0]);
  sparse::ElasticGrid const grid{n, spec.clamped ? 1 : 0};
  std::int64_t const nodes = jittered ? spec.rows : spec.rows / 3;
  auto const X = allocate<Block<Real, Exec>>(exec, "Blockspan::coordinates", nodes, 3);
  auto const host = allocate_mirror(X);
  for (std::int64_t i = 0; i < nodes; ++i) {
    int p[3], x[3];
    grid.node(i, p);
    for (int axis = 0; axis < 3; ++axis) x[axis] = 16 * p[axis];
    if (jittered) sparse::JitteredGrid{grid, spec.seed}.position(p, x);
    for (int axis = 0; axis < 3; ++axis)
      host(i, axis) = static_cast<Real>(x[axis]) / static_cast<Real>(16 * (n - 1));
  }
  Kokkos::deep_copy(exec, X, host);
  exec.fence("Blockspan::coordinates");
  return X;
}

}  // namespace blockspan
