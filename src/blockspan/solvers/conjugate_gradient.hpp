#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/solvers/status.hpp>
#include <blockspan/support/arithmetic.hpp>

namespace blockspan {

/// How the right-hand sides of a solve share the work.
enum class CgMethod {
  automatic,  ///< block for 2 to 32 columns (16 on hosts), groups for more; pseudo-block for one,
              ///< with a nearly exact preconditioner, and on devices for small problems
              ///< and short rows
  pseudo_block,  ///< every column its own recurrence; one product and shared passes for all
  block,         ///< all columns search one common Krylov space: fewer iterations
};

template <class Scalar, class Exec>
class CorrectionSolver;

/// The state passed to a monitor after each iteration; valid only during the call.
template <class Real>
struct CgProgress {
  int iteration;                       ///< of all cycles and groups so far
  int cycle;                           ///< of the current group, from 1
  int converged;                       ///< columns at their goal by the recurrence, or done
  int columns;                         ///< of B
  int directions;                      ///< columns that the next product multiplies
  std::vector<Real> const& residuals;  ///< ||r_j|| / ||b_j|| by the recurrence, all columns
  // Of the group at work.
  int first_column, group_columns;
  int group_iteration;  ///< of all cycles of the group

  std::span<Real const> group_residuals() const {
    return std::span(residuals).subspan(first_column, group_columns);
  }
  int groups_after() const { return ceil_div(columns - first_column, group_columns) - 1; }
};

template <class Scalar, class Exec>
struct CgOptions {
  using Real = real_t<Scalar>;

  // Usually set.
  /// Column j is solved when ||b_j - A x_j|| <= max(tolerance ||b_j||, absolute_tolerance);
  /// tolerance in [0, 1).
  Real tolerance = std::numeric_limits<Real>::digits >= 50 ? Real(1e-8) : Real(1e-5);
  Real absolute_tolerance = 0;
  std::vector<Real> tolerances = {};           ///< one a column instead of `tolerance`, or empty
  std::vector<Real> absolute_tolerances = {};  ///< one a column instead of `absolute_tolerance`, or
                                               ///< empty
  /// M^-1: Hermitian positive definite, linear, the same in every call; null: none. A
  /// JacobiPreconditioner is applied inside the solver's own passes.
  LinearOperator<Scalar, Exec> const* preconditioner = nullptr;
  /// Mixed precision: the solver of the cycles (see SinglePrecision). Columns in which it makes no
  /// progress continue in the working precision. Null: all in the working precision.
  CorrectionSolver<Scalar, Exec> const* inner = nullptr;
  /// X holds a start, finite where the column of B is; else it starts as zero.
  bool use_guess = false;
  /// Vectors that A maps to zero, n x c, any basis; empty: none. Columns of B lose their part along
  /// these (its size is CgColumn::outside), and those of X are orthogonal to them: a singular
  /// system is solved for the part of B in the range of A, and residuals are those of that part.
  ConstBlock<Scalar, Exec> null_space = {};
  int max_iterations = 10000;  ///< of each group

  // Defaulted.
  CgMethod method = CgMethod::automatic;  ///< for solve_spd; the other functions fix it
  int max_cycles = 6;                     ///< solves for a correction, each verified
  /// Most columns solved together; wider blocks are cut into groups of about equal width. 0: 32 for
  /// the block method (its limit: the cost of small matrices exceeds what more columns gain), 16
  /// where automatic chooses it on a host, all for pseudo-block.
  int widest_block = 0;
  /// (pseudo-block) Remove finished columns from the block. Iterates are the same either way.
  bool compact = true;
  /// (pseudo-block) One reduction an iteration instead of two (see solve_spd). With a
  /// preconditioner that is not Jacobi it stays at two.
  bool single_reduction = false;
  bool keep_history = true;
  double time_limit =
      std::numeric_limits<double>::infinity();  ///< seconds, checked at each iteration
  /// Fence after each phase, so that CgSeconds is right on asynchronous backends too; without it a
  /// phase is charged with the work it waits for. Costs some microseconds a phase.
  bool time_phases = false;
  /// Called after each iteration; return false to stop with Status::stopped_by_monitor.
  std::function<bool(CgProgress<Real> const&)> monitor = nullptr;

