#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <blockspan/solvers/detail/checks.hpp>
#include <blockspan/solvers/detail/extend_basis.hpp>
#include <blockspan/solvers/detail/probe.hpp>
#include <blockspan/solvers/detail/report.hpp>
#include <blockspan/solvers/detail/stagnation.hpp>
#include <blockspan/solvers/detail/widen.hpp>

namespace blockspan::detail {

/// The iteration. Its parts are free functions of this folder; here is only the order of events:
///   checks, start, then { measure; judge; extend; Rayleigh-Ritz; update } until judged done.
template <class Scalar, class Exec>
class LobpcgSolver {
 public:
  using Real = real_t<Scalar>;
  using Options = LobpcgOptions<Scalar, Exec>;
  using Report = LobpcgReport<Real>;
  using View = Block<Scalar, Exec>;

  LobpcgSolver(Problem<Scalar, Exec>& problem, View const& X, Options const& options)
      : problem_(problem),
        options_(options),
        x_(X),
        basis_(problem.exec, problem.rows(), static_cast<int>(X.extent(1)), problem.generalized()),
        grams_(problem.exec, 3 * basis_.m),
        ritz_(3 * basis_.m),
        stagnation_(options.stagnation_window),
        widest_(widest_block(problem.rows(), basis_.m, options.widest_block)) {}

  Report solve() {
    auto status = check_operators(problem_, basis_, options_.check_hermitian);
    auto const trouble = mended(start());
    if (!status) status = trouble;
    while (!status) {
      if (!measure()) {
        status = recover();
        continue;
      }
      if (measured_iteration_ != iteration_) recoveries_ = 0;
      if ((status = record())) break;
      bool again = false;
      status = mended(judge(again));
      if (!status && !again) status = mended(advance());
    }
    return finish(*status);
  }

 private:
  /// More have never helped, and each throws away what P has learnt.
  static constexpr int most_idle_restarts = 4;

  static int widest_block(std::int64_t rows, int columns, int asked) {
    int const most = asked > 0 ? asked : std::max(4 * columns, 64);
    return static_cast<int>(std::min<std::int64_t>(rows / 5, most));
  }

  std::optional<Status> start() {
    Kokkos::deep_copy(problem_.exec, basis_.columns(basis_.s, 0, options_.guess_columns),
                      basis_.columns(x_, 0, options_.guess_columns));
    repair_start(problem_, basis_, options_.guess_columns);
    return refresh(problem_, basis_, grams_, ritz_, theta_, false);
  }

  /// Residuals and converged flags. False if something is not finite.
  bool measure() {
    auto const R = problem_.preconditioned() ? basis_.spare(basis_.m) : basis_.a_spare(basis_.m);
    if (!problem_.a().norm_bound() && !problem_.generalized())
      for (Real const value : theta_) problem_.norm_a = std::max(problem_.norm_a, std::abs(value));
    norms_ = residuals(problem_, basis_, theta_, R);
    if (!norms_.finite) return false;
    done_.clear();
    for (int j = 0; j < basis_.m; ++j) done_.push_back(error(j) <= options_.tolerance);
    return true;
  }

  Real error(int j) const {
    return options_.criterion == Criterion::backward ? norms_.backward[j] : norms_.relative[j];
  }
  bool at_floor(int j) const { return norms_.backward[j] <= Thresholds<Real>::floor; }
  int converged() const {
    return static_cast<int>(std::count(done_.begin(), done_.begin() + options_.wanted, true));
  }
  Real worst_backward() const {
    return *std::max_element(norms_.backward.begin(), norms_.backward.begin() + options_.wanted);
  }

  /// History and monitor, once an iteration.
  std::optional<Status> record() {
    if (measured_iteration_ == iteration_) return std::nullopt;
    measured_iteration_ = iteration_;
    std::vector<Real> values;
    for (Real const theta : theta_) values.push_back(problem_.eigenvalue(theta));
    int const k = options_.wanted;
    history_.push_back({iteration_,
                        last_active_,
                        {values.begin(), values.begin() + k},
                        {norms_.backward.begin(), norms_.backward.begin() + k}});
    if (options_.monitor &&
        !options_.monitor({iteration_, converged(), k, last_active_, values, norms_.backward}))
      return Status::stopped_by_monitor;
    return std::nullopt;
  }

  /// Decides what comes next: a status ends the solve; `again` says that X has changed and must be
  /// measured anew; otherwise the iteration goes on.
  std::optional<Status> judge(bool& again) {
    if (probe_.due(iteration_)) {
      probe_.end(theta_);
      stagnation_.begin_anew(iteration_);
    }
    if (!probe_.running() && converged() == options_.wanted) {
      again = true;
      return verify();
    }
    if (iteration_ >= options_.max_iterations) return Status::max_iterations;
    if (seconds_since(begin_) > options_.time_limit) return Status::time_limit;
    if (probe_.running() || !stagnation_.idle(iteration_, worst_open(), wanted_values()))
      return std::nullopt;
    again = true;
    return restart();
  }

