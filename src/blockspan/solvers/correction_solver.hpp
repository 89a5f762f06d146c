#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>

namespace blockspan {

/// Arguments of CorrectionSolver::solve.
template <class Real>
struct CorrectionRequest {
  CgMethod method;               ///< pseudo_block or block
  bool single_reduction;         ///< as in CgOptions
  std::vector<Real> reductions;  ///< ||r_j - A e_j|| / ||r_j|| that is enough for column j
  int max_iterations;
  double time_limit;  ///< seconds
  /// Must be called after each iteration with ||r_j - A e_j|| / ||r_j|| of all columns, by the
  /// recurrence, and the count of columns multiplied; returns false to stop.
  std::function<bool(std::vector<Real> const&, int)> step;
};

/// Result of CorrectionSolver::solve.
template <class Real>
struct CorrectionReport {
  std::string trouble;  ///< why it gave up, if it did
  Real norm_a = 0;      ///< its value of ||A||, or zero
  CgCounters counters;  ///< its own; applications in its precision
};

/// Solves A E = R for corrections to some digits: the inner part of iterative refinement, in any
/// precision. The caller verifies its results.
template <class Scalar, class Exec>
class CorrectionSolver {
 public:
  using Real = real_t<Scalar>;

  virtual ~CorrectionSolver() = default;

  /// Order of A.
  virtual std::int64_t rows() const = 0;

  /// Its precision, for reports.
  virtual std::string name() const = 0;

  /// The reduction of the residual to request in a cycle, unless the goal needs less.
  virtual Real reduction() const = 0;

  /// E = A^-1 R, approximately. R, E: n x k, not overlapping, columns of R of norms in [1, 2); E is
  /// overwritten. Fences exec.
  virtual CorrectionReport<Real> solve(Exec const& exec, ConstBlock<Scalar, Exec> const& R,
                                       Block<Scalar, Exec> const& E,
                                       CorrectionRequest<Real> const& request) const = 0;
};

}  // namespace blockspan
