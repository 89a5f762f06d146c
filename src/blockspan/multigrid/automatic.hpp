#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <blockspan/multigrid/graph_shape.hpp>
#include <blockspan/multigrid/options.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/support/scalar.hpp>

// When a solve that started with a simple preconditioner switches to multigrid or to factors, and
// to which. Decisions depend on iteration counts and residuals, never on time: the same problem
// takes the same course under any load and on all ranks.
namespace blockspan {

/// The kind of problem that a preconditioner is for.
enum class SolveKind { system, eigenpairs };

/// Whether the solve starts with the Chebyshev polynomial of the defaults, judging by what
/// chebyshev_setup found; otherwise it starts with Jacobi. The polynomial needs a seventh of
/// Jacobi's iterations, and its products cost less than the vector operations of the iterations
/// saved; but systems that Jacobi solves in some twenty iterations (mass matrices) would converge
/// more slowly with so wide an interval.
template <class Scalar, class Exec>
bool begins_with_polynomial(SolveKind kind, ChebyshevSetup<Scalar, Exec> const& setup) {
  constexpr real_t<Scalar> well_conditioned = 30;  // twelve Lanczos steps find 50 to 62 for grids
  auto const& [smallest, largest, residual, steps, finite] = setup.estimate;
  return setup.usable() && (kind == SolveKind::eigenpairs || largest > well_conditioned * smallest);
}

/// The name of the default preconditioner for eigenpairs. Jacobi favours rows with a small
/// diagonal: right at the lower end of the spectrum, wrong at the upper end, where it helps only a
/// pencil, by its scaling. one_method: the state of the solve does not allow a change of
/// preconditioner.
std::string_view default_of_eigenpairs(bool largest, bool pencil, bool one_method);

/// Problems with fewer rows stay with Jacobi: a hierarchy would have one level, and the solve ends
/// before a decision pays.
constexpr std::int64_t automatic_least_rows = 1000;

/// The cost of multigrid, in iterations of the polynomial on `columns` columns. Systems: the setup
/// (hosts, one thread: 55, 16, 8 for 1, 8, 16 columns, for any number of entries a row) and, for
/// each of `groups` solved one after the other, the 10 iterations that a good hierarchy needs, each
/// slightly more expensive than one of the polynomial. Eigenpairs: the setup alone, 160 divided by
/// the columns, since every column has products of its own.
int multigrid_work(SolveKind kind, int columns, int groups = 1);

/// How many iterations are left until `tolerance` at the rate so far, `iterations` having reduced
/// the error from one to `error`; infinite if it has not decreased.
double iterations_left(int iterations, double error, double tolerance);

/// The convergence rate of a solve, and whether it is time to switch.
class SolvePace {
 public:
  SolvePace(SolveKind kind, double tolerance) : kind_(kind), tolerance_(tolerance) {}

  /// Records the largest error that has to fall below the tolerance, after `iteration` iterations.
  /// An iteration not above the last one starts a new record.
  void see(int iteration, double error);

  /// Iterations until the tolerance. Eigenpairs: at the rate of the second half, since the first
  /// few find the subspace of any problem and do not predict what follows. Systems: the geometric
  /// mean of the estimates by all iterations and by the second half, at most four times the former:
  /// residuals of random right-hand sides fall fast at first, stagnate, and fall fast in the end.
  double left() const;
  /// The same with groups_after like this one; after the first call of see().
  double left_of_groups(int groups_after) const;

  /// Whether another method, which costs `work` iterations, would finish earlier. Systems, from two
  /// iterations and a fortieth of that work on: more than `margin` times the work is left, for this
  /// group and the groups_after like it. Eigenpairs, from seven iterations on: a setup and the 20
  /// iterations that a good hierarchy needs cost less than what is left.
  bool is_time_to_switch(int work, double margin = 1, int groups_after = 0) const;

