#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/workspace.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/solvers/lobpcg/solver.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::eigen {

/// A + s B, s > 0, by reference. A product holds a copy of X.
template <class Scalar, class Exec>
class ShiftedOperator final : public LinearOperator<Scalar, Exec>,
                              public EntryAccess<Scalar, Exec> {
 public:
  using Real = real_t<Scalar>;
  using Operator = LinearOperator<Scalar, Exec>;

  ShiftedOperator(Operator const& A, Operator const& B, Real s) : a_(A), b_(B), s_(s) {}

  std::int64_t rows() const override { return a_.rows(); }

  OperatorFacts<Scalar, Exec> facts() const override {
    auto const a = facts_of(a_), b = facts_of(b_);
    return {.row_space = a.row_space,
            .norm_bound = sum(a.norm_bound, b.norm_bound),
            .eigenvalue_lower_bound = sum(a.eigenvalue_lower_bound, b.eigenvalue_lower_bound),
            .terms_per_row = *a.terms_per_row + *b.terms_per_row + 1,
            .work = *a.work + *b.work,
            .entries = this};
  }

  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    if (image_.extent(0) != X.extent(0) || image_.extent(1) != X.extent(1))
      image_ = allocate<Block<Scalar, Exec>>(exec, "Blockspan::lobpcg::shifted", X.extent(0),
                                             X.extent(1));
    a_.apply(exec, X, Y);
    b_.apply(exec, X, image_);
    add_scaled(exec, s_, image_, Y);
  }

  std::vector<Real> diagonal(Exec const& exec) const override {
    return sum(a_.entries().diagonal(exec), b_.entries().diagonal(exec));
  }

  bool apply_magnitudes(Exec const& exec, OperatorValues<Real const, Exec> const& x,
                        OperatorValues<Real, Exec> const& y) const override {
    auto const host = [&] { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y); };
    if (!a_.entries().apply_magnitudes(exec, x, y)) return false;
    auto const a = host();
    std::vector<Real> const first(a.data(), a.data() + a.extent(0));
    if (!b_.entries().apply_magnitudes(exec, x, y)) return false;
    auto const b = host();
    auto const total = sum(first, std::vector<Real>(b.data(), b.data() + b.extent(0)));
    Kokkos::deep_copy(exec, y, host_values(total));
    exec.fence("Blockspan::lobpcg: magnitudes");
    return true;
  }

 private:
  std::optional<Real> sum(std::optional<Real> a, std::optional<Real> b) const {
    return a && b ? std::optional(*a + s_ * *b) : std::nullopt;
  }
  std::vector<Real> sum(std::vector<Real> a, std::vector<Real> const& b) const {
    if (b.size() != a.size()) return {};
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += s_ * b[i];
    return a;
  }

  Operator const &a_, &b_;
  Real s_;
  mutable Block<Scalar, Exec> image_;
};

/// The smallest finite pairs of A x = lambda B x for positive semidefinite A and B that have no
/// null vector in common: the largest mu = 1 / (lambda + s) of B x = mu (A + s B) x, where infinite
/// lambda are zeros and in nobody's way. A + s B is positive definite for every s > 0 and is the
/// inner product. A small s keeps zeros (rigid motions) zeros; where it is far from the values
/// wanted and takes their digits, a second solve takes an s of their size. Nothing where that
/// cannot be (see refusal).
template <class Scalar, class Exec>
class InvertedSolve {
 public:
  using Real = real_t<Scalar>;
  using Operator = LinearOperator<Scalar, Exec>;
  using Options = LobpcgOptions<Scalar, Exec>;
  using Report = LobpcgReport<Real>;
  using View = Block<Scalar, Exec>;

  /// given: the problem of A and B.
  InvertedSolve(Problem<Scalar, Exec> const& given, View const& X, Options const& options)
      : exec_(given.exec), given_(given), a_(given.a()), b_(*given.b()), x_(X), options_(options) {}

