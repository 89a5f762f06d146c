#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <blockspan/multigrid/options.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/support/scalar.hpp>

// When a solve that began with a plain method changes over to multigrid or factors, and to which.
// Iterations are counted and residuals compared, nothing is timed: the same problem takes the same
// way on any load and on all ranks.
namespace blockspan {

/// What a preconditioner is for.
enum class SolveKind { system, eigenpairs };

/// The plain method that a solve begins with: a Chebyshev polynomial over Jacobi. It takes a
/// seventh of Jacobi's iterations, and its products cost less than the vectors of the six saved.
constexpr ChebyshevOptions automatic_polynomial() { return {.degree = 8, .ratio = 100}; }

/// Whether it begins so, by what chebyshev_setup has seen; else Jacobi does. Systems that Jacobi
/// solves in some twenty iterations (mass matrices) would lose by so wide an interval.
template <class Scalar, class Exec>
bool begins_with_polynomial(SolveKind kind, ChebyshevSetup<Scalar, Exec> const& setup) {
  constexpr real_t<Scalar> well_conditioned = 30;  // twelve steps show 50 to 62 of any grid
  auto const& [smallest, largest, residual, steps, finite] = setup.estimate;
  return setup.usable() && (kind == SolveKind::eigenpairs || largest > well_conditioned * smallest);
}

/// The word for what eigenpairs take by default. Jacobi favours rows with a small diagonal: right
/// at the lower end of the spectrum, wrong at the upper one, where only a pencil still gains by its
/// scaling. one_method: the solve has a state that another preconditioner would not fit.
std::string_view default_of_eigenpairs(bool largest, bool pencil, bool one_method);

/// Problems of fewer rows stay with Jacobi: a hierarchy would be one level, and all is done in less
/// time than a decision takes.
constexpr std::int64_t automatic_least_rows = 1000;

/// The work of multigrid, in iterations of `columns` columns of the polynomial. Systems: the setup
/// (hosts, one thread: 55, 16, 8 for 1, 8, 16 columns, whatever the rows have of entries) and, for
/// each of `groups` that are solved one after the other, the 10 iterations that a good hierarchy
/// takes, each a little more than one of the polynomial. Eigenpairs: the setup alone, 160 over the
/// columns, since each has its own products.
int multigrid_work(SolveKind kind, int columns, int groups = 1);

/// What the graph of a matrix says of methods before these are tried.
struct GraphShape {
  /// Levels of a breadth-first search are as narrow as those of the plane: plain iterations go on
  /// as long as it is deep, and factors stay small.
  bool narrow = false;
  /// Off-diagonal entries of the diagonal's sign are more than a twelfth of the others: plates,
  /// anisotropy across the grid, where the strength of couplings misleads a coarsening.
  bool mixed_signs = false;
  /// Few rows have as many entries as the row before, all of one size: not a grid of smooth
  /// coefficients, where a hierarchy takes a third of the work of others.
  bool uneven = false;
  /// What factors take of which a dense block has as many rows w as a level, w^3, in products.
  double dissection = 0;
};

/// Of a square CrsMatrix in host memory, by a search that begins far from its middle row; where it
/// does not reach half of the rows, the graph is not called narrow. O(entries), some iterations.
template <class Matrix>
GraphShape graph_shape(Matrix const& A) {
  auto const n = static_cast<std::size_t>(A.numRows());
  if (n == 0) return {};
  auto const &offsets = A.graph.row_map, &columns = A.graph.entries;
  std::vector<char> seen(n, 0);
  std::vector<std::size_t> reached;
  auto const levels_from = [&](std::size_t row, char mark) {
    reached.assign(1, row);
    seen[row] = mark;
    int levels = 0;
    for (std::size_t next = 0; next < reached.size(); ++levels)
      for (std::size_t const end = reached.size(); next < end; ++next)
        for (auto p = offsets(reached[next]); p < offsets(reached[next] + 1); ++p) {
          auto const j = static_cast<std::size_t>(columns(p));
          if (std::exchange(seen[j], mark) != mark) reached.push_back(j);
        }
    return levels;
  };
  levels_from(n / 2, 1);
  double const levels = levels_from(reached.back(), 2), rows = static_cast<double>(reached.size()),
               width = rows / levels;
  // a square of the plane has levels of between half a side and one and a half
  GraphShape shape{.narrow = 2 * reached.size() >= n && width * width <= 2.25 * rows};
  shape.dissection = width * width * width / std::max<double>(offsets(n), 1);
  double of_diagonal = 0, others = 0;
  std::size_t even = 0;
  for (std::size_t i = 0, length = 0; i < n; ++i) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (auto p = offsets(i); p < offsets(i + 1); ++p) {
      double const value = static_cast<double>(real_part(A.values(p))), size = std::abs(value);
      if (static_cast<std::size_t>(columns(p)) == i || size == 0) continue;
      (value > 0 ? of_diagonal : others) += size;
      least = std::min(least, size), most = std::max(most, size);
    }
    auto const before =
        std::exchange(length, static_cast<std::size_t>(offsets(i + 1) - offsets(i)));
    if (length == before && most <= 4 * least) ++even;
  }
  shape.mixed_signs = 12 * of_diagonal > others;
  shape.uneven = 4 * even < 3 * n;
  return shape;
}

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

  /// Iterations until the tolerance. Eigenpairs: at the pace of the second half, since the first
  /// few find the space, whatever the problem, and say nothing of what follows. Systems: the
  /// geometric mean of what the pace of all iterations says and that of the second half, four times
  /// as many at most: residuals of random right-hand sides fall fast at first, stand, and end fast.
  double left() const;
  /// The same with groups_after like this one; after the first call of see().
  double left_of_groups(int groups_after) const;

  /// Another method, of `work` iterations, has less left to do. Systems, from two iterations and a
  /// fortieth of that work on: more than `margin` times the work is left, of this group and of
  /// groups_after like it. Eigenpairs: after seven iterations, a setup and the 20 iterations that a
  /// good hierarchy takes are less.
  bool is_time_to_switch(int work, double margin = 1, int groups_after = 0) const;

 private:
  SolveKind kind_;
  double tolerance_;
  std::vector<std::pair<int, double>> seen_;  ///< systems: the least error so far
};

