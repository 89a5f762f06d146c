#pragma once

#include <cmath>
#include <vector>

#include <blockspan/blocks/column_sums.hpp>
#include <blockspan/blocks/column_terms.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>
#include <blockspan/multigrid/setup/adaptive_impl.hpp>
#include <blockspan/multivector/columns.hpp>

namespace blockspan::levels {

/// The mean of the coordinates over the nodes of all ranks; each rank has its local ones.
template <class Real, class Exec>
Kokkos::Array<double, 3> centroid(ConstBlock<Real, Exec> const& coordinates,
                                  Communicator const& ranks) {
  auto const nodes = static_cast<std::int64_t>(coordinates.extent(0));
  int const d = static_cast<int>(coordinates.extent(1));
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), coordinates);
  double const all = ranks.sum(static_cast<double>(nodes));
  Kokkos::Array<double, 3> centre{0, 0, 0};
  for (std::int64_t i = 0; i < nodes; ++i)
    for (int c = 0; c < d; ++c) centre[c] += host(i, c) / all;
  for (int c = 0; c < d; ++c) {
    centre[c] = ranks.sum(centre[c]);
    ranks.run_agreed([&] {
      require(std::isfinite(centre[c]), "blockspan::multigrid", "coordinates are not finite");
    });
  }
  return centre;
}

/// Translations and rotations about `centre`, of nodes in 2 or 3 dimensions with 2 or 3 unknowns: 3
/// or 6 vectors of `rows` unknowns. The first row is unknown `first` of the first node.
template <class Scalar, class Exec>
Block<Scalar, Exec> rigid_bodies(Exec const& exec,
                                 ConstBlock<real_t<Scalar>, Exec> const& coordinates,
                                 Kokkos::Array<double, 3> const& centre, std::int64_t rows,
                                 std::int64_t first) {
  int const d = static_cast<int>(coordinates.extent(1));
  auto const B = allocate<Block<Scalar, Exec>>(exec, "Blockspan::multigrid", rows, d == 3 ? 6 : 3);
  each(
      exec, "Blockspan::multigrid_rigid_bodies", rows, KOKKOS_LAMBDA(std::int64_t i) {
        std::int64_t const node = (first + i) / d;
        int const c = static_cast<int>((first + i) % d);
        double x[3] = {0, 0, 0};
        for (int axis = 0; axis < d; ++axis) x[axis] = coordinates(node, axis) - centre[axis];
        for (int j = 0; j < d; ++j) B(i, j) = Scalar(c == j ? 1 : 0);
        if (d == 2) B(i, 2) = Scalar(c == 0 ? -x[1] : x[0]);
        for (int axis = 0; d == 3 && axis < 3; ++axis) {
          int const u = (axis + 1) % 3, v = (axis + 2) % 3;
          B(i, 3 + axis) = Scalar(c == u ? -x[v] : c == v ? x[u] : 0);
        }
      });
  exec.fence("Blockspan::multigrid_rigid_bodies");
  return B;
}

/// x^H A x / x^H W^-1 x for one column, over all ranks.
template <class Scalar, class Exec, class Weights>
double quotient(Exec const& exec, LinearOperator<Scalar, Exec> const& A, Weights const& weights,
                Block<Scalar, Exec> const& x, Block<Scalar, Exec> const& work) {
  Kokkos::View<Scalar*, Kokkos::HostSpace> const dot("Blockspan::multigrid", 1);
  Communicator const ranks = A.row_space().communicator();
  A.apply(exec, x, work);
  blockspan::column_dots(exec, x, work, dot);
  double const energy = ranks.sum(static_cast<double>(real_part(dot(0))));
  each(
      exec, "Blockspan::multigrid_quotient", A.rows(),
      KOKKOS_LAMBDA(std::int64_t i) { work(i, 0) = x(i, 0) / weights(i); });
  blockspan::column_dots(exec, x, work, dot);
  return energy / ranks.sum(static_cast<double>(real_part(dot(0))));
}