  std::optional<Report> solve(int columns) {
    if (options_.which == Which::largest) return refuse("iteration finds the smallest pairs only");
    if (options_.constraints.extent(1) > 0 || !options_.checkpoint.empty() ||
        !options_.resume.empty() || columns < options_.wanted)
      return refuse(
          "with constraints, checkpoints or batches iteration needs a positive definite one");
    if (!choose_shift()) return std::nullopt;
    auto report = solve_shifted(columns, options_.guess_columns);
    if (!report || report->converged() || !is_numerical(report->status)) return report;
    Real largest = 0;
    for (Real const value : report->eigenvalues)
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    // A smaller shift would leave rigid modes to the rounding of A + s B.
    if (!(largest > shift_)) return report;
    shift_ = largest;
    auto second = solve_shifted(columns, columns);
    if (!second) return report;
    second->iterations += report->iterations;
    second->history.insert(second->history.begin(), report->history.begin(), report->history.end());
    second->counters.add(report->counters);
    second->seconds.add(report->seconds);
    return second;
  }

  /// Why there is nothing, in words; it follows "the mass matrix is singular: ...".
  std::string const& refusal() const { return refusal_; }

 private:
  std::nullopt_t refuse(std::string words) {
    refusal_ = std::move(words);
    return std::nullopt;
  }

  static bool is_numerical(Status status) {
    return status == Status::attainable_limit || status == Status::not_converged ||
           status == Status::stagnated;
  }

