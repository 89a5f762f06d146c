#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include <blockspan/multigrid/automatic.hpp>

namespace blockspan {

std::string_view default_of_eigenpairs(bool largest, bool pencil, bool one_method) {
  if (largest && !pencil) return "none";
  return largest || one_method ? "jacobi" : "automatic";
}

int multigrid_work(SolveKind kind, int columns, int groups) {
  double const k = columns;
  double const work = kind == SolveKind::eigenpairs ? 160 / k : 145 / (1.65 + k) + groups * 12;
  return static_cast<int>(work) + 1;
}

double iterations_left(int iterations, double error, double tolerance) {
  if (error <= tolerance) return 0;
  if (!(error < 1) || !(tolerance > 0)) return std::numeric_limits<double>::infinity();
  return iterations * (std::log(tolerance) / std::log(error) - 1);
}

void SolvePace::see(int iteration, double error) {
  if (!seen_.empty() && iteration <= seen_.back().first) seen_.clear();
  if (kind_ == SolveKind::system && !seen_.empty()) error = std::min(error, seen_.back().second);
  seen_.emplace_back(iteration, error);
}

double SolvePace::left() const {
  if (seen_.empty()) return std::numeric_limits<double>::infinity();
  auto const [now, error] = seen_.back();
  auto const [half, before] = seen_[(seen_.size() - 1) / 2];
  double const recent = iterations_left(now - half, error / before, tolerance_ / before);
  if (kind_ == SolveKind::eigenpairs) return recent;
  double const whole = iterations_left(now, error, tolerance_);
  return std::sqrt(whole * std::min(recent, 4 * whole));
}

double SolvePace::left_of_groups(int groups_after) const {
  double const own = left();
  return groups_after > 0 ? own + groups_after * (seen_.back().first + own) : own;
}

bool SolvePace::is_time_to_switch(int work, double margin, int groups_after) const {
  constexpr int first_look = 7, of_a_good_hierarchy = 20;
  if (seen_.empty()) return false;
  int const iteration = seen_.back().first, steps = static_cast<int>(seen_.size()) - 1;
  if (kind_ == SolveKind::eigenpairs)
    return steps >= first_look && left() > work + of_a_good_hierarchy;
  return iteration >= 2 && 40.0 * iteration >= work && left_of_groups(groups_after) > margin * work;
}

bool weak_multigrid_pays(MultigridReport const& report, double left) {
  if (report.status != MultigridStatus::weak || report.predicted_iterations <= 0) return false;
  return report.predicted_iterations * (1 + report.products) < ChebyshevOptions{}.degree * left;
}

double fewest_iterations(GraphShape const& shape, int together, double tolerance) {
  // Chebyshev's bound for a spectrum that ends at 2, as those of grids do, times what 56 narrow
  // matrices took at least with one column (perf/notes/multigrid.md)
  constexpr double largest = 2;
  double const eigenvalue = shape.small_eigenvalue, least = shape.mixed_signs ? 2.4 : 1.2;
  if (!(eigenvalue > 0) || !std::isfinite(eigenvalue) || !(tolerance > 0)) return 0;
  double const products = 0.5 * std::sqrt(largest / eigenvalue) * std::log(2 / tolerance),
               block = 8.0 / (7 + together);  // which finds the smallest eigenvalues sooner
  return least * block * products / ChebyshevOptions{}.degree;
}

double early_work(SolveKind kind, GraphShape const& shape, int columns, double tolerance) {
  constexpr int widest = 16;  // of the groups on hosts
  constexpr double narrow = 0.5;
  if (!shape.narrow || columns < 1) return 0;
  if (kind == SolveKind::eigenpairs)
    return shape.small_eigenvalue > 0 ? std::numeric_limits<double>::infinity() : 0;
  int const groups = (columns + widest - 1) / widest, together = (columns + groups - 1) / groups;
  double const all = groups * fewest_iterations(shape, together, tolerance);
  if (!(all > narrow * multigrid_work(SolveKind::system, together, groups))) return 0;
  return all * together / columns;
}

bool levels_pay_at_once(double mean_row_sum, double tolerance) {
  constexpr double setup = 10;  // iterations, see perf/results/python/automatic_device.md
  return mean_row_sum > 1e-12 &&
         fewest_iterations({.small_eigenvalue = mean_row_sum}, 1, tolerance) > setup;
}

std::int64_t factors_worth(std::int64_t rows, std::int64_t nonzeros, int columns, double left) {
  // factors of e entries take some e^2 / rows multiplications, in dense blocks: three of these take
  // at most the time of one of a product
  constexpr double dense = 3, vectors = 10, bytes_of_entry = 16, least_bytes = 1 << 24,
                   most_bytes = 1e15;
  double const n = static_cast<double>(rows), products = ChebyshevOptions{}.degree,
               step = columns * (products * static_cast<double>(nonzeros) +
                                 (products + columns - 1) * vectors * n),
               bytes = bytes_of_entry * std::sqrt(dense * n * step * left);
  return bytes < most_bytes ? static_cast<std::int64_t>(std::max(bytes, least_bytes)) : 0;
}

ChangeOver::ChangeOver(SolveKind kind, bool polynomial, std::int64_t rows, int columns,
                       double tolerance, bool exact, std::function<GraphShape()> shape)
    : kind_(kind),
      weight_(polynomial ? 1 : 0.25),
      rows_(rows),
      columns_(columns),
      tolerance_(tolerance),
      pace_(kind, tolerance),
      look_(std::move(shape)),
      may_coarsen_(rows >= automatic_least_rows) {
  // Without rounding errors conjugate gradients end after one step a row: where
  // they are not even half way then, the matrix is too ill-conditioned for them.
  if (kind == SolveKind::system && exact)
    iterations_ = static_cast<int>(std::clamp<std::int64_t>(rows, 100, 1 << 30));
}

void ChangeOver::begin_early(GraphShape const& shape, double left) {
  constexpr double most = 2;  // what is hardly ever fewer is mostly more
  shape_ = shape;
  look_ = nullptr;
  left_ = most * left;
  late_ = may_coarsen_;
}

void ChangeOver::begin_with_levels() { late_ = begins_with_levels_ = may_coarsen_; }

std::string ChangeOver::early_reason() const {
  if (begins_with_levels_) return "a device sets it up in the time of some ten iterations";
  if (kind_ == SolveKind::eigenpairs)
    return "the graph is as narrow as one of the plane, whose lowest pairs take long otherwise";
  std::ostringstream reason;
  reason.precision(2);
  reason << "three eigenvalues over the diagonal are below " << shape_.small_eigenvalue
         << ", for which a polynomial would take long";
  return reason.str();
}

bool ChangeOver::of_the_plane() const {
  constexpr std::int64_t many_rows = 10'000;  // ten pairs take three times the work of multigrid
  return kind_ == SolveKind::eigenpairs && shape_.narrow &&
         (shape_.mixed_signs || rows_ >= many_rows);
}

bool ChangeOver::is_time_for_levels(int iteration, int together, int groups_after) {
  // Narrow graphs stagnate for long once they have begun to. Others, of three dimensions or with
  // hubs, converge sooner than the rate predicts, and structures in a block much sooner.
  double const narrow = 0.5, mixed_signs = 1.5 * together - 0.25, elsewhere = 2.5;
  constexpr std::int64_t for_groups = 30'000;  // fewer rows: a setup takes eight iterations, not 5
  if (!may_coarsen_) return false;
  int const groups = 1 + groups_after,
            work = static_cast<int>(multigrid_work(kind_, together, groups) / weight_);
  auto const is_time = [&](double margin) {
    return pace_.is_time_to_switch(work, margin, groups_after);
  };
  if (kind_ == SolveKind::eigenpairs) {
    if (look_) shape_ = std::exchange(look_, nullptr)();
    return of_the_plane() ? iteration >= 1 : is_time(1);
  }
  if (!is_time(narrow)) return false;
  if (look_) shape_ = std::exchange(look_, nullptr)();
  if (shape_.narrow) return true;
  if (shape_.mixed_signs) return is_time(mixed_signs);
  // one setup serves the groups that follow: with them a pace may be out by a third
  if (groups > 1 && rows_ >= for_groups) return is_time(1);
  return 2 * iteration >= work && is_time(elsewhere);
}

bool ChangeOver::due(std::span<double const> errors, int iteration, int groups_after) {
  if (errors.empty()) return late_ = false;
  double const error = *std::max_element(errors.begin(), errors.end());
  pace_.see(iteration, error);
  bool const system = kind_ == SolveKind::system;
  int const together = system ? static_cast<int>(errors.size()) : columns_;
  bool const for_levels = is_time_for_levels(iteration, together, groups_after),
             for_factors = iteration >= iterations_ && error > std::sqrt(tolerance_);
  left_ = of_the_plane() ? std::numeric_limits<double>::infinity()
                         : weight_ * pace_.left_of_groups(groups_after);
  if (system) left_ *= static_cast<double>(together) / std::max(columns_, together);
  return late_ = for_levels || for_factors;
}

}  // namespace blockspan
