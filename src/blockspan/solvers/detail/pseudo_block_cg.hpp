#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include <blockspan/solvers/detail/cg_control.hpp>
#include <blockspan/solvers/detail/cg_solution.hpp>
#include <blockspan/solvers/detail/cg_thresholds.hpp>
#include <blockspan/solvers/detail/column_numbers.hpp>
#include <blockspan/solvers/detail/column_recurrence.hpp>
#include <blockspan/solvers/detail/column_sums.hpp>
#include <blockspan/solvers/detail/curvature_watch.hpp>
#include <blockspan/solvers/detail/device_numbers.hpp>
#include <blockspan/solvers/detail/replay.hpp>
#include <blockspan/solvers/detail/single_reduction.hpp>

namespace blockspan::detail {

/// One cycle of pseudo-block conjugate gradients: A E = R for the columns of the cycle, each by its
/// own recurrence. Columns that are done rest (alpha = beta = 0) until enough of them do; then they
/// are added to X and the others move together.
///
/// With two reductions a step ends with all numbers of its residual. With one it ends after the
/// next product, whose reduction brings the numbers of the residual along.
template <class Scalar, class Exec>
class PseudoBlockCg {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;
  using Cycle = CgCycle<Real>;

  PseudoBlockCg(CgProblem<Scalar, Exec>& problem, CgBlocks<Scalar, Exec>& blocks, int columns)
      : problem_(problem),
        blocks_(blocks),
        numbers_(problem.exec, columns),
        dots_(problem.exec, columns) {}