 private:
  SolveKind kind_;
  double tolerance_;
  std::vector<std::pair<int, double>> seen_;  ///< systems: the least error so far
};

/// Whether a hierarchy that its probe calls weak still pays where the polynomial needs `left` more
/// iterations. Both estimates are optimistic: eight steps predict between a fifth and all of the
/// iterations of a weak hierarchy, and a convergence rate does not show a plateau that may follow.
bool weak_multigrid_pays(MultigridReport const& report, double left);

/// Systems with fewer rows are not looked at before the first iteration.
constexpr std::int64_t early_least_rows = 10'000;

/// Whether row sums relative to the diagonal are so small, in the mean, that the graph may predict
/// many iterations. If they are larger, or all rows cancel, only the iteration shows it.
inline bool may_change_early(double mean_row_sum) {
  return mean_row_sum > 1e-12 && mean_row_sum < 0.01;
}

/// A low estimate of the polynomial's iterations until `tolerance`, for `together` columns, from
/// the small eigenvalues of a narrow graph; 0: unknown.
double fewest_iterations(GraphShape const& shape, int together, double tolerance);

/// The predicted iterations, on all columns, where a solve should change its preconditioner before
/// the first one: for systems if they cost more than half of multigrid, for the lowest pairs if the
/// graph is narrow; else 0.
double early_work(SolveKind kind, GraphShape const& shape, int columns, double tolerance);

/// The same on a device, which sets up a hierarchy in the time of some ten iterations: whether a
/// system of such a mean_row_sum is likely to need more. The mean is what the constant has of the
/// eigenvalues, so that the smallest is hardly above it.
bool levels_pay_at_once(double mean_row_sum, double tolerance);

/// Memory limit in bytes for factors that cost less than `left` iterations with the polynomial; 0:
/// no limit. nonzeros: of the matrix of `rows` rows; columns: those iterated together.
std::int64_t factors_worth(std::int64_t rows, std::int64_t nonzeros, int columns, double left);

/// What `automatic` does during one solve. The solver's monitor passes it the errors and stops the
/// solve when a switch is due, and the solve continues with what take() made:
///
///   1. where factors_first(): factors, if they cost less than the iterations left; on a device
///      multigrid is always first, and the iterations left count a fiftieth
///   2. multigrid, if its probe is good
///   3. else factors, if they do and were not tried
///   4. else multigrid, if it still costs less than the iterations left
///   5. later, where none of these sufficed: factors at any cost, or the dense inverse of few rows
class ChangeOver {
 public:
  /// For a preconditioner that is never replaced.
  ChangeOver() = default;
  /// polynomial: the solve starts with it, else with Jacobi. exact: factors or a dense inverse are
  /// possible. shape: called at most once, when another method seems to cost less; null: not
  /// narrow.
  ChangeOver(SolveKind kind, bool polynomial, std::int64_t rows, int columns, double tolerance,
             bool exact, std::function<GraphShape()> shape = nullptr);

  /// Whether to switch now. errors: those that have to fall below the tolerance, relative to the
  /// start; for a system those of the columns solved together, which groups_after more groups
  /// follow.
  bool due(std::span<double const> errors, int iteration, int groups_after = 0);
  /// Makes a change due before the first iteration, with `left` iterations predicted from the
  /// shape.
  void begin_early(GraphShape const& shape, double left);
  /// Is due before the first iteration, for multigrid alone and if its probe is good. If not,
  /// take() leaves M without op, and the solve that then iterates needs another ChangeOver.
  void begin_with_levels();
  bool begins_with_levels() const { return begins_with_levels_; }
  /// For a solve on a device, which multiplies some fifty times as fast as a thread of the host
  /// that makes factors or analyses them (perf/notes/multigrid.md).
  void solves_on_device() { factors_cost_ = 50; }
  bool late() const { return late_; }    ///< the last result of due()
  double left() const { return left_; }  ///< iterations left then, of the polynomial on all columns

