#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/common/agreement.hpp>
#include <blockspan/solvers/lobpcg/accuracy/checks.hpp>
#include <blockspan/solvers/lobpcg/accuracy/pair_quality.hpp>
#include <blockspan/solvers/lobpcg/accuracy/probe.hpp>
#include <blockspan/solvers/lobpcg/report.hpp>
#include <blockspan/solvers/lobpcg/solve_path.hpp>
#include <blockspan/solvers/lobpcg/stagnation.hpp>
#include <blockspan/solvers/lobpcg/state.hpp>
#include <blockspan/solvers/lobpcg/subspace/extend_basis.hpp>
#include <blockspan/solvers/lobpcg/subspace/subspace.hpp>

namespace blockspan::eigen {

/// The iteration: checks, start, then { measure; judge; advance } until judged done. This file has
/// the order of events; verdicts.hpp has verification, restarts and recovery, batches.hpp the
/// locking of pairs beyond the block, record.hpp history, checkpoints and the report.
template <class Scalar, class Exec>
class LobpcgSolver {
 public:
  using Real = real_t<Scalar>;
  using Options = LobpcgOptions<Scalar, Exec>;
  using Report = LobpcgReport<Real>;
  using View = Block<Scalar, Exec>;

  /// dense_seconds: what the dense path is predicted to cost, where the solve may leave the problem
  /// to it (see wants_dense); else infinite.
  LobpcgSolver(Problem<Scalar, Exec>& problem, View const& X, int columns, Options const& options,
               double dense_seconds)
      : problem_(problem),
        options_(options),
        model_(problem),
        dense_seconds_(dense_seconds),
        x_(X),
        key_(CheckpointKey::of(problem, options, columns)),
        space_(problem, columns),
        stagnation_(options.stagnation_window),
        agreement_(problem.ranks(), options.monitor || !options.checkpoint.empty() ||
                                        std::isfinite(options.time_limit)) {
    flow_.begin_batch(batch_size(options.wanted, columns));
    // Batches are mixed at the end: what each leaves out adds up.
    flow_.tolerance = in_batches() ? options.tolerance / 2 : options.tolerance;
    flow_.accuracy = digits_accuracy(options) / (in_batches() ? 2 : 1);
    int const constraints = static_cast<int>(options.constraints.extent(1));
    problem.deflation = Deflation<Scalar, Exec>(problem.exec, problem.rows(),
                                                constraints + (in_batches() ? options.wanted : 0),
                                                problem.generalized());
  }

  /// The solve ended because the dense path is predicted to cost no more than the iterations so
  /// far.
  bool wants_dense() const { return wants_dense_; }

  Report solve() {
    // Fail now, not after ten minutes, if the file cannot be written.
    if (!options_.checkpoint.empty())
      CheckpointWriter const trial(options_.checkpoint, problem_.workspace.rows());
    auto status = options_.resume.empty() ? start() : resume();
    while (!status) {
      if (!measure()) {
        status = recover();
        continue;
      }
      if (flow_.measured_iteration != flow_.iteration) flow_.recoveries = 0;
      if ((status = record())) break;
      bool again = false;
      status = recover_if_nonfinite(judge(again));
      if (!status && !again) status = recover_if_nonfinite(advance());
    }
    if (may_continue(*status)) write_checkpoint();
    return finish(*status);
  }

 private:
  /// Pairs as they are reported: the vectors with their values and norms, ascending.
  struct Found {
    View X, BX;
    std::vector<Real> theta;
    Residuals<Real> norms;
    SmallMatrix<Scalar> products;  ///< X^H R
  };

  /// Requests that a rank may make after an iteration. A later one includes those before it: a
  /// solve that is ended writes its checkpoint.
  enum class Request { none, checkpoint, end_by_time, stop };

  /// More have never helped, and each discards P.
  static constexpr int most_idle_restarts = 4;
  static constexpr int most_polishes = 3;

  bool in_batches() const { return options_.wanted > key_.columns; }
  /// Pairs locked so far; constraints come before them in the deflated vectors.
  int locked() const { return problem_.deflation.count() - constraints_; }

