#include "blockspan-solve/advice.hpp"

#include <algorithm>
#include <string>

#include "blockspan-solve/judge.hpp"
#include "common/files/words.hpp"

namespace blockspan::apps {

namespace {

std::string number(double value) { return formatted("%.2g", value); }

/// "column 3", the first one with this status.
struct Example {
  std::size_t index;
  std::string name;
};

Example first_with(SolveResult const& result, Status status) {
  auto const found = std::find(result.status.begin(), result.status.end(), status);
  auto const index = static_cast<std::size_t>(found - result.status.begin());
  return {index, "column " + std::to_string(index + 1)};
}

std::string of_iterations(SolveCommand const& command, SolveResult const& result,
                          Example const& column) {
  auto const& solver = result.solver;
  bool const at_limit = solver.counters.groups == 1
                            ? solver.iterations >= command.max_iterations
                            : solver.columns[column.index].iterations >= command.max_iterations;
  std::string const where = column.name + " is at a residual of " +
                            number(result.true_residuals[column.index]) + " for " +
                            number(command.tolerance) + ": ";
  if (at_limit)
    return "The limit of " + grouped(command.max_iterations) + " iterations came first, and " +
           where + "raise --max-iterations, or use a better --preconditioner.";
  return "Residuals that the recurrence took for small enough were not, after " +
         grouped(solver.counters.cycles) + (solver.counters.cycles == 1 ? " cycle" : " cycles") +
         " of correction, and " + where +
         "use a better --preconditioner, or ask for a larger --tolerance.";
}

std::string of_range(SolveResult const& result, Example const& column) {
  auto const& of = result.solver.columns[column.index];
  // known before the first iteration, and no other was found
  bool const constant = of.iterations == 0 && result.solver.null_vectors == 1;
  return "The matrix is singular, and " + column.name + " has a part of " + number(of.outside) +
         " of its length outside the range, so that no solution exists: --null-space " +
         (constant ? "constant" : "FILE, with the vectors that the matrix maps to zero,") +
         " solves for the rest.";
}

std::string of_working_precision(SolveCommand const& command, SolveResult const& result,
                                 Example const& column) {
  double const outside = result.solver.columns[column.index].outside;
  return "The matrix is singular to working precision, and " + column.name +
         (outside > command.tolerance ? " has a part of " + number(outside) + " of its length"
                                      : std::string(" seems to have a part")) +
         " outside its range; --null-space FILE, with the vectors that the matrix maps to zero, "
         "would solve for the rest.";
}

std::string of_infinity(SolveResult const& result) {
  if (result.solver.trouble.find("preconditioner") != std::string::npos)
    return "The preconditioner " + result.preconditioner +
           " gave NaN or Inf for finite vectors: use another --preconditioner, or none.";
  return "The product with the matrix gave NaN or Inf for finite vectors: check its values and "
         "their range.";
}

}  // namespace

std::string solve_advice(SolveCommand const& command, SolveResult const& result) {
  Status const reason = stop_reason(result);
  if (reason == Status::converged)
    return "Every residual, recomputed from the matrix itself, is within its tolerance.";
  Example const column = first_with(result, reason);
  switch (reason) {
    case Status::attainable_limit:
      return "The tolerance of " + number(command.tolerance) +
             " lies below what this arithmetic reaches on this problem: " + column.name +
             " is at " + number(result.true_residuals[column.index]) +
             ", as accurate as it gets; ask for a larger --tolerance.";
    case Status::stagnated:
      return "The residual of " + column.name + " stays at " +
             number(result.true_residuals[column.index]) +
             ", and further cycles bring nothing: use a better --preconditioner, or direct.";
    case Status::max_iterations:
      return of_iterations(command, result, column);
    case Status::operator_not_hermitian:
      return "The matrix is not Hermitian (not symmetric, if real): conjugate gradients do not "
             "apply.";
    case Status::operator_not_finite:
      return of_infinity(result);
    case Status::negative_curvature:
      return "The matrix is not positive definite, since d^H A d / (||A|| ||d||^2) is " +
             number(result.solver.curvature) +
             " for a direction d that was met: conjugate gradients do not apply.";
    case Status::singular:
      return of_working_precision(command, result, column);
    case Status::inconsistent:
      return of_range(result, column);
    case Status::preconditioner_not_spd:
      return "The preconditioner " + result.preconditioner +
             " is not positive definite: use another --preconditioner, or none.";
    case Status::nonfinite_rhs:
      return "The right-hand side in " + column.name + " has NaN or Inf: check its values.";
    case Status::not_converged:
      return "The residual of " + column.name +
             ", recomputed from the matrix, contradicts the solver: this is an error of the "
             "program.";
    case Status::out_of_range:
      return "The solution of " + column.name +
             " exceeds the range of the scalar type: scale the matrix or the right-hand "
             "side.";
    case Status::stopped_by_monitor:
      return "Interrupted after " + grouped(result.solver.iterations) +
             " iterations: this is the best solution so far.";
    case Status::time_limit:
      return "The time limit came first, and " + column.name + " is at a residual of " +
             number(result.true_residuals[column.index]) + ": raise the limit.";
    default:
      return "The run ended as " + words(reason) + ".";
  }
}

}  // namespace blockspan::apps
