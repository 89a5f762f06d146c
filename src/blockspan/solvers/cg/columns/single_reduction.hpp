#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/solvers/cg/columns/column_recurrence.hpp>

namespace blockspan::krylov {

// The passes of pseudo-block conjugate gradients with one reduction a step. With r' = r - alpha q
// and alpha = gamma / p.q, gamma' = r'.(w r') is alpha^2 q.(w q) - gamma as long as rounding leaves
// p.q = q.(w r) true: known before r' is. The true value follows one reduction later.

/// p.q, p.p and q.(w q). Reads 2 words.
template <class RealType>
struct PredictionTerms {
  using Real = RealType;
  static constexpr int count = 3;
  RowMajorRef<Real> P, Q;
  Real const* weights;

  KOKKOS_FORCEINLINE_FUNCTION void set_width(std::int64_t columns) {
    P.row_stride = Q.row_stride = columns;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    Real const p = P(i, j), q = Q(i, j), square = q * q;
    terms[0] = p * q;
    terms[1] = p * p;
    terms[2] = weights ? weights[i] * square : square;
  }
};

/// r.(w r) and r.r, to the bits of UpdateTerms: with Operands, because those are folded in another
/// order. Reads 1 word.
template <class RealType>
struct SizeTerms {
  using Real = RealType;
  static constexpr int count = 2;
  RowMajorRef<Real> R;
  Real const* weights;

  KOKKOS_FORCEINLINE_FUNCTION void set_width(std::int64_t columns) { R.row_stride = columns; }
  struct Operands {
    Real r, weight;
  };
  KOKKOS_FORCEINLINE_FUNCTION Operands load(std::int64_t i, std::int64_t j) const {
    return {R(i, j), weights ? weights[i] : Real(1)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t, std::int64_t, Operands const& o,
                                              Real* terms) const {
    residual_sizes(o.r, weights, o.weight, terms);
  }
};

/// R -= Q alpha, E += P alpha, P = w.R + P beta; r.(w r) and r.r of the new R. Reads 4 words,
/// writes 3. A column with alpha = 0 stays as it is; one with beta = 0 keeps its P.
template <class RealType>
struct UpdateTerms {
  using Real = RealType;
  static constexpr int count = 2;
  RowMajorRef<Real> E, P, Q, R;
  Real const* alpha;
  Real const* beta;
  Real const* weights;

  KOKKOS_FORCEINLINE_FUNCTION void set_width(std::int64_t columns) {
    E.row_stride = P.row_stride = Q.row_stride = R.row_stride = columns;
  }
  struct Operands {
    Real e, p, q, r, weight;
  };
  KOKKOS_FORCEINLINE_FUNCTION Operands load(std::int64_t i, std::int64_t j) const {
    return {E(i, j), P(i, j), Q(i, j), R(i, j), weights ? weights[i] : Real(1)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Operands const& o,
                                              Real* terms) const {
    Real const a = alpha[j], b = beta[j];
    Real const stepped = o.r - a * o.q, r = a != Real(0) ? stepped : o.r;
    Real const corrected = o.e + a * o.p, next = o.weight * r + b * o.p;
    R(i, j) = r;
    E(i, j) = a != Real(0) ? corrected : o.e;
    P(i, j) = b != Real(0) ? next : o.p;
    residual_sizes(r, weights, o.weight, terms);
  }
};

/// alpha and the predicted beta, from the sums of PredictionTerms and those of the residual that
/// the last update left; zero where the column is done or rests. Where the prediction cancels, beta
/// is pending.
template <class Real>
struct PredictAlphaBeta {
  static constexpr int count = 5;
  ColumnScalars<Real> columns;
  Real cancelled;  ///< part of gamma below which the predicted one is not used

  KOKKOS_FUNCTION void operator()(std::int64_t j, Real const* sums) const {
    Real alpha = 0, beta = 0;
    columns.pending[j] = 0;
    if (columns.running(j)) {
      Real const curvature = sums[0], gamma = sums[3];
      columns.phi[j] = sums[4];
      columns.gamma[j] = gamma;
      columns.curvature[j] = curvature / sums[1];
      columns.square[j] = sums[1];
      check_termination(j, curvature, gamma, sums[4]);
      if (columns.running(j)) {
        alpha = gamma / curvature;
        Real const predicted = alpha * (alpha * sums[2]) - gamma;
        if (predicted > cancelled * gamma && Kokkos::isfinite(predicted))
          beta = predicted / gamma;
        else
          columns.pending[j] = 1;
      }
    }
    columns.set(columns.alpha, j, alpha);
    columns.set(columns.beta, j, beta);
  }

 private:
  KOKKOS_FUNCTION void check_termination(std::int64_t j, Real curvature, Real gamma,
                                         Real phi) const {
    if (!Kokkos::isfinite(phi))
      columns.stop(j, ColumnState::operator_not_finite);
    else if (phi <= columns.goal[j])
      columns.stop(j, ColumnState::at_goal);
    else if (!(gamma > 0) || !Kokkos::isfinite(gamma))
      columns.stop(j, gamma <= 0 ? ColumnState::preconditioner : ColumnState::lost);
    else if (!Kokkos::isfinite(curvature))
      columns.stop(j, ColumnState::operator_not_finite);
    else if (!(curvature > 0))
      columns.stop(j, ColumnState::curvature);
  }
};

/// beta of the columns where it is pending, from the true gamma, and zero for all others; alpha =
/// 0, since the step was taken: what a DirectionStep needs to bring P up to date.
template <class Real>
struct CorrectBeta {
  static constexpr int count = 2;
  ColumnScalars<Real> columns;

  KOKKOS_FUNCTION void operator()(std::int64_t j, Real const* sums) const {
    bool const wanted = columns.running(j) && columns.pending[j] != Real(0) && sums[0] > 0 &&
                        Kokkos::isfinite(sums[0]);
    Real const beta = wanted ? sums[0] / columns.gamma[j] : Real(0);
    columns.set(columns.alpha, j, 0);
    columns.set(columns.beta, j, beta);
  }
};

}  // namespace blockspan::krylov
