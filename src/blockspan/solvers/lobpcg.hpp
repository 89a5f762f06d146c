#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/solvers/status.hpp>

namespace blockspan {

enum class Which { smallest, largest };

/// When a pair counts as converged; r = A x - lambda B x.
enum class Criterion {
  digits,  ///< `backward`, and LobpcgOptions::digits decimal digits of lambda are certain, or it is
           ///< zero as far as the arithmetic shows
  backward,  ///< ||r|| <= tol (||A|| + |lambda| ||B||) ||x||: the pair is exact for a nearby
             ///< problem
  relative,  ///< ||r|| <= tol |lambda| ||B x||: digits of lambda itself, where the arithmetic
             ///< allows
};

/// How the pairs are found.
enum class SolvePath {
  automatic,  ///< dense where that is predicted to cost less than 200 iterations do (60 with a
              ///< preconditioner other than Jacobi, 10 with a nearly exact one), and no more than
              ///< the time limit; iterative until it has cost what the dense solve would, then
              ///< dense, memory permitting
  iterative,  ///< LOBPCG; dense only where the block does not fit five times into the rows
  dense,      ///< LAPACK (or the device's) on the whole pencil: O(n^3) time, 6 n^2 scalars
};

/// Wall-clock seconds by phase (see LobpcgOptions::time_phases).
struct LobpcgSeconds {
  double total = 0, operator_a = 0, operator_b = 0, preconditioner = 0, gram = 0, update = 0,
         dense = 0, residual = 0;

  void add(LobpcgSeconds const& more) {
    total += more.total, operator_a += more.operator_a, operator_b += more.operator_b;
    preconditioner += more.preconditioner, gram += more.gram, update += more.update;
    dense += more.dense, residual += more.residual;
  }
};

/// What a monitor sees after each iteration; valid only during the call.
template <class Real>
struct LobpcgProgress {
  int iteration;
  int converged;  ///< wanted pairs that pass the test now, locked ones included
  int wanted;
  int active;  ///< columns that got a new direction
  int locked;  ///< pairs of earlier batches, in front in the two lists below
  std::vector<Real> const& eigenvalues;      ///< current Ritz values, all columns of the block
  std::vector<Real> const& backward_errors;  ///< ||r|| / ((a + |theta| b) ||x||), all columns
  LobpcgSeconds const& seconds;              ///< so far; total is not set
  /// Why the last checkpoint could not be written; empty: it was.
  std::string const& checkpoint_fault;
};

template <class Scalar, class Exec>
struct LobpcgOptions {
  using Real = real_t<Scalar>;

  // Usually set.
  int wanted = 10;  ///< pairs wanted, >= 1 and at most the columns of X
  /// Columns iterated together, guards included; 0: all columns of X. Fewer than `wanted`: the
  /// pairs are found in batches, each locked when it has converged, and settled together at the
  /// end. Memory is then 6 block + wanted columns (with B 9 block + 2 wanted). A block of 1 gets a
  /// guard where more pairs are wanted and `probe` holds.
  int block = 0;
  Which which = Which::smallest;
  Real tolerance = Real(1e-8);  ///< in (0, 1)
  Criterion criterion = Criterion::digits;
  int digits = 4;  ///< of every eigenvalue, for Criterion::digits; 1 to 12
  SolvePath path = SolvePath::automatic;
  /// Hermitian positive definite, an approximation of the inverse of A; null: none. It helps to
  /// find the smallest pairs; for the largest of A alone it does harm, and is dropped when the
  /// iteration stagnates. A JacobiPreconditioner is applied inside the solver's own passes.
  LinearOperator<Scalar, Exec> const* preconditioner = nullptr;

