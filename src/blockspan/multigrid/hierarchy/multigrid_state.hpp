#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <blockspan/multigrid/cycle/cycle.hpp>
#include <blockspan/multigrid/cycle/narrow_blocks.hpp>
#include <blockspan/multigrid/cycle/probe.hpp>
#include <blockspan/operators/entries/check_blocks.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/spmm/compiled_types.hpp>

namespace blockspan::levels {

/// A hierarchy, the cycle over it in the requested precision, and their report: the implementation
/// of Multigrid, on one rank and on several. Every member function but apply fences; all ranks call
/// together.
template <class Scalar, class Exec, class Levels>
class MultigridState {
 public:
  using Options = MultigridOptions<Scalar, Exec>;
  using Wide = typename Levels::Wide;
  using Matrix = typename Levels::Matrix;
  using Self = LinearOperator<Scalar, Exec>;
  static constexpr bool is_wide = std::is_same_v<Scalar, Wide>;
  static constexpr bool has_single = contains_v<single_t<Scalar>, SpmmScalars>;

  /// rows: number of local rows. options: validated, with the block size; hint: see near_null_hint.
  MultigridState(Options const& given, std::string hint, std::int64_t local, RowSpace const& space)
      : options(given), rows(local), hint_(std::move(hint)), space_(space), narrow_(space) {}

  Options options;
  std::int64_t rows;
  std::unique_ptr<Levels> levels;
  MultigridReport report;

  static bool cycles_in_single(Options const& options) {
    return is_wide && has_single && options.precision == MultigridPrecision::single;
  }

  /// self: the operator that owns this state. make(options): returns the hierarchy for these
  /// options.
  template <class Make>
  void set_up(Exec const& exec, Make const& make, Self const& self) {
    set_up_one(exec, make(options), self);
    if (report.status == MultigridStatus::weak && may_use_pulses()) try_pulses(exec, make, self);
  }

  /// Forbids apply() until a refresh is complete.
  void forbid() { ready_ = false; }

  void refresh(Exec const& exec, Matrix const& A, bool keep_prolongators) {
    forbid();
    if (!levels->is_complete()) working_.reset(), single_.reset();
    bool const exact = levels->report.exact_last;
    bool const kept = levels->refresh(exec, A, keep_prolongators);
    // the levels are others; or the last one has become singular (or regular), and its solver has
    // another type
    if (!kept || exact != levels->report.exact_last) working_.reset(), single_.reset();
    take_report();
    if (report.usable()) form_cycle(exec);
  }

  bool use_working_precision(Exec const& exec) {
    if (!single_ || !report.usable()) return false;
    options.precision = MultigridPrecision::working;
    forbid();
    single_.reset();
    form_cycle(exec);
    report.notes.push_back(
        "the cycle is in the working precision: in single precision it was not positive definite");
    return true;
  }

