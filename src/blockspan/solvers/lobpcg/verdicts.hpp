#pragma once

#include <algorithm>
#include <optional>

#include <blockspan/solvers/lobpcg/solver.hpp>

// What follows when all wanted pairs seem to be done, and when the iteration idles.
namespace blockspan::detail {

/// X and its images from the operators themselves; then success, a probe, or on with care.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::verify() {
  ++problem_.counters.verifications;
  if (auto const trouble = space_.refresh(true)) return trouble;
  flow_.exact = true;
  if (!measure()) return std::nullopt;
  stagnation_.begin_anew(flow_.iteration);
  if (converged() < flow_.wanted) {
    flow_.careful = true;
    return ++flow_.failed_verifications > 5 ? std::optional(Status::attainable_limit)
                                            : std::nullopt;
  }
  if (!options_.probe || !probe_.wanted() || flow_.wanted == space_.m())
    return in_batches() ? lock_batch() : Status::converged;
  flow_.exact = false;
  return probe_.begin(space_, flow_.wanted, flow_.iteration, options_.max_iterations,
                      worst_backward());
}

/// An idle window. T is dropped where it brings next to nothing, and for the largest pairs of A:
/// an approximation of its inverse favours the other end of the spectrum.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::restart() {
  if (all_open_at_floor()) return Status::attainable_limit;
  Real const size = std::max(Real(1), space_.largest_x * space_.largest_x);
  stagnation_.count(wanted_values(), 20 * Thresholds<Real>::u * problem_.norm_a * size);
  if (stagnation_.hopeless()) return Status::stagnated;
  // Guards help the upper end of the wanted set; a low pair that is late by itself needs
  // patience.
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

}  // namespace blockspan::detail
