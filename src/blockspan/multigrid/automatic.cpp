#include <cmath>
#include <limits>
#include <sstream>

#include <blockspan/multigrid/automatic.hpp>

namespace blockspan {

MultigridAdvice advise_multigrid(std::int64_t rows, SolveKind kind, double condition) {
  using When = MultigridAdvice::When;
  constexpr std::int64_t least_rows = 20000, many_rows = 50000;
  constexpr double dominant = 30;
  std::ostringstream reason;
  reason.precision(2);
  if (rows < least_rows) {
    reason << rows << " rows are too few for multigrid";
    return {When::never, reason.str()};
  }
  if (kind == SolveKind::eigenpairs && condition < dominant) {
    reason << "the diagonal dominates (Ritz values of ratio " << condition << ")";
    return {When::never, reason.str()};
  }
  if (kind == SolveKind::eigenpairs && rows >= many_rows) {
    reason << "eigenpairs of " << rows << " rows";
    return {When::at_once, reason.str()};
  }
  return {When::late, "multigrid follows if it takes long"};
}

int multigrid_setup_iterations(int columns) {
  // a column more costs a third of the first
  return static_cast<int>(250 / (1 + (columns - 1) / 3.0)) + 1;
}

double iterations_left(int iterations, double error, double tolerance) {
  if (error <= tolerance) return 0;
  if (!(error < 1) || !(tolerance > 0)) return std::numeric_limits<double>::infinity();
  return iterations * (std::log(tolerance) / std::log(error) - 1);
}

bool is_time_to_switch(int iterations, int setup_iterations, double error, double tolerance) {
  return 8.0 * iterations >= setup_iterations &&
         iterations_left(iterations, error, tolerance) > setup_iterations;
}

bool weak_multigrid_pays(MultigridReport const& report, double left) {
  constexpr double products_of_iteration = 1.5;
  return report.status == MultigridStatus::weak && report.predicted_iterations > 0 &&
         report.predicted_iterations * (1 + report.products) < products_of_iteration * left;
}

}  // namespace blockspan
