#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/solvers/common/agreement.hpp>
#include <blockspan/solvers/common/phase_timer.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>

namespace blockspan::krylov {

/// How a cycle ended.
enum class CycleEnd {
  finished,        ///< every column is at its goal, or has failed
  stopped,         ///< a limit or the monitor
  exhausted,       ///< no direction is left
  broken,          ///< every open column has a status with the reason
  indefinite,      ///< a direction of negative curvature, of no column in particular
  singular,        ///< a direction of no curvature
  conjugacy_lost,  ///< rounding errors: start anew
  no_gain,         ///< the block does not pay: go on column by column
};

/// What a cycle is to do, and what came of it.
template <class Real>
struct CgCycle {
  std::vector<int> columns;  ///< of the group
  std::vector<Real> scales;  ///< ||r_j|| / scales of the start is in [1, 2), in units of b_j
  std::vector<Real> goals;   ///< for ||r_j|| / scale
  int limit = 0;             ///< steps of this cycle
  bool first = false;        ///< of the group
  /// Whether the leading columns of the residual block, by their count, have parts along null
  /// vectors of A. Called where residuals stagnate; null: not to be called.
  std::function<bool(int)> outside;

  CycleEnd end = CycleEnd::finished;
  std::vector<Status> outcome;  ///< converged: at its goal; not_converged: open; or a failure
};

/// Follows the steps of all cycles: counts, history, monitor, limits.
template <class Scalar, class Exec>
class CgControl {
 public:
  using Real = real_t<Scalar>;

  /// ranks: those that solve together, and stop together.
  CgControl(CgOptions<Scalar, Exec> const& options, CgReport<Real>& report, Communicator ranks)
      : options_(options),
        report_(report),
        agreement_(std::move(ranks), options.monitor || std::isfinite(options.time_limit)),
        residuals_(report.columns.size(), Real(0)) {}

  CgOptions<Scalar, Exec> const& options() const { return options_; }
  CgReport<Real>& report() { return report_; }

  void begin_group(int first_column, int columns) {
    first_ = first_column, group_columns_ = columns;
    group_iterations_ = cycle_ = 0;
    if (stopped_ == Status::max_iterations) stopped_.reset();  // of one group only
  }
  void begin_cycle() {
    ++cycle_;
    ++report_.counters.cycles;
  }
  int cycle() const { return cycle_; }
  int group_iterations() const { return group_iterations_; }
  /// Whether null vectors of A may be searched for where the iteration stalls: not within such a
  /// search, nor where no further cycle is allowed.
  bool may_search() const { return searching_ && options_.max_cycles > 1; }
  void forbid_search() { searching_ = false; }
  double elapsed() const { return seconds_since(begin_); }
  double time_left() const { return std::max(0.0, options_.time_limit - elapsed()); }
  void column_done() { ++done_; }

  /// The goal for ||r_j|| of a column of the group from ||b_j||, both in units of `unit`.
  Real goal(int j, Real norm, Real unit) const {
    auto const of = [&](std::vector<Real> const& each, Real all) {
      return each.empty() ? all : each[first_ + j];
    };
    Real const absolute = of(options_.absolute_tolerances, options_.absolute_tolerance);
    return std::max(of(options_.tolerances, options_.tolerance) * norm, absolute / unit);
  }

  /// The true residual of a column of the group, relative.
  void set_residual(int j, Real relative) { residuals_[first_ + j] = relative; }

  /// After a step of a cycle in which column c had the residual residuals[c] (scaled as in the
  /// cycle) and live[c] says whether it took part. A status ends the cycle.
  std::optional<Status> step(CgCycle<Real> const& cycle, std::vector<Real> const& residuals,
                             std::vector<bool> const& live, std::vector<Real> const& norms,
                             int directions) {
    ++group_iterations_;
    ++report_.iterations;
    int at_goal = 0;
    for (std::size_t c = 0; c < cycle.columns.size(); ++c) {
      int const j = cycle.columns[c];
      if (live[c]) {
        ++report_.columns[first_ + j].iterations;
        residuals_[first_ + j] = residuals[c] * cycle.scales[c] / norms[j];
      }
      bool const done = cycle.outcome[c] != Status::not_converged;
      if (done || residuals[c] <= cycle.goals[c]) ++at_goal;
    }
    return record(directions, at_goal);
  }

  /// After a step of a search for null vectors. False: stop.
  bool search_step(int directions) {
    ++group_iterations_;
    ++report_.iterations;
    return !record(directions, 0).has_value();
  }

  /// The step that follows is one of CgOptions::inner.
  void note_inner(CgCycle<Real> const& cycle, std::vector<bool> const& live) {
    for (std::size_t c = 0; c < cycle.columns.size(); ++c)
      if (live[c]) ++report_.columns[first_ + cycle.columns[c]].inner_iterations;
  }

  /// The status that has ended the solve, if any.
  std::optional<Status> const& stopped() const { return stopped_; }

  /// Checks the limits before a cycle.
  void check_limits() {
    if (!stopped_) stopped_ = limit();
  }

 private:
  std::optional<Status> record(int directions, int at_goal) {
    if (options_.keep_history)
      report_.history.push_back({report_.iterations, cycle_, first_, directions, residuals_});
    bool const go_on = !options_.monitor ||
                       options_.monitor({report_.iterations, cycle_, done_ + at_goal,
                                         static_cast<int>(report_.columns.size()), directions,
                                         residuals_, first_, group_columns_, group_iterations_});
    auto const now = limit(go_on);
    if (!stopped_ || now == Status::stopped_by_monitor) stopped_ = now;
    return stopped_;
  }
  /// Clocks and monitors of the ranks may differ: one of them stops all.
  std::optional<Status> limit(bool go_on = true) const {
    int const mine = !go_on ? 2 : elapsed() > options_.time_limit ? 1 : 0;
    int const all = agreement_.largest(mine);
    if (all == 2) return Status::stopped_by_monitor;
    if (group_iterations_ >= options_.max_iterations) return Status::max_iterations;
    if (all == 1) return Status::time_limit;
    return std::nullopt;
  }

  CgOptions<Scalar, Exec> const& options_;
  CgReport<Real>& report_;
  Agreement agreement_;
  std::vector<Real> residuals_;  ///< of all columns of B, relative, by the recurrence
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<Status> stopped_;
  bool searching_ = true;
  int first_ = 0, group_columns_ = 0, cycle_ = 0, group_iterations_ = 0, done_ = 0;
};

}  // namespace blockspan::krylov