  /// A millionth of the least ratio of diagonals, which is above the least eigenvalue. False where
  /// the diagonals show that A + s B is not positive definite.
  bool choose_shift() {
    auto const a = a_.entries().diagonal(exec_), b = b_.entries().diagonal(exec_);
    Real least = std::numeric_limits<Real>::infinity();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (b[i] > 0 && a[i] > 0) least = std::min(least, a[i] / b[i]);
      if (!given_.is_used(i) || (b[i] > 0 ? a[i] >= 0 : a[i] > 0)) continue;
      std::ostringstream words;
      words << "row " << i + 1 << " of the matrix has the diagonal entry " << a[i]
            << (b[i] > 0 ? "" : " and no mass") << " (rows counted from 1)"
            << ", so that the pencil is not one of positive semidefinite matrices without a null "
               "vector in common, the only kind that can be iterated for";
      refuse(words.str());
      return false;
    }
    auto const norm_a = given_.facts_of_a().norm_bound, norm_b = given_.facts_of_b().norm_bound;
    if (std::isinf(least) && norm_a && norm_b) least = *norm_a / *norm_b;
    shift_ = std::ldexp(least, -20);
    if (!std::isnormal(shift_)) shift_ = std::numeric_limits<Real>::min();
    return true;
  }

  std::optional<Report> solve_shifted(int columns, int guesses) {
    auto inverted = options_;
    inverted.which = Which::largest;
    inverted.certify = false;
    if (guesses != options_.guess_columns) inverted.continue_from(guesses);
    inverted.digits = std::min(options_.digits + 2, 12);  // of mu, for those of lambda
    inverted.monitor = nullptr;
    if (options_.monitor)
      inverted.monitor = [&](LobpcgProgress<Real> const& now) { return monitor(now); };
    ShiftedOperator<Scalar, Exec> const shifted(a_, b_, shift_);
    Problem<Scalar, Exec> problem(exec_, b_, &shifted, inverted);
    constexpr double never = std::numeric_limits<double>::infinity();
    auto found = LobpcgSolver<Scalar, Exec>(problem, x_, columns, inverted, never).solve();
    if (found.status == Status::mass_not_positive_definite || found.status == Status::mass_singular)
      return refuse(
          "the matrix is not positive semidefinite, or has a null vector in common with the mass, "
          "so that iteration does not apply");
    return translated(std::move(found));
  }

  std::vector<Real> eigenvalues(std::vector<Real> values) const {
    for (Real& value : values) value = 1 / value - shift_;
    return values;
  }

  bool monitor(LobpcgProgress<Real> const& now) const {
    auto const values = eigenvalues(now.eigenvalues);
    return options_.monitor({now.iteration, now.converged, now.wanted, now.active, now.locked,
                             values, now.backward_errors, now.seconds, now.checkpoint_fault});
  }

  /// The report of the pencil as it was given, with residuals from A and B themselves.
  Report translated(Report found) {
    Report report;
    report.status = found.status;
    report.iterations = found.iterations;
    for (auto& line : found.history) line.eigenvalues = eigenvalues(line.eigenvalues);
    report.history = std::move(found.history);
    report.counters = found.counters;
    std::swap(report.counters.operator_columns, report.counters.mass_columns);
    std::swap(report.counters.operator_applications, report.counters.mass_applications);
    report.seconds = found.seconds;
    std::swap(report.seconds.operator_a, report.seconds.operator_b);
    report.fault = found.fault;
    report.checkpoint_fault = found.checkpoint_fault;
    if (report.fault.operator_name == "A" || report.fault.operator_name == "B")
      report.fault.operator_name = report.fault.operator_name == "A" ? "B" : "A";

    Problem<Scalar, Exec> problem(exec_, a_, &b_, options_);
    problem.set_norms(found.norm_b, found.norm_a);
    problem.mass.words = "norm of (A + s B)^-1, " + found.mass_norm;
    int finite = 0;
    Real const top = std::abs(found.eigenvalues.front());
    while (finite < options_.wanted && found.eigenvalues[finite] > 100 * Thresholds<Real>::u * top)
      ++finite;
    problem.trouble = "the mass matrix is singular: its infinite eigenvalues were left out";
    if (finite == 0) {
      report_nothing(problem, options_, report);
      report.status = Status::mass_singular;
      return report;
    }
    std::vector<Real> theta;
    for (int j = 0; j < finite; ++j)
      theta.push_back(problem.scaled_eigenvalue(1 / found.eigenvalues[j] - shift_));
    measure(problem, found, theta, report);
    bool done = finite == options_.wanted;
    if (!done) report.status = Status::mass_singular;
    for (Status const pair : report.pair_status)
      if (!is_done(pair)) {
        if (found.converged() && finite == options_.wanted) report.status = pair;
        done = false;
      }
    if (done && is_numerical(found.status)) report.status = Status::converged;
    return report;
  }

  /// X to X^H B X = I, its residuals, and what they leave certain: the bounds of mu, for values
  /// that cannot be negative no more than they look.
  void measure(Problem<Scalar, Exec>& problem, Report const& found, std::vector<Real> const& theta,
               Report& report) {
    int const finite = static_cast<int>(theta.size());
    Basis<Scalar, Exec> const basis(exec_, problem.rows(), finite, true);
    auto const X = column_range(x_, 0, finite);
    std::vector<Real> factors;
    for (int j = 0; j < finite; ++j) factors.push_back(1 / std::sqrt(found.eigenvalues[j]));
    problem.scale_each(X, factors);
    exec_.fence("Blockspan::lobpcg: factors");
    Kokkos::deep_copy(exec_, basis.x(), X);
    problem.scale(basis.x(), 1 / problem.vector_scale());
    problem.apply_a(basis.x(), basis.ax());
    problem.apply_b(basis.x(), basis.bx());
    auto const norms = residuals(problem, basis.x_and_images(), theta, basis.a_spare(finite));
    auto quality = pair_qualities(problem, theta, norms,
                                  sharp_rounding(problem, basis.x(), theta, norms), finite);
    for (int j = 0; j < finite; ++j) {
      Real const mu = found.eigenvalues[j], relative = found.error_bounds[j] / mu;
      Real bound = std::numeric_limits<Real>::infinity();
      if (relative < Real(0.5)) bound = std::abs(problem.scaled_eigenvalue(2 * relative / mu));
      if (problem.semidefinite() && theta[j] <= bound)
        bound = std::min(bound, std::max(Real(0), theta[j]) + problem.below_zero());
      quality[j].bound = bound + quality[j].rounding;
    }
    report_pairs(problem, theta, norms, quality, options_, report);
  }

  Exec exec_;
  Problem<Scalar, Exec> const& given_;
  Operator const &a_, &b_;
  View x_;
  Options const& options_;
  Real shift_ = 0;
  std::string refusal_;
};

}  // namespace blockspan::eigen