  /// The error that has to fall: of the wanted pairs neither converged nor at their floor, if any.
  Real worst_open() const {
    Real worst = 0;
    for (int j = 0; j < options_.wanted; ++j)
      if (!done_[j] && !at_floor(j)) worst = std::max(worst, error(j));
    return worst > 0 ? worst : worst_backward();
  }

  /// X and its images from the operators themselves; then success, a probe, or on with care.
  std::optional<Status> verify() {
    ++problem_.counters.verifications;
    if (auto const trouble = refresh(problem_, basis_, grams_, ritz_, theta_, true)) return trouble;
    exact_ = true;
    if (!measure()) return std::nullopt;
    stagnation_.begin_anew(iteration_);
    if (converged() < options_.wanted) {
      careful_ = true;
      return ++failed_verifications_ > 5 ? std::optional(Status::attainable_limit) : std::nullopt;
    }
    if (!options_.probe || !probe_.wanted() || options_.wanted == basis_.m)
      return Status::converged;
    exact_ = false;
    return probe_.begin(problem_, basis_, grams_, ritz_, theta_, options_.wanted, iteration_,
                        options_.max_iterations, worst_backward(), norms_.largest_x());
  }

  /// An idle window. T is dropped where it brings next to nothing, and for the largest pairs of A:
  /// an approximation of its inverse favours the other end of the spectrum.
  std::optional<Status> restart() {
    bool all_at_floor = true;
    for (int j = 0; j < options_.wanted; ++j)
      all_at_floor = all_at_floor && (done_[j] || at_floor(j));
    if (all_at_floor) return Status::attainable_limit;
    Real const size = std::max(Real(1), norms_.largest_x() * norms_.largest_x());
    stagnation_.count(wanted_values(), 20 * Thresholds<Real>::u * problem_.norm_a * size);
    if (stagnation_.hopeless()) return Status::stagnated;
    // Guards help the upper end of the wanted set; a low pair that is late by itself needs
    // patience.
    bool const wide = stagnation_.wants_a_wider_block() && !done_[options_.wanted - 1] && widen();
    bool const keep = wide || stagnation_.values_move() || idle_restarts_ >= most_idle_restarts;
    stagnation_.begin_anew(iteration_);
    if (keep) return std::nullopt;
    ++idle_restarts_;
    bool const useless = ++problem_.counters.restarts >= 2 && dropped_ * 2 > offered_;
    if (useless || (problem_.sign < 0 && !problem_.generalized())) problem_.drop_preconditioner();
    offered_ = dropped_ = 0;
    return refresh(problem_, basis_, grams_, ritz_, theta_, false);
  }

  std::vector<Real> wanted_values() const {
    return {theta_.begin(), theta_.begin() + options_.wanted};
  }

  /// More guards, up to the widest block: half as many columns again.
  bool widen() {
    int const columns = std::min(widest_, (3 * basis_.m / 2 + 3) / 4 * 4);
    if (columns <= basis_.m || !widen_basis(problem_, basis_, columns, theta_)) return false;
    grams_ = Grams<Scalar, Exec>(problem_.exec, 3 * columns);
    ritz_ = RayleighRitz<Scalar>(3 * columns);
    stagnation_.block_widened();
    ritz_vectors_ = false;
    ++problem_.counters.widenings;
    return true;
  }

  /// Directions, the larger basis, Rayleigh-Ritz on it, the next X and P.
  std::optional<Status> advance() {
    auto const active = active_columns();
    last_active_ = static_cast<int>(active.size());
    build_directions(problem_, basis_, norms_, active);
    std::int64_t const dropped_before = problem_.counters.columns_dropped;
    auto outcome = extend(active);
    offered_ += last_active_;
    dropped_ += problem_.counters.columns_dropped - dropped_before;
    if (outcome != Extension::ready) return handle(outcome);
    bool solved;
    int p = 0;
    {
      auto const timer = problem_.time(problem_.seconds.dense);
      solved = ritz_.solve(grams_.H(), basis_.m);
      if (solved) p = ritz_.select(grams_.G(), active);
    }
    if (!solved) return collapse();
    theta_.assign(ritz_.theta().begin(), ritz_.theta().begin() + basis_.m);
    update_basis(problem_, basis_, ritz_.coefficients(), p);
    exact_ = false;
    ritz_vectors_ = true;
    empty_ = collapses_ = 0;
    ++iteration_;
    return std::nullopt;
  }

  /// Columns that get a new direction: those not converged, or the guards where all are.
  std::vector<int> active_columns() const {
    std::vector<int> active;
    for (int j = 0; j < basis_.m; ++j)
      if (!done_[j] && norms_.r[j] > 0) active.push_back(j);
    if (active.empty())
      for (int j = options_.wanted; j < basis_.m; ++j)
        if (norms_.r[j] > 0) active.push_back(j);
    return active;
  }

