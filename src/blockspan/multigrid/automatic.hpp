#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <blockspan/multigrid/options.hpp>

// When a solve that began with a plain method changes over to multigrid or factors. Iterations are
// counted and residuals compared, nothing is timed: the same problem takes the same way on any load
// and on all ranks.
namespace blockspan {

/// What a preconditioner is for. The plain methods are Jacobi for systems, for eigenpairs a
/// Chebyshev polynomial of degree 8 on [b / 100, b].
enum class SolveKind { system, eigenpairs };

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

}  // namespace blockspan
