#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <blockspan/solvers/cg/columns/column_passes.hpp>
#include <blockspan/solvers/cg/columns/replay.hpp>
#include <blockspan/solvers/cg/control.hpp>
#include <blockspan/solvers/cg/curvature_watch.hpp>
#include <blockspan/solvers/cg/judge_curvature.hpp>
#include <blockspan/solvers/cg/solution.hpp>

namespace blockspan::krylov {

/// One cycle of pseudo-block conjugate gradients: A E = R for the columns of the cycle, each by its
/// own recurrence (step()). Finished columns are frozen (alpha = beta = 0) until there are enough
/// of them; then they are added to X and the block is compacted.
template <class Scalar, class Exec>
class PseudoBlockCg {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;
  using Cycle = CgCycle<Real>;

  PseudoBlockCg(CgProblem<Scalar, Exec>& problem, CgBlocks<Scalar, Exec>& blocks, int columns)
      : problem_(problem), blocks_(blocks), passes_(problem, blocks, columns) {}

  /// R is given in blocks.residual(); E is added to the solution column by column.
  void run(Cycle& cycle, std::vector<Real> const& norms, CgControl<Scalar, Exec>& control,
           CgSolution<Scalar, Exec>& solution) {
    begin(cycle, control, solution);
    start();
    for (int steps = 0; any_running();) {
      advance();
      auto const stop = control.step(cycle, residuals_, live_, norms, width());
      take_states();
      refuse_lost();
      if (watching_ && watch_.stale(residuals_, live_)) {
        if (!problem_.hermitian())
          refuse(Status::operator_not_hermitian);
        else if (cycle.outside && cycle.outside(width()))
          refuse(Status::singular);
      }
      if (!any_running()) break;
      if (stop || ++steps >= cycle.limit) {
        cycle.end = CycleEnd::stopped;
        break;
      }
      compact_next_ = control.options().compact && compaction_pays();
    }
    add_all();
  }

  bool preconditioner_not_finite() const { return preconditioner_not_finite_; }
  /// The least d^H A d / (||A|| ||d||^2) of a direction with negative curvature, or zero.
  Real least_curvature() const { return least_curvature_; }

 private:
  using N = ColumnValues<Scalar, Exec>;

  /// The method (Hestenes and Stiefel 1952). Lines that read the same blocks share a pass.
  void step() {
    passes_.multiply();       // Q = A P
    passes_.take_alpha();     // alpha = gamma / (p, q)
    passes_.step_residual();  // R = R - Q alpha
    preconditions_ = goes_on();
    if (preconditions_)
      passes_.precondition();  // Z = M^-1 R, gamma' = (r, z), beta = gamma' / gamma
    passes_.step_direction();  // E = E + P alpha, P = Z + P beta
    passes_.numbers.download();
  }

  /// Whether the last residual leaves a column to go on with, as far as is known without waiting.
  bool goes_on() {
    if constexpr (runs_on_host_v<Exec>) {
      for (int c = 0; c < width(); ++c)
        if (state(c) == ColumnState::running) return true;
      return false;
    } else {
      return true;
    }
  }

  /// The same with one reduction, that of the product: it gives alpha and a prediction of beta for
  /// the next step, and the sizes of the residual that the last step left.
  void step_with_one_reduction() {
    bool const pending = passes_.any_pending();
    if (!pending && !compact_next_) {
      return replay([&] {
        passes_.update();   // R = R - Q alpha, E = E + P alpha, P = Z + P beta
        passes_.predict();  // Q = A P; alpha, beta
      });
    }
    passes_.update();
    if (pending) passes_.correct_beta();
    if (compact_next_) {
      compact();
      passes_.measure_residual();
    }
    passes_.predict();
  }

  void begin(Cycle& cycle, CgControl<Scalar, Exec> const& control,
             CgSolution<Scalar, Exec>& solution) {
    cycle_ = &cycle;
    solution_ = &solution;
    single_ = control.options().single_reduction && !problem_.general();
    compact_next_ = watch_started_ = false;
    passes_.set(static_cast<int>(cycle.columns.size()), single_);
    replay_.forget();
    places_.resize(width());
    for (int c = 0; c < width(); ++c) places_[c] = c;
    live_.assign(width(), true);
    residuals_.assign(width(), Real(0));
    cycle.outcome.assign(width(), Status::not_converged);
    cycle.end = CycleEnd::finished;
    watching_ = control.may_search();
    watch_.start(live_.size());
  }

