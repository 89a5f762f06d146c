#pragma once

#include <cstdint>
#include <memory>

#include <blockspan/distributed/distributed_matrix.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/operators/linear_operator.hpp>

namespace blockspan {

namespace distributed {
template <class Scalar, class Exec>
class ManyRanks;
}

struct DistributedMultigridOptions {
  /// A level with fewer rows a rank is gathered: every rank holds all rows of it and of all coarser
  /// levels, and computes the same with them.
  std::int64_t rows_gathered = 10000;
};

/// multigrid (multigrid/multigrid.hpp) for a matrix whose rows are spread over ranks: a
/// preconditioner for the same solvers on the local rows of blocks. Aggregates stay within ranks,
/// so prolongators couple nothing across them and a level exchanges only what its products need.
/// Rows at the cuts are smoothed by the rank's own entries, and corrected such that near-null
/// vectors stay exact. Coarse matrices have all entries, those across ranks too: for these the rows
/// of a prolongator that neighbours need are exchanged once. Hermitian positive definite and
/// linear. Equal runs give the same bits; the bits depend on the number of ranks. On one rank it is
/// Multigrid itself.
///
/// Scalar: double or Kokkos::complex<double>; setup is in that precision, cycles in single or in
/// it, as on one rank.
///
/// Setup: on each rank as in Multigrid, with two exchanges a level; entries that couple ranks are
/// multiplied on the host. Memory: as there and a copy of A, of the local rows, and on every rank
/// all rows of the gathered levels; kept for refresh.
///
/// Sources: as Multigrid; Tuminaro and Tong 2000, doi:10.1109/SC.2000.10008 (aggregates within
/// ranks).
template <class Scalar, class Exec>
class DistributedMultigrid final : public LinearOperator<Scalar, Exec> {
 public:
  using Matrix = DistributedMatrix<Scalar, Exec>;
  using Options = MultigridOptions<Scalar, Exec>;

  /// All ranks together; waits for the instance. options: near_null has the local rows,
  /// coordinates the nodes that have local rows (a node cut by ranks is on both); block_size 0:
  /// found in the rows of rank 0. A and the arrays of `options` stay in use. Throws Error, on all
  /// ranks, where an option is out of range or does not fit, as prolongators do not where there are
  /// several; and for what Multigrid refuses. report().status says how good it is.
  DistributedMultigrid(Exec const& exec, std::shared_ptr<Matrix const> A,
                       Options const& options = {},
                       DistributedMultigridOptions const& on_ranks = {});
  DistributedMultigrid(DistributedMultigrid&&) noexcept;
  DistributedMultigrid& operator=(DistributedMultigrid&&) noexcept;
  ~DistributedMultigrid() override;

  std::int64_t rows() const override;
  OperatorFacts<Scalar, Exec> facts() const override;

  /// All ranks together; one product at a time. Throws Error if X or Y is not n x k, and where the
  /// report is not usable().
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override;

  /// As Multigrid::refresh, all ranks together: the values of A, which has the rows and the pattern
  /// of the first matrix, with the aggregates, tentative prolongators and patterns of the first;
  /// the bits of a new one where that would have the same ones. Waits for the instance. Throws
  /// Error, on all ranks, where a rank's rows have another pattern, and as the constructor; after a
  /// throw it must be refreshed again.
  ///
  /// O(nonzeros) a rank: plans of products with A, the values of all levels, and two exchanges a
  /// level of what crosses cuts, on the host.
  void refresh(Exec const& exec, std::shared_ptr<Matrix const> A, bool keep_prolongators = false);

  /// The same on all ranks; rows, nodes, nonzeros and aggregates are summed over all of them.
  MultigridReport const& report() const;

 private:
  using Levels = levels::Hierarchy<Scalar, Exec, distributed::ManyRanks<Scalar, Exec>>;
  using State = levels::MultigridState<Scalar, Exec, Levels>;

  RowSpace rows_;
  std::unique_ptr<Multigrid<Scalar, Exec>> alone_;  ///< on one rank; else
  std::unique_ptr<State> state_;
};

}  // namespace blockspan
