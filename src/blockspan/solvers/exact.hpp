#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/communication/row_space.hpp>
#include <blockspan/operators/direct.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/operators/pencil_factors.hpp>
#include <blockspan/solvers/status.hpp>

namespace blockspan {

/// How K x = lambda M x is inverted.
enum class Spectral {
  normal,    ///< M positive (semi)definite, K any Hermitian matrix
  buckling,  ///< K positive definite, M (the geometric stiffness) any: in 1 / lambda
  cayley     ///< as normal, but nearest in ratio: the least |lambda - sigma| / |lambda + sigma|
};

/// Whether the counts prove the pairs found complete.
enum class Proof {
  none,        ///< not asked for, or the pairs did not converge
  proved,      ///< the counts at both ends leave room for the pairs found and for no other
  tied,        ///< complete, but for others as near to the shift as the last pair
  missing,     ///< by the counts there are more, which were not found
  uncountable  ///< no shift was found near an end at which the sign of every pivot is certain
};

constexpr std::string_view to_string(Proof proof) {
  switch (proof) {
    case Proof::none:
      return "none";
    case Proof::proved:
      return "proved";
    case Proof::tied:
      return "tied";
    case Proof::missing:
      return "missing";
    case Proof::uncountable:
      return "uncountable";
  }
  return "unknown";
}

/// The state passed to a monitor after each step of block Lanczos.
struct ExactProgress {
  int steps, factorizations;
  double shift;             ///< of the current factors
  int converged, wanted;    ///< of the run at that shift
  std::int64_t found, all;  ///< pairs of an interval, found and in total; 0: not an interval
  double seconds;
};

struct ExactOptions {
  int pairs = 10;            ///< for eigenpairs_near
  double tolerance = 1e-11;  ///< residual of a pair of (K - sigma M)^-1 M over its eigenvalue
  int block = 0;             ///< columns solved together; 0: 8
  int basis = 0;             ///< columns of the basis, at least pairs + 2 blocks; 0: 2 pairs + 10
                             ///< blocks, at least 24
  int slice = 128;           ///< pairs of an interval found at one shift, about
  bool count = true;         ///< prove completeness by counts (eigenpairs_near)
  Spectral form = Spectral::normal;
  std::int64_t memory_limit = 0;  ///< of the factors, in bytes; 0: the free memory
  FactorPlace factors = FactorPlace::automatic;
  std::uint64_t seed = 1;
  int max_steps = 2000;                                         ///< steps of block Lanczos, in all
  double time_limit = std::numeric_limits<double>::infinity();  ///< seconds
  /// Called after each step; return false to stop with Status::stopped_by_monitor.
  std::function<bool(ExactProgress const&)> monitor = nullptr;
  // For an interval: a file for its counts and the pairs found, written every ten minutes and when
  // a limit or the monitor stops the solve; and one to resume from, with the bits of an unbroken
  // solve.
  std::string checkpoint = {}, resume = {};

  /// Throws Error if a field is out of range.
  void validate() const;
};

/// Eigenvalues between two shifts that were counted but not found.
struct MissingPairs {
  double from, to;
  std::int64_t number;
};

struct ExactSeconds {
  double analysis = 0;  ///< of the patterns, before the solve and not in `total`
  double total = 0, factorization = 0, solve = 0, mass = 0, orthogonalization = 0, dense = 0;
};

struct ExactReport {
  Status status = Status::not_converged;
  Proof proof = Proof::none;
  std::string trouble;             ///< what went wrong; empty: nothing
  std::string checkpoint_fault;    ///< why the last one could not be written; empty: it was
  std::vector<std::string> notes;  ///< shifts that were moved, ties
  // Per pair, ascending.
  std::vector<double> eigenvalues;
  std::vector<double> backward_errors;  ///< ||K x - lambda M x|| / ((||K|| + |lambda| ||M||) ||x||)
  /// ||K x - lambda M x|| / (|lambda| ||M x||), infinite for lambda = 0.
  std::vector<double> relative_residuals;
  /// |lambda_j - eigenvalues[j]| is at most this: the residual of the inverse in the norm of M over
  /// theta^2, the rounding error of a Rayleigh quotient, and 10 r^H (K - sigma M)^-1 r of the
  /// residual r of the pair, an estimate of the error that rounding in the factors causes. Infinite
  /// where the factors have null pivots.
  std::vector<double> error_bounds;
  std::vector<double> certain_digits;
  std::vector<Status> pair_status;
  double next_eigenvalue = std::numeric_limits<double>::quiet_NaN();  ///< an estimate
  double orthogonality_loss = 0;                                      ///< max |X^H M X - I|
  double norm_k = 0, norm_m = 1;                                      ///< of the backward errors
  // The counts.
  std::vector<ShiftCount> counts;
  /// The interval of the proof, with the ends as moved; with buckling from > to where it is all
  /// outside of [to, from].
  double from = 0, to = 0;
  std::int64_t counted = 0;  ///< eigenvalues in it
  std::int64_t found = 0;    ///< pairs in it that were found
  std::vector<MissingPairs> missing;
  // The cost.
  std::string library;  ///< of the factors: "MUMPS on the host", "cuDSS 1.0.0"
  int shifts = 0, factorizations = 0, steps = 0;
  std::int64_t solved_columns = 0, factor_entries = 0, factor_bytes = 0;
  ExactSeconds seconds;