  // Defaulted.
  int max_iterations = 10000;
  /// Leading columns of X that are a start, finite, of any length; those of zeros, and the others,
  /// start random. In batches, those beyond the block are the start of the later ones.
  int guess_columns = 0;
  /// The start is the result of a solve of this problem from random columns. It is then unlikely to
  /// be orthogonal to a wanted pair, and the search for missed ones is as short as without a start.
  bool continued = false;
  /// n x c vectors of any length that the eigenvectors must be B-orthogonal to (null vectors, pairs
  /// found before); dependent ones are dropped. The pairs and their residuals are then those of
  /// P^H A P, P the B-orthogonal projection. Null: none.
  ConstBlock<Scalar, Exec> constraints = {};
  std::uint64_t seed = 1;  ///< of every random column
  /// Look for missed pairs before claiming success. Guards that began random show that none was
  /// missed where the lowest is apart from the wanted pairs, else after at least three iterations
  /// more, ten or a fifth of those so far at most. With a start, guards begin anew from random
  /// columns, for up to 100 iterations where it is one of all wanted columns, after which `trouble`
  /// says if they were too few. A block without guards gets some (see widest_block).
  bool probe = true;
  bool check_hermitian = true;
  int stagnation_window = 60;  ///< iterations without progress before a restart
  /// Columns to which the block may grow (more guards) when restarts do not help; at most n / 5.
  /// 0: four times the columns of X, at least 64. The columns of X: never grow, and without guards
  /// there is no probe.
  int widest_block = 0;
  /// Seconds, checked at each iteration and, on one rank, at each step of a dense solve, which is
  /// not begun where it is predicted to take longer.
  double time_limit = std::numeric_limits<double>::infinity();
  /// File that keeps the state of the solve, renewed after `checkpoint_seconds` and when the solve
  /// ends by a limit or the monitor; empty: none. About 6 m (9 m with B) columns on disk. Throws
  /// Error before the first iteration where it cannot be written; later on the solve goes on, and
  /// LobpcgReport::checkpoint_fault says why.
  std::string checkpoint = {};
  double checkpoint_seconds = 600;  ///< 0: every iteration
  /// Checkpoint of the same problem to go on from: the same bits as without the break, where
  /// backend, thread count and options are the same (limits and tolerance may differ). X is then
  /// no start. Empty: none. Dense solves (see lobpcg) write none: where the rows are too few for
  /// the iteration, or `path` is dense, there is none to go on from, and that is an Error. Where
  /// rows are spread over ranks rank 0 writes and reads the one file, in the order of all rows: it
  /// may be resumed on another number of ranks.
  std::string resume = {};
  bool certify = false;  ///< fill in LobpcgReport::certificate
  /// A lower bound of the eigenvalues of B, for `certify`; 0: none is known.
  Real mass_lower_bound = 0;
  /// Fence after each phase, so that LobpcgSeconds is right on asynchronous backends too; without
  /// it a phase is charged with the work it waits for. Costs some microseconds a phase.
  bool time_phases = false;
  /// Called after each iteration; return false to stop with Status::stopped_by_monitor.
  std::function<bool(LobpcgProgress<Real> const&)> monitor = nullptr;

  /// Throws Error if a field is out of range.
  void validate() const;

  /// For a solve that goes on from the columns of X that one with these options has left.
  void continue_from(int columns) {
    continued = continued || guess_columns == 0;
    guess_columns = columns;
  }
};

/// One line of the residual history.
template <class Real>
struct LobpcgIteration {
  int iteration;
  int active;                         ///< columns that got a new direction
  std::vector<Real> eigenvalues;      ///< wanted Ritz values: the locked ones, then the batch's
  std::vector<Real> backward_errors;  ///< of these pairs

  template <class Archive>
  void visit(Archive& archive) {
    archive(iteration), archive(active), archive(eigenvalues), archive(backward_errors);
  }
};

/// Columns of operators applied, and rare events.
struct LobpcgCounters {
  std::int64_t operator_columns = 0, mass_columns = 0, preconditioner_columns = 0;
  std::int64_t operator_applications = 0;  ///< calls of A's apply
  std::int64_t mass_applications = 0;
  std::int64_t preconditioner_applications = 0;  ///< 0 with a Jacobi inside the solver's passes
  int batches = 1, polishes = 0;                 ///< see LobpcgOptions::block
  int restarts = 0, widenings = 0, verifications = 0, probes = 0, robust_iterations = 0,
      factor_fallbacks = 0;
  std::int64_t columns_dropped = 0, preconditioner_rejected = 0;
  int preconditioner_dropped = 0;  ///< 1: it did harm or did not help, and was left out

