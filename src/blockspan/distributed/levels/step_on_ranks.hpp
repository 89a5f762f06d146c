#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <blockspan/distributed/levels/coarse_rows.hpp>
#include <blockspan/multigrid/hierarchy/hierarchy.hpp>

namespace blockspan::distributed {

template <class Exec, class View>
bool same_integers(Exec const& exec, View const& a, View const& b) {
  auto const count = static_cast<std::int64_t>(a.extent(0));
  return a.extent(0) == b.extent(0) && count_each(
                                           exec, "Blockspan::multigrid_same_pattern", count,
                                           KOKKOS_LAMBDA(std::int64_t k, std::int64_t & sum) {
                                             sum += a(k) == b(k) ? 0 : 1;
                                           }) == 0;
}

/// Whether this rank's rows have the same columns in A and B, in the same order. Waits.
template <class Scalar, class Exec>
bool same_pattern(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A,
                  DistributedMatrix<Scalar, Exec> const& B) {
  if (A.partition().cuts() != B.partition().cuts() || A.halo().rows != B.halo().rows ||
      !same_integers(exec, A.packed_from(), B.packed_from()))
    return false;
  using Matrix = DistributedMatrix<Scalar, Exec>;
  for (auto const which : {Matrix::head, Matrix::interior, Matrix::tail}) {
    auto const &a = A.part(which), &b = B.part(which);
    if (a.first != b.first ||
        !same_integers(exec, a.matrix.graph.row_map, b.matrix.graph.row_map) ||
        !same_integers(exec, a.matrix.graph.entries, b.matrix.graph.entries))
      return false;
  }
  return true;
}

/// Marks of the local rows that read rows of other ranks.
template <class Scalar, class Exec>
Integers<Exec> cut_rows(Exec const& exec, DistributedMatrix<Scalar, Exec> const& A) {
  using Matrix = DistributedMatrix<Scalar, Exec>;
  std::vector<int> marks(static_cast<std::size_t>(A.local_rows()), 0);
  for (auto const which : {Matrix::head, Matrix::tail}) {
    auto const& part = A.part(which);
    auto const rows = host_rows(part.matrix, {{0, part.rows()}}, -A.lower_rows());
    for (std::int64_t i = 0; i < part.rows(); ++i)
      for (auto k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k)
        if (rows.columns[k] < 0 || rows.columns[k] >= A.own_rows())
          marks[static_cast<std::size_t>(part.first + i)] = 1;
  }
  return to_exec<Exec, int>(exec, "Blockspan::multigrid", std::span<int const>(marks));
}

/// The unknowns of nodes, of which the first one may have begun on the rank before.
template <class Exec>
NodePartition<Exec> nodes_of_rows(Exec const& exec, std::int64_t first, std::int64_t rows,
                                  int size) {
  NodePartition<Exec> nodes;
  std::int64_t const before = first % size;
  nodes.count = rows == 0 ? 0 : static_cast<int>((before + rows + size - 1) / size);
  nodes.of_row = new_array<int>(exec, rows);
  nodes.begin = new_array<int>(exec, nodes.count + 1);
  nodes.largest = size;
  auto const of_row = nodes.of_row, begin = nodes.begin;
  int const count = nodes.count;
  each(
      exec, "Blockspan::multigrid_nodes", rows,
      KOKKOS_LAMBDA(std::int64_t i) { of_row(i) = static_cast<int>((before + i) / size); });
  each(
      exec, "Blockspan::multigrid_nodes", count + 1, KOKKOS_LAMBDA(std::int64_t i) {
        begin(i) = static_cast<int>(i == 0 ? 0 : i == count ? rows : i * size - before);
      });
  return nodes;
}

/// The way from a level on ranks, of the matrix A, to the next one. All ranks call together.
template <class Scalar, class Exec>
struct StepOnRanks {
  using Matrix = DistributedMatrix<Scalar, Exec>;
  using Local = Hierarchy<Scalar, Exec>;

  CrsMatrix<Scalar, Exec> block;  ///< of A, what the rank has alone
  std::unique_ptr<Local> local;   ///< of `block`, one step down; null without rows
  std::int64_t from = 0;          ///< this rank's first coarse row
  std::shared_ptr<Matrix> coarse;

  /// False: a rank finds no coarse rows.
  bool make_local(Exec const& exec, Matrix const& A, MultigridOptions<Scalar, Exec> const& options,
                  HierarchyStart<Scalar, Exec> const& start) {
    auto const& ranks = A.row_space().communicator();
    local = ranks.together([&] {
      return A.local_rows() > 0 ? std::make_unique<Local>(exec, block, options, start) : nullptr;
    });
    return ranks.all(!local || local->is_complete());
  }

  void make_coarse(Exec const& exec, Matrix const& A) {
    auto const& ranks = A.row_space().communicator();
    std::vector<std::int64_t> cuts = {0};
    for (std::int64_t const rows : ranks.gather(coarse_rows())) cuts.push_back(cuts.back() + rows);
    from = cuts[static_cast<std::size_t>(ranks.rank())];
    auto const across = entries_across(A);
    coarse = std::make_shared<Matrix>(exec, ranks, RowPartition(std::move(cuts)), own(), across);
  }

  /// Values of another A with the same pattern; false: a rank's block is of no use.
  bool refresh(Exec const& exec, Matrix const& A, bool keep_prolongators) {
    auto const& ranks = A.row_space().communicator();
    ranks.together([&] {
      if (local) local->refresh(exec, block, keep_prolongators);
    });
    if (!ranks.all(!local || local->is_complete())) return false;
    coarse->refresh(exec, own(), entries_across(A));
    return true;
  }

 private:
  CrsMatrix<Scalar, Exec> own() const {
    return local ? local->levels[1].A : CrsMatrix<Scalar, Exec>();
  }
  std::int64_t coarse_rows() const { return local ? local->levels[1].A.numRows() : 0; }

  /// By the rows of P that neighbours have.
  LocalRows<Scalar> entries_across(Matrix const& A) const {
    auto const& ranks = A.row_space().communicator();
    LocalRows<Scalar> P;
    if (local) P = host_rows(local->levels[0].P_matrix(), rows_at_cuts(A), from);
    auto const halo_P = rows_of_halo(ranks, A.halo(), P);
    return ranks.together([&] { return coarse_entries_across(A, P, halo_P, from, coarse_rows()); });
  }
};

}  // namespace blockspan::distributed
