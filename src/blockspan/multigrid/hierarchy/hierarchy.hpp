#pragma once

#include <type_traits>
#include <vector>

#include <blockspan/multigrid/hierarchy/coarsening.hpp>
#include <blockspan/multigrid/hierarchy/level_reports.hpp>
#include <blockspan/multigrid/hierarchy/one_rank.hpp>
#include <blockspan/multigrid/options.hpp>

namespace blockspan::levels {

/// Near-null vectors and nodes of level 0, for a hierarchy that continues another one.
template <class Scalar, class Exec>
struct HierarchyStart {
  Block<Scalar, Exec> near_null;  ///< rows x q
  NodePartition<Exec> nodes;
};

/// The levels of multigrid, in double precision: built on Exec once, and partly recomputed for new
/// values. Scalar: double or Kokkos::complex<double>. Ranks: how the rows of levels are distributed
/// and how the last one is solved, OneRank or ManyRanks (distributed/). Every member function
/// fences; on several ranks all call together.
template <class Scalar, class Exec, class Ranks>
class Hierarchy {
 public:
  using Wide = Scalar;
  using Matrix = typename Ranks::Matrix;
  using Level = typename Ranks::Level;
  using Options = MultigridOptions<Scalar, Exec>;
  using Start = HierarchyStart<Scalar, Exec>;

  /// A: n x n, valid. options: validated, with the block size. start: replaces the near-null
  /// vectors and nodes given by the options; then a hierarchy that is not complete cannot be
  /// refreshed.
  Hierarchy(Exec const& exec, Matrix const& A, Options const& asked, Ranks given = {},
            Start const* start = nullptr);

  /// Whether all levels exist and none was rejected: then refresh keeps their patterns.
  bool is_complete() const { return complete_; }

  /// Updates the hierarchy for another matrix of the same pattern; false: it is a new one, with
  /// other levels. Throws Error for another pattern.
  bool refresh(Exec const& exec, Matrix const& A, bool keep_prolongators);

  Ranks const& ranks() const { return ranks_; }
  Communicator communicator() const { return levels[0].op->row_space().communicator(); }

  Options options;
  std::vector<Level> levels;
  MultigridReport report;
  int generation = 0;  ///< number of times that level 0 was replaced by another matrix

  /// For Ranks: computes the spectrum of a level, unless it is solved otherwise; false: A is
  /// rejected.
  bool measure(Exec const& exec, SetupRun<Scalar, Exec>& setup, std::size_t number);

 private:
  void descend(Exec const& exec, SetupRun<Scalar, Exec>& setup);
  void append(Exec const& exec, SetupRun<Scalar, Exec>& setup);
  bool renew(Exec const& exec, Matrix const& A, bool keep_prolongators);
  void finish(Exec const& exec, SetupRun<Scalar, Exec>& setup);

  Ranks ranks_;
  bool complete_ = false;
};

/// The hierarchy of a matrix that is on this process alone.
template <class Scalar, class Exec>
using WholeHierarchy = Hierarchy<Scalar, Exec, OneRank<Scalar, Exec>>;

/// The near-null vectors of level 0 specified by the options, for the local rows; called by all
/// ranks. options.coordinates: of the nodes that have local rows, a node divided between ranks on
/// both. op: operator of A, weights: W, upper: bound of the largest eigenvalue of W A. matrix: A if
/// one rank has all of it, else null.
template <class Scalar, class Exec>
Block<Scalar, Exec> near_null_vectors(
    Exec const& exec, MultigridOptions<Scalar, Exec> const& options,
    LinearOperator<Scalar, Exec> const& op,
    std::type_identity_t<CrsMatrix<Scalar, Exec>> const* matrix,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& weights, real_t<Scalar> upper);

}  // namespace blockspan::levels
