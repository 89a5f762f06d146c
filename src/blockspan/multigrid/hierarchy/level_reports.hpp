#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/operators/chebyshev.hpp>

// What a setup says of its levels, on one rank and on many.

namespace blockspan::levels {

/// W A is zero: any interval serves.
template <class Scalar, class Exec>
bool is_zero(ChebyshevSetup<Scalar, Exec> const& spectrum) {
  return !(spectrum.upper > 0) && spectrum.estimate.finite;
}

/// fault: of the spectrum of level `number`.
inline void reject_indefinite(MultigridReport& report, std::size_t number,
                              std::string const& fault) {
  report.status = MultigridStatus::indefinite;
  report.message =
      "level " + std::to_string(number) + ": " + fault + "; chebyshev and multigrid do not apply";
}

/// Multiplications of a cycle on a level that is smoothed before and after its correction.
inline double work_of_level(MultigridLevelReport const& level, int degree) {
  return 2 * degree * static_cast<double>(level.nonzeros) +
         2 * static_cast<double>(level.prolongator_nonzeros);
}

/// Complexities, and the products of a cycle, of the levels in the report, of which there is one at
/// least. last_work: multiplications on the last one.
inline void sum_up_levels(MultigridReport& report, int degree, double last_work) {
  double nonzeros = 0, rows = 0, work = last_work;
  for (auto const& level : report.levels) {
    nonzeros += static_cast<double>(level.nonzeros);
    rows += static_cast<double>(level.rows);
    if (&level != &report.levels.back()) work += work_of_level(level, degree);
  }
  auto const& first = report.levels.front();
  auto const fine = std::max(1.0, static_cast<double>(first.nonzeros));
  report.complexity = std::max(nonzeros / fine, 1.0);
  report.grid_complexity = rows / std::max(1.0, static_cast<double>(first.rows));
  report.products = work / fine;
}

}  // namespace blockspan::levels
