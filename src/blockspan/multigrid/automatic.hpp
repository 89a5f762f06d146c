#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/operators/chebyshev.hpp>

// When a solve that began with a plain method changes over to multigrid or factors, and to which.
// Iterations are counted and residuals compared, nothing is timed: the same problem takes the same
// way on any load and on all ranks.
namespace blockspan {

/// What a preconditioner is for. The plain methods are Jacobi for systems, for eigenpairs a
/// Chebyshev polynomial of degree 8 on [b / 100, b].
enum class SolveKind { system, eigenpairs };

/// That polynomial. Where it does not suit a matrix, Jacobi serves to the end.
inline constexpr ChebyshevOptions automatic_polynomial{.degree = 8, .ratio = 100};

/// The word for what eigenpairs take by default. Jacobi favours rows with a small diagonal: right
/// at the lower end of the spectrum, wrong at the upper one, where only a pencil still gains by its
/// scaling. one_method: the solve has a state that another preconditioner would not fit.
std::string_view default_of_eigenpairs(bool largest, bool pencil, bool one_method);

/// Problems of fewer rows stay with Jacobi: a hierarchy would be one level, and all is done in less
/// time than a decision takes.
constexpr std::int64_t automatic_least_rows = 1000;

/// The work that multigrid has to save, in iterations of `columns` columns of the plain method.
/// Systems: setup and solve, 360 of one column, and each more costs a seventh of the first
/// (measured: 220 to 450 of one column, 120 to 180 of eight). Eigenpairs: the setup, 160 over the
/// columns, since each has its own products.
int multigrid_setup_iterations(SolveKind kind, int columns);

/// How many iterations are left until `tolerance`, at the pace of those so far that have brought
/// the error from one to `error`; infinite where it has not fallen.
double iterations_left(int iterations, double error, double tolerance);

/// The pace of a solve, and whether it is time to change over.
class SolvePace {
 public:
  SolvePace(SolveKind kind, double tolerance) : kind_(kind), tolerance_(tolerance) {}

  /// The largest error that has to fall below the tolerance, after so many iterations; a number not
  /// above the last one begins anew.
  void see(int iteration, double error);

  /// Iterations until the tolerance. Systems: at the pace of all iterations. Eigenpairs: at that of
  /// the second half, since the first few find the space, whatever the problem, and say nothing of
  /// what follows.
  double left() const;

  /// Another method would have less work. Systems: from a tenth of that work on, more than it is
  /// left; beyond a fifth, more in proportion, since conjugate gradients gain pace in the end.
  /// Eigenpairs: after seven iterations, a setup and the 20 iterations that a good hierarchy takes
  /// are less.
  bool is_time_to_switch(int setup_iterations) const;

 private:
  SolveKind kind_;
  double tolerance_;
  std::vector<std::pair<int, double>> seen_;
};

/// Whether a hierarchy that its probe calls weak is still worth its iterations, where `left` of the
/// plain method remain. Both counts are hopeful: eight steps show a fifth to all of what a weak
/// hierarchy takes, a pace little of the plateau that may follow.
bool weak_multigrid_pays(MultigridReport const& report, SolveKind kind, double left);

/// Bytes of factors that have less work than `left` iterations of the plain method; 0: any number
/// is worth it. nonzeros: of the matrix of `rows` rows; columns: solved or iterated together.
std::int64_t factors_worth(SolveKind kind, std::int64_t rows, std::int64_t nonzeros, int columns,
                           double left);

/// What `automatic` does in the course of one solve. A solver's monitor shows it errors, stops the
/// solve where it is due, and the solve goes on with what take() has made:
///
///   multigrid that finds itself good, else factors, else multigrid that still takes less than what
///   is left; where that was not enough, factors at any cost, or the inverse of few rows.
class ChangeOver {
 public:
  /// Of a preconditioner that stays.
  ChangeOver() = default;
  /// alone: one rank has all rows.
  ChangeOver(SolveKind kind, std::int64_t rows, int columns, double tolerance, bool alone);

  /// errors: those that have to fall below the tolerance, of one at the start.
  bool due(std::span<double const> errors, int iteration);
  bool late() const { return late_; }           ///< what due() said last
  double left() const { return pace_.left(); }  ///< iterations at the pace it saw

  /// Replaces M, or leaves it where nothing better can be made; the reason is among its notes. Made
  /// has a pointer `op` to a LinearOperator, `notes`, and `levels`, a pointer or optional with a
  /// MultigridReport. levels(): multigrid, whatever its probe says of it; factors(left): such that
  /// have less work than so many iterations, infinite: whatever they cost; inverse(): the dense
  /// one. Each returns Made, without op where it has none, and then perhaps the reason in notes.
  template <class Made, class Levels, class Factors, class Inverse>
  void take(int iterations, Made& M, Levels const& levels, Factors const& factors,
            Inverse const& inverse) {
    late_ = false;
    if (std::exchange(setup_, never) < never) {
      auto made = levels();
      if (made.op && made.levels->strong())
        return take_over(std::move(made), iterations, "multigrid", M);
      auto complete = factors(left());
      if (complete.op) return take_over(std::move(complete), iterations, "direct", M);
      if (made.op && !weak_multigrid_pays(*made.levels, kind_, left())) {
        made.notes = {"multigrid is " + std::string(to_string(made.levels->status)) + ": " +
                      made.levels->message};
        made.op.reset();
      }
      return take_over(std::move(made), iterations, "multigrid", M);
    }
    iterations_ = never;
    auto complete = factors(std::numeric_limits<double>::infinity());
    if (complete.op || !complete.notes.empty() || rows_ > few_rows)
      return take_over(std::move(complete), iterations, "direct", M);
    take_over(inverse(), iterations, "the inverse", M);
  }

 private:
  static constexpr int never = std::numeric_limits<int>::max();
  static constexpr std::int64_t few_rows = 4000;

  template <class Made>
  void take_over(Made made, int iterations, std::string const& name, Made& M) {
    if (!made.op && made.notes.empty()) return;
    auto notes = std::move(M.notes);
    notes.insert(notes.end(), made.notes.begin(), made.notes.end());
    notes.push_back(name + (made.op ? " took over" : " was tried") + " after " +
                    std::to_string(iterations) + " iterations with " + M.op->name());
    if (made.op) {
      setup_ = iterations_ = never;
      M = std::move(made);
    }
    M.notes = std::move(notes);
  }

  SolveKind kind_ = SolveKind::system;
  std::int64_t rows_ = 0;
  double tolerance_ = 0;
  SolvePace pace_{SolveKind::system, 0};
  int setup_ = never;       ///< multigrid may follow: its setup, in iterations
  int iterations_ = never;  ///< factors may follow, after so many iterations
  bool late_ = false;
};

}  // namespace blockspan
