#pragma once

#include <optional>
#include <vector>

#include <blockspan/solvers/lobpcg/solver.hpp>

namespace blockspan::detail {

/// A batch has converged, verified and probed: it is locked, and the next one begins with the
/// guards and what is left of the start; after the last one all are settled together.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::lock_batch() {
  int const found = flow_.wanted;
  lock_columns(space_, found);
  locked_theta_.insert(locked_theta_.end(), space_.theta.begin(), space_.theta.begin() + found);
  locked_errors_.insert(locked_errors_.end(), norms_.backward.begin(),
                        norms_.backward.begin() + found);
  if (locked() == options_.wanted) return settle_all();
  ++problem_.counters.batches;
  int const more = std::min(flow_.guesses - flow_.next_guess, found);
  shift_guards(space_, found, columns(x_, flow_.next_guess, more));
  flow_.next_guess += more;
  int const left = options_.wanted - locked();
  return next_batch(std::min(left, batch_size(options_.wanted, key_.columns)));
}

/// The block stands for its next start.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::next_batch(int pairs) {
  flow_.begin_batch(pairs);
  stagnation_ = Stagnation<Real>(options_.stagnation_window);
  stagnation_.begin_anew(flow_.iteration);
  probe_ = {};
  return space_.refresh(false);
}

/// Rayleigh-Ritz over all pairs. Where some are above the tolerance then (a cluster that a batch
/// cut through, say), these go back into the block and are iterated further.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::settle_all() {
  if (auto const trouble = settle(space_, constraints_, locked_theta_, settled_)) return trouble;
  std::vector<int> open;
  locked_errors_ = settled_.backward;
  quality_ = pair_qualities(problem_, locked_theta_, settled_,
                            sharp_rounding(problem_, problem_.deflation.y(constraints_, locked()),
                                           locked_theta_, settled_));
  for (int j = 0; j < options_.wanted; ++j)
    if (!is_done(pair_status(options_, locked_theta_[j], settled_.backward[j], settled_.relative[j],
                             quality_[j])))
      open.push_back(j);
  if (open.empty()) {
    flow_.settled = true;
    return Status::converged;
  }
  if (problem_.counters.polishes == most_polishes) return Status::attainable_limit;
  ++problem_.counters.polishes;
  int const most = batch_size(options_.wanted, key_.columns);
  if (static_cast<int>(open.size()) > most) open.resize(most);
  for (auto j = open.rbegin(); j != open.rend(); ++j) {
    locked_theta_.erase(locked_theta_.begin() + *j);
    locked_errors_.erase(locked_errors_.begin() + *j);
  }
  flow_.tolerance /= 4;
  flow_.accuracy /= 4;
  int const count = static_cast<int>(open.size());
  unlock_columns(space_, constraints_, open);
  return next_batch(count);
}

}  // namespace blockspan::detail
