#pragma once

#include <chrono>
#include <memory>
#include <type_traits>
#include <vector>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/multigrid/setup/galerkin.hpp>
#include <blockspan/multigrid/setup/tentative.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/matrix_operator.hpp>

namespace blockspan::levels {

/// One level in double precision, and the way to the next.
template <class Scalar, class Exec>
struct HierarchyLevel {
  using Matrix = CrsMatrix<Scalar, Exec>;
  using Operator = MatrixOperator<Scalar, Exec>;

  Matrix A;
  std::shared_ptr<Operator const> op;     ///< of A; null where A is inverted below others
  ChebyshevSetup<Scalar, Exec> spectrum;  ///< of W A; there not estimated
  NodePartition<Exec> nodes;
  Block<Scalar, Exec> near_null;  ///< rows x q

  // A_next = (C + C^H) / 2, C = R (A P), P = S T, S = I - omega / b W A_filtered, R = P^H. Patterns
  // and T depend on the first values only; refresh computes the rest anew.
  Tentative<Scalar, Exec> T;
  FilteredPattern<Exec> filtered;
  Array<Scalar, Exec> S;
  std::shared_ptr<Operator const> filtered_op;  ///< null where nothing is left out
  Pattern<Exec> prolongator, product, coarse;   ///< of P, A P and C
  /// Rows with the same columns: of A (and A P), S, T, P and R (and C).
  LikeRows like, like_filtered, like_tentative, like_prolongator, like_coarse;
  Transposed<Exec> restrictor;
  Array<Scalar, Exec> P, R, C;
  MultigridLevelReport report;

  PatternRef<int, int> pattern() const { return pattern_ref<Exec>(A); }
  MatrixRef<Scalar, int, int> ref() const { return matrix_ref<Exec>(A); }
  Matrix P_matrix() const { return matrix_of<Scalar, Exec>(prolongator, P); }
  Matrix R_matrix() const { return matrix_of<Scalar, Exec>(restrictor.pattern, R); }
};

/// What is known of level 0 of a hierarchy that is a part of one over ranks.
template <class Scalar, class Exec>
struct HierarchyStart {
  Block<Scalar, Exec> near_null;  ///< rows x q
  NodePartition<Exec> nodes;
  /// A is a rank's rows without the columns that others have; marks the rows that lack entries.
  /// One step down is made, and nothing is measured or inverted there. Empty: A is whole.
  Integers<Exec> cut_rows;
};

/// What depends on double precision and on all numbers: made on Exec, once, and again in part for
/// new values. Scalar: double or Kokkos::complex<double>. Every member waits.
template <class Scalar, class Exec>
class Hierarchy {
 public:
  using Matrix = CrsMatrix<Scalar, Exec>;
  using Level = HierarchyLevel<Scalar, Exec>;
  using Options = MultigridOptions<Scalar, Exec>;

  /// A: n x n, valid. options: validated.
  Hierarchy(Exec const& exec, Matrix const& A, Options const& options);
  /// From there; what the options say of near-null vectors and blocks is not looked at. Where it is
  /// not complete it cannot be refreshed.
  Hierarchy(Exec const& exec, Matrix const& A, Options const& options,
            HierarchyStart<Scalar, Exec> const& start);

  /// All levels are there, and none was refused: refresh keeps their patterns.
  bool is_complete() const { return complete_; }

  /// Values of another matrix of the same pattern. Throws Error where it has another.
  void refresh(Exec const& exec, Matrix const& A, bool keep_prolongators);

  std::vector<Level> levels;
  Matrix inverse;  ///< of the last level, dense; no rows where report.exact_last is false
  MultigridReport report;
  /// Counts the times that level 0 has had to become another matrix.
  int generation = 0;

 private:
  void take_first(Exec const& exec, Matrix const& A);
  void take(Exec const& exec, Matrix const& A);
  void descend(Exec const& exec);
  bool measure(Exec const& exec, Level& level, std::size_t number);
  bool coarsen(Exec const& exec, std::size_t number);
  void use_given(Exec const& exec, std::size_t number);
  bool is_part() const { return cut_rows_.extent(0) > 0; }
  bool is_last(std::size_t number) const;
  bool is_inverted(std::size_t number) const;
  bool fits_inverse(std::int64_t rows) const;
  void form_patterns(Exec const& exec, Level& level, double fill_guard);
  void form_prolongator(Exec const& exec, Level& level);
  void form_values(Exec const& exec, Level& level);
  void append(Exec const& exec, Level const& fine);
  void invert_last(Exec const& exec);
  bool invert_on_host(Exec const& exec, Matrix const& last);
  void finish();
  void reject(MultigridStatus status, std::string message);
  void charge(Exec const& exec, double MultigridSeconds::*phase);
  auto operator_of(Exec const& exec, Matrix const& A) const {
    return std::make_shared<typename Level::Operator const>(
        exec, A, SpmmPlanOptions{.columns = options_.columns});
  }

  Options options_;
  using Clock = std::chrono::steady_clock;
  Clock::time_point charged_ = Clock::now();
  std::uint64_t fingerprint_ = 0;
  bool in_order_ = true;
  bool complete_ = false;             ///< all levels are there, and none was refused
  bool inverse_given_up_ = false;     ///< the last level is singular, and large
  Integers<Exec> cut_rows_;           ///< of level 0, see HierarchyStart
  Pattern<Exec> ordered_, identity_;  ///< of level 0, where A is not in order
};

/// The near-null vectors of level 0 that the options ask for, of the local rows: all ranks
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
