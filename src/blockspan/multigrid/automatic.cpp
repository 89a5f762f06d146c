#include <algorithm>
#include <cmath>
#include <limits>

#include <blockspan/multigrid/automatic.hpp>

namespace blockspan {

std::string_view default_of_eigenpairs(bool largest, bool pencil, bool one_method) {
  if (largest && !pencil) return "none";
  return largest || one_method ? "jacobi" : "automatic";
}

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

std::int64_t factors_worth(SolveKind kind, std::int64_t rows, std::int64_t nonzeros, int columns,
                           double left) {
  // factors of e entries take some e^2 / rows multiplications
  constexpr double vectors = 10, bytes_of_entry = 16, least_bytes = 1 << 24, most_bytes = 1e15;
  double const n = static_cast<double>(rows), products = kind == SolveKind::system ? 1 : 8,
               step = columns * (products * static_cast<double>(nonzeros) +
                                 (products + columns - 1) * vectors * n),
               bytes = bytes_of_entry * std::sqrt(n * step * left);
  return bytes < most_bytes ? static_cast<std::int64_t>(std::max(bytes, least_bytes)) : 0;
}

ChangeOver::ChangeOver(SolveKind kind, std::int64_t rows, int columns, double tolerance, bool alone)
    : kind_(kind), rows_(rows), tolerance_(tolerance), pace_(kind, tolerance) {
  // Without rounding errors conjugate gradients end after one step a row: where
  // they are not even half way then, the matrix is too ill-conditioned for them.
  if (kind == SolveKind::system && alone)
    iterations_ = static_cast<int>(std::clamp<std::int64_t>(rows, 100, 1 << 30));
  if (rows >= automatic_least_rows) setup_ = multigrid_setup_iterations(kind, columns);
}

bool ChangeOver::due(std::span<double const> errors, int iteration) {
  if (errors.empty()) return late_ = false;
  double const error = *std::max_element(errors.begin(), errors.end());
  pace_.see(iteration, error);
  bool const for_levels = setup_ < never && pace_.is_time_to_switch(setup_);
  bool const for_factors = iteration >= iterations_ && error > std::sqrt(tolerance_);
  return late_ = for_levels || for_factors;
}

}  // namespace blockspan
