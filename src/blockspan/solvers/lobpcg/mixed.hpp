#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <blockspan/multivector/convert.hpp>
#include <blockspan/solvers/common/agreement.hpp>
#include <blockspan/solvers/lobpcg/accuracy/checks.hpp>
#include <blockspan/solvers/lobpcg/solve_path.hpp>
#include <blockspan/solvers/lobpcg/thresholds.hpp>
#include <blockspan/solvers/lobpcg_mixed.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::eigen {

/// The two stages of lobpcg_mixed.
template <class Scalar, class Exec>
class MixedLobpcg {
 public:
  using Real = real_t<Scalar>;
  using Single = single_t<Scalar>;
  using SingleReal = real_t<Single>;
  using Options = LobpcgOptions<Scalar, Exec>;
  using Report = LobpcgMixedReport<Real>;
  static_assert(!std::is_same_v<Scalar, Single>, "the working precision is double");

  MixedLobpcg(Exec const& exec, LobpcgSingleOperators<Scalar, Exec> const& single,
              LinearOperator<Scalar, Exec> const& A, LinearOperator<Scalar, Exec> const* B,
              Block<Scalar, Exec> const& X, Options const& options)
      : exec_(exec),
        single_(single),
        a_(A),
        b_(B),
        a_rows_(A.row_space()),
        x_(X),
        options_(options),
        agreement_(ranks(), static_cast<bool>(options.monitor)) {
    ranks().run_agreed([&] { check_arguments(); });
  }

  Report solve() {
    Report report;
    Problem<Scalar, Exec> problem(exec_, a_, b_, options_);
    require_finite_vectors(problem, x_, options_);
    if (options_.resume.empty() && !choose_path(problem, options_, x_.extent(1)).dense)
      run_single(problem, report);
    finish(report);
    return report;
  }

 private:
  Communicator const& ranks() const { return a_rows_.communicator(); }

  void check_arguments() const {
    constexpr auto where = "lobpcg_mixed";
    options_.validate();
    require((b_ == nullptr) == (single_.B == nullptr), where,
            "B is given in one of the two precisions only");
    require(single_.A.rows() == a_.rows(), where, "A has order ", a_.rows(),
            ", but in single precision ", single_.A.rows());
    require(single_.A.row_space() == a_rows_, where,
            "the rows of A are not spread over the ranks alike in both precisions");
    require(static_cast<std::int64_t>(x_.extent(0)) == a_.rows(), where, "X has ", x_.extent(0),
            " rows, A has order ", a_.rows());
    eigen::check_arguments(a_, b_, x_, options_);
  }

  /// Iterations without progress after which single precision is given up. Its last digits are not
  /// worth more.
  static constexpr int patience = 20;
  static constexpr SingleReal goal = Thresholds<SingleReal>::fused_residual;

  void run_single(Problem<Scalar, Exec>& problem, Report& report) {
    int const columns = static_cast<int>(x_.extent(1));
    Block<Single, Exec> const X = converted(problem, x_, std::min(options_.guess_columns, columns));
    auto options = single_options();
    Block<Single, Exec> const constraints =
        converted(problem, options_.constraints, static_cast<int>(options_.constraints.extent(1)));
    options.constraints = constraints;
    options.monitor = [&](LobpcgProgress<SingleReal> const& now) { return monitor(now); };
    auto const found = single_.B ? lobpcg(exec_, single_.A, *single_.B, X, options)
                                 : lobpcg(exec_, single_.A, X, options);
    auto& stage = report.single;
    stage = {.status = idle_ ? Status::attainable_limit : found.status,
             .used = std::all_of(found.eigenvalues.begin(), found.eigenvalues.end(),
                                 [](SingleReal value) { return std::isfinite(value); }),
             .iterations = found.iterations,
             .counters = found.counters,
             .seconds = found.seconds,
             .fault = found.fault};
    if (!stage.used) return;
    convert_block(exec_, X, x_);
    for (auto const& line : found.history)
      report.history.push_back({line.iteration, line.active, eigenvalues(line.eigenvalues),
                                widened(line.backward_errors)});
    // The other stage measures the same vectors again.
    if (!report.history.empty()) report.history.pop_back();
  }

  LobpcgOptions<Single, Exec> single_options() const {
    LobpcgOptions<Single, Exec> single;
    single.wanted = options_.wanted;
    single.block = options_.block;
    single.which = options_.which;
    single.criterion = Criterion::backward;
    single.path = SolvePath::iterative;
    single.tolerance = std::max(static_cast<SingleReal>(options_.tolerance), goal);
    single.preconditioner = single_.preconditioner;
    single.max_iterations = options_.max_iterations;
    single.guess_columns = options_.guess_columns;
    single.seed = options_.seed;
    single.probe = false;
    single.check_hermitian = options_.check_hermitian;
    single.widest_block = static_cast<int>(x_.extent(1));
    single.time_limit = options_.time_limit;
    single.time_phases = options_.time_phases;
    return single;
  }