  void apply(char const* where, Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const {
    require_blocks(where, rows, block_ref<Exec>(X), block_ref<Exec>(Y));
    require(report.usable(), where, report.message);
    require(ready_, where, "a refresh failed: refresh again");
    if (space_.global_rows(rows) == 0 || X.extent(1) == 0) return;
    if (working_) return working_->apply(exec, X, Y);
    if constexpr (is_wide) narrow_.apply(exec, *single_, factor_, X, Y);
  }

 private:
  using Single = std::conditional_t<has_single, single_t<Scalar>, Scalar>;

  void set_up_one(Exec const& exec, std::unique_ptr<Levels> made, Self const& self) {
    levels = std::move(made);
    take_report();
    if (!report.usable()) return;
    form_cycle(exec);
    if (options.probe && space_.global_rows(rows) > 0) probe(exec, self);
  }

  bool may_use_pulses() const {
    return !options.pulses && report.near_null == 1 && options.block_size == 1 &&
           options.prolongators.empty() && report.levels.size() > 1;
  }

  /// Builds another hierarchy, which is kept if its probe predicts less work.
  template <class Make>
  void try_pulses(Exec const& exec, Make const& make, Self const& self) {
    auto const before = report;
    auto first = std::tuple(std::move(levels), std::move(working_), std::move(single_), factor_,
                            generation_, options.precision);
    options.pulses = true;
    set_up_one(exec, make(options), self);
    auto phases = before.phases;
    phases += report.phases;
    if (!(report.usable() && expected_work(report) < expected_work(before))) {
      std::tie(levels, working_, single_, factor_, generation_, options.precision) =
          std::move(first);
      options.pulses = false;
      report = before;
    } else {
      report.notes.push_back(
          "strong neighbours by pulses, prolongators smoothed twice: the entries left it weak");
    }
    report.phases = phases;
    report.seconds = phases.sum();
  }

  void take_report() {
    report = levels->report;
    report.seconds = report.phases.sum();
    if (report.usable()) note_complexity(report);
  }

  void form_cycle(Exec const& exec) {
    Kokkos::Timer timer;
    renew_cycle(exec);
    exec.fence("Blockspan::multigrid_cycle");
    ready_ = true;
    report.single = single_ != nullptr || sizeof(real_t<Scalar>) == 4;
    report.phases.cycle = timer.seconds();
    report.seconds = report.phases.sum();
  }

  /// Builds or updates the cycle for a hierarchy that is new, or has new values.
  void renew_cycle(Exec const& exec) {
    bool const first = !working_ && !single_;
    if (first) mind_contrast(exec);
    bool const replaced = generation_ != levels->generation;
    generation_ = levels->generation;
    auto const& level = levels->levels[0];
    Arena<Exec> arena("Blockspan::multigrid", level.A.nnz() + 8 * level.A.numRows());
    // a single inverse is cheap, and rounded to single precision it may lose its definiteness
    if (cycles_in_single(options) && report.levels.size() > 1) {
      factor_ = factor_below_one(levels->ranks().norm(exec, level));
      if (first)
        single_ = std::make_unique<Cycle<Single, Exec, Levels>>(
            exec, arena, *levels, options.degree, options.columns, factor_);
      else
        single_->refresh(exec, *levels, factor_);
      return;
    }
    if (first)
      working_ = std::make_unique<Cycle<Scalar, Exec, Levels>>(exec, arena, *levels, options.degree,
                                                               options.columns, 1);
    else if constexpr (is_wide)
      if (replaced) working_->replace_first(exec, arena, *levels);
    if (!first) working_->refresh(exec, *levels, 1);
  }

  /// In single precision small coefficients would be lost relative to the largest.
  void mind_contrast(Exec const& exec) {
    if (!cycles_in_single(options) || report.levels.size() < 2) return;
    double const here = contrast_of(exec, levels->levels[0].spectrum.factors);
    if (!(space_.communicator().largest(here) > most_contrast)) return;
    options.precision = MultigridPrecision::working;
    report.notes.push_back(
        "the cycle is in the working precision: diagonal entries differ by more than a factor of "
        "1e7");
  }

  /// With the matrix in double precision; not for solvers in single precision.
  void probe(Exec const& exec, Self const& self) {
    if constexpr (is_wide) {
      Kokkos::Timer timer;
      auto const probe = make_probe<Scalar, Exec>(exec, *levels->levels[0].op, self, options.seed);
      auto seen = probe->run();
      if (!seen.cycle_definite && use_working_precision(exec)) seen = probe->run();
      judge(seen, hint_, report);
      report.phases.probe = timer.seconds();
      report.seconds = report.phases.sum();
    }
  }

  static constexpr double most_contrast = 1e7;  ///< max/min of the diagonal for single precision

  std::string hint_;
  RowSpace space_;
  int generation_ = 0;                                    ///< of the hierarchy in `working_`
  std::unique_ptr<Cycle<Scalar, Exec, Levels>> working_;  ///< one of the two is null
  std::unique_ptr<Cycle<Single, Exec, Levels>> single_;
  double factor_ = 1;   ///< of the matrices in `single_`
  bool ready_ = false;  ///< a setup or refresh is complete
  NarrowBlocks<Scalar, Single, Exec> narrow_;
};

}  // namespace blockspan::levels