  /// Throws Error if a field is out of range for a solve with `columns` right-hand sides.
  void validate(std::int64_t columns) const;
};

/// The result for one right-hand side.
template <class Real>
struct CgColumn {
  /// converged, zero_rhs (these two are success), out_of_range, nonfinite_rhs, operator_not_finite,
  /// operator_not_hermitian, negative_curvature, singular, inconsistent, preconditioner_not_spd,
  /// attainable_limit, stagnated, max_iterations, time_limit or stopped_by_monitor.
  Status status = Status::not_converged;
  int iterations = 0;        ///< in which the column was not yet at its goal
  int inner_iterations = 0;  ///< those of them that CgOptions::inner made
  /// CgOptions::inner made no progress in this column; it was continued in the working precision.
  bool fell_back = false;
  Real residual = 0;  ///< ||b - A x|| / ||b||, computed from A, b and x themselves; 0 for b = 0
  /// Norm of the part of b outside the range of A, over ||b||, where null vectors of A are known:
  /// given, found, or the constant one. A lower bound where A has more null vectors than those.
  Real outside = 0;
  Real backward_error = 0;            ///< ||b - A x|| / (||A|| ||x|| + ||b||)
  std::vector<Real> cycle_residuals;  ///< true residuals: of the start and after every cycle

  bool success() const { return status == Status::converged || status == Status::zero_rhs; }
};

/// One line of the history.
template <class Real>
struct CgIteration {
  int iteration;
  int cycle;
  int first_column;             ///< of the group at work
  int directions;               ///< columns multiplied: live columns, or the rank of the block
  std::vector<Real> residuals;  ///< ||r_j|| / ||b_j|| by the recurrence, all columns of B
};

/// Counts of a solve; applications are calls, columns what those calls multiplied.
struct CgCounters {
  std::int64_t operator_applications = 0, operator_columns = 0;
  /// 0 where there is none, or a Jacobi inside the solver's passes.
  std::int64_t preconditioner_applications = 0, preconditioner_columns = 0;
  /// The same of CgOptions::inner, in its precision; not counted above.
  std::int64_t inner_operator_applications = 0, inner_operator_columns = 0;
  std::int64_t inner_preconditioner_applications = 0, inner_preconditioner_columns = 0;
  std::int64_t synchronizations = 0;  ///< times the host waited for values
  int cycles = 0;                     ///< of all groups
  int inner_cycles = 0;               ///< those of them left to CgOptions::inner
  int groups = 0;
  int compactions = 0;           ///< (pseudo-block)
  int replayed = 0;              ///< (pseudo-block) iterations that ran as a recorded CUDA graph
  int reorthogonalizations = 0;  ///< (block) steps whose residual block was ill-conditioned
  int directions_dropped = 0;    ///< (block) dependent right-hand sides included
  int smallest_block = 0;        ///< (block) fewest directions; 0: method not used
  int guesses_rejected = 0;      ///< starts worse than zero, replaced by zero

  void add(CgCounters const& more) {
    operator_applications += more.operator_applications;
    operator_columns += more.operator_columns;
    preconditioner_applications += more.preconditioner_applications;
    preconditioner_columns += more.preconditioner_columns;
    inner_operator_applications += more.inner_operator_applications;
    inner_operator_columns += more.inner_operator_columns;
    inner_preconditioner_applications += more.inner_preconditioner_applications;
    inner_preconditioner_columns += more.inner_preconditioner_columns;
    synchronizations += more.synchronizations, cycles += more.cycles;
    inner_cycles += more.inner_cycles, groups = std::max(groups, more.groups);
    compactions += more.compactions;
    replayed += more.replayed, reorthogonalizations += more.reorthogonalizations;
    directions_dropped += more.directions_dropped, guesses_rejected += more.guesses_rejected;
    bool const both = smallest_block > 0 && more.smallest_block > 0;
    smallest_block = both ? std::min(smallest_block, more.smallest_block)
                          : std::max(smallest_block, more.smallest_block);
  }
};

/// Wall-clock seconds by phase (see CgOptions::time_phases); inner: all of CgOptions::inner.
struct CgSeconds {
  double total = 0, product = 0, preconditioner = 0, update = 0, gram = 0, dense = 0, verify = 0,
         inner = 0;