/// The constant, or W^1/2 times it if its quotient is less than half as large. W: inverse of the
/// diagonal.
template <class Scalar, class Exec, class Weights>
Block<Scalar, Exec> constant_vector(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                                    Weights const& weights) {
  using Vectors = Block<Scalar, Exec>;
  auto const n = A.rows();
  Vectors ones, scaled, work;
  Communicator const ranks = A.row_space().communicator();
  ranks.run_agreed([&] {
    for (auto* const x : {&ones, &scaled, &work})
      *x = allocate<Vectors>(exec, "Blockspan::multigrid", n, 1);
  });
  Kokkos::deep_copy(exec, ones, Scalar(1));
  each(
      exec, "Blockspan::multigrid_scaled_constant", n,
      KOKKOS_LAMBDA(std::int64_t i) { scaled(i, 0) = Scalar(Kokkos::sqrt(weights(i))); });
  if (A.row_space().global_rows(n) == 0) return ones;
  return 2 * quotient(exec, A, weights, scaled, work) < quotient(exec, A, weights, ones, work)
             ? scaled
             : ones;
}

/// One vector for each of `size` unknowns, 1 in its rows; the first row is unknown `first`.
template <class Scalar, class Exec>
Block<Scalar, Exec> constants_of_unknowns(Exec const& exec, std::int64_t rows, int size,
                                          std::int64_t first) {
  auto const B = allocate<Block<Scalar, Exec>>(exec, "Blockspan::multigrid", rows, size);
  each(
      exec, "Blockspan::multigrid_components", rows, KOKKOS_LAMBDA(std::int64_t i) {
        for (int c = 0; c < size; ++c) B(i, c) = Scalar((first + i) % size == c ? 1 : 0);
      });
  exec.fence("Blockspan::multigrid_components");
  return B;
}

/// A copy of the given vectors, each scaled by a power of two to entries of about one, after
/// checking that they are nonzero and finite on all ranks together.
template <class Scalar, class Exec>
Block<Scalar, Exec> given_vectors(Exec const& exec, ConstBlock<Scalar, Exec> const& given,
                                  RowSpace const& space) {
  auto const local = static_cast<std::int64_t>(given.extent(0)),
             count = static_cast<std::int64_t>(given.extent(1));
  auto const B = space.communicator().run_agreed(
      [&] { return allocate<Block<Scalar, Exec>>(exec, "Blockspan::multigrid", local, count); });
  Kokkos::deep_copy(exec, B, given);
  if (space.global_rows(local) == 0) return B;
  Workspace<Exec> workspace(space);
  auto const largest = columns_to_host(exec, "Blockspan::multigrid_near_null",
                                       LargestTerms<Scalar>{block_ref<Exec>(given)},
                                       local_chunks(local, workspace), count, workspace);
  std::vector<real_t<Scalar>> scales;
  for (auto const size : largest) scales.push_back(1 / power_of_two(size));
  space.communicator().run_agreed([&] {
    for (std::size_t j = 0; j < largest.size(); ++j)
      require(largest[j] > 0 && std::isfinite(largest[j]), "blockspan::multigrid",
              "near-null vector ", j + 1, largest[j] == 0 ? " is zero" : " is not finite");
  });
  blockspan::scale_columns(
      exec, Kokkos::View<real_t<Scalar> const*, Kokkos::HostSpace>(scales.data(), scales.size()),
      B);
  return B;
}

template <class Scalar, class Exec>
Block<Scalar, Exec> near_null_vectors(
    Exec const& exec, MultigridOptions<Scalar, Exec> const& options,
    LinearOperator<Scalar, Exec> const& op,
    std::type_identity_t<CrsMatrix<Scalar, Exec>> const* matrix,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& weights, real_t<Scalar> upper) {
  auto const space = op.row_space();
  if (options.near_null.extent(1) > 0) return given_vectors<Scalar>(exec, options.near_null, space);
  std::int64_t const first = space.first_row();
  Communicator const ranks = space.communicator();
  if (auto const d = static_cast<std::int64_t>(options.coordinates.extent(1)); d > 0) {
    auto const centre = centroid<real_t<Scalar>, Exec>(options.coordinates, ranks);
    return ranks.run_agreed([&] {
      return rigid_bodies<Scalar, Exec>(exec, options.coordinates, centre, op.rows(), first % d);
    });
  }
  if (options.adaptive > 0 &&
      space.global_rows(op.rows()) > 5 * (options.adaptive + adaptive_guards))
    return adaptive_vectors<Scalar, Exec>(exec, options, op, matrix, weights, upper);
  if (options.block_size == 1) return constant_vector<Scalar, Exec>(exec, op, weights);
  return ranks.run_agreed([&] {
    return constants_of_unknowns<Scalar>(exec, op.rows(), options.block_size,
                                         first % options.block_size);
  });
}

}  // namespace blockspan::levels
