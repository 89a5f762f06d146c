#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include <blockspan/solvers/lobpcg/solver.hpp>

// What follows when all wanted pairs seem to have converged, when the iteration stagnates, and when
// arithmetic fails: the solver then restarts from what is usable, a few times in a row.
namespace blockspan::eigen {

/// X and its images from the operators themselves; then success, a probe, or on with care.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::verify() {
  ++problem_.counters.verifications;
  goals_.clear();
  if (auto const trouble = space_.refresh(true)) return trouble;
  flow_.exact = true;
  if (!measure()) return std::nullopt;
  stagnation_.begin_anew(flow_.iteration);
  if (converged() < flow_.wanted) {
    flow_.robust_only = true;
    return ++flow_.failed_verifications > 5 ? end_short(Status::attainable_limit) : std::nullopt;
  }
  if (!began_random() && may_probe()) return begin_probe(Status::converged);
  return in_batches() ? lock_batch() : claim();
}

/// Success, if the pairs pass as they will be reported: those bounds know what couples the vectors,
/// which the ones of an iteration do not. Else the errors of the others are to fall, for as long as
/// a search would take. Needs exact images.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::claim() {
  found_ = measure_exact();
  auto const& [X, BX, theta, norms, products] = *found_;
  auto const sizes = sharp_rounding(problem_, X, theta, norms);
  auto const quality = pair_qualities(problem_, theta, norms, sizes, flow_.wanted,
                                      MeasuredCouplings<Scalar>(problem_, products, norms, sizes));
  bool passed = true;
  for (int j = 0; j < flow_.wanted; ++j) {
    bool const done =
        is_done(pair_status(options_, theta[j], norms.backward[j], norms.relative[j], quality[j]));
    goals_.push_back(done ? flow_.tolerance : error(j) / 4);
    passed = passed && done;
  }
  if (passed) return Status::converged;
  if (++flow_.failed_verifications > 5) return Status::attainable_limit;
  found_.reset();
  flow_.goals_until = flow_.iteration + search_length(flow_.iteration);
  flow_.robust_only = true;
  return std::nullopt;
}

/// Whether pairs may have been missed and there are guards to search with, or room for them.
template <class Scalar, class Exec>
bool LobpcgSolver<Scalar, Exec>::may_probe() const {
  return options_.probe && probe_.wanted() &&
         (flow_.wanted < space_.m() || (!in_batches() && wider_block() > space_.m()));
}

/// Of pairs that are measured.
template <class Scalar, class Exec>
auto LobpcgSolver<Scalar, Exec>::sharp_quality() -> std::vector<PairQuality<Real>> {
  if (sharp_) return quality_;
  return pair_qualities(problem_, space_.theta, norms_,
                        sharp_rounding(problem_, space_.basis.x(), space_.theta, norms_),
                        flow_.wanted);
}

/// Needs pairs that are measured. `otherwise` where no guards can be had.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::begin_probe(Status otherwise) {
  auto const quality = sharp_quality();
  if (flow_.wanted == space_.m() && !widen()) return otherwise;
  flow_.exact = false;
  int const least = start_may_hide_pairs() ? 100 : 10;
  probe_.begin(space_, flow_.wanted, flow_.iteration, least, options_.max_iterations,
               worst_backward(), quality);
  return probe_.replace_guards(space_, flow_.wanted);
}

/// A start of eigenvectors that are not the wanted ones needs no iteration; random columns are at
/// the wanted ones when they have converged.
template <class Scalar, class Exec>
bool LobpcgSolver<Scalar, Exec>::start_may_hide_pairs() const {
  return options_.guess_columns >= flow_.wanted && !options_.continued;
}

/// Whether all columns of the block, guards included, began random with it: it is a search for
/// missed pairs itself then.
template <class Scalar, class Exec>
bool LobpcgSolver<Scalar, Exec>::began_random() const {
  return flow_.wanted < space_.m() && !probe_.replaced_guards() &&
         (options_.guess_columns == 0 || options_.continued);
}

/// Starts to watch whether guards that began random still find pairs, where they are not separated
/// from the wanted ones.
template <class Scalar, class Exec>
bool LobpcgSolver<Scalar, Exec>::watch_guards() {
  if (!began_random() || !may_probe() || flow_.iteration >= options_.max_iterations ||
      guards_are_apart(space_.theta, norms_, flow_.wanted, flow_.wanted - 1))
    return false;
  probe_.begin(space_, flow_.wanted, flow_.iteration, 10, options_.max_iterations, worst_backward(),
               sharp_quality());
  return true;
}

/// Ends a search, and reports where it was too short for pairs that the start may hide.
template <class Scalar, class Exec>
void LobpcgSolver<Scalar, Exec>::end_probe() {
  probe_.end(space_.theta, norms_);
  stagnation_.begin_anew(flow_.iteration);
  bool const said = !problem_.trouble.empty();
  if (!said && !probe_.wanted() && start_may_hide_pairs() && !probe_.conclusive())
    problem_.trouble =
        "the start may hide a pair: the search for one ended before it could tell; start without "
        "it, or with a stronger preconditioner";
}

/// Whether a search goes on with column j, converged or not.
template <class Scalar, class Exec>
bool LobpcgSolver<Scalar, Exec>::is_watched(int j) const {
  return probe_.keeps_guards() && !guards_are_apart(space_.theta, norms_, flow_.wanted, j);
}

