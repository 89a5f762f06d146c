#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <blockspan/solvers/cg/control.hpp>
#include <blockspan/solvers/cg/solution.hpp>
#include <blockspan/solvers/cg/thresholds.hpp>
#include <blockspan/solvers/correction_solver.hpp>

namespace blockspan::krylov {

/// Cycles that leave A E = R to a CorrectionSolver: bounds their cost, and reports every iteration
/// to the control. The outcome of all columns is open; the true residual decides.
template <class Scalar, class Exec>
class InnerCycle {
 public:
  using Real = real_t<Scalar>;
  using Cycle = CgCycle<Real>;

  InnerCycle(CgProblem<Scalar, Exec>& problem, CgBlocks<Scalar, Exec>& blocks,
             CgControl<Scalar, Exec>& control, CorrectionSolver<Scalar, Exec> const& solver)
      : problem_(problem), blocks_(blocks), control_(control), solver_(solver) {}

  /// Cycles done.
  int cycles() const { return cycles_; }

  /// Whether a column with these residuals after and before the last cycle takes part in another.
  bool may_help(Real residual, Real before) const {
    bool const gained = cycles_ == 0 || residual <= CgThresholds<Real>::inner_progress * before;
    return gained && !spent();
  }

  /// Why columns were left open.
  std::string why_it_ended() const {
    if (!trouble_.empty()) return trouble_;
    return spent() ? "its share of the cycles or iterations is used up"
                   : "a cycle gained less than a digit";
  }

  /// lengths: norms of the columns of the residual block.
  void run(Cycle& cycle, CgMethod method, std::vector<Real> const& lengths,
           std::vector<Real> const& norms, CgSolution<Scalar, Exec>& solution) {
    int const width = static_cast<int>(cycle.columns.size());
    cycle.outcome.assign(width, Status::not_converged);
    cycle.end = CycleEnd::finished;
    ++cycles_;
    ++problem_.counters.inner_cycles;
    begin(cycle, lengths);
    CorrectionRequest<Real> request{
        method, control_.options().single_reduction, {}, iterations_left(), control_.time_left(),
        {}};
    for (int c = 0; c < width; ++c) request.reductions.push_back(wanted_[c] / lengths[c]);
    request.step = [&](std::vector<Real> const& reductions, int directions) {
      return step(cycle, lengths, norms, reductions, directions);
    };
    {
      auto const timer = problem_.time(problem_.seconds.inner);
      auto const report =
          solver_.solve(problem_.exec, blocks_.residual(width), blocks_.correction(width), request);
      trouble_ = report.trouble;
      if (!problem_.knows_norm()) problem_.note_norm(report.norm_a);
      add_counters(problem_.counters, report.counters, true);
      problem_.counters.directions_dropped += report.counters.directions_dropped;
      int& smallest = problem_.counters.smallest_block;
      int const here = report.counters.smallest_block;
      if (here > 0) smallest = smallest > 0 ? std::min(smallest, here) : here;
    }
    solution.add(blocks_.correction(width), cycle.columns, cycle.scales);
  }

 private:
  /// The working precision keeps half of the iterations.
  bool spent() const { return cycles_ >= control_.options().max_cycles || iterations_left() <= 0; }
  int iterations_left() const { return control_.options().max_iterations / 2 - iterations_; }

  void begin(Cycle const& cycle, std::vector<Real> const& lengths) {
    residuals_ = best_ = lengths;
    wanted_.clear();
    for (std::size_t c = 0; c < lengths.size(); ++c)
      wanted_.push_back(std::max(CgThresholds<Real>::inner_margin * cycle.goals[c],
                                 solver_.reduction() * lengths[c]));
    steps_ = last_gain_ = 0;
  }

  bool step(Cycle const& cycle, std::vector<Real> const& lengths, std::vector<Real> const& norms,
            std::vector<Real> const& reductions, int directions) {
    ++steps_;
    ++iterations_;
    std::vector<bool> live(lengths.size());
    for (std::size_t c = 0; c < lengths.size(); ++c) {
      live[c] = residuals_[c] > wanted_[c];
      residuals_[c] = reductions[c] * lengths[c];
      if (residuals_[c] <= best_[c] / 2) {
        best_[c] = residuals_[c];
        last_gain_ = steps_;
      }
    }
    control_.note_inner(cycle, live);
    bool const stop = control_.step(cycle, residuals_, live, norms, directions).has_value();
    return !stop && steps_ - last_gain_ <= patience + steps_ / 2;
  }

  /// Iterations in which no residual is halved before a cycle is given up; more in long cycles,
  /// since conjugate gradients may stagnate for long and then converge at once.
  static constexpr int patience = 250;

  CgProblem<Scalar, Exec>& problem_;
  CgBlocks<Scalar, Exec>& blocks_;
  CgControl<Scalar, Exec>& control_;
  CorrectionSolver<Scalar, Exec> const& solver_;
  int cycles_ = 0, iterations_ = 0, steps_ = 0, last_gain_ = 0;
  std::vector<Real> residuals_, best_, wanted_;
  std::string trouble_;
};

}  // namespace blockspan::krylov