  /// The residuals stand in blocks.residual(); E is added to the solution column by column.
  void run(Cycle& cycle, std::vector<Real> const& norms, CgControl<Scalar, Exec>& control,
           CgSolution<Scalar, Exec>& solution) {
    cycle_ = &cycle;
    solution_ = &solution;
    single_ = control.options().single_reduction && !problem_.general();
    compact_next_ = false;
    numbers_.set_width(static_cast<int>(cycle.columns.size()));
    replay_.forget();
    watch_started_ = false;
    places_.resize(width());
    for (int c = 0; c < width(); ++c) places_[c] = c;
    live_.assign(width(), true);
    residuals_.assign(width(), Real(0));
    cycle.outcome.assign(width(), Status::not_converged);
    cycle.end = CycleEnd::finished;
    watching_ = control.may_search();
    watch_.start(live_.size());
    gains_.start(live_.size());
    start();
    for (int steps = 0; any_running();) {
      advance();
      auto const stop = control.step(cycle, residuals_, live_, norms, width());
      take_states();
      if (watching_ && gains_.stale(residuals_, live_)) {
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
  static constexpr int p = parts<Scalar>;
  static constexpr bool on_host = runs_on_host_v<Exec>;
  using N = ColumnNumbers<Scalar, Exec>;

  /// Columns of the blocks now.
  int width() const { return numbers_.width(); }

  void wait() {
    auto const timer = problem_.time(problem_.seconds.gram);
    problem_.synchronize("Blockspan::cg: states of the columns");
  }

  template <class Terms, class Take>
  void reduce(char const* label, Terms const& terms, Take const& take) {
    sums_(problem_.exec, label, terms, problem_.rows(), width() * p, p);
    take_sums<Take::count>(problem_.exec, sums_.nodes(), sums_.nodes(), take, width(), p);
  }

  RealRows<Real> e() const { return real_rows<Scalar, Exec>(blocks_.correction(width())); }
  RealRows<Real> d() const { return real_rows<Scalar, Exec>(blocks_.direction(width())); }
  RealRows<Real> q() const { return real_rows<Scalar, Exec>(blocks_.spare(width())); }
  RealRows<Real> r() const { return real_rows<Scalar, Exec>(blocks_.residual(width())); }

  /// E = 0, P = M^-1 R, gamma = r.p
  void start() {
    for (int c = 0; c < width(); ++c) {
      numbers_(N::state, c) = static_cast<Real>(ColumnState::running);
      numbers_(N::goal, c) = cycle_->goals[c] * cycle_->goals[c];
      numbers_(N::held, c) = 0;
    }
    numbers_.upload();
    zero_block(problem_.exec, block_ref<Exec>(blocks_.correction(width())));
    auto const P = blocks_.direction(width()), R = blocks_.residual(width());
    if (problem_.preconditioned())
      problem_.apply_m(R, P);
    else
      copy_block<Exec, Scalar>(problem_.exec, block_ref<Exec>(R), block_ref<Exec>(P));
    if (single_) {
      measure_residual();
      predict();
    } else {
      reduce("Blockspan::cg::start", ProductTerms<Real>{r(), d()},
             TakeStart<Real>{numbers_.on_device()});
      numbers_.download();
    }
    if (single_) problem_.count_a(P);
    wait();
    take_states();
    for (int c = 0; c < width(); ++c) watch_.direction(places_[c], numbers_(N::gamma, c));
    if (single_) watch();
  }

  /// One step, up to the numbers on the host.
  void advance() {
    bool const held = single_ && any_held();
    if (single_ && (compact_next_ || held)) {
      update_all();
      if (held) update_held();
      if (compact_next_) {
        compact();
        measure_residual();
      }
      predict();
    } else if (single_) {
      replay([&] {
        update_all();
        predict();
      });
    } else {
      if (compact_next_) compact();
      replay([&] { step_with_two_reductions(); });
    }
    problem_.count_a(blocks_.direction(width()));
    if (!single_) problem_.count_m(blocks_.spare(width()));
    wait();
    for (int c = 0; c < width(); ++c) {
      residuals_[places_[c]] = std::sqrt(numbers_(N::phi, c));
      if (!summed_ && numbers_(N::curvature, c) > 0) problem_.note_norm(numbers_(N::curvature, c));
    }
    watch();
  }

  /// Ends columns whose direction shows that A is singular. The scalars of the products are those
  /// of the last direction, gamma that of the next, but with one reduction of the same one.
  void watch();

  /// No column goes on: A is not Hermitian, or has null vectors that the residuals have parts of.
  void refuse(Status why);

  template <class Work>
  void replay(Work const& step) {
    if (!problem_.replayable())
      step();
    else if (replay_(problem_.exec, step))
      ++problem_.counters.replayed;
  }

  /// Q = A P, with the sums of P and Q where the operator makes them beside it. These lack p.p,
  /// which only an operator without a bound of its norm needs in every step.
  void multiply() {
    auto const P = blocks_.direction(width()), Q = blocks_.spare(width());
    summed_ = problem_.knows_norm() && problem_.enqueue_a_dots(P, Q, dots_, single_);
    if (!summed_) problem_.enqueue_a(P, Q);
  }

  void step_with_two_reductions() {
    auto const columns = numbers_.on_device();
    TakeCurvature<Real> const take{columns};
    multiply();
    {
      auto const timer = problem_.time(problem_.seconds.gram);
      if (summed_)
        take_sums<take.count>(problem_.exec, dots_, sums_.nodes(), take, width(), p);
      else
        reduce("Blockspan::cg::curvature", CurvatureTerms<Real>{d(), q()}, take);
    }
    bool const general = problem_.general();
    {
      auto const timer = problem_.time(problem_.seconds.update);
      reduce("Blockspan::cg::residual",
             ResidualStepTerms<Real>{q(), r(), columns.alpha, problem_.weights()},
             TakeResidual<Real>{columns, !general});
    }
    if (general) {
      problem_.enqueue_m(blocks_.residual(width()), blocks_.spare(width()));
      auto const timer = problem_.time(problem_.seconds.gram);
      reduce("Blockspan::cg::product", ProductTerms<Real>{r(), q()}, TakeProduct<Real>{columns});
    }
    update_directions(columns);
    numbers_.download();
  }

  void measure_residual() {
    auto const timer = problem_.time(problem_.seconds.update);
    lagging_(problem_.exec, "Blockspan::cg::residual", SizeTerms<Real>{r(), problem_.weights()},
             problem_.rows(), width() * p, p);
  }

  /// The product and the one reduction: numbers of the residual and of the step to come.
  void predict() {
    using Terms = PredictionTerms<Real>;
    TakePrediction<Real> const take{numbers_.on_device(), CgThresholds<Real>::cancelled};
    auto const& exec = problem_.exec;
    multiply();
    auto const timer = problem_.time(problem_.seconds.gram);
    if (summed_) {
      take_sums<Terms::count>(exec, dots_, lagging_.nodes(), take, width(), p);
    } else {
      sums_(exec, "Blockspan::cg::curvature", Terms{d(), q(), problem_.weights()}, problem_.rows(),
            width() * p, p);
      take_sums<Terms::count>(exec, sums_.nodes(), lagging_.nodes(), take, width(), p);
    }
    numbers_.download();
  }

  /// The step that predict() prepared.
  void update_all() {
    auto const timer = problem_.time(problem_.seconds.update);
    auto const columns = numbers_.on_device();
    lagging_(problem_.exec, "Blockspan::cg::update",
             UpdateTerms<Real>{e(), d(), q(), r(), columns.alpha, columns.beta, problem_.weights()},
             problem_.rows(), width() * p, p);
  }

  bool any_held() {
    for (int c = 0; c < width(); ++c)
      if (numbers_(N::held, c) != 0) return true;
    return false;
  }

  /// The columns whose beta had to wait for the true gamma.
  void update_held() {
    auto const timer = problem_.time(problem_.seconds.update);
    auto const columns = numbers_.on_device();
    TakeHeld<Real> const take{columns};
    take_sums<take.count>(problem_.exec, lagging_.nodes(), lagging_.nodes(), take, width(), p);
    Kokkos::parallel_for("Blockspan::cg::direction",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             problem_.exec, 0, problem_.rows()),
                         HeldDirections<Real>{d(), r(), columns.beta, problem_.weights()});
  }

  void update_directions(ColumnScalars<Real> const& columns) {
    auto const timer = problem_.time(problem_.seconds.update);
    using Step = DirectionStep<Real>;
    using Tag = std::conditional_t<on_host, typename Step::ByRow, typename Step::ByNumber>;
    Kokkos::parallel_for(
        "Blockspan::cg::direction",
        Kokkos::RangePolicy<Exec, Tag, Kokkos::IndexType<std::int64_t>>(
            problem_.exec, 0, on_host ? problem_.rows() : problem_.rows() * p * width()),
        Step{e(), d(), problem_.general() ? q() : r(), columns.alpha, columns.beta,
             problem_.weights()});
  }

  ColumnState state(int c) {
    return static_cast<ColumnState>(static_cast<int>(numbers_(N::state, c)));
  }
  bool any_running() const { return std::find(live_.begin(), live_.end(), true) != live_.end(); }

  /// What has happened to the columns since the last look.
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
        return curvature(numbers_(N::curvature, c) / (summed_ ? square_of_direction(c) : Real(1)));
      case ColumnState::preconditioner:
        return Status::preconditioner_not_spd;
      case ColumnState::lost:
        preconditioner_not_finite_ = true;
        return Status::operator_not_finite;
      default:
        return Status::operator_not_finite;
    }
  }