  /// Columns to which the block may grow.
  int widest_block() const {
    int const most =
        options_.widest_block > 0 ? options_.widest_block : std::max(4 * key_.columns, 64);
    return static_cast<int>(
        std::min<std::int64_t>((problem_.used_rows() - problem_.deflation.count()) / 5, most));
  }

  std::optional<Status> start() {
    if (auto const status = check_operators(problem_, space_.basis, options_.check_hermitian)) {
      if (status == Status::operator_not_finite) locate_fault();
      return status;
    }
    if (auto const status = take_constraints(problem_, options_.constraints)) return status;
    constraints_ = problem_.deflation.count();
    int const given = std::min(options_.guess_columns, space_.m());
    problem_.take_given(column_range(space_.basis.s, 0, given), column_range(x_, 0, given));
    flow_.guesses = options_.guess_columns;
    flow_.next_guess = given;
    space_.repair_x(given);
    return recover_if_nonfinite(space_.refresh(false));
  }

  /// Residuals and converged flags. False if something is not finite.
  bool measure() {
    // Where all columns were active they are likely to be so again: then D R is W, in its place.
    bool const steps = problem_.steps_with_residuals();
    bool const all = space_.basis.p == space_.m() && flow_.last_active == space_.m();
    bool const in_s = steps ? all : problem_.preconditioned();
    residuals_ = in_s ? space_.basis.spare(space_.m()) : space_.basis.a_spare(space_.m());
    if (!problem_.facts_of_a().norm_bound && !problem_.generalized())
      for (Real const value : space_.theta)
        problem_.norm_a = std::max(problem_.norm_a, std::abs(value));
    norms_ = residuals(problem_, space_.basis.x_and_images(), space_.theta, residuals_,
                       steps ? problem_.weights() : nullptr);
    if (!norms_.finite) return false;
    space_.largest_x = norms_.largest_x();
    bool const digits = options_.criterion == Criterion::digits;
    sharp_ = false;
    // The digits of pairs with large residuals are not needed.
    if (digits && any_residual_is_small()) measure_quality(false);
    judge_pairs();
    // The crude bounds are enough for most problems. Where they are not, or to find zeros, the
    // sharp ones are worth a pass once the residuals are small.
    if (digits && residuals_are_small() && converged() < flow_.wanted) {
      measure_quality(true);
      judge_pairs();
    }
    return true;
  }

  void measure_quality(bool sharp) {
    auto const timer = problem_.time(problem_.seconds.residual);
    quality_ =
        pair_qualities(problem_, space_.theta, norms_,
                       sharp ? sharp_rounding(problem_, space_.basis.x(), space_.theta, norms_)
                             : crude_rounding(problem_, space_.theta, norms_),
                       flow_.wanted);
    sharp_ = sharp;
  }
  void judge_pairs() {
    done_.clear();
    for (int j = 0; j < space_.m(); ++j) done_.push_back(passes(j));
  }
  bool any_residual_is_small() const {
    for (int j = 0; j < space_.m(); ++j)
      if (error(j) <= flow_.tolerance) return true;
    return false;
  }
  bool residuals_are_small() const {
    for (int j = 0; j < flow_.wanted; ++j)
      if (!(norms_.backward[j] <= flow_.tolerance)) return false;
    return true;
  }

  /// What has to fall below the tolerance.
  Real error(int j) const {
    return options_.criterion == Criterion::relative ? norms_.relative[j] : norms_.backward[j];
  }
  Real goal(int j) const {
    bool const own = flow_.iteration < flow_.goals_until && j < static_cast<int>(goals_.size());
    return own ? goals_[j] : flow_.tolerance;
  }
  bool passes(int j) const {
    return error(j) <= goal(j) &&
           (options_.criterion != Criterion::digits ||
            has_digits(space_.theta[j], quality_[j], flow_.accuracy, sharp_));
  }
  /// Against the norm of A the residual is rounding; of a graded A it may still fall.
  bool at_normwise_floor(int j) const { return norms_.backward[j] <= Thresholds<Real>::floor; }
  /// Iterating on brings this pair no further.
  bool at_floor(int j) const {
    if (options_.criterion != Criterion::digits) return at_normwise_floor(j);
    return sharp_ && norms_.backward[j] <= flow_.tolerance &&
           is_limited_by_rounding(space_.theta[j], quality_[j], flow_.accuracy);
  }
  int converged() const {
    return static_cast<int>(std::count(done_.begin(), done_.begin() + flow_.wanted, true));
  }
  Real worst_backward() const {
    return *std::max_element(norms_.backward.begin(), norms_.backward.begin() + flow_.wanted);
  }

