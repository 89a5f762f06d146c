#pragma once

#include <cstdint>
#include <memory>

#include <blockspan/multigrid/hierarchy/coarsening.hpp>
#include <blockspan/multigrid/hierarchy/rounded.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>

// The policy of a Hierarchy on one rank. Over several ranks: distributed/levels/many_ranks.hpp.

namespace blockspan::levels {

template <class Scalar, class Exec, class Ranks>
class Hierarchy;

template <class Scalar, class Exec, class LevelOperator>
struct HierarchyLevel : Coarsening<Scalar, Exec> {
  std::shared_ptr<LevelOperator const> op;  ///< null if the level is solved otherwise
  ChebyshevSetup<Scalar, Exec> spectrum;    ///< of W op; not estimated if op is null
};

/// A matrix with sorted rows: the caller's, or a sorted copy.
template <class Scalar, class Exec>
class OrderedMatrix {
 public:
  /// A, or the sorted copy with the values of A, whose pattern must be that of the first call.
  /// Fences.
  CrsMatrix<Scalar, Exec> of(Exec const& exec, Arena<Exec>& arena,
                             CrsMatrix<Scalar, Exec> const& A);

  /// Whether the first matrix was sorted.
  bool in_order() const { return in_order_; }

 private:
  bool first_ = true, in_order_ = true;
  Pattern<Exec> ordered_, identity_;
  Array<Scalar, Exec> values_;
};

/// The policy of a Hierarchy with all rows on this process: the last level is inverted, or smoothed
/// if it is too large.
template <class Scalar, class Exec>
class OneRank {
 public:
  using Matrix = CrsMatrix<Scalar, Exec>;
  template <class Value>
  using Operator = MatrixOperator<Value, Exec>;
  template <class Value>
  using Solver = Operator<Value>;  ///< multiplies by the inverse
  using Level = HierarchyLevel<Scalar, Exec, Operator<Scalar>>;
  using Levels = Hierarchy<Scalar, Exec, OneRank>;
  using Setup = SetupRun<Scalar, Exec>;

  static std::int64_t local_entries(Matrix const& A) { return static_cast<std::int64_t>(A.nnz()); }
  static std::int64_t local_rows(Matrix const& A) { return A.numRows(); }

  /// A policy with the same options, without a matrix.
  OneRank fresh() const { return {}; }
  void require_pattern(Exec const& exec, Levels const& all, Matrix const& A) const;

  // The setup.
  /// Level 0 becomes A, or a sorted copy of it.
  void take(Exec const& exec, Setup& setup, Levels& all, Matrix const& A);
  /// Does nothing if the level is inverted.
  void make_operator(Exec const& exec, Levels& all, std::size_t number) const;
  void count(Level& level) const;
  ChebyshevSetup<Scalar, Exec> spectrum(Exec const& exec, Setup& setup, Level const& level) const;
  bool is_last(Levels const& all, std::size_t number) const;
  /// Whether the level is solved by an inverse, which also shows whether its matrix is definite.
  bool is_solved(Levels const& all, std::size_t number) const;
  /// Coarsens the last existing level; false: there is no next one.
  bool coarsen(Exec const& exec, Setup& setup, Levels& all) const;
  /// Recomputes the values of the next level; returns true.
  bool refresh(Exec const& exec, Setup& setup, Levels& all, std::size_t number) const;
  void solve_last(Exec const& exec, Setup& setup, Levels& all);
  /// Adds the last level to the report.
  void report_last(Levels& all) const;
  /// Multiplications of a cycle on the last level.
  double work_of_last(Levels const& all) const;

  // For cycles: factor times the matrix of a level, rounded; and the inverse of that of the last
  // one.
  double norm(Exec const& exec, Level const& level) const { return max_row_sum(exec, level.ref()); }
  template <class Value>
  auto rounded(Exec const& exec, Arena<Exec>& arena, Level const& level, double factor,
               int columns) const {
    return std::make_shared<Operator<Value> const>(
        exec, blockspan::levels::rounded<Value>(exec, arena, level.A, factor),
        SpmmPlanOptions{.columns = columns});
  }
  template <class Value>
  void round(Exec const& exec, Level const& level, double factor,
             MatrixOperator<Value, Exec> const& to) const {
    round_values(exec, level.A.values, factor, to.matrix().values);
  }
  /// Null if the last level is not inverted.
  template <class Value>
  std::shared_ptr<Solver<Value>> solver(Exec const& exec, Arena<Exec>& arena, Levels const& all,
                                        int /*degree*/, int columns, double factor) const {
    if (!all.report.exact_last) return nullptr;
    return std::make_shared<Solver<Value>>(
        exec, blockspan::levels::rounded<Value>(exec, arena, inverse_, 1 / factor),
        SpmmPlanOptions{.columns = columns});
  }
  template <class Value>
  void refresh_solver(Exec const& exec, Levels const& /*all*/, double factor,
                      MatrixOperator<Value, Exec>& to) const {
    if constexpr (!std::is_same_v<Scalar, Value>)
      round_values(exec, inverse_.values, 1 / factor, to.matrix().values);
  }

 private:
  static bool fits_inverse(Levels const& all, std::int64_t rows);
  bool invert_on_host(Exec const& exec, Levels& all);

  std::uint64_t fingerprint_ = 0;  ///< of the given matrix, if its rows are not sorted
  OrderedMatrix<Scalar, Exec> ordered_;
  Matrix inverse_;  ///< of the last level, dense; no rows if report.exact_last is false
  bool inverse_given_up_ = false;  ///< the last level is singular and large
};

}  // namespace blockspan::levels
