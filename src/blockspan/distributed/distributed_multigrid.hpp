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
  /// A level with fewer rows per rank is gathered: every rank holds all its rows and all coarser
  /// levels, and performs the same computations redundantly.
  std::int64_t rows_gathered = 10000;
};

/// multigrid (multigrid/multigrid.hpp) for a matrix whose rows are distributed over ranks: a
/// preconditioner for the same solvers on the local rows of blocks. Aggregates stay within ranks,
/// so prolongators have no couplings across ranks and a level exchanges only the halo of its
/// products. Rows at rank boundaries are smoothed with the rank's own entries, and corrected so
/// that near-null vectors are exact. Coarse matrices include the entries across ranks: for these
/// the rows of a prolongator that neighbours need are exchanged once. Hermitian positive definite
/// and linear. Equal runs give the same bits; the bits depend on the number of ranks. On one rank
/// it is Multigrid itself.
///
/// Scalar: double or Kokkos::complex<double>; the setup is in that precision, cycles in single
/// precision or in that of Scalar, as on one rank.
///
/// Setup: on each rank as in Multigrid, with two exchanges a level; entries across ranks are
/// multiplied on the host. Memory: as Multigrid and a copy of A, for the local rows, and on every
/// rank all rows of the gathered levels; kept for refresh.
///
/// Sources: as Multigrid; Tuminaro and Tong 2000, doi:10.1109/SC.2000.10008 (aggregates within
/// ranks).
template <class Scalar, class Exec>
class DistributedMultigrid final : public LinearOperator<Scalar, Exec> {
 public:
  using Matrix = DistributedMatrix<Scalar, Exec>;
  using Options = MultigridOptions<Scalar, Exec>;

  /// Called by all ranks; fences the instance. options: near_null has the local rows, coordinates
  /// the nodes that have local rows (a node divided between ranks is on both); a rank without rows
  /// may omit both; block_size 0: found in the rows of rank 0; all else is the same on all ranks. A
  /// and the arrays of `options` remain in use. Throws Error, on all ranks, if an option is out of
  /// range or does not match, for prolongators on several ranks, and as Multigrid. report().status
  /// is the quality of the hierarchy.
  DistributedMultigrid(Exec const& exec, std::shared_ptr<Matrix const> A,
                       Options const& options = {},
                       DistributedMultigridOptions const& on_ranks = {});
  DistributedMultigrid(DistributedMultigrid&&) noexcept;
  DistributedMultigrid& operator=(DistributedMultigrid&&) noexcept;
  ~DistributedMultigrid() override;

  std::int64_t rows() const override;
  OperatorFacts<Scalar, Exec> facts() const override;

  /// Called by all ranks; one product at a time. Throws Error if X or Y is not n x k, and if the
  /// report is not usable().
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override;

  /// As Multigrid::refresh, called by all ranks: uses the values of A, which has the rows and the
  /// pattern of the first matrix, with the aggregates, tentative prolongators and patterns of the
  /// first; the same bits as a new setup if that would make the same choices. Fences the instance.
  /// Throws Error, on all ranks, if a rank's rows have another pattern, and as the constructor;
  /// after a throw it must be refreshed again.
  ///
  /// O(nonzeros) a rank: plans of products with A, the values of all levels, and on the host two
  /// exchanges a level of the entries across ranks.
  void refresh(Exec const& exec, std::shared_ptr<Matrix const> A, bool keep_prolongators = false);

  /// The same on all ranks; rows, nodes, nonzeros and aggregates are sums over all ranks.
  MultigridReport const& report() const;

 private:
  using Levels = levels::Hierarchy<Scalar, Exec, distributed::ManyRanks<Scalar, Exec>>;
  using State = levels::MultigridState<Scalar, Exec, Levels>;

  RowSpace rows_;
  std::unique_ptr<Multigrid<Scalar, Exec>> alone_;  ///< on one rank; else null
  std::unique_ptr<State> state_;
};

}  // namespace blockspan
