#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <blockspan/solvers/lobpcg/solver.hpp>
#include <blockspan/solvers/lobpcg/subspace/residuals.hpp>
#include <blockspan/solvers/lobpcg/subspace/subspace.hpp>

// More pairs than the block holds are found in batches: a converged batch is locked, that is moved
// to the deflated vectors, and the block goes on with its guards, what is left of the start, and
// random columns. The locked pairs are settled together at the end.
namespace blockspan::eigen {

/// Moves the first `count` columns of X, orthonormal, to the deflated vectors.
template <class Scalar, class Exec>
void lock_columns(Subspace<Scalar, Exec>& space, int count) {
  auto& problem = space.problem;
  auto const& basis = space.basis;
  auto& locked = problem.deflation;
  int const first = locked.count();
  Kokkos::deep_copy(problem.exec, locked.y(first, count), column_range(basis.s, 0, count));
  if (problem.generalized())
    Kokkos::deep_copy(problem.exec, locked.by(first, count), column_range(basis.bs, 0, count));
  locked.resize(first + count);
}

/// The next start of the block after its first `locked` columns were locked: the guards, the
/// columns of `more` (at most the locked count), then random columns.
template <class Scalar, class Exec>
void shift_guards(Subspace<Scalar, Exec>& space, int locked, Block<Scalar, Exec> const& more) {
  space.drop_directions();
  auto const& exec = space.problem.exec;
  auto const& basis = space.basis;
  int const guards = basis.m - locked;
  if (guards > 0) {
    auto const staging = basis.spare(guards);
    Kokkos::deep_copy(exec, staging, column_range(basis.s, locked, guards));
    Kokkos::deep_copy(exec, column_range(basis.s, 0, guards), staging);
  }
  int const given = static_cast<int>(more.extent(1));
  Kokkos::deep_copy(exec, column_range(basis.s, guards, given), more);
  space.repair_x(guards + given);
}

/// V := V C for deflated vectors, and B V by the same coefficients.
template <class Scalar, class Exec>
void combine_locked(Problem<Scalar, Exec>& problem, int first, SmallMatrix<Scalar> const& C) {
  int const count = static_cast<int>(C.extent(0));
  auto const on_device = problem.small_on_device(C);
  blockspan::combine_in_place(problem.exec, problem.deflation.y(first, count), on_device,
                              problem.workspace);
  if (problem.generalized())
    blockspan::combine_in_place(problem.exec, problem.deflation.by(first, count), on_device,
                                problem.workspace);
  problem.exec.fence("Blockspan::lobpcg: locked vectors");  // the coefficients are reused
}

/// H = V^H A V of the deflated vectors from `first` on, in chunks of the block's width.
template <class Scalar, class Exec>
SmallMatrix<Scalar> gram_of_locked(Subspace<Scalar, Exec>& space, int first, int count) {
  auto& problem = space.problem;
  auto const& basis = space.basis;
  auto const H = small_matrix<Scalar>(count, count);
  auto const V = problem.deflation.y(first, count);
  for (int begin = 0; begin < count; begin += basis.m) {
    int const width = std::min(basis.m, count - begin);
    auto const AV = column_range(basis.as, 0, width);
    problem.apply_a(problem.deflation.y(first + begin, width), AV);
    blockspan::gram(problem.exec, V, AV, part(H, 0, count, begin, width), problem.workspace);
  }
  symmetrize(H, problem.sign);
  return H;
}

/// Appends to `all` what was measured of more columns.
template <class Real>
void append(Residuals<Real>& all, Residuals<Real> const& more) {
  auto const add = [](std::vector<Real>& to, std::vector<Real> const& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(all.r, more.r), add(all.x, more.x), add(all.bx, more.bx), add(all.w, more.w);
  add(all.dual, more.dual), add(all.constrained, more.constrained);
  add(all.backward, more.backward), add(all.relative, more.relative);
  all.finite = all.finite && more.finite;
}

/// Rayleigh-Ritz on `count` deflated vectors from `first` on, none of which count as deflated here.
template <class Scalar, class Exec>
std::optional<Status> rotate_locked(Subspace<Scalar, Exec>& space, int first, int count,
                                    std::vector<real_t<Scalar>>& theta) {
  auto& problem = space.problem;
  auto const V = problem.deflation.y(first, count), BV = problem.deflation.by(first, count);
  for (int pass = 0; pass < 2; ++pass) problem.constrain(V);
  if (problem.generalized()) problem.apply_b(V, BV);
  if (problem.orthonormalize(V, BV) < count) return Status::stagnated;
  auto const H = gram_of_locked(space, first, count);
  if (!all_finite(H)) return Status::operator_not_finite;
  auto const timer = problem.time(problem.seconds.dense);
  if (problem.eigen(H, theta) != 0) return Status::stagnated;
  combine_locked(problem, first, H);
  return std::nullopt;
}

/// Residuals of deflated vectors from A and B themselves, in chunks of the block's width; products,
/// of that order unless empty: X^H R.
template <class Scalar, class Exec>
Residuals<real_t<Scalar>> residuals_of_locked(Subspace<Scalar, Exec>& space, int first,
                                              std::vector<real_t<Scalar>> const& theta,
                                              SmallMatrix<Scalar> const& products = {}) {
  auto& problem = space.problem;
  auto const& basis = space.basis;
  auto const& locked = problem.deflation;
  Residuals<real_t<Scalar>> norms;
  int const count = static_cast<int>(theta.size());
  for (int begin = 0; begin < count; begin += basis.m) {
    int const width = std::min(basis.m, count - begin);
    Images<Scalar, Exec> const chunk{locked.y(first + begin, width),
                                     column_range(basis.as, 0, width),
                                     locked.by(first + begin, width)};
    problem.apply_a(chunk.X, chunk.AX);
    if (problem.generalized()) problem.apply_b(chunk.X, chunk.BX);
    append(norms, residuals(problem, chunk, {theta.begin() + begin, theta.begin() + begin + width},
                            basis.a_spare(width)));
    if (products.extent(0) > 0)
      blockspan::gram(problem.exec, locked.y(first, count), basis.a_spare(width),
                      part(products, 0, count, begin, width), problem.workspace);
  }
  return norms;
}

/// Theta to Rayleigh quotients, with their residuals; returns X^H R. The deflated vectors from
/// `first` on do not count as deflated here.
template <class Scalar, class Exec>
SmallMatrix<Scalar> measure_locked(Subspace<Scalar, Exec>& space, int first,
                                   std::vector<real_t<Scalar>>& theta,
                                   Residuals<real_t<Scalar>>& norms) {
  auto& locked = space.problem.deflation;
  int const count = static_cast<int>(theta.size());
  auto const products = small_matrix<Scalar>(count, count);
  locked.resize(first);
  residuals_of_locked(space, first, theta, products);
  correct_quotients(products, theta);
  norms = residuals_of_locked(space, first, theta);
  locked.resize(first + count);
  return products;
}

/// Rayleigh-Ritz on all deflated vectors from `first` on: components of each batch in the span of
/// the others are removed, and the values are sorted. theta and norms are those of the resulting
/// pairs. Overwrites the images in `basis`. A status if the arithmetic does not allow it.
template <class Scalar, class Exec>
std::optional<Status> settle(Subspace<Scalar, Exec>& space, int first,
                             std::vector<real_t<Scalar>>& theta, Residuals<real_t<Scalar>>& norms) {
  space.drop_directions();
  auto& locked = space.problem.deflation;
  int const count = locked.count() - first;
  locked.resize(first);  // pairs are deflated against constraints, not each other
  auto const trouble = rotate_locked(space, first, count, theta);
  if (!trouble) norms = residuals_of_locked(space, first, theta);
  locked.resize(first + count);
  return trouble;
}

/// Moves the listed pairs (counted from `first`) from the deflated vectors to the leading columns
/// of X.
template <class Scalar, class Exec>
void unlock_columns(Subspace<Scalar, Exec>& space, int first, std::vector<int> const& listed) {
  auto& problem = space.problem;
  auto& locked = problem.deflation;
  int const count = locked.count() - first, freed = static_cast<int>(listed.size());
  blockspan::copy_columns(problem.exec, locked.y(first, count), listed,
                          column_range(space.basis.s, 0, freed));
  auto const kept = small_matrix<Scalar>(count, count - freed);
  Kokkos::deep_copy(kept, Scalar(0));
  int column = 0;
  for (int i = 0; i < count; ++i)
    if (std::find(listed.begin(), listed.end(), i) == listed.end()) kept(i, column++) = Scalar(1);
  if (column > 0) combine_locked(problem, first, kept);
  locked.resize(first + column);
  space.repair_x(freed);
}

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
  shift_guards(space_, found, column_range(x_, flow_.next_guess, more));
  flow_.next_guess += more;
  int const left = options_.wanted - locked();
  return next_batch(std::min(left, batch_size(options_.wanted, key_.columns)));
}

/// Starts the next batch from the current block.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::next_batch(int pairs) {
  flow_.begin_batch(pairs);
  stagnation_ = Stagnation<Real>(options_.stagnation_window);
  stagnation_.begin_anew(flow_.iteration);
  probe_ = {};
  return space_.refresh(false);
}

