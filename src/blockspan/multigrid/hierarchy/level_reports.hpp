#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include <blockspan/communication/communicator.hpp>
#include <blockspan/multigrid/options.hpp>
#include <blockspan/operators/chebyshev.hpp>

// Reports of the levels of a setup, on one rank and on many.

namespace blockspan::levels {

/// Whether W A is zero: then any interval is valid.
template <class Scalar, class Exec>
bool is_zero(ChebyshevSetup<Scalar, Exec> const& spectrum) {
  return !(spectrum.upper > 0) && spectrum.estimate.finite;
}

inline void reject(MultigridReport& report, MultigridStatus status, std::string message) {
  report.status = status;
  report.message = std::move(message);
}

/// Combines the reports of a coarsening that each rank has made for its own rows. Called by all
/// ranks.
inline MultigridLevelReport sum_over_ranks(Communicator const& ranks, MultigridLevelReport level) {
  level.nodes = ranks.sum(level.nodes);
  level.theta = ranks.largest(level.theta);  // zero on a rank without rows
  level.aggregates = ranks.sum(level.aggregates);
  level.largest = ranks.largest(level.largest);
  level.left_out = ranks.sum(level.left_out);
  level.spent = ranks.sum(level.spent);
  level.rounds = ranks.largest(level.rounds);
  level.prolongator_nonzeros = ranks.sum(level.prolongator_nonzeros);
  level.smoothed = ranks.all(level.smoothed);
  level.seconds = ranks.largest(level.seconds);
  return level;
}

/// Computes complexities and the products of a cycle from the levels in the report, at least one.
/// last_work: multiplications on the last level.
inline void sum_up_levels(MultigridReport& report, int degree, double last_work) {
  double nonzeros = 0, rows = 0, work = last_work;
  for (auto const& level : report.levels) {
    nonzeros += static_cast<double>(level.nonzeros);
    rows += static_cast<double>(level.rows);
    if (&level != &report.levels.back())  // smoothed before and after its correction
      work += 2 * degree * static_cast<double>(level.nonzeros) +
              2 * static_cast<double>(level.prolongator_nonzeros);
  }
  auto const& first = report.levels.front();
  auto const fine = std::max(1.0, static_cast<double>(first.nonzeros));
  report.complexity = std::max(nonzeros / fine, 1.0);
  report.grid_complexity = rows / std::max(1.0, static_cast<double>(first.rows));
  report.products = work / fine;
}

inline void note_complexity(MultigridReport& report) {
  if (report.complexity <= (report.near_null > 1 ? 2.0 : 3.0)) return;
  std::ostringstream note;
  note.precision(2);
  note << "complexity " << report.complexity << ": fewer near-null vectors or larger aggregates";
  report.notes.push_back(note.str());
}

}  // namespace blockspan::levels