/// For an indefinite A an approximate inverse may help or harm: checked twice, early.
template <class Scalar, class Exec>
bool LobpcgSolver<Scalar, Exec>::preconditioner_is_due() {
  bool const due = problem_.preconditioned() && space_.theta[0] < 0 && !probe_.running() &&
                   (flow_.iteration == 4 || flow_.iteration == 8) &&
                   flow_.preconditioner_checked_at != flow_.iteration;
  if (due) flow_.preconditioner_checked_at = flow_.iteration;
  return due;
}

/// The end without all pairs. What is said of those that converged asks for a probe as well; where
/// a dense solve follows it does not.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::end_short(Status status) {
  bool const dense_follows = dense_seconds_ < affordable_dense_seconds;
  if (dense_follows || in_batches() || converged() == 0 || !may_probe()) return status;
  if (auto const trouble = space_.refresh(true)) return trouble;
  if (!measure()) return Status::operator_not_finite;
  return begin_probe(status);
}

/// An idle window. T is dropped where it brings next to nothing, and for the largest pairs of A:
/// an approximation of its inverse favours the other end of the spectrum.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::restart() {
  if (all_open_at_normwise_floor()) return end_short(Status::attainable_limit);
  Real const size = std::max(Real(1), space_.largest_x * space_.largest_x);
  stagnation_.count(wanted_values(), 20 * Thresholds<Real>::u * problem_.norm_a * size);
  if (stagnation_.hopeless()) return end_short(Status::stagnated);
  // Guards help the upper end of the wanted set; a low pair that lags by itself needs iterations.
  bool const wide = stagnation_.wants_a_wider_block() && !done_[flow_.wanted - 1] && widen();
  bool const keep = wide || stagnation_.values_move() || flow_.idle_restarts >= most_idle_restarts;
  stagnation_.begin_anew(flow_.iteration);
  if (keep) return std::nullopt;
  ++flow_.idle_restarts;
  bool const useless = ++problem_.counters.restarts >= 2 && flow_.dropped * 2 > flow_.offered;
  if (problem_.preconditioned() && (useless || (problem_.sign < 0 && !problem_.generalized()))) {
    problem_.drop_preconditioner();
    ++problem_.counters.preconditioner_dropped;
  }
  flow_.offered = flow_.dropped = 0;
  return space_.refresh(false);
}

template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::handle(Extension outcome) {
  if (outcome == Extension::not_finite) locate_fault();
  space_.basis.w = 0;
  switch (outcome) {
    case Extension::mass_not_positive_definite:
      return Status::mass_not_positive_definite;
    case Extension::not_finite:
      return Status::operator_not_finite;
    case Extension::empty:
      // No direction is left to look for missed pairs in: the probe has seen all there is.
      if (probe_.running() && converged() == flow_.wanted) {
        probe_.end(space_.theta, norms_);
        return std::nullopt;
      }
      if (++flow_.consecutive_empty >= 2)
        return all_open_at_normwise_floor() ? Status::attainable_limit : Status::stagnated;
      ++problem_.counters.restarts;
      return space_.refresh(false);
    default:
      return collapse();
  }
}

/// The basis lost rank or drifted: rebuilds it from X, three times in a row at most.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::collapse() {
  space_.basis.w = 0;
  if (++flow_.collapses > 3) return Status::stagnated;
  ++problem_.counters.restarts;
  return space_.refresh(false);
}

/// A value that is not finite may be transient: another try decides.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::recover_if_nonfinite(
    std::optional<Status> status) {
  return status == Status::operator_not_finite ? recover() : status;
}

/// NaN or Inf turned up: from the last X with new images, with random columns for those of X whose
/// images are not finite; three times in a row at most.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::recover() {
  locate_fault();
  if (++flow_.recoveries > 3) return Status::operator_not_finite;
  ++problem_.counters.restarts;
  space_.drop_directions();
  auto const trouble = space_.refresh(false);
  if (trouble != Status::operator_not_finite) return trouble;
  auto const entries = problem_.largest_entries(space_.basis.ax());
  for (int j = 0; j < space_.m(); ++j)
    if (!std::isfinite(entries[j])) problem_.randomize(column_range(space_.basis.s, j, 1));
  return space_.refresh(false);
}

/// Remembers the first image under A or B that was not finite though its vector was, in place of
/// one under the preconditioner, which ends nothing. The columns of W are what the operators saw
/// last; where there are none it was X.
template <class Scalar, class Exec>
void LobpcgSolver<Scalar, Exec>::locate_fault() {
  if (fault_.operator_name == "A" || fault_.operator_name == "B") return;
  LobpcgFault found;
  int const first = space_.basis.w > 0 ? space_.m() + space_.basis.p : 0;
  int const count = space_.basis.w > 0 ? space_.basis.w : space_.m();
  auto const largest = [&](View const& block) {
    return problem_.largest_entries(column_range(block, first, count));
  };
  auto const vectors = largest(space_.basis.s);
  auto const blame = [&](char const* name, View const& images) {
    auto const entries = largest(images);
    for (int j = 0; j < count && found.operator_name.empty(); ++j)
      if (std::isfinite(vectors[j]) && !std::isfinite(entries[j]))
        found = {name, j, flow_.iteration};
  };
  blame("A", space_.basis.as);
  if (problem_.generalized()) blame("B", space_.basis.bs);
  if (!found.operator_name.empty()) fault_ = found;
}

}  // namespace blockspan::eigen