  void add(CgSeconds const& more) {
    total += more.total, product += more.product, preconditioner += more.preconditioner;
    update += more.update, gram += more.gram, dense += more.dense, verify += more.verify;
    inner += more.inner;
  }
};

template <class Real>
struct CgReport {
  Status status = Status::not_converged;  ///< converged, or that of the first column that is not
  int iterations = 0;                     ///< of all cycles and groups
  std::vector<CgColumn<Real>> columns;
  std::string method;   ///< "pseudo_block", "block" or "block, then pseudo_block"
  std::string reason;   ///< for the choice of the method
  std::string trouble;  ///< what went wrong and where; empty: nothing
  /// A direction d with d^H A d < 0 was found: A is not positive definite. Columns may have
  /// converged all the same (their residuals are verified).
  bool indefinite = false;
  Real curvature = 0;    ///< least d^H A d / (||A|| ||d||^2) of such directions
  int null_vectors = 0;  ///< that A maps to zero: of CgOptions::null_space, or found
  Real norm_a = 0;       ///< ||A|| in the backward errors: the operator's bound, or an estimate
  Real largest_condition = 1;  ///< (block) of the one-step Gram matrices
  std::vector<CgIteration<Real>> history;
  CgCounters counters;
  CgSeconds seconds;

  bool converged() const { return status == Status::converged; }
  bool blames_preconditioner() const {
    return std::any_of(columns.begin(), columns.end(), [](auto const& column) {
      return column.status == Status::preconditioner_not_spd;
    });
  }

  /// Of the column with the most iterations; CgOptions::max_iterations bounds it.
  int most_iterations() const {
    int most = 0;
    for (auto const& column : columns) most = std::max(most, column.iterations);
    return most;
  }