  void add(LobpcgCounters const& more) {
    operator_columns += more.operator_columns, mass_columns += more.mass_columns;
    preconditioner_columns += more.preconditioner_columns;
    operator_applications += more.operator_applications;
    mass_applications += more.mass_applications;
    preconditioner_applications += more.preconditioner_applications;
    batches += more.batches - 1, polishes += more.polishes, restarts += more.restarts;
    widenings += more.widenings, verifications += more.verifications, probes += more.probes;
    robust_iterations += more.robust_iterations, factor_fallbacks += more.factor_fallbacks;
    columns_dropped += more.columns_dropped;
    preconditioner_rejected += more.preconditioner_rejected;
    preconditioner_dropped += more.preconditioner_dropped;
  }
};

/// An operator's image that was not finite.
struct LobpcgFault {
  std::string operator_name;  ///< "A", "B" or "preconditioner"; empty: none was seen
  int column = -1;            ///< of the block it was given, from 0
  int iteration = -1;
};

/// What is certain about the eigenvalues, rounding errors of the residuals included. With
/// constraints it holds for the problem projected by them.
template <class Real>
struct LobpcgCertificate {
  /// Per pair, |lambda - theta_j| <= radius_j for at least one eigenvalue lambda: ||r|| / ||x||,
  /// for a pencil ||r|| / (sqrt(mass_lower_bound) ||x||_B), without such a bound by the norm of
  /// B^-1 that LobpcgReport::mass_norm names, an estimate (Krylov and Weinstein; Parlett, The
  /// Symmetric Eigenvalue Problem, 1998, doi:10.1137/1.9781611971163, theorem 4.5.1).
  std::vector<Real> radius;
  /// Per pair, |lambda_j - theta_j| <= gap_radius_j for the j-th eigenvalue, where no pair was
  /// missed: ||R||_F^2 over the distance to the other clusters, R the residuals of the cluster
  /// (Kato and Temple; Parlett, theorem 11.7.1); the radius where there is no gap.
  std::vector<Real> gap_radius;
  Real orthogonality_loss = 0;  ///< max |X^H B X - I|
  bool rigorous = false;        ///< every norm in the radii is a proven bound
};

template <class Real>
struct LobpcgReport {
  Status status = Status::not_converged;
  std::string path = "iterative";  ///< "dense", or "iterative, then dense"
  std::string path_reason;         ///< why, in words
  std::string scaling;             ///< of rows and columns inside the solver; empty: none
  std::string
      trouble;  ///< what went wrong and where, in words; empty: nothing, or the status says it
  int iterations = 0;
  // Per wanted pair, ascending (smallest) or descending (largest).
  std::vector<Real> eigenvalues;
  std::vector<Real> backward_errors;     ///< recomputed at the end from A, B and X themselves
  std::vector<Real> relative_residuals;  ///< ||r|| / (|lambda| ||B x||), infinite for lambda = 0
  /// |lambda_j - eigenvalues[j]| is at most this, where no pair was missed: residual in the norm of
  /// B^-1 (see mass_norm), with gaps between the values found; infinite where nothing is certain.
  /// Of a zero_eigenvalue |lambda_j| is at most this.
  std::vector<Real> error_bounds;
  /// max |X^H B X - I| of the wanted vectors: above 1e-7 (single precision: 1e-3) no pair is
  /// converged, and `trouble` says so.
  Real orthogonality_loss = 0;
  std::vector<Real> certain_digits;  ///< decimal digits that these bounds leave certain
  std::vector<Status> pair_status;  ///< converged, zero_eigenvalue, attainable_limit, not_converged
  /// The (wanted + 1)-st value, as far as the guards know it; NaN where there are none.
  Real next_eigenvalue = std::numeric_limits<Real>::quiet_NaN();
  std::string mass_norm;         ///< how the norm of B^-1 was obtained; empty without B
  Real norm_a = 0, norm_b = 1;   ///< the norms used in the backward errors
  std::int64_t unused_rows = 0;  ///< zero in A and in B: left out, vectors are zero there
  std::vector<LobpcgIteration<Real>> history;
  LobpcgCertificate<Real> certificate;  ///< empty unless asked for and X is known
  /// The first one of A or B, else of the preconditioner; also set where a retry succeeded.
  LobpcgFault fault;
  std::string checkpoint_fault;  ///< why the last checkpoint could not be written; empty: it was
  LobpcgCounters counters;
  LobpcgSeconds seconds;