  /// Passes the progress on in working precision; false ends the stage.
  bool monitor(LobpcgProgress<SingleReal> const& now) {
    auto const values = eigenvalues(now.eigenvalues), errors = widened(now.backward_errors);
    auto const last = errors.begin() + std::min<std::ptrdiff_t>(now.wanted, std::ssize(errors));
    bool const backward = options_.criterion != Criterion::relative;
    int const converged =
        backward ? static_cast<int>(std::count_if(errors.begin(), last,
                                                  [&](Real e) { return e <= options_.tolerance; }))
                 : 0;
    bool const go_on =
        !options_.monitor ||
        options_.monitor({now.iteration, converged, now.wanted, now.active, now.locked, values,
                          errors, now.seconds, now.checkpoint_fault});
    // both stages end, on all ranks
    if (agreement_.any(!go_on)) {
      stopped_ = true;
      return false;
    }
    return !idles(now, *std::max_element(errors.begin(), last));
  }

  bool idles(LobpcgProgress<SingleReal> const& now, Real worst) {
    if (now.locked != locked_ || worst < best_ / 2) {
      locked_ = now.locked;
      best_ = worst;
      best_iteration_ = now.iteration;
    }
    // Above this the iteration is merely slow.
    constexpr Real near_floor = 100 * Thresholds<SingleReal>::floor;
    idle_ = best_ < near_floor && now.iteration - best_iteration_ > patience;
    return idle_;
  }

  void finish(Report& report) {
    auto options = options_;
    auto const& stage = report.single;
    if (stage.used) {
      options.continue_from(static_cast<int>(x_.extent(1)));
      options.max_iterations = std::max(0, options_.max_iterations - stage.iterations);
    }
    options.time_limit = std::max(0.0, options_.time_limit - seconds());
    if (stopped_) {
      options.max_iterations = 0;
      options.probe = false;
    }
    bool first = true;
    options.monitor = [&](LobpcgProgress<Real> const& now) {
      bool const seen = std::exchange(first, false) && stage.used && stage.iterations > 0;
      if (seen || stopped_ || !options_.monitor) return true;
      return options_.monitor({stage.iterations + now.iteration, now.converged, now.wanted,
                               now.active, now.locked, now.eigenvalues, now.backward_errors,
                               now.seconds, now.checkpoint_fault});
    };
    auto history = std::move(report.history);
    static_cast<LobpcgReport<Real>&>(report) =
        b_ ? lobpcg(exec_, a_, *b_, x_, options) : lobpcg(exec_, a_, x_, options);
    if (stopped_ && report.status == Status::max_iterations)
      report.status = Status::stopped_by_monitor;
    report.iterations += stage.iterations;
    for (auto& line : report.history) {
      line.iteration += stage.iterations;
      history.push_back(std::move(line));
    }
    report.history = std::move(history);
    report.seconds.total = seconds();
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  /// In working precision, of the problem as it is.
  std::vector<Real> eigenvalues(std::vector<SingleReal> const& values) const {
    auto result = widened(values);
    for (Real& value : result) value /= single_.factor;
    return result;
  }
  static std::vector<Real> widened(std::vector<SingleReal> const& values) {
    return {values.begin(), values.end()};
  }

  /// A block of the shape of V whose first `columns` columns are those of V, times powers of two
  /// that bring their largest entries, which may be beyond the range of Single, to about one.
  template <class View>
  Block<Single, Exec> converted(Problem<Scalar, Exec>& problem, View const& V, int columns) const {
    auto const result =
        allocate<Block<Single, Exec>>(exec_, "Blockspan::lobpcg_mixed", V.extent(0), V.extent(1));
    if (columns == 0) return result;
    auto const scaled = problem.new_block("Blockspan::lobpcg_mixed::scaled", columns);
    Kokkos::deep_copy(exec_, scaled, column_range(V, 0, columns));
    problem.scale_each(scaled, reciprocal_powers(problem.largest_entries(scaled)));
    convert_block(exec_, scaled, column_range(result, 0, columns));
    exec_.fence("Blockspan::lobpcg_mixed: scaled");
    return result;
  }

  Exec exec_;
  LobpcgSingleOperators<Scalar, Exec> const& single_;
  LinearOperator<Scalar, Exec> const& a_;
  LinearOperator<Scalar, Exec> const* b_;
  RowSpace a_rows_;
  Block<Scalar, Exec> x_;
  Options const& options_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Agreement agreement_;
  bool stopped_ = false, idle_ = false;
  int locked_ = 0, best_iteration_ = 0;
  Real best_ = std::numeric_limits<Real>::infinity();
};

template <class Scalar, class Exec>
LobpcgMixedReport<real_t<Scalar>> solve_mixed(Exec const& exec,
                                              LobpcgSingleOperators<Scalar, Exec> const& single,
                                              LinearOperator<Scalar, Exec> const& A,
                                              LinearOperator<Scalar, Exec> const* B,
                                              Block<Scalar, Exec> const& X,
                                              LobpcgOptions<Scalar, Exec> const& options) {
  return MixedLobpcg<Scalar, Exec>(exec, single, A, B, X, options).solve();
}

}  // namespace blockspan::eigen
