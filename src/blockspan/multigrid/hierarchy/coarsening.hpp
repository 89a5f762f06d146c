#pragma once

#include <chrono>
#include <memory>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/multigrid/setup/galerkin.hpp>
#include <blockspan/multigrid/setup/tentative.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/support/interruption.hpp>

namespace blockspan::levels {

/// Shared state of the steps of one setup or refresh.
template <class Scalar, class Exec>
class SetupRun {
 public:
  using Options = MultigridOptions<Scalar, Exec>;

  /// entries, rows: of level 0, of this process.
  SetupRun(Options const& given, MultigridSeconds& phases, std::int64_t entries, std::int64_t rows,
           bool keep = false)
      : options(given),
        keep_prolongators(keep),
        // the patterns of level 0 are several times as large as A: a few allocations each
        arena("Blockspan::multigrid", entries + 8 * rows),
        phases_(phases) {}

  Options const& options;
  bool const keep_prolongators;  ///< in a refresh
  Arena<Exec> arena;

  /// Adds the time since the last call to a phase. Fences.
  void charge(Exec const& exec, double MultigridSeconds::*phase) {
    exec.fence("Blockspan::multigrid_charge");
    auto const now = Clock::now();
    phases_.*phase += std::chrono::duration<double>(now - charged_).count();
    InterruptionCheck::step();
    charged_ = now;
  }
  /// Adds the phases of another setup, which ran since the last call.
  void charge(MultigridSeconds const& phases) {
    phases_ += phases;
    charged_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  MultigridSeconds& phases_;
  Clock::time_point charged_ = Clock::now();
};

/// The spectrum of W A. of: the matrix of the operator A, or W. Eight Lanczos steps bound it as
/// well as twelve; an indefiniteness that they miss is left to the probe.
template <class Scalar, class Exec, class Source>
ChebyshevSetup<Scalar, Exec> level_spectrum(Exec const& exec, SetupRun<Scalar, Exec>& setup,
                                            LinearOperator<Scalar, Exec> const& A,
                                            Source const& of) {
  return operators::chebyshev_setup<Scalar, Exec>(exec, setup.arena, A, of,
                                                  {.seed = setup.options.seed}, 8);
}

/// The local rows of a level, and the transfer to the next level: aggregates, P and P^H A P, in
/// double precision. Where rows are distributed over ranks, without the columns of other ranks; no
/// communication here.
template <class Scalar, class Exec>
struct Coarsening {
  using Matrix = CrsMatrix<Scalar, Exec>;
  using Spectrum = ChebyshevSetup<Scalar, Exec>;

  Matrix A;  ///< square; rows are sorted
  NodePartition<Exec> nodes;
  Block<Scalar, Exec> near_null;  ///< rows x q
  /// Flags of the rows that lack entries, in columns of other ranks; empty if no row does.
  Integers<Exec> cut_rows;

  // A_next = (C + C^H) / 2, C = R (A P), P = S T or S S T, S = I - omega / b W A_filtered, R = P^H.
  // Patterns and T depend on the first values only; refresh recomputes the rest.
  Tentative<Scalar, Exec> T;
  FilteredPattern<Exec> filtered;
  Array<Scalar, Exec> S;
  std::shared_ptr<MatrixOperator<Scalar, Exec> const> filtered_op;  ///< null: nothing is left out
  bool twice = false;                                               ///< P = S S T
  Pattern<Exec> smoothed_once;                                      ///< pattern of S T, if twice
  Pattern<Exec> prolongator, product, coarse;                       ///< of P, A P and C
  /// Groups of rows with the same columns: of A (and A P), S, T, P and R (and C).
  Supernodes supernodes, filtered_supernodes, tentative_supernodes, prolongator_supernodes,
      coarse_supernodes;
  Transposed<Exec> restrictor;
  Array<Scalar, Exec> P, R, C;
  MultigridLevelReport report;

  PatternRef<int, int> pattern() const { return pattern_ref<Exec>(A); }
  MatrixRef<Scalar, int, int> ref() const { return matrix_ref<Exec>(A); }
  Matrix P_matrix() const { return matrix_of<Scalar, Exec>(prolongator, P); }
  Matrix R_matrix() const { return matrix_of<Scalar, Exec>(restrictor.pattern, R); }
  Matrix coarse_matrix() const { return matrix_of<Scalar, Exec>(coarse, C); }

  /// All steps for level `number`; false if there are no coarse rows, because A is too weakly
  /// coupled or (report.spent > 0) all of them would be null vectors. spectrum: of W A.
  bool coarsen(Exec const& exec, SetupRun<Scalar, Exec>& setup, Spectrum const& spectrum,
               std::size_t number);
  /// With a prolongator of the user instead of T; it is not smoothed.
  void use_given(Exec const& exec, SetupRun<Scalar, Exec>& setup, Spectrum const& spectrum,
                 std::size_t number);
  /// Recomputes values for new values of A, those of P unless prolongators are kept.
  void refresh(Exec const& exec, SetupRun<Scalar, Exec>& setup, Spectrum const& spectrum);

 private:
  /// Hosts compute patterns and values of P, A P and C in one pass.
  static constexpr bool values_with_patterns = runs_on_host_v<Exec>;

  bool form(Exec const& exec, SetupRun<Scalar, Exec>& setup, Spectrum const& spectrum);
  void find_smoothed(Exec const& exec, SetupRun<Scalar, Exec>& setup, Spectrum const& spectrum);
  bool form_products(Exec const& exec, SetupRun<Scalar, Exec>& setup, std::int64_t most);
  void form_prolongator(Exec const& exec, SetupRun<Scalar, Exec>& setup, Spectrum const& spectrum);
  void form_smoother(Exec const& exec, SetupRun<Scalar, Exec>& setup, Spectrum const& spectrum);
  void smooth(Exec const& exec, SetupRun<Scalar, Exec>& setup);
  void restore_near_null(Exec const& exec);
  void form_values(Exec const& exec, SetupRun<Scalar, Exec>& setup);
  void take_mean(Exec const& exec, Array<Scalar, Exec> const& of_RAP);
};

}  // namespace blockspan::levels
