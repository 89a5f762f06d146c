#pragma once

#include <type_traits>
#include <vector>

#include <blockspan/multigrid/hierarchy/coarsening.hpp>
#include <blockspan/multigrid/hierarchy/level_reports.hpp>
#include <blockspan/multigrid/hierarchy/one_rank.hpp>
#include <blockspan/multigrid/options.hpp>

namespace blockspan::levels {

/// What is known of level 0 of a hierarchy that begins below others.
template <class Scalar, class Exec>
struct HierarchyStart {
  Block<Scalar, Exec> near_null;  ///< rows x q
  NodePartition<Exec> nodes;
};

/// The levels of multigrid, in double precision: made on Exec, once, and again in part for new
/// values. Scalar: double or Kokkos::complex<double>. Ranks: how the rows of levels lie and what
/// solves the last one, OneRank or ManyRanks (distributed/). Every member waits; where there are
/// several ranks, all call together.
template <class Scalar, class Exec, class Ranks>
class Hierarchy {
 public:
  using Wide = Scalar;
  using Matrix = typename Ranks::Matrix;
  using Level = typename Ranks::Level;
  using Options = MultigridOptions<Scalar, Exec>;
  using Start = HierarchyStart<Scalar, Exec>;

  /// A: n x n, valid. options: validated, with the block size. start: in place of what the options
  /// say of near-null vectors and blocks; then a hierarchy that is not complete cannot be
  /// refreshed.
  Hierarchy(Exec const& exec, Matrix const& A, Options const& asked, Ranks given = {},
            Start const* start = nullptr);

  /// All levels are there, and none was refused: refresh keeps their patterns.
  bool is_complete() const { return complete_; }

  /// Values of another matrix of the same pattern. Throws Error where it has another.
  void refresh(Exec const& exec, Matrix const& A, bool keep_prolongators);

  Ranks const& ranks() const { return ranks_; }
  Communicator communicator() const { return levels[0].op->row_space().communicator(); }

  Options options;
  std::vector<Level> levels;
  MultigridReport report;
  int generation = 0;  ///< counts the times that level 0 has become another matrix

  /// For Ranks: the spectrum of a level, unless it is solved in another way; false: A is of no use.
  bool measure(Exec const& exec, SetupRun<Scalar, Exec>& setup, std::size_t number);

 private:
  void descend(Exec const& exec, SetupRun<Scalar, Exec>& setup);
  void append(Exec const& exec, SetupRun<Scalar, Exec>& setup);
  bool renew(Exec const& exec, Matrix const& A, bool keep_prolongators);
  void finish(Exec const& exec, SetupRun<Scalar, Exec>& setup);

  Ranks ranks_;
  bool complete_ = false;
};

/// Of a matrix that this process has all of.
template <class Scalar, class Exec>
using WholeHierarchy = Hierarchy<Scalar, Exec, OneRank<Scalar, Exec>>;

/// The near-null vectors of level 0 by the options, of the local rows: all ranks
/// together. options.coordinates: of the nodes that have local rows, a node cut by ranks on both.
/// op: of A, weights: W, upper: bound of the largest eigenvalue of W A. matrix: A, where a rank has
/// all of it; else null.
template <class Scalar, class Exec>
Block<Scalar, Exec> near_null_vectors(
    Exec const& exec, MultigridOptions<Scalar, Exec> const& options,
    LinearOperator<Scalar, Exec> const& op,
    std::type_identity_t<CrsMatrix<Scalar, Exec>> const* matrix,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& weights, real_t<Scalar> upper);

}  // namespace blockspan::levels