  /// E = 0, P = M^-1 R, gamma = (r, p)
  void start() {
    for (int c = 0; c < width(); ++c) {
      number(N::state, c) = static_cast<Real>(ColumnState::running);
      number(N::goal, c) = cycle_->goals[c] * cycle_->goals[c];
      number(N::pending, c) = 0;
    }
    passes_.numbers.upload();
    passes_.start();
    if (single_) {
      passes_.measure_residual();
      passes_.predict();
      problem_.count_a(blocks_.direction(width()));
    } else {
      passes_.take_gamma();
      passes_.numbers.download();
    }
    wait();
    if (problem_.rescale_preconditioner(number(N::gamma, 0))) return start();
    take_states();
    for (int c = 0; c < width(); ++c) watch_.direction(places_[c], number(N::gamma, c));
    if (single_) watch();
  }

  /// One step, until its scalars are on the host.
  void advance() {
    if (single_) {
      step_with_one_reduction();
    } else {
      if (compact_next_) compact();
      replay([&] { step(); });
      if (preconditions_) problem_.count_m(blocks_.spare(width()));
    }
    problem_.count_a(blocks_.direction(width()));
    wait();
    for (int c = 0; c < width(); ++c) {
      residuals_[places_[c]] = std::sqrt(number(N::phi, c));
      Real const curvature = number(N::curvature, c);
      if (!passes_.lacks_squares() && curvature > 0) problem_.note_norm(curvature);
    }
    watch();
  }

  template <class Work>
  void replay(Work const& step) {
    if (!problem_.replayable())
      step();
    else if (replay_(problem_.exec, step))
      ++problem_.counters.replayed;
  }
  void wait() {
    auto const timer = problem_.time(problem_.seconds.gram);
    problem_.synchronize("Blockspan::cg: states of the columns");
  }

  int width() const { return passes_.width(); }  ///< columns of the blocks now
  Real& number(typename N::ColumnScalar which, int c) { return passes_.numbers(which, c); }
  ColumnState state(int c) {
    return static_cast<ColumnState>(static_cast<int>(number(N::state, c)));
  }
  bool any_running() const { return std::find(live_.begin(), live_.end(), true) != live_.end(); }

  /// Freezes the columns that ended in the last step.
  void take_states() {
    for (int c = 0; c < width(); ++c) {
      int const place = places_[c];
      if (!live_[place] || state(c) == ColumnState::running) continue;
      live_[place] = false;
      cycle_->outcome[place] = outcome(c);
    }
  }

  Status outcome(int c) {
    switch (state(c)) {
      case ColumnState::at_goal:
        return Status::converged;
      case ColumnState::curvature:
        return curvature(c);
      case ColumnState::preconditioner:
        return Status::preconditioner_not_spd;
      case ColumnState::lost:
        preconditioner_not_finite_ = true;
        return Status::operator_not_finite;
      default:
        return Status::operator_not_finite;
    }
  }

  /// Why a column stopped whose P, the one last multiplied or the next, has no positive curvature.
  Status curvature(int c) {
    auto const verdict = judge(c);
    if (verdict.status == Status::negative_curvature)
      least_curvature_ = std::min(least_curvature_, verdict.curvature);
    return verdict.status.value_or(Status::singular);
  }
  CurvatureVerdict<Real> judge(int c) {
    return CurvatureJudge<Scalar, Exec>(problem_)(column_range(blocks_.direction(width()), c, 1));
  }

  /// Ends columns whose direction shows that A is singular. The scalars of the products are those
  /// of the last direction, gamma that of the next, but with one reduction of the same one.
  void watch() {
    bool any = false;
    for (int c = 0; c < width(); ++c) {
      auto const place = static_cast<std::size_t>(places_[c]);
      if (!live_[place] || state(c) != ColumnState::running) continue;
      if (single_ && watch_started_) watch_.direction(place, number(N::gamma, c));
      Real const curvature = number(N::curvature, c) * number(N::square, c);
      bool const flat = watch_.flat(place, curvature, cycle_->goals[place]);
      if (!single_) watch_.direction(place, number(N::gamma, c));
      if (!flat || !watching_ || !judge(c).status) continue;  // or A is graded
      number(N::state, c) = static_cast<Real>(ColumnState::curvature);
      any = true;
    }
    watch_started_ = true;
    if (any) passes_.numbers.upload();
  }

