#include <cmath>
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

bool is_time_to_switch(double seconds, double setup_seconds, double error, double tolerance) {
  return seconds >= setup_seconds && error > std::sqrt(tolerance);
}

}  // namespace blockspan