/// Whether a hierarchy that its probe calls weak is still worth its iterations, where `left` of the
/// plain method remain. Both counts are hopeful: eight steps show a fifth to all of what a weak
/// hierarchy takes, a pace little of the plateau that may follow.
bool weak_multigrid_pays(MultigridReport const& report, double left);

/// Bytes of factors that have less work than `left` iterations of the plain method; 0: any number
/// is worth it. nonzeros: of the matrix of `rows` rows; columns: solved or iterated together.
std::int64_t factors_worth(std::int64_t rows, std::int64_t nonzeros, int columns, double left);

/// What `automatic` does in the course of one solve. A solver's monitor shows it errors, stops the
/// solve where it is due, and the solve goes on with what take() has made:
///
///   factors of a plate or the like; multigrid that finds itself good, else factors, else multigrid
///   that still takes less than what is left; where that was not enough, factors at any cost, or
///   the inverse of few rows.
class ChangeOver {
 public:
  /// Of a preconditioner that stays.
  ChangeOver() = default;
  /// polynomial: the solve begins with that, else with Jacobi. alone: one rank has all rows. shape:
  /// called once at most, when another method seems to have less work; null: not narrow.
  ChangeOver(SolveKind kind, bool polynomial, std::int64_t rows, int columns, double tolerance,
             bool alone, std::function<GraphShape()> shape = nullptr);

  /// errors: those that have to fall below the tolerance, of one at the start; of a system those of
  /// the columns that are solved together, after whom come groups_after like them.
  bool due(std::span<double const> errors, int iteration, int groups_after = 0);
  bool late() const { return late_; }    ///< what due() said last
  double left() const { return left_; }  ///< of the polynomial's iterations of all columns then

  /// Replaces M, or leaves it where nothing better can be made; the reason is among its notes. Made
  /// has a pointer `op` to a LinearOperator, `notes`, and `levels`, a pointer or optional with a
  /// MultigridReport. levels(): multigrid, whatever its probe says of it; factors(left): such that
  /// have less work than so many iterations, infinite: whatever they cost; inverse(): the dense
  /// one. Each returns Made, without op where it has none, and then perhaps the reason in notes.
  template <class Made, class Levels, class Factors, class Inverse>
  void take(int iterations, Made& M, Levels const& levels, Factors const& factors,
            Inverse const& inverse) {
    late_ = false;
    if (std::exchange(may_coarsen_, false)) {
      bool const first = factors_first();
      if (first) {
        auto complete = factors(left());
        if (complete.op) return take_over(std::move(complete), iterations, "direct", M);
      }
      auto made = levels();
      if (made.op && made.levels->strong())
        return take_over(std::move(made), iterations, "multigrid", M);
      if (!first) {
        auto complete = factors(left());
        if (complete.op) return take_over(std::move(complete), iterations, "direct", M);
      }
      if (made.op && !weak_multigrid_pays(*made.levels, left())) {
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

  bool is_time_for_levels(int iteration, int together, int groups_after);

  /// Eigenpairs: of many rows in the plane, or of a plate, which the plain method does not find.
  bool of_the_plane() const;
  /// Where they are likely to have less work than a hierarchy.
  bool factors_first() const {
    if (kind_ == SolveKind::eigenpairs) return shape_.narrow && shape_.mixed_signs;
    if (shape_.narrow) return shape_.mixed_signs || shape_.uneven;
    // to find out by an analysis costs some iterations
    return shape_.mixed_signs &&
           shape_.dissection < automatic_polynomial().degree * left_ * columns_;
  }

  template <class Made>
  void take_over(Made made, int iterations, std::string const& name, Made& M) {
    if (!made.op && made.notes.empty()) return;
    auto notes = std::move(M.notes);
    notes.insert(notes.end(), made.notes.begin(), made.notes.end());
    notes.push_back(name + (made.op ? " took over" : " was tried") + " after " +
                    std::to_string(iterations) + (iterations == 1 ? " iteration" : " iterations") +
                    " with " + M.op->name());
    if (made.op) {
      may_coarsen_ = false;
      iterations_ = never;
      M = std::move(made);
    }
    M.notes = std::move(notes);
  }

  SolveKind kind_ = SolveKind::system;
  double weight_ = 1;  ///< one of the plain method, in those of the polynomial
  std::int64_t rows_ = 0;
  int columns_ = 1;
  double tolerance_ = 0;
  SolvePace pace_{SolveKind::system, 0};
  std::function<GraphShape()> look_;  ///< null: done, or not to be done
  GraphShape shape_;
  bool may_coarsen_ = false;  ///< multigrid may follow
  int iterations_ = never;    ///< factors may follow, after so many iterations
  double left_ = std::numeric_limits<double>::infinity();
  bool late_ = false;
};

}  // namespace blockspan