/// Rayleigh-Ritz over all pairs. Pairs that are then above the tolerance (for instance of a cluster
/// divided between batches) return to the block and are iterated further.
template <class Scalar, class Exec>
std::optional<Status> LobpcgSolver<Scalar, Exec>::settle_all() {
  if (auto const trouble = settle(space_, constraints_, locked_theta_, settled_)) return trouble;
  std::vector<int> open;
  locked_errors_ = settled_.backward;
  quality_ = pair_qualities(problem_, locked_theta_, settled_,
                            sharp_rounding(problem_, problem_.deflation.y(constraints_, locked()),
                                           locked_theta_, settled_),
                            options_.wanted);
  for (int j = 0; j < options_.wanted; ++j)
    if (!is_done(pair_status(options_, locked_theta_[j], settled_.backward[j], settled_.relative[j],
                             quality_[j])))
      open.push_back(j);
  if (open.empty()) {
    flow_.settled = true;
    return Status::converged;
  }
  int const most = batch_size(options_.wanted, key_.columns);
  int const round = (options_.wanted + most - 1) / most;  // as many polishes as reach every pair
  if (problem_.counters.polishes == most_polishes * round) return Status::attainable_limit;
  if (problem_.counters.polishes++ % round == 0) flow_.tolerance /= 4, flow_.accuracy /= 4;
  // Large residuals widen the bounds of their neighbours too.
  std::stable_sort(open.begin(), open.end(),
                   [&](int i, int j) { return settled_.dual[i] > settled_.dual[j]; });
  open.resize(std::min(open.size(), static_cast<std::size_t>(most)));
  std::sort(open.begin(), open.end());
  for (auto j = open.rbegin(); j != open.rend(); ++j) {
    locked_theta_.erase(locked_theta_.begin() + *j);
    locked_errors_.erase(locked_errors_.begin() + *j);
  }
  int const count = static_cast<int>(open.size());
  unlock_columns(space_, constraints_, open);
  return next_batch(count);
}

}  // namespace blockspan::eigen