  bool converged() const { return status == Status::converged; }

  /// Makes this, the report of a solve that went on from the X of `first`, that of both together:
  /// iterations, history, counters, seconds and faults.
  void put_before(LobpcgReport const& first) {
    for (auto& line : history) line.iteration += first.iterations;
    auto last = first.history.end();  // without the line that this history begins with
    if (!history.empty() && !first.history.empty() &&
        first.history.back().iteration == history.front().iteration)
      --last;
    history.insert(history.begin(), first.history.begin(), last);
    if (!fault.operator_name.empty()) fault.iteration += first.iterations;
    if (!first.fault.operator_name.empty()) fault = first.fault;
    iterations += first.iterations;
    counters.add(first.counters);
    seconds.add(first.seconds);
  }
};

/// Columns that suit `wanted` pairs: guards max(4, wanted / 4), the sum rounded up to a multiple
/// of 4.
inline int lobpcg_block_size(int wanted) {
  int const guards = wanted / 4 > 4 ? wanted / 4 : 4;
  return (wanted + guards + 3) / 4 * 4;
}

/// The `wanted` smallest or largest eigenpairs of A x = lambda x (standard) or A x = lambda B x, A
/// Hermitian, B Hermitian positive definite, by the locally optimal block preconditioned conjugate
/// gradient method:
///   1. residuals R = A X - B X Theta, tests, active columns (soft locking)
///   2. directions W = T R
///   3. Gram matrices of S = [X W P] and their images, Cholesky or a robust orthonormalization
///   4. Rayleigh-Ritz on S, basis selection
///   5. X, P and their images by the same coefficients
///   6. before success: a search for missed pairs, and everything again from A and B themselves
///
/// X: n x m, m >= wanted; the columns beyond `wanted` are guards (see lobpcg_block_size). On entry
/// its first `guess_columns` columns are a start, the rest is ignored; on return its first `wanted`
/// columns are the eigenvectors, X^H B X = I, and the others guards, a start for more pairs (as
/// they were after a dense solve). SolvePath says when a problem is solved densely; it always is if
/// the rows do not hold five blocks, with a guard, in addition to constraints and locked pairs. A
/// singular B (positive semidefinite) leaves its infinite eigenvalues out: densely for any such
/// pencil that is well posed, by iteration (with A + s B as inner product, s > 0 small) where A is
/// positive semidefinite, has no null vector in common with B, and the smallest pairs are wanted
/// without constraints, batches and checkpoints; else the status is mass_singular, and `trouble`
/// names rows and the reason. Throws Error for bad arguments (sizes, options, NaN or Inf in a start
/// or a constraint), or where memory is short. Numerical trouble is a status, and X then holds the
/// best vectors found, with true residuals; where there are none (operator_not_finite from the
/// first call on, mass_not_positive_definite at the start) X is untouched, the eigenvalues are NaN
/// and the errors infinite. Fences `exec`. Same input, backend and thread count: same bits. Memory:
/// 6 m columns (9 m with B; m grows, see widest_block).
///
/// An iteration without or with Jacobi, no column converged, moves about 20 m (30 m) columns,
/// allocates nothing and waits twice, for the Gram matrices and for the norms; apart from the
/// products it has at most 10 (12) kernels. Another preconditioner costs one more wait, and so do,
/// on CUDA, blocks of 48 columns and more: eigenproblems of order 144 and more are solved there by
/// cuSOLVER.
///
/// Sources: Knyazev 2001, doi:10.1137/S1064827500366124 (the method); Hetmaniuk and Lehoucq 2006,
/// doi:10.1016/j.jcp.2006.02.007 and Duersch, Shao, Yang and Gu 2018, arXiv:1704.07458 (basis
/// selection, convergence test); Stathopoulos and Wu 2002, doi:10.1137/S1064827500370883 (SVQB).
template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> lobpcg(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A, Block<Scalar, Exec> const& X,
    std::type_identity_t<LobpcgOptions<Scalar, Exec>> const& options = {});

/// The generalized problem A x = lambda B x.
template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> lobpcg(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A, LinearOperator<Scalar, Exec> const& B,
    Block<Scalar, Exec> const& X,
    std::type_identity_t<LobpcgOptions<Scalar, Exec>> const& options = {});

}  // namespace blockspan
