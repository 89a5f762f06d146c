#pragma once

#include <cmath>

#include <blockspan/multigrid/detail/adaptive_impl.hpp>
#include <blockspan/multigrid/detail/hierarchy.hpp>
#include <blockspan/multivector/columns.hpp>

namespace blockspan::detail {

/// Translations and rotations about the centroid of nodes in 2 or 3 dimensions, as many unknowns a
/// node: 3 or 6 vectors.
template <class Scalar, class Exec>
Block<Scalar, Exec> rigid_bodies(Exec const& exec,
                                 ConstBlock<real_t<Scalar>, Exec> const& coordinates) {
  auto const nodes = static_cast<std::int64_t>(coordinates.extent(0));
  int const d = static_cast<int>(coordinates.extent(1));
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), coordinates);
  double centre[3] = {0, 0, 0};
  for (std::int64_t i = 0; i < nodes; ++i)
    for (int c = 0; c < d; ++c) centre[c] += host(i, c) / static_cast<double>(nodes);
  for (double const c : centre)
    require(std::isfinite(c), "blockspan::multigrid", "coordinates are not finite");
  auto const B =
      allocate<Block<Scalar, Exec>>(exec, "Blockspan::multigrid", nodes * d, d == 3 ? 6 : 3);
  Kokkos::Array<double, 3> const origin{centre[0], centre[1], centre[2]};
  each(
      exec, "Blockspan::multigrid_rigid_bodies", nodes, KOKKOS_LAMBDA(std::int64_t i) {
        double x[3] = {0, 0, 0};
        for (int c = 0; c < d; ++c) x[c] = coordinates(i, c) - origin[c];
        for (int c = 0; c < d; ++c)
          for (int j = 0; j < (d == 3 ? 6 : 3); ++j) B(i * d + c, j) = Scalar(c == j ? 1 : 0);
        if (d == 2) B(i * d, 2) = Scalar(-x[1]), B(i * d + 1, 2) = Scalar(x[0]);
        for (int axis = 0; d == 3 && axis < 3; ++axis) {
          int const u = (axis + 1) % 3, v = (axis + 2) % 3;
          B(i * d + u, 3 + axis) = Scalar(-x[v]);
          B(i * d + v, 3 + axis) = Scalar(x[u]);
        }
      });
  exec.fence("Blockspan::multigrid_rigid_bodies");
  return B;
}

/// x^H A x / x^H D x for one column.
template <class Scalar, class Exec>
double quotient(Exec const& exec, MatrixOperator<Scalar, Exec> const& A,
                ChebyshevSetup<Scalar, Exec> const& spectrum, Block<Scalar, Exec> const& x,
                Block<Scalar, Exec> const& work) {
  Kokkos::View<Scalar*, Kokkos::HostSpace> const dot("Blockspan::multigrid", 1);
  A.apply(exec, x, work);
  blockspan::column_dots(exec, x, work, dot);
  double const energy = real_part(dot(0));
  auto const weights = spectrum.factors;
  each(
      exec, "Blockspan::multigrid_quotient", A.rows(),
      KOKKOS_LAMBDA(std::int64_t i) { work(i, 0) = x(i, 0) / weights(i); });
  blockspan::column_dots(exec, x, work, dot);
  return energy / real_part(dot(0));
}

/// The constant or D^-1/2 times it, whichever A maps to less by a factor of 2.
template <class Scalar, class Exec>
Block<Scalar, Exec> constant_vector(Exec const& exec, MatrixOperator<Scalar, Exec> const& A,
                                    ChebyshevSetup<Scalar, Exec> const& spectrum) {
  using Vectors = Block<Scalar, Exec>;
  auto const n = A.rows();
  auto const ones = allocate<Vectors>(exec, "Blockspan::multigrid", n, 1),
             scaled = allocate<Vectors>(exec, "Blockspan::multigrid", n, 1),
             work = allocate<Vectors>(exec, "Blockspan::multigrid", n, 1);
  Kokkos::deep_copy(exec, ones, Scalar(1));
  auto const weights = spectrum.factors;
  each(
      exec, "Blockspan::multigrid_scaled_constant", n,
      KOKKOS_LAMBDA(std::int64_t i) { scaled(i, 0) = Scalar(Kokkos::sqrt(weights(i))); });
  if (n == 0) return ones;
  return 2 * quotient(exec, A, spectrum, scaled, work) < quotient(exec, A, spectrum, ones, work)
             ? scaled
             : ones;
}

/// Given vectors, after a look at them.
template <class Scalar, class Exec>
Block<Scalar, Exec> given_vectors(Exec const& exec, ConstBlock<Scalar, Exec> const& given) {
  auto const B =
      allocate<Block<Scalar, Exec>>(exec, "Blockspan::multigrid", given.extent(0), given.extent(1));
  Kokkos::deep_copy(exec, B, given);
  Kokkos::View<real_t<Scalar>*, Kokkos::HostSpace> const norms("Blockspan::multigrid",
                                                               given.extent(1));
  blockspan::column_norms(exec, given, norms);
  for (std::size_t j = 0; j < norms.extent(0) && given.extent(0) > 0; ++j)
    require(norms(j) > 0 && std::isfinite(norms(j)), "blockspan::multigrid", "near-null vector ",
            j + 1, norms(j) == 0 ? " is zero" : " is not finite");
  return B;
}

template <class Scalar, class Exec>
Block<Scalar, Exec> near_null_vectors(Exec const& exec,
                                      MultigridOptions<Scalar, Exec> const& options,
                                      MatrixOperator<Scalar, Exec> const& op,
                                      ChebyshevSetup<Scalar, Exec> const& spectrum) {
  if (options.near_null.extent(1) > 0) return given_vectors<Scalar>(exec, options.near_null);
  if (options.coordinates.extent(1) > 0)
    return rigid_bodies<Scalar, Exec>(exec, options.coordinates);
  if (options.adaptive > 0 &&
      op.rows() > 5 * (options.adaptive + AdaptiveVectors<Scalar, Exec>::guards))
    return AdaptiveVectors<Scalar, Exec>(exec, op, spectrum, options.adaptive).find(options.seed);
  int const b = options.block_size;
  if (b == 1) return constant_vector(exec, op, spectrum);
  auto const B = allocate<Block<Scalar, Exec>>(exec, "Blockspan::multigrid", op.rows(), b);
  each(
      exec, "Blockspan::multigrid_components", op.rows(), KOKKOS_LAMBDA(std::int64_t i) {
        for (int c = 0; c < b; ++c) B(i, c) = Scalar(i % b == c ? 1 : 0);
      });
  exec.fence("Blockspan::multigrid_components");
  return B;
}

}  // namespace blockspan::detail