  Extension extend(std::vector<int> const& active) {
    using Limits = Thresholds<Real>;
    // Where X is not a block of Ritz vectors, no drift can be seen.
    Real const largest_x =
        ritz_vectors_ ? norms_.largest_x() : std::numeric_limits<Real>::infinity();
    bool fused = Limits::fused_allowed && !careful_ && worst_backward() > Limits::fused_residual;
    for (int const j : active) fused = fused && norms_.backward[j] > Limits::fused_residual;
    if (fused) {
      auto const outcome = extend_fused(problem_, basis_, grams_, ritz_, theta_, largest_x);
      if (outcome != Extension::ill_conditioned) return outcome;
      ++problem_.counters.factor_fallbacks;
    }
    return extend_robust(problem_, basis_, grams_, ritz_, theta_, largest_x);
  }

  std::optional<Status> handle(Extension outcome) {
    basis_.w = 0;
    switch (outcome) {
      case Extension::mass_not_positive_definite:
        return Status::mass_not_positive_definite;
      case Extension::not_finite:
        return Status::operator_not_finite;
      case Extension::empty:
        if (++empty_ >= 2)
          return all_open_at_floor() ? Status::attainable_limit : Status::stagnated;
        ++problem_.counters.restarts;
        return refresh(problem_, basis_, grams_, ritz_, theta_, false);
      default:
        return collapse();
    }
  }

  bool all_open_at_floor() const {
    for (int j = 0; j < options_.wanted; ++j)
      if (!done_[j] && !at_floor(j)) return false;
    return true;
  }

  /// The basis lost rank or drifted: everything anew from X, three times in a row at most.
  std::optional<Status> collapse() {
    basis_.w = 0;
    if (++collapses_ > 3) return Status::basis_collapsed;
    ++problem_.counters.restarts;
    return refresh(problem_, basis_, grams_, ritz_, theta_, false);
  }

  /// Numbers that are not finite may be an accident: another try decides.
  std::optional<Status> mended(std::optional<Status> status) {
    return status == Status::operator_not_finite ? recover() : status;
  }

  /// NaN or Inf turned up: from the last X with new images, with random columns for those of X
  /// whose images are not finite; three times in a row at most.
  std::optional<Status> recover() {
    if (++recoveries_ > 3) return Status::operator_not_finite;
    ++problem_.counters.restarts;
    basis_.p = basis_.w = 0;
    auto const trouble = refresh(problem_, basis_, grams_, ritz_, theta_, false);
    if (trouble != Status::operator_not_finite) return trouble;
    auto const entries = problem_.largest_entries(basis_.ax());
    for (int j = 0; j < basis_.m; ++j)
      if (!std::isfinite(entries[j])) problem_.randomize(basis_.columns(basis_.s, j, 1));
    return refresh(problem_, basis_, grams_, ritz_, theta_, false);
  }

  /// The report, with residuals from the operators themselves whatever the status.
  Report finish(Status status);

  Problem<Scalar, Exec>& problem_;
  Options const& options_;
  View x_;
  Basis<Scalar, Exec> basis_;
  Grams<Scalar, Exec> grams_;
  RayleighRitz<Scalar> ritz_;
  Stagnation<Real> stagnation_;
  Probe<Scalar, Exec> probe_;
  Residuals<Real> norms_;
  std::vector<Real> theta_;
  std::vector<bool> done_;
  std::vector<LobpcgIteration<Real>> history_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  int widest_;
  std::int64_t offered_ = 0, dropped_ = 0;  ///< directions since the last restart
  int iteration_ = 0, measured_iteration_ = -1, last_active_ = 0;
  int idle_restarts_ = 0;
  int failed_verifications_ = 0, recoveries_ = 0, collapses_ = 0, empty_ = 0;
  bool careful_ = false;      ///< a verification failed: robust path only
  bool ritz_vectors_ = true;  ///< X diagonalizes A (not so just after the block was widened)
  bool exact_ = false;        ///< the images are applications of the operators to this X
};

template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> LobpcgSolver<Scalar, Exec>::finish(Status status) {
  Report report;
  report.status = status;
  report.iterations = iteration_;
  bool known = exact_;
  if (!known) known = !refresh(problem_, basis_, grams_, ritz_, theta_, true);
  if (known) {
    if (!exact_) norms_ = residuals(problem_, basis_, theta_, basis_.a_spare(basis_.m));
    report_pairs(problem_, theta_, norms_, options_, report);
    auto const wanted = basis_.columns(basis_.s, 0, options_.wanted);
    if (problem_.vector_scale() != Real(1)) problem_.scale(wanted, problem_.vector_scale());
    Kokkos::deep_copy(problem_.exec, basis_.columns(x_, 0, options_.wanted), wanted);
  } else {
    report_nothing(problem_, options_, report);
  }
  report.history = std::move(history_);
  problem_.exec.fence("Blockspan::lobpcg: done");
  problem_.seconds.total = seconds_since(begin_);
  report.counters = problem_.counters;
  report.seconds = problem_.seconds;
  return report;
}

}  // namespace blockspan::detail