  /// Decides what comes next: a status ends the solve; `again` says that X has changed and must be
  /// measured anew; otherwise the iteration goes on.
  std::optional<Status> judge(bool& again) {
    if (probe_.over(flow_.iteration, space_.theta, norms_)) end_probe();
    if (!probe_.running() && converged() == flow_.wanted && !watch_guards()) {
      again = true;
      return verify();
    }
    if (flow_.iteration >= options_.max_iterations) return Status::max_iterations;
    if (late_) return Status::time_limit;
    if (spent_ > dense_seconds_) {
      wants_dense_ = true;
      return Status::not_converged;
    }
    bool const digits = options_.criterion == Criterion::digits && !probe_.running();
    if (digits && all_open_at_normwise_floor() && problem_.lift_mass()) {
      again = true;  // another norm may show more
      return std::nullopt;
    }
    if (digits && all_open_at_floor()) {
      again = true;
      return flow_.exact ? end_short(Status::attainable_limit) : verify();
    }
    if (preconditioner_is_due()) {
      again = true;
      if (preconditioner_harms(space_, flow_.wanted) && flow_.preconditioner_strikes++ > 0) {
        problem_.drop_preconditioner();
        ++problem_.counters.preconditioner_dropped;
      }
      return std::nullopt;
    }
    if (probe_.running() || !stagnation_.idle(flow_.iteration, worst_open(), wanted_values()))
      return std::nullopt;
    again = true;
    return restart();
  }

  /// The error that has to fall: of the wanted pairs neither converged nor at their floor, if any.
  Real worst_open() const {
    Real worst = 0;
    for (int j = 0; j < flow_.wanted; ++j)
      if (!done_[j] && !at_floor(j)) worst = std::max(worst, error(j));
    return worst > 0 ? worst : worst_backward();
  }

  bool all_open_at_floor() const {
    for (int j = 0; j < flow_.wanted; ++j)
      if (!done_[j] && !at_floor(j)) return false;
    return true;
  }

  bool all_open_at_normwise_floor() const {
    for (int j = 0; j < flow_.wanted; ++j)
      if (!done_[j] && !at_floor(j) && !at_normwise_floor(j)) return false;
    return true;
  }

  std::vector<Real> wanted_values() const {
    return {space_.theta.begin(), space_.theta.begin() + flow_.wanted};
  }

  /// More guards, up to the widest block: half as many columns again.
  int wider_block() const { return std::min(widest_block(), (3 * space_.m() / 2 + 3) / 4 * 4); }
  bool widen() {
    int const columns = wider_block();
    if (columns <= space_.m() || !space_.widen(columns)) return false;
    stagnation_.block_widened();
    flow_.ritz_vectors = false;
    ++problem_.counters.widenings;
    return true;
  }

  /// Directions, the larger basis, Rayleigh-Ritz on it, the next X and P.
  std::optional<Status> advance() {
    auto const active = active_columns();
    flow_.last_active = static_cast<int>(active.size());
    int const faulty = build_directions(space_, norms_, active, residuals_);
    if (faulty >= 0 && fault_.operator_name.empty())
      fault_ = {"preconditioner", faulty, flow_.iteration};
    std::int64_t const dropped_before = problem_.counters.columns_dropped;
    auto outcome = extend(active);
    flow_.offered += flow_.last_active;
    flow_.dropped += problem_.counters.columns_dropped - dropped_before;
    if (outcome != Extension::ready) return handle(outcome);
    if (!space_.rayleigh_ritz(active)) return collapse();
    flow_.exact = false;
    flow_.ritz_vectors = true;
    flow_.consecutive_empty = flow_.collapses = 0;
    spent_ += model_.iteration(space_.m());
    ++flow_.iteration;
    return std::nullopt;
  }