  /// Replaces M, or keeps it if nothing better can be made; the reason is among its notes. Made has
  /// a pointer `op` to a LinearOperator, `notes`, and `levels`, a pointer or optional with a
  /// MultigridReport. levels(): multigrid, whatever its probe finds; factors(left): factors that
  /// cost less than `left` iterations (infinite: at any cost); inverse(): the dense inverse. Each
  /// returns a Made, without op if it failed, then with the reason in notes where there is one.
  template <class Made, class Levels, class Factors, class Inverse>
  void take(int iterations, Made& M, Levels const& levels, Factors const& factors,
            Inverse const& inverse) {
    late_ = false;
    if (begins_with_levels_) {
      auto made = levels();
      if (made.op && !made.levels->strong()) leave(made);
      return take_over(std::move(made), iterations, "multigrid", M);
    }
    if (std::exchange(may_coarsen_, false)) {
      bool const first = factors_first();
      if (first) {
        auto complete = factors(worth_of_factors());
        if (complete.op) return take_over(std::move(complete), iterations, "direct", M);
      }
      auto made = levels();
      if (made.op && made.levels->strong())
        return take_over(std::move(made), iterations, "multigrid", M);
      if (!first) {
        auto complete = factors(worth_of_factors());
        if (complete.op) return take_over(std::move(complete), iterations, "direct", M);
      }
      if (made.op && !weak_multigrid_pays(*made.levels, left())) leave(made);
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

  /// Eigenpairs of a large planar problem or of a plate: a polynomial or Jacobi does not find them
  /// in a reasonable number of iterations.
  bool of_the_plane() const;
  /// Why it was due before the first iteration, in words.
  std::string early_reason() const;

  double worth_of_factors() const { return left_ / factors_cost_; }

  /// Whether factors are likely to cost less than a hierarchy.
  bool factors_first() const {
    if (factors_cost_ > 1) return false;
    if (kind_ == SolveKind::eigenpairs) return shape_.narrow && shape_.mixed_signs;
    if (shape_.narrow) return shape_.mixed_signs || shape_.uneven;
    // a symbolic factorization gives the exact work, but costs as much as some iterations
    return shape_.mixed_signs && shape_.dissection < ChebyshevOptions{}.degree * left_ * columns_;
  }

  /// Drops a hierarchy; its status is the reason.
  template <class Made>
  static void leave(Made& made) {
    made.notes = {"multigrid is " + std::string(to_string(made.levels->status)) + ": " +
                  made.levels->message};
    made.op.reset();
  }

  template <class Made>
  void take_over(Made made, int iterations, std::string const& name, Made& M) {
    if (!made.op && made.notes.empty()) return;
    auto notes = std::move(M.notes);
    notes.insert(notes.end(), made.notes.begin(), made.notes.end());
    notes.push_back(name + (made.op ? " took over " : " was tried ") +
                    (M.op ? "after " + std::to_string(iterations) +
                                (iterations == 1 ? " iteration" : " iterations") + " with " +
                                M.op->name()
                          : "before the first iteration: " + early_reason()));
    if (made.op) {
      may_coarsen_ = false;
      iterations_ = never;
      M = std::move(made);
    }
    M.notes = std::move(notes);
  }

  SolveKind kind_ = SolveKind::system;
  double weight_ = 1;  ///< cost of an iteration of the first method, in those of the polynomial
  std::int64_t rows_ = 0;
  int columns_ = 1;
  double tolerance_ = 0;
  SolvePace pace_{SolveKind::system, 0};
  std::function<GraphShape()> look_;  ///< null: done, or not to be done
  GraphShape shape_;
  bool may_coarsen_ = false;  ///< multigrid may follow
  int iterations_ = never;    ///< factors may follow after this many iterations
  double left_ = std::numeric_limits<double>::infinity();
  double factors_cost_ = 1;  ///< of a multiplication in factors, in those of a product
  bool late_ = false;
  bool begins_with_levels_ = false;
};

}  // namespace blockspan