  /// A curvature d^H A d / ||d||^2 <= 0: negative, or zero to working precision.
  Status curvature(Real value) {
    Real const norm = problem_.norm_a();
    if (!(value < -CgThresholds<Real>::flat * norm)) return Status::singular;
    least_curvature_ = std::min(least_curvature_, value / norm);
    return Status::negative_curvature;
  }

  /// p.p of a column whose P stands as it was multiplied.
  Real square_of_direction(int c) {
    ones_.assign(width(), Real(1));
    ScaledSquares<Scalar> const squares{block_ref<Exec>(blocks_.direction(width())),
                                        problem_.on_device(ones_)};
    return problem_.fold("Blockspan::cg::directions", squares, width())[c];
  }

  int running() {
    int count = 0;
    for (int c = 0; c < width(); ++c) count += live_[places_[c]] ? 1 : 0;
    return count;
  }

  /// An eighth of the columns rests, or the next width has a better product.
  bool compaction_pays() {
    int const now = running();
    if (now == width()) return false;
    if (width() - now >= std::max(1, width() / 8)) return true;
    for (int const better : {32, 16, 8, 4, 2, 1})
      if (now <= better && better < width()) return true;
    return false;
  }

  void compact();

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
    ones_.assign(count, Real(1));
    auto const gathered = blocks_.spare(count);
    select_scaled<Scalar, Exec>(problem_, block_ref<Exec>(E), which, ones_, gathered, factors_);
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
  ColumnNumbers<Scalar, Exec> numbers_;
  ProductDots<Scalar, Exec> dots_;  ///< of the directions, where the product sums them
  bool summed_ = false;             ///< it did, last time
  Replay<Exec> replay_;             ///< of the step at this width
  KeptNodes<Exec, Real> sums_;
  KeptNodes<Exec, Real> lagging_;  ///< (single reduction) of the residual, taken one product later
  bool single_ = false, compact_next_ = false;
  Cycle* cycle_ = nullptr;
  CgSolution<Scalar, Exec>* solution_ = nullptr;
  std::vector<int> places_;  ///< column of the cycle that stands at each position of the block
  std::vector<bool> live_;   ///< by column of the cycle
  std::vector<Real> residuals_, ones_, factors_;
  CurvatureWatch<Real> watch_;
  Gains<Real> gains_;
  bool watching_ = false, watch_started_ = false;
  bool preconditioner_not_finite_ = false;
  Real least_curvature_ = 0;
};

}  // namespace blockspan::detail
