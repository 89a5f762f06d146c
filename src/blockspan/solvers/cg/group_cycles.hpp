#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <blockspan/solvers/cg/group.hpp>
#include <blockspan/solvers/cg/judge_curvature.hpp>

// The cycles of a group, what their ends mean for the next one, the columns that wait for the
// working precision, and what is done once all are closed.
namespace blockspan::krylov {

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::run_cycle() {
  control_.begin_cycle();
  CgCycle<Real> cycle;
  cycle.columns = open_;
  cycle.scales = scales_;
  for (std::size_t c = 0; c < open_.size(); ++c)
    cycle.goals.push_back(Limits::margin * columns_[open_[c]].reachable_goal() / scales_[c]);
  cycle.limit = fallback_status_ ? switched_limit_ : std::numeric_limits<int>::max();
  cycle.first = control_.cycle() == 1;
  if (control_.may_search() && !null_space().given())
    cycle.outside = [&](int columns) { return null_parts_appeared(columns); };
  bool const alone = options_.method == CgMethod::automatic && open_.size() == 1;
  if (inner_) {
    bool const block = block_ && !alone;
    (block ? block_ran_ : pseudo_block_ran_) = true;
    std::vector<Real> lengths;
    for (std::size_t c = 0; c < open_.size(); ++c)
      lengths.push_back(columns_[open_[c]].residual / scales_[c]);
    inner_->run(cycle, block ? CgMethod::block : CgMethod::pseudo_block, lengths, norms_,
                solution_);
    return;
  }
  if (block_ && alone) switch_to_pseudo_block(std::nullopt, "one open column is no block");
  if (block_) {
    block_ran_ = true;
    auto& method = tools_.block(problem_);
    method.run(cycle, norms_, control_, solution_);
    after_block(cycle, method);
  } else {
    pseudo_block_ran_ = true;
    auto& method = tools_.pseudo_block(problem_);
    method.run(cycle, norms_, control_, solution_);
    after_pseudo_block(cycle, method);
  }
  for (std::size_t c = 0; c < open_.size(); ++c) {
    Status const outcome = not_hermitian_ ? Status::operator_not_hermitian : cycle.outcome[c];
    bool const failed = outcome != Status::converged && outcome != Status::not_converged;
    columns_[open_[c]].failure = failed ? std::optional(outcome) : std::nullopt;
    singular_suspected_ = singular_suspected_ || outcome == Status::singular;
  }
}

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::after_block(CgCycle<Real> const& cycle,
                                        BlockCg<Scalar, Exec> const& method) {
  auto& report = control_.report();
  switch (cycle.end) {
    case CycleEnd::indefinite:
      if (!problem_.hermitian()) {
        not_hermitian_ = true;
        return;
      }
      report.indefinite = true;
      report.curvature = std::min(report.curvature, method.curvature());
      switch_to_pseudo_block(std::nullopt,
                             "A is indefinite, and only single columns can tell which are hit");
      return;
    case CycleEnd::singular:
      singular_suspected_ = true;
      return;
    case CycleEnd::conjugacy_lost:
      if (++conjugacy_lost_ >= 2)
        switch_to_pseudo_block(std::nullopt, "the block lost its conjugacy twice");
      return;
    case CycleEnd::no_gain:
      switch_to_pseudo_block(std::nullopt, "all columns see the same contraction");
      return;
    default:
      if (method.preconditioner_not_finite()) trouble_ = "the preconditioner gave NaN or Inf";
      ++completed_;
  }
}

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::after_pseudo_block(CgCycle<Real> const& cycle,
                                               PseudoBlockCg<Scalar, Exec> const& method) {
  auto& report = control_.report();
  if (method.preconditioner_not_finite()) trouble_ = "the preconditioner gave NaN or Inf";
  if (method.least_curvature() < 0 && !problem_.hermitian()) {
    not_hermitian_ = true;
  } else if (method.least_curvature() < 0) {
    report.indefinite = true;
    report.curvature = std::min(report.curvature, method.least_curvature());
  }
  hit_iteration_cap_ = cycle.end == CycleEnd::stopped && fallback_status_.has_value();
  ++completed_;
}

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::switch_to_pseudo_block(std::optional<Status> fallback_status,
                                                   std::string const& why) {
  block_ = false;
  fallback_status_ = fallback_status;
  switched_limit_ = 20 * control_.group_iterations() + 100;
  if (block_ran_) switched_ = why;
}

template <class Scalar, class Exec>
Status CgGroup<Scalar, Exec>::why_singular(int c) {
  int const width = static_cast<int>(open_.size());
  std::vector<View> shown{column_range(tools_.blocks.direction(width), c, 1),
                          column_range(tools_.blocks.residual(width), c, 1)};
  for (int i = 0; i < null_space().count(); ++i)
    shown.push_back(column_range(null_space().basis(), i, 1));
  CurvatureJudge<Scalar, Exec> judge_direction(problem_);
  for (auto const& z : shown) {
    auto const verdict = judge_direction(z);
    if (verdict.status == Status::singular) return Status::singular;
    if (verdict.status != Status::negative_curvature) continue;
    auto& all = control_.report();
    all.indefinite = true;
    all.curvature = std::min(all.curvature, verdict.curvature);
    return Status::negative_curvature;
  }
  auto const& column = columns_[open_[c]];
  return column.best <= Limits::null_image * column.noise ? Status::attainable_limit
                                                          : Status::stagnated;
}

template <class Scalar, class Exec>
bool CgGroup<Scalar, Exec>::resume_deferred() {
  if (deferred_.empty()) return false;
  if (control_.stopped()) {
    for (int const j : deferred_) close(j, *control_.stopped());
    return false;
  }
  fall_back_ = inner_->why_it_ended();
  inner_cycles_ = inner_->cycles();
  inner_.reset();
  std::sort(deferred_.begin(), deferred_.end());
  open_.swap(deferred_);
  deferred_.clear();
  solution_.restore(open_);
  verify();
  std::vector<int> positions;
  for (int c = 0; c < static_cast<int>(open_.size()); ++c) {
    report(open_[c]).fell_back = true;
    positions.push_back(c);
  }
  scale_residuals(static_cast<int>(open_.size()), positions);
  return true;
}

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::settle_doubts(std::vector<bool> const& with_product,
                                          std::vector<Real>& residuals) {
  int const width = static_cast<int>(open_.size());
  auto const X = tools_.blocks.direction(width), R = tools_.blocks.residual(width);
  auto const sizes = problem_.norms(X);
  for (int c = 0; c < width; ++c) {
    auto& column = columns_[open_[c]];
    column.rounding = column.noise = 0;
    if (!with_product[c]) continue;
    Real const b = norms_[open_[c]];
    column.noise = problem_.rounding() * (problem_.norm_a() * sizes[c] + b);
    if (!(residuals[c] <= column.goal) || residuals[c] + column.noise <= column.goal) continue;
    auto const r = tools_.blocks.spare(1);
    problem_.select_scaled(b_, {open_[c]}, {1 / column.unit}, r);
    problem_.synchronize("Blockspan::cg: numbers of the host");
    if (problem_.subtract_accurately(column_range(X, c, 1), r)) {
      if (null_space().given()) null_space().project_out(problem_, r);
      residuals[c] = problem_.norms(r)[0];
      copy_block<Exec, Scalar>(problem_.exec, block_ref<Exec>(r),
                               block_ref<Exec>(column_range(R, c, 1)));
    } else {
      auto const x = problem_.new_block("Blockspan::cg::signs", 1);
      multiply_flipped(problem_, column_range(X, c, 1), x, r);
      column.rounding = problem_.rounding() * (problem_.norms(r)[0] + b);
    }
  }
}

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::finish() {
  auto const timer = problem_.time(problem_.seconds.verify);
  auto written = all_;
  written.insert(written.end(), zero_.begin(), zero_.end());
  solution_.restore(written);
  auto const sizes = column_sizes(problem_, BlockRef<Scalar const>(solution_.x()), all_);
  double const norm_a = static_cast<double>(problem_.norm_a());
  for (int const j : all_) {
    auto const& column = columns_[j];
    double const size = std::ldexp(sizes[j].value, sizes[j].exponent);
    report(j).residual = column.best / norms_[j];
    report(j).backward_error = static_cast<Real>(static_cast<double>(column.best) /
                                                 (norm_a * size + static_cast<double>(norms_[j])));
  }
  leave_units(sizes);
}

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::leave_in_the_middle() noexcept {
  if (!in_units_) return;
  try {
    std::vector<Real> units;
    for (int const j : all_) units.push_back(columns_[j].unit);
    solution_.restore(all_);
    solution_.scale(all_, units);
  } catch (...) {  // short memory as a rule, and X is lost
  }
}

template <class Scalar, class Exec>
void CgGroup<Scalar, Exec>::leave_units(std::vector<ScaledSize> const& sizes) {
  using Format = std::numeric_limits<Real>;
  std::vector<Real> units, inverse;
  open_.clear();
  for (int const j : all_) {
    Real const unit = columns_[j].unit;
    units.push_back(unit);
    int const exponent = sizes[j].exponent + std::ilogb(unit);
    // twice the digits above the least positive value: no residual sees what is rounded there
    bool const held =
        exponent < Format::max_exponent - 2 && exponent > Format::min_exponent + 2 * Format::digits;
    if (held || sizes[j].value == 0) continue;
    open_.push_back(j);
    inverse.push_back(1 / unit);
  }
  solution_.scale(all_, units);
  in_units_ = false;
  if (open_.empty()) return;
  int const width = static_cast<int>(open_.size());
  auto const X = tools_.blocks.direction(width);
  solution_.gather(open_, inverse, X);
  problem_.apply_a(X, tools_.blocks.spare(width));
  auto const residuals = true_residuals(std::vector<bool>(open_.size(), true));
  for (int c = 0; c < width; ++c) {
    int const j = open_[c];
    auto const& column = columns_[j];
    if (residuals[c] <= std::max(column.goal, column.best)) continue;
    bool const worse = !(residuals[c] <= norms_[j]);  // than zero
    if (worse) solution_.set_zero(j);
    if (report(j).success()) report(j).status = Status::out_of_range;
    report(j).residual = worse ? Real(1) : residuals[c] / norms_[j];
  }
  solution_.restore(open_);
}

}  // namespace blockspan::krylov