  /// Columns that get a new direction: those not converged, those that a search watches, the guards
  /// where all are converged.
  std::vector<int> active_columns() const {
    std::vector<int> active;
    for (int j = 0; j < space_.m(); ++j)
      if ((!done_[j] || is_watched(j)) && norms_.r[j] > 0) active.push_back(j);
    if (active.empty())
      for (int j = flow_.wanted; j < space_.m(); ++j)
        if (norms_.r[j] > 0) active.push_back(j);
    return active;
  }

  Extension extend(std::vector<int> const& active) {
    using Limits = Thresholds<Real>;
    // Where X is not a block of Ritz vectors, no drift can be seen.
    if (!flow_.ritz_vectors) space_.largest_x = std::numeric_limits<Real>::infinity();
    bool fused = !flow_.robust_only && worst_backward() > Limits::fused_residual;
    for (int const j : active) fused = fused && norms_.backward[j] > Limits::fused_residual;
    if (fused) {
      auto const outcome = extend_fused(space_);
      if (outcome != Extension::ill_conditioned) return outcome;
      ++problem_.counters.factor_fallbacks;
    }
    return extend_robust(space_);
  }

  // verdicts.hpp
  std::optional<Status> verify();
  std::optional<Status> claim();
  bool preconditioner_is_due();
  bool may_probe() const;
  bool start_may_hide_pairs() const;
  bool began_random() const;
  bool watch_guards();
  bool is_watched(int j) const;
  std::vector<PairQuality<Real>> sharp_quality();
  void end_probe();
  std::optional<Status> begin_probe(Status otherwise);
  std::optional<Status> end_short(Status status);
  std::optional<Status> restart();
  std::optional<Status> handle(Extension outcome);
  std::optional<Status> collapse();
  std::optional<Status> recover_if_nonfinite(std::optional<Status> status);
  std::optional<Status> recover();
  void locate_fault();

  // batches.hpp
  std::optional<Status> lock_batch();
  std::optional<Status> next_batch(int pairs);
  std::optional<Status> settle_all();

  // record.hpp
  std::optional<Status> record();
  Request agree(bool go_on) const;
  static bool may_continue(Status status);
  void write_checkpoint();
  std::optional<Status> resume();
  template <class Archive>
  void visit(Archive& archive);
  void require_sound(CheckpointReader const& reader) const;
  Report finish(Status status);
  void report_found(Found const& found, Report& report);
  Found measure_exact();
  std::optional<Found> finish_block();
  std::optional<Found> finish_batches();
  void deliver(View const& vectors, int count);

  Problem<Scalar, Exec>& problem_;
  Options const& options_;
  PathModel<Scalar, Exec> model_;
  double dense_seconds_, spent_ = 0;  ///< as the model predicts them
  bool wants_dense_ = false;
  View x_;
  CheckpointKey key_;
  Subspace<Scalar, Exec> space_;
  Stagnation<Real> stagnation_;
  Probe<Scalar, Exec> probe_;
  View residuals_;  ///< where measure() left T R or R
  Residuals<Real> norms_, settled_;
  std::optional<Found> found_;  ///< pairs that pass as they will be reported
  std::vector<PairQuality<Real>> quality_;
  bool sharp_ = false;  ///< quality_ knows the grading of the operators
  std::vector<bool> done_;
  std::vector<Real> goals_;          ///< of the wanted pairs' errors, after a claim that failed
  std::vector<Real> locked_theta_;   ///< of the batches, as they were locked
  std::vector<Real> locked_errors_;  ///< their backward errors
  std::vector<LobpcgIteration<Real>> history_;
  LobpcgFault fault_;
  LobpcgFlow<Real> flow_;
  Agreement agreement_;
  bool late_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_checkpoint_ = begin_;
  std::string checkpoint_fault_;  ///< why the last one could not be written
  double seconds_before_ = 0;     ///< of the runs before a checkpoint
  int constraints_ = 0;
};

}  // namespace blockspan::eigen

#include <blockspan/solvers/lobpcg/batches.hpp>
#include <blockspan/solvers/lobpcg/record.hpp>
#include <blockspan/solvers/lobpcg/verdicts.hpp>
