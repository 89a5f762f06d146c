#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include <blockspan/solvers/lobpcg/checkpoint.hpp>
#include <blockspan/solvers/lobpcg/subspace/problem.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::eigen {

/// Pairs of one batch: all, where the block holds them; else what leaves room for the guards that
/// lobpcg_block_size would give them.
inline int batch_size(int wanted, int columns) {
  if (wanted <= columns) return wanted;
  int size = columns - 1;
  while (size > 1 && lobpcg_block_size(size) > columns) --size;
  return std::max(size, 1);
}

/// Counters and flags that the iteration carries from one step to the next.
template <class Real>
struct LobpcgFlow {
  std::int64_t offered = 0, dropped = 0;  ///< directions since the last restart
  int iteration = 0, measured_iteration = -1, last_active = 0;
  int idle_restarts = 0, failed_verifications = 0, recoveries = 0, collapses = 0;
  int consecutive_empty = 0;           ///< extensions that left no direction
  int preconditioner_checked_at = -1;  ///< the iteration that last judged T
  int preconditioner_strikes = 0;      ///< how often it did harm
  int guesses = 0, next_guess = 0;     ///< columns of X that are a start; the first not yet used
  int goals_until = 0;                 ///< the iteration at which the pairs' own goals end
  int wanted = 0;                      ///< pairs of this batch
  Real tolerance = 0;                  ///< of this batch
  Real accuracy = 0;                   ///< 10^-digits, of this batch
  bool robust_only = false;            ///< a verification failed: robust path only
  bool ritz_vectors = true;  ///< X diagonalizes A (not so just after the block was widened)
  bool exact = false;        ///< the images are applications of the operators to this X
  bool settled = false;      ///< the locked pairs are all, in order and measured

  /// A new batch: resets the state of the last one.
  void begin_batch(int pairs) {
    wanted = pairs;
    offered = dropped = 0;
    idle_restarts = failed_verifications = recoveries = collapses = consecutive_empty = 0;
    robust_only = exact = false;
    ritz_vectors = true;
  }
};

/// What must agree between a checkpoint and the solve that goes on from it.
struct CheckpointKey {
  std::int64_t rows;
  int scalar_bytes, complex, generalized, preconditioned;
  int wanted, columns, which, criterion, constraints;
  double norm_bound;  ///< of A; NaN: not known

  template <class Scalar, class Exec>
  static CheckpointKey of(Problem<Scalar, Exec> const& problem,
                          LobpcgOptions<Scalar, Exec> const& options, int columns) {
    auto const bound = problem.facts_of_a().norm_bound;
    return {problem.global_rows(),
            static_cast<int>(sizeof(Scalar)),
            is_complex_v<Scalar>,
            problem.generalized(),
            options.preconditioner != nullptr,
            options.wanted,
            columns,
            static_cast<int>(options.which),
            static_cast<int>(options.criterion),
            static_cast<int>(options.constraints.extent(1)),
            bound ? static_cast<double>(*bound) : std::numeric_limits<double>::quiet_NaN()};
  }

  /// Throws Error where `now`, this solve, differs.
  void require_same(CheckpointKey const& now, std::string const& path) const {
    auto const same = [&](char const* what, auto then, auto today) {
      bool const both_nan = then != then && today != today;
      require(then == today || both_nan, path, "the checkpoint is of another solve: ", what,
              " was ", then, " there and is ", today, " here");
    };
    same("the order of A", rows, now.rows);
    same("the size of a scalar in bytes", scalar_bytes, now.scalar_bytes);
    same("complex (0 or 1)", complex, now.complex);
    same("generalized (0 or 1)", generalized, now.generalized);
    same("preconditioned (0 or 1)", preconditioned, now.preconditioned);
    same("wanted", wanted, now.wanted);
    same("the columns of the block", columns, now.columns);
    same("which (0: smallest, 1: largest)", which, now.which);
    same("the criterion (0: digits, 1: backward, 2: relative)", criterion, now.criterion);
    same("the number of constraints", constraints, now.constraints);
    same("the bound of ||A||", norm_bound, now.norm_bound);
  }
};

}  // namespace blockspan::eigen
