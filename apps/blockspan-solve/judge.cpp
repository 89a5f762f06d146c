#include "blockspan-solve/judge.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

namespace blockspan::apps {

namespace {

/// Whether the recomputed residual confirms a success; norms round, and so does what --null-space
/// takes out, hence a hundred roundings of slack.
bool confirmed(SolveResult const& result, std::size_t j, SolveCommand const& command) {
  constexpr double slack = 100 * std::numeric_limits<double>::epsilon();
  double const norm = result.rhs_norms[j];
  double const allowed =
      std::max(command.tolerance, norm > 0 ? command.absolute_tolerance / norm : 0.0);
  return result.true_residuals[j] <= (1 + slack) * allowed + slack;
}

/// What of the right-hand sides --null-space has left out.
void note_outside(SolveResult& result) {
  auto const& columns = result.solver.columns;
  auto const largest =
      std::max_element(columns.begin(), columns.end(),
                       [](auto const& a, auto const& b) { return a.outside < b.outside; });
  std::ostringstream note;
  if (largest == columns.end()) return;
  note << "the part of the right-hand sides along the " << result.solver.null_vectors
       << (result.solver.null_vectors == 1 ? " vector" : " vectors")
       << " of --null-space is left out: at most " << largest->outside << " of ||b||, in column "
       << largest - columns.begin() + 1 << "; residuals are those of the rest";
  result.notes.push_back(note.str());
}

}  // namespace

void judge(SolveResult& result, SolveCommand const& command) {
  auto const& columns = result.solver.columns;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    result.status.push_back(columns[j].status);
    if (!columns[j].success() || confirmed(result, j, command)) continue;
    if (result.exponent != 0) {  // X was in range before it was scaled back
      result.status[j] = Status::out_of_range;
      continue;
    }
    result.status[j] = Status::not_converged;
    std::ostringstream note;
    note << "column " << j + 1 << ": the solver says " << to_string(columns[j].status)
         << ", but its residual recomputed from the matrix is " << result.true_residuals[j];
    result.notes.push_back(note.str());
  }
  if (!command.null_space.empty()) note_outside(result);
  result.converged = stop_reason(result) == Status::converged;
  if (result.solver.indefinite && stop_reason(result) != Status::negative_curvature) {
    std::ostringstream note;
    note << "the matrix is not positive definite: a direction d with d^H A d / (||A|| ||d||^2) = "
         << result.solver.curvature << " was found";
    result.notes.push_back(note.str());
  }
  if (!result.solver.trouble.empty()) result.notes.push_back(result.solver.trouble);
  if (int const rejected = result.solver.counters.guesses_rejected)
    result.notes.push_back(std::to_string(rejected) +
                           " columns of --guess were worse than zero, "
                           "and zero was taken for them");
}

Status stop_reason(SolveResult const& result) {
  auto const failure = std::find_if(result.status.begin(), result.status.end(), [](Status status) {
    return status != Status::converged && status != Status::zero_rhs;
  });
  return failure == result.status.end() ? Status::converged : *failure;
}

}  // namespace blockspan::apps