  bool converged() const { return status == Status::converged; }
};

/// The number of eigenvalues in an interval.
struct EigenCount {
  std::int64_t number = 0;
  ShiftCount from, to;  ///< both ends, at the shifts that were used
  bool trusted = false;
  std::string trouble;  ///< the reason where it is not certain
  std::vector<std::string> notes;
};

namespace exact {
template <class Scalar, class Exec>
ExactReport near(Exec const& exec, LinearOperator<Scalar, Exec> const& K,
                 LinearOperator<Scalar, Exec> const* M, operators::PencilFactors& factors,
                 double sigma, Block<Scalar, Exec> const& X, ExactOptions const& options);
template <class Scalar, class Exec>
ExactReport inside(Exec const& exec, LinearOperator<Scalar, Exec> const& K,
                   LinearOperator<Scalar, Exec> const* M, operators::PencilFactors& factors,
                   double a, double b, Block<Scalar, Exec>& X, ExactOptions const& options);
EigenCount count(operators::PencilFactors& factors, double a, double b, Spectral form);
/// Throws Error unless a < b and both have one sign where the form asks for it.
void require_interval(double a, double b, Spectral form);
void require_shift(double sigma, Spectral form);

/// The rows of a matrix of one process, or of one on ranks.
template <class Matrix>
RowSpace rows_of(Matrix const& A) {
  if constexpr (requires { A.row_space(); })
    return A.row_space();
  else
    return {};
}

/// The real parts of the diagonal of the local rows.
template <class Exec, class Matrix>
std::vector<double> real_diagonal(Exec const& exec, Matrix const& A) {
  if constexpr (requires { A.row_space(); })
    return A.diagonal(exec);
  else
    return operators::real_diagonal(exec, sparse::matrix_ref<Exec>(A));
}

/// What the diagonal of a mass, or exchanged of a stiffness, proves against it; empty: nothing.
/// first_row: the row of the first entry, from 0.
std::string in_words_negative(std::vector<double> const& diagonal, std::int64_t first_row,
                              bool exchanged);

/// The same of a matrix, on all ranks; null: the identity.
template <class Exec, class Matrix>
std::string trouble_of_mass(Exec const& exec, Matrix const* M, bool exchanged) {
  if (M == nullptr) return "";
  RowSpace const rows = rows_of(*M);
  return rows.communicator().words_of_first(
      in_words_negative(real_diagonal(exec, *M), rows.first_row(), exchanged));
}

/// The factored pencil of K and M, exchanged for the buckling form.
template <class Exec, class Matrix>
auto factored(Exec const& exec, Matrix const& K, std::type_identity_t<Matrix> const* M,
              ExactOptions const& options, bool products = true) {
  static_assert(std::is_same_v<real_t<sparse::scalar_t<Matrix>>, double>,
                "exact methods work in double precision");
  bool const exchange = options.form == Spectral::buckling;
  require(!exchange || M != nullptr, "blockspan::exact",
          "the buckling form needs a geometric stiffness matrix");
  return factored_pencil(exec, exchange ? *M : K, exchange ? &K : M,
                         {.factors = options.factors,
                          .memory_limit = options.memory_limit,
                          .scale_by_mass = exchange,
                          .columns = options.block > 0 ? options.block : 8,
                          .products = products});
}

/// Adds the notes of a pencil and the seconds of its analysis.
template <class Scalar, class Exec>
void describe(FactoredPencil<Scalar, Exec> const& pencil, ExactReport& report) {
  report.seconds.analysis = pencil.seconds;
  report.notes.insert(report.notes.end(), pencil.notes.begin(), pencil.notes.end());
}
}  // namespace exact

/// The eigenpairs of K x = lambda M x nearest sigma, anywhere in the spectrum, and the proof that
/// none is missing: block Lanczos on (K - sigma M)^-1 M with full reorthogonalization in M and
/// thick restart, and the inertia of K - s M at both ends of the interval that holds the pairs.
///
/// K, M: Hermitian n x n matrices of (complex) doubles, M positive semidefinite (null: the
/// identity); with Spectral::buckling K positive definite and M any, and "nearest" is meant in 1 /
/// lambda (infinite ones among them, vectors that M maps to zero, are left out). Spectral::cayley
/// takes the largest |lambda + sigma| / |lambda - sigma|, eigenvalues of (K - sigma M)^-1 (K +
/// sigma M), which has the Krylov spaces of the normal form: those between sigma / q and sigma q.
/// X: n x m, m >= options.pairs, is overwritten by the vectors, ascending as the values in the
/// report, X^H M X = I (with buckling |X^H M X| = 1 / |lambda|: X^H K X = I). Shifts that are an
/// eigenvalue are moved, and the report says so. Fewer than pairs where M leaves fewer finite
/// eigenvalues. A count is trusted as ShiftCount says; "proved" rests on double arithmetic and that
/// estimate, not on interval arithmetic.
///
/// Of a DistributedMatrix (distributed/factored_pencil.hpp, which says what rank 0 needs) all ranks
/// call together, X has the local rows, and the report is the same on all but for the seconds;
/// limits and a monitor of one rank hold for all.
///
/// Numerical trouble is a status (missing_pairs, singular_pencil, mass_not_positive_definite,
/// max_iterations, time_limit, stopped_by_monitor). Throws Error for bad arguments, entries that
/// are not finite, and where memory is short, for the factors with the bytes. The basis is where
/// Exec computes, the factors are where options.factors says. One factorization, two more for the
/// counts (one where sigma is below the spectrum), and about 4 columns solved for a pair, n (2
/// pairs + 11 blocks) scalars (twice that with M). Same input: same bits, but for factors on a
/// device. Link Blockspan::direct.
///
/// Sources: Grimes, Lewis and Simon 1994, doi:10.1137/S0895479888151111 (block shift-invert Lanczos
/// with inertia counts); Wu and Simon 2000, doi:10.1137/S0895479898334605 (thick restart);
/// Nour-Omid, Parlett, Ericsson and Jensen 1987, Math. Comp. 48, 663, and Meerbergen and Spence
/// 1997, SIAM J. Matrix Anal. Appl. 18, 667 (semidefinite M).
template <class Exec, class Matrix>
ExactReport eigenpairs_near(Exec const& exec, Matrix const& K,
                            std::type_identity_t<Matrix> const* M, double sigma,
                            Block<sparse::scalar_t<Matrix>, Exec> const& X,
                            ExactOptions const& options = {}) {
  exact::rows_of(K).communicator().run_agreed([&] {
    options.validate();
    exact::require_shift(sigma, options.form);
  });
  auto const pencil = exact::factored(exec, K, M, options);
  auto report = exact::near<sparse::scalar_t<Matrix>, Exec>(exec, *pencil.K, pencil.M.get(),
                                                            *pencil.factors, sigma, X, options);
  exact::describe(pencil, report);
  return report;
}

/// All eigenpairs with a < lambda < b, by block Lanczos as in eigenpairs_near at several shifts
/// between the ends; the counts at the shifts show where pairs are missing. X is replaced by a new
/// block, n x (pairs found), with ascending eigenvalues. An end that is an eigenvalue is moved
/// outward, and the report says to where; an end may be infinite where M is definite. Errors,
/// statuses and memory as eigenpairs_near, except for X, Error unless a < b, and with up to 2.25
/// slices of pairs a shift; shifts + 2 factorizations.
template <class Exec, class Matrix>
ExactReport eigenpairs_in(Exec const& exec, Matrix const& K, std::type_identity_t<Matrix> const* M,
                          double a, double b, Block<sparse::scalar_t<Matrix>, Exec>& X,
                          ExactOptions const& options = {}) {
  exact::rows_of(K).communicator().run_agreed([&] {
    options.validate();
    exact::require_interval(a, b, options.form);
  });
  auto const pencil = exact::factored(exec, K, M, options);
  auto report = exact::inside<sparse::scalar_t<Matrix>, Exec>(exec, *pencil.K, pencil.M.get(),
                                                              *pencil.factors, a, b, X, options);
  exact::describe(pencil, report);
  return report;
}

/// The number of eigenvalues in (a, b): two factorizations, and one more each time an end is moved;
/// no vectors. Ends and Errors as in eigenpairs_in; of the options it uses form, factors and
/// memory_limit. Not trusted where M has a negative diagonal entry; any other M that is not
/// semidefinite it cannot tell, and the signs of pivots then count no eigenvalues.
template <class Exec, class Matrix>
EigenCount count_eigenvalues(Exec const& exec, Matrix const& K,
                             std::type_identity_t<Matrix> const* M, double a, double b,
                             ExactOptions const& options = {}) {
  exact::rows_of(K).communicator().run_agreed([&] { exact::require_interval(a, b, options.form); });
  auto const pencil = exact::factored(exec, K, M, options, false);
  bool const exchanged = options.form == Spectral::buckling;
  auto const trouble = exact::trouble_of_mass(exec, exchanged ? &K : M, exchanged);
  EigenCount result;
  if (trouble.empty())
    result = exact::count(*pencil.factors, a, b, options.form);
  else
    result.trouble = trouble;
  result.notes.insert(result.notes.end(), pencil.notes.begin(), pencil.notes.end());
  return result;
}

}  // namespace blockspan