  void refuse_lost() {
    for (int c = 0; c < width(); ++c) {
      auto const place = static_cast<std::size_t>(places_[c]);
      if (!live_[place] || !watch_.lost(place)) continue;
      live_[place] = false;
      number(N::state, c) = static_cast<Real>(ColumnState::curvature);
      cycle_->outcome[place] = Status::singular;
      passes_.numbers.upload();
    }
  }

  /// No column goes on: A is not Hermitian, or has null vectors that the residuals have parts of.
  void refuse(Status why) {
    for (std::size_t place = 0; place < live_.size(); ++place)
      if (live_[place]) {
        live_[place] = false;
        cycle_->outcome[place] = why;
      }
  }

  /// An eighth of the columns is frozen, or the next width has a better product.
  bool compaction_pays() {
    int now = 0;
    for (int c = 0; c < width(); ++c) now += live_[places_[c]] ? 1 : 0;
    if (now == width()) return false;
    if (width() - now >= std::max(1, width() / 8)) return true;
    for (int const better : {32, 16, 8, 4, 2, 1})
      if (now <= better && better < width()) return true;
    return false;
  }

  /// Adds the frozen columns to X and compacts the block.
  void compact() {
    auto const timer = problem_.time(problem_.seconds.update);
    ++problem_.counters.compactions;
    replay_.forget();
    std::vector<int> kept, done, places;
    for (int c = 0; c < width(); ++c) (live_[places_[c]] ? kept : done).push_back(c);
    add(done);
    int const now = static_cast<int>(kept.size());
    auto const move = [&](View const& from) {
      problem_.select_scaled(block_ref<Exec>(from), kept, {}, blocks_.spare(now));
    };
    move(blocks_.correction(width()));
    blocks_.swap_correction();
    move(blocks_.direction(width()));
    blocks_.swap_direction();
    move(blocks_.residual(width()));
    blocks_.swap_residual();
    for (int const c : kept) places.push_back(places_[c]);
    places_ = places;
    passes_.numbers.keep(kept);
    passes_.numbers.upload();
    problem_.synchronize("Blockspan::cg: columns moved");
  }

  /// Adds E of the columns at positions `which` to X.
  void add(std::vector<int> const& which) {
    if (which.empty()) return;
    auto const E = blocks_.correction(width());
    int const count = static_cast<int>(which.size());
    std::vector<int> columns;
    std::vector<Real> scales;
    for (int const c : which) {
      columns.push_back(cycle_->columns[places_[c]]);
      scales.push_back(cycle_->scales[places_[c]]);
    }
    if (count == width()) return solution_->add(E, columns, scales);
    auto const gathered = blocks_.spare(count);
    problem_.select_scaled(block_ref<Exec>(E), which, {}, gathered);
    problem_.synchronize("Blockspan::cg: columns gathered");
    solution_->add(gathered, columns, scales);
  }
  void add_all() {
    std::vector<int> all(width());
    for (int c = 0; c < width(); ++c) all[c] = c;
    add(all);
  }

  CgProblem<Scalar, Exec>& problem_;
  CgBlocks<Scalar, Exec>& blocks_;
  ColumnPasses<Scalar, Exec> passes_;
  Replay<Exec> replay_;  ///< of the step at this width
  bool single_ = false, compact_next_ = false;
  Cycle* cycle_ = nullptr;
  CgSolution<Scalar, Exec>* solution_ = nullptr;
  std::vector<int> places_;  ///< column of the cycle at each position of the block
  std::vector<bool> live_;   ///< by column of the cycle
  std::vector<Real> residuals_;
  CurvatureWatch<Real> watch_;
  bool watching_ = false, watch_started_ = false;
  bool preconditions_ = true;  ///< the last step did
  bool preconditioner_not_finite_ = false;
  Real least_curvature_ = 0;
};

}  // namespace blockspan::krylov
