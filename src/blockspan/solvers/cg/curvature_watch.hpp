#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include <blockspan/solvers/cg/thresholds.hpp>

namespace blockspan::krylov {

/// Detects from the scalars of conjugate gradients when a column meets a singular A, and when its
/// residual stagnates. The direction of a column is p_k = gamma_k sum_j z_j / gamma_j, a multiple
/// of the minimal residual (Zhou and Walker 1994), with p_k^H M p_k = gamma_k^2 sum_j 1 / gamma_j.
/// Where b is outside the range of A, that residual ends at a vector that A M^-1 maps to zero, and
/// p^H A p / p^H M p, which is never below the least eigenvalue of M^-1 A, tends to zero.
template <class Real>
class CurvatureWatch {
 public:
  /// A new cycle. The largest quotient stays.
  void start(std::size_t columns) {
    columns_.assign(columns, {});
    steps_ = 0;
  }

  /// gamma of the next direction of column c.
  void direction(std::size_t c, Real gamma) {
    auto& column = columns_[c];
    column.sum = column.gamma > 0 ? 1 + gamma / column.gamma * column.sum : Real(1);
    column.gamma = gamma;
    if (!(column.first > 0)) column.first = gamma;
  }

  /// Whether the residual of column c has diverged, as null vectors of A that M^-1 amplifies make
  /// it do.
  bool lost(std::size_t c) const {
    auto const& column = columns_[c];
    return column.gamma > CgThresholds<Real>::lost * CgThresholds<Real>::lost * column.first;
  }

  /// Records a quotient p^H A p / p^H M p.
  void note(Real quotient) { largest_ = std::max(largest_, quotient); }

  Real largest() const { return largest_; }

  /// Whether the curvature p^H A p of that direction is negligible against its length, although the
  /// minimal residual is above `goal` times the first one. True again only at a tenth of the
  /// quotient.
  bool flat(std::size_t c, Real curvature, Real goal) {
    auto& column = columns_[c];
    Real const quotient = curvature / column.gamma / column.sum;
    note(quotient);
    bool const flat = quotient <= CgThresholds<Real>::flat * largest_ &&
                      quotient <= column.reported / 10 &&
                      column.gamma / column.sum > goal * goal * column.first;
    if (flat) column.reported = quotient;
    return flat;
  }

  /// After a step: whether some active column has not halved its residual for many steps, as may
  /// happen where A is not Hermitian.
  bool stale(std::vector<Real> const& residuals, std::vector<bool> const& live) {
    ++steps_;
    bool found = false;
    for (std::size_t c = 0; c < residuals.size(); ++c) {
      if (!live[c]) continue;
      auto& column = columns_[c];
      if (residuals[c] <= column.best / 2) column.best = residuals[c], column.best_step = steps_;
      found = found || steps_ - column.best_step > CgThresholds<Real>::patience + steps_ / 4;
    }
    return found;
  }

 private:
  struct Column {
    Real gamma = 0, first = 0;
    Real sum = 1;  ///< gamma_k sum_j 1 / gamma_j
    /// The quotient at which flat() was last true.
    Real reported = std::numeric_limits<Real>::infinity();
    Real best = std::numeric_limits<Real>::infinity();
    int best_step = 0;
  };
  std::vector<Column> columns_;
  Real largest_ = 0;  ///< p^H A p / p^H M p seen
  int steps_ = 0;
};

}  // namespace blockspan::krylov