  /// Merges the report of an earlier solve, whose X this one continued, into this one: iterations,
  /// history, counters, seconds and findings about A.
  void put_before(CgReport const& first) {
    for (auto& line : history)
      line.iteration += first.iterations, line.cycle += first.counters.cycles;
    history.insert(history.begin(), first.history.begin(), first.history.end());
    for (std::size_t j = 0; j < std::min(columns.size(), first.columns.size()); ++j) {
      auto& column = columns[j];
      auto const& before = first.columns[j];
      column.iterations += before.iterations;
      column.inner_iterations += before.inner_iterations;
      column.fell_back |= before.fell_back;
      auto const& seen = before.cycle_residuals;  // its last one is that of this start
      if (!seen.empty() && !column.cycle_residuals.empty())
        column.cycle_residuals.insert(column.cycle_residuals.begin(), seen.begin(), seen.end() - 1);
    }
    iterations += first.iterations;
    indefinite |= first.indefinite;
    curvature = std::min(curvature, first.curvature);
    null_vectors = std::max(null_vectors, first.null_vectors);
    largest_condition = std::max(largest_condition, first.largest_condition);
    counters.add(first.counters);
    seconds.add(first.seconds);
  }
};

namespace krylov {
template <class Scalar, class Exec>
CgReport<real_t<Scalar>> solve_cg(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                                  BlockRef<Scalar const> const& B, BlockRef<Scalar> const& X,
                                  CgOptions<Scalar, Exec> const& options);
}  // namespace krylov

/// Solves A X = B for Hermitian positive definite A and many right-hand sides; each column to its
/// own true residual.
///
/// B, X: n x k, of any layout where `exec` computes, not overlapping. X is the solution on return,
/// and the start if options.use_guess; columns whose right-hand side is not finite stay as they
/// are. No x_j is returned whose residual is larger than that of its start (a start worse than zero
/// counts as zero). Fences `exec`. Same input, backend and thread count: same bits. Throws Error
/// for bad arguments (sizes, options, NaN or Inf in a start), or where memory is short. Numerical
/// trouble is a status of the column. Where an operator, a preconditioner or the monitor throws, X
/// is left with the best iterates so far, memory permitting.
///
/// All methods share one frame:
///   1. norms of B: columns that are zero or not finite are done at once
///   2. R = B - A X from A itself; only this residual decides which columns are done
///   3. a cycle: A E = R for the open columns, scaled to unit norm by powers of two, until all
///      recurrence residuals are at 0.95 of their goal; X += E; again from 2
/// A column whose second or later cycle does not halve its residual is at its attainable limit.
///
/// With options.inner the cycles are iterative refinement: that solver finds E for residuals of the
/// working precision, so that the accuracy is that of the working precision. A column goes on in
/// the working precision (`fell_back`) once a cycle has not reduced its residual to a tenth, and
/// after max_cycles cycles or max_iterations / 2 iterations. Failures of the inner solver are no
/// status of a column.
///
/// Singular A: a consistent system is solved like any other. Where b has a part outside the range
/// of A, there are z with A z = 0 and z^H b not zero. They are looked for in this order: the
/// constant vector, where the operator knows (EntryAccess::annihilates_constants); the entries
/// of a matrix, once b has a part along the constants or residuals have stagnated for 30 iterations
/// (EntryAccess::likely_null_vectors: components of the graph, and factors within an envelope
/// where these cost at most 50 iterations and those so far); the iteration itself, whose directions
/// p are multiples of the minimal residuals and turn to such a z: once p^H A p is negligible
/// against ||p||^2 in the norm of M, A y = A r is solved for z = r - y, which costs some 18 sqrt(c)
/// iterations, c the condition number of M^-1 A on its range. A column is `inconsistent` where
/// ||A z|| is within the rounding errors of the product (which a matrix of condition 1e12 never
/// shows) and the part of b along z is above the goal; `singular` instead where other vectors are
/// almost null too, or z^H A z is not zero in twice the precision: A may then be regular, but has a
/// vector whose x^H A x is within 100 roundings of its terms. Where no such vector is seen, the
/// column is at the `attainable_limit` or `stagnated`. Where p^H A p is zero but A p is not, A is
/// indefinite: `negative_curvature`.
///
/// Rounding: columns are solved in units of powers of two near b_j, so that those near the ends of
/// the range disturb no others; a solution outside the range of the format is `out_of_range`. A
/// residual that misses its goal by no more than its own rounding errors is recomputed in twice the
/// precision (EntryAccess::subtract_accurately), or judged with an estimate of these errors where A
/// cannot do that.
///
/// Traffic of an iteration apart from the product, in passes over n x k scalars: 10 column by
/// column (12 and M^-1 itself for one that is not Jacobi; two less where the operator sums p^H q in
/// its product, as matrices do on CUDA: LinearOperator::apply_dots), 13 as a block (14 and M^-1).
/// Memory: 4 n x k, and one more from the second cycle or from a start on; none is allocated after
/// the first iteration, but to look at the entries of A.
///
/// Sources: Hestenes and Stiefel 1952, doi:10.6028/jres.049.044 (the method); Greenbaum 1997,
/// SIAM J. Matrix Anal. Appl. 18, 535-551 (why a recurrence alone cannot be believed); Kaasschieter
/// 1988, doi:10.1016/0377-0427(88)90358-5 (singular systems); Zhou and Walker 1994,
/// doi:10.1137/0915021 (directions and minimal residuals); Wilkinson 1963, Rounding Errors in
/// Algebraic Processes (iterative refinement); Buttari, Dongarra, Kurzak, Luszczek and Tomov 2008,
/// doi:10.1145/1377596.1377597 (with an inner iteration in single precision).
///
/// CgMethod::automatic takes the block method for 2 to 32 open columns (16 on hosts), groups for
/// more; pseudo-block for one, where the preconditioner is nearly exact (OperatorFacts), on devices
/// also where B has fewer than 500,000 entries or a step fewer than 20 multiplications a row, and
/// after 20 steps of a block that gains nothing. report.reason says why.
///
/// CgMethod::pseudo_block: independent recurrences, one product for all columns; finished columns
/// leave the block while the others keep their directions.
///
/// An iteration without or with Jacobi has 6 kernels (product; two reductions with the scalars of
/// the columns, 2 each; update) and 1 synchronization; another preconditioner adds its own and 2. A
/// curvature that is not positive names its column. On CUDA, from the third iteration of a width
/// on where launching takes the host longer than 0.1 ms, else from the eighth, they are launched as
/// one recorded graph, where operator and preconditioner are replayable; not with
/// options.time_phases, nor while a Kokkos Tools profiler listens.
///
/// With options.single_reduction, the reduction that gives alpha also predicts the next r^H M^-1 r,
/// hence beta, and both updates are one pass: 4 kernels, 1 synchronization, and 9 passes over n x k
/// scalars instead of 10 (7 instead of 8 with apply_dots). alpha uses the true r^H M^-1 r, which
/// the update computes for the next step. Where the prediction cancels (below 1e-6 of the last
/// value, in single precision 1e-3), beta of that column uses the true one: 2 kernels more. Needs
/// up to a few percent more iterations, and one more product a cycle, since convergence is detected
/// one product late.
///
/// On several ranks a reduction is one message. With a monitor or a time limit on any of them, an
/// iteration has one more, so that all stop together.
///
/// Sources: Meurant 1987, Parallel Computing 5, 267-280 (this prediction); Chronopoulos and Gear
/// 1989, doi:10.1016/0377-0427(89)90045-9 (a recurrence for A p, which needs one more block).
///
/// CgMethod::block: conjugate gradients in Dubrulle's form; the residual block is kept as W Sigma
/// with W^H M^-1 W = I, so that nothing ill-conditioned is inverted; a rank-revealing Cholesky QR
/// of the one-step residual lets the block shrink where right-hand sides are dependent or the
/// Krylov space is exhausted. Needs about a third of the iterations of independent recurrences
/// (median, 8 columns).
///
///   1. Q = A S, K = S^H Q, Xi = K^-1           2. E += S Xi Sigma
///   3. T = W - Q Xi, W zeta = T with W^H M^-1 W = I
///   4. S = M^-1 W + S zeta^H, Sigma = zeta Sigma
///
/// 2 synchronizations an iteration, 2 to 5 more in the rare step that orthonormalizes again. Where
/// K is not positive definite, one more product distinguishes an indefinite A from a singular one
/// and from lost conjugacy; pseudo-block then finds the columns it concerns. A that is not
/// Hermitian is refused in the first step.
///
/// Sources: O'Leary 1980, doi:10.1016/0024-3795(80)90247-5 (block conjugate gradients); Dubrulle
/// 2001, ETNA 12, 216-233 (the residual kept orthonormal); Tichy, Meurant and Simonova 2025,
/// arXiv:2502.16998 (its error norm and use); Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015,
/// ETNA 44, 306-326 and Fukaya et al. 2020, doi:10.1137/18M1218212 (repeated Cholesky QR).
template <class Scalar, class Exec, class BView, class XView>
CgReport<real_t<Scalar>> solve_spd(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A, BView const& B, XView const& X,
    std::type_identity_t<CgOptions<Scalar, Exec>> const& options = {}) {
  return krylov::solve_cg<Scalar, Exec>(exec, A, blocks::block_ref<Exec>(B),
                                        blocks::block_ref<Exec>(X), options);
}

}  // namespace blockspan
