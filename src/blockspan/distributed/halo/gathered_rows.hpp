#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/distributed/halo/exchange_lists.hpp>
#include <blockspan/distributed/reading/host_rows.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>

// Gathers a distributed level to a copy on every rank, staged through host memory. All ranks call
// these functions together.

namespace blockspan::distributed {

/// The rows of a level of all ranks.
template <class Scalar, class Exec>
struct GatheredRows {
  CrsMatrix<Scalar, Exec> matrix;
  HierarchyStart<Scalar, Exec> start;
};

/// start: of the local rows. A node that is divided between ranks becomes a node on each of them.
template <class Scalar, class Exec>
GatheredRows<Scalar, Exec> gather_level(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                                        HierarchyStart<Scalar, Exec> const& start) {
  auto const& ranks = A.row_space().communicator();
  auto const rows = gather_rows(ranks, A.global_rows(exec));
  auto const local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), start.near_null);
  std::size_t const q = local.extent(1);
  std::vector<Scalar> vectors;
  for (std::size_t i = 0; i < local.extent(0); ++i)
    for (std::size_t j = 0; j < q; ++j) vectors.push_back(local(i, j));
  vectors = gather_lists(ranks, vectors);
  auto const begin = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), start.nodes.begin);
  std::vector<int> sizes;
  for (int i = 0; i < start.nodes.count; ++i) sizes.push_back(begin(i + 1) - begin(i));
  sizes = gather_lists(ranks, sizes);
  int const largest = ranks.largest(start.nodes.largest);

  return ranks.run_agreed([&] {
    require(rows.offsets.back() <= std::numeric_limits<int>::max(), "blockspan::multigrid",
            "the gathered level has ", rows.offsets.back(), " entries");
    auto const n = static_cast<int>(rows.offsets.size()) - 1;
    auto const of = [&]<class To, class From>(std::vector<From> const& from, To*) {
      return to_exec<Exec, To>(exec, "Blockspan::multigrid", std::span<From const>(from));
    };
    int* const integers = nullptr;
    GatheredRows<Scalar, Exec> all;
    all.matrix =
        CrsMatrix<Scalar, Exec>("Blockspan::multigrid", n, n, static_cast<int>(rows.offsets.back()),
                                of(rows.values, static_cast<Scalar*>(nullptr)),
                                of(rows.offsets, integers), of(rows.columns, integers));
    all.start.near_null = allocate<Block<Scalar, Exec>>(exec, "Blockspan::multigrid", n, q);
    auto const B = Kokkos::create_mirror_view(all.start.near_null);
    for (std::size_t k = 0; k < vectors.size(); ++k) B(k / q, k % q) = vectors[k];
    Kokkos::deep_copy(exec, all.start.near_null, B);
    std::vector<int> firsts = {0}, of_row;
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      firsts.push_back(firsts.back() + sizes[node]);
      of_row.insert(of_row.end(), static_cast<std::size_t>(sizes[node]), static_cast<int>(node));
    }
    all.start.nodes = {static_cast<int>(sizes.size()), of(of_row, integers), of(firsts, integers),
                       largest};
    exec.fence("Blockspan::multigrid: gathered level");
    return all;
  });
}

/// Gathers the values of a level with the same pattern into the matrix that gather_level returned.
template <class Scalar, class Exec>
void gather_values(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                   CrsMatrix<Scalar, Exec> const& whole) {
  using Matrix = DistributedMatrix<Scalar, Exec>;
  std::vector<Scalar> values;
  for (auto const which : {Matrix::lower_boundary, Matrix::interior, Matrix::upper_boundary}) {
    auto const part =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.part(which).matrix.values);
    values.insert(values.end(), part.data(), part.data() + part.extent(0));
  }
  values = gather_lists(A.row_space().communicator(), values);
  Kokkos::deep_copy(exec, whole.values,
                    Kokkos::View<Scalar const*, Kokkos::HostSpace>(values.data(), values.size()));
  exec.fence("Blockspan::multigrid: gathered values");
}

}  // namespace blockspan::distributed
