#include <algorithm>
#include <cmath>
#include <limits>

#include <blockspan/multigrid/automatic.hpp>

namespace blockspan {

int multigrid_setup_iterations(SolveKind kind, int columns) {
  double const work = kind == SolveKind::system ? 360 / (1 + (columns - 1) / 7.0) : 160.0 / columns;
  return static_cast<int>(work) + 1;
}

double iterations_left(int iterations, double error, double tolerance) {
  if (error <= tolerance) return 0;
  if (!(error < 1) || !(tolerance > 0)) return std::numeric_limits<double>::infinity();
  return iterations * (std::log(tolerance) / std::log(error) - 1);
}

void SolvePace::see(int iteration, double error) {
  if (!seen_.empty() && iteration <= seen_.back().first) seen_.clear();
  seen_.emplace_back(iteration, error);
}

double SolvePace::left() const {
  if (seen_.empty()) return std::numeric_limits<double>::infinity();
  auto const [now, error] = seen_.back();
  if (kind_ == SolveKind::system) return iterations_left(now, error, tolerance_);
  auto const [half, before] = seen_[(seen_.size() - 1) / 2];
  return iterations_left(now - half, error / before, tolerance_ / before);
}

bool SolvePace::is_time_to_switch(int setup_iterations) const {
  constexpr int first_look = 7, of_a_good_hierarchy = 20;
  if (seen_.empty()) return false;
  int const iteration = seen_.back().first, steps = static_cast<int>(seen_.size()) - 1;
  return kind_ == SolveKind::system
             ? 10.0 * iteration >= setup_iterations &&
                   left() > std::max<double>(setup_iterations, 5.0 * iteration)
             : steps >= first_look && left() > setup_iterations + of_a_good_hierarchy;
}

bool weak_multigrid_pays(MultigridReport const& report, SolveKind kind, double left) {
  if (report.status != MultigridStatus::weak || report.predicted_iterations <= 0) return false;
  // of products and vectors; a step of eigenpairs takes eight products of its polynomial
  double const of_plain = kind == SolveKind::system ? 1.5 : 8;
  return report.predicted_iterations * (1 + report.products) < of_plain * left;
}

}  // namespace blockspan
