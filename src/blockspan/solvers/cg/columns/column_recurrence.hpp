#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/real_view.hpp>
#include <blockspan/solvers/common/column_kernels.hpp>

namespace blockspan::krylov {

// The passes of pseudo-block conjugate gradients. All its scalars are real (A and M^-1 are
// Hermitian), so a complex block is a block of twice as many real columns here, and only the sums
// of a column put its parts together. The result of a column does not depend on the others. All
// blocks of a pass are equally wide, and contiguous.

/// A row-major contiguous block as reals.
template <class Scalar, class Exec>
RowMajorRef<real_t<Scalar>> real_rows(Block<Scalar, Exec> const& X) {
  auto const columns = static_cast<std::int64_t>(X.extent(1)) * parts<Scalar>;
  return {reinterpret_cast<real_t<Scalar>*>(X.data()), static_cast<std::int64_t>(X.extent(0)),
          columns, columns, 1};
}

/// p.q and p.p. Reads 2 words.
template <class RealType>
struct CurvatureTerms {
  using Real = RealType;
  static constexpr int count = 2;
  RowMajorRef<Real> P, Q;

  KOKKOS_FORCEINLINE_FUNCTION void set_width(std::int64_t columns) {
    P.row_stride = Q.row_stride = columns;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    Real const p = P(i, j);
    terms[0] = p * Q(i, j);
    terms[1] = p * p;
  }
};

/// r.(w r) and r.r, `weight` being that of the row where there are weights.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION void residual_sizes(Real r, Real const* weights, Real weight,
                                                Real* terms) {
  terms[1] = r * r;
  terms[0] = weights ? weight * terms[1] : terms[1];
}

/// R -= Q alpha; r.(w.r) and r.r of the new R. Reads 2 words, writes 1. A column with alpha = 0
/// stays as it is, whatever its q.
template <class RealType>
struct ResidualStepTerms {
  using Real = RealType;
  static constexpr int count = 2;
  RowMajorRef<Real> Q, R;
  Real const* alpha;
  Real const* weights;

  KOKKOS_FORCEINLINE_FUNCTION void set_width(std::int64_t columns) {
    Q.row_stride = R.row_stride = columns;
  }
  struct Operands {
    Real q, r, weight;
  };
  KOKKOS_FORCEINLINE_FUNCTION Operands load(std::int64_t i, std::int64_t j) const {
    return {Q(i, j), R(i, j), weights ? weights[i] : Real(1)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Operands const& o,
                                              Real* terms) const {
    // a select among operands, not results: GCC 12 makes a branch of the other, and no vectors
    Real const a = alpha[j], q = a != Real(0) ? o.q : Real(0), r = o.r - a * q;
    R(i, j) = r;
    residual_sizes(r, weights, o.weight, terms);
  }
};

/// r.z. Reads 2 words.
template <class RealType>
struct ProductTerms {
  using Real = RealType;
  static constexpr int count = 1;
  RowMajorRef<Real> R, Z;

  KOKKOS_FORCEINLINE_FUNCTION void set_width(std::int64_t columns) {
    R.row_stride = Z.row_stride = columns;
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    terms[0] = R(i, j) * Z(i, j);
  }
};

/// E += P alpha, P = Z + P beta, where Z = w.R; a column with alpha = beta = 0 keeps its P. Reads 3
/// words, writes 2.
template <class Real>
struct DirectionStep {
  RowMajorRef<Real> E, P, Z;
  Real const* alpha;
  Real const* beta;
  Real const* weights;

  KOKKOS_FORCEINLINE_FUNCTION void set_width(std::int64_t columns) {
    E.row_stride = P.row_stride = Z.row_stride = columns;
  }
  KOKKOS_FORCEINLINE_FUNCTION void step(std::int64_t i, std::int64_t j, Real weight) const {
    Real const a = alpha[j], b = beta[j], p = P(i, j), e = E(i, j), stepped = e + a * p;
    Real const z = weight * Z(i, j), next = z + b * p;
    E(i, j) = a != Real(0) ? stepped : e;
    P(i, j) = b != Real(0) ? next : a != Real(0) ? z : p;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t last) const {
    Real const weight = weights ? weights[i] : Real(1);
    for (; j + 8 <= last; j += 8)
      for (int t = 0; t < 8; ++t) step(i, j + t, weight);
    for (; j < last; ++j) step(i, j, weight);
  }
};

/// State of a column, a small integer as a real, so that all scalars are copied together.
enum class ColumnState { running, at_goal, operator_not_finite, curvature, preconditioner, lost };

/// The scalars of all columns, where Exec computes. alpha and beta: one a real column.
template <class RealType>
struct ColumnScalars {
  using Real = RealType;
  Real *alpha, *beta;
  Real *phi, *state, *gamma, *curvature, *square;  ///< one a column, one behind the other
  Real const* goal;                                ///< tau^2
  Real* pending;  ///< (single reduction) beta waits for the true gamma
  int parts;      ///< real columns of a column

  KOKKOS_FUNCTION bool running(std::int64_t j) const {
    return state[j] == static_cast<Real>(ColumnState::running);
  }
  KOKKOS_FUNCTION void stop(std::int64_t j, ColumnState why) const {
    state[j] = static_cast<Real>(why);
  }
  /// In all parts of a column.
  KOKKOS_FUNCTION void set(Real* numbers, std::int64_t j, Real value) const {
    for (int part = 0; part < parts; ++part) numbers[parts * j + part] = value;
  }
};

/// gamma = r.z at the start.
template <class Real>
struct TakeStart {
  static constexpr int count = 1;
  ColumnScalars<Real> columns;

  KOKKOS_FUNCTION void operator()(std::int64_t j, Real const* sums) const {
    columns.gamma[j] = sums[0];
    columns.curvature[j] = 0;
    columns.square[j] = 0;
    columns.phi[j] = 0;
    columns.stop(j, !Kokkos::isfinite(sums[0]) ? ColumnState::lost
                    : sums[0] > 0              ? ColumnState::running
                                               : ColumnState::preconditioner);
  }
};

/// alpha = gamma / p.q, or zero where the column rests or its curvature is not positive.
template <class Real>
struct TakeCurvature {
  static constexpr int count = 2;
  ColumnScalars<Real> columns;

  KOKKOS_FUNCTION void operator()(std::int64_t j, Real const* sums) const {
    Real alpha = 0;
    if (columns.running(j)) {
      columns.curvature[j] = sums[0] / sums[1];
      columns.square[j] = sums[1];
      if (!Kokkos::isfinite(sums[0]))
        columns.stop(j, ColumnState::operator_not_finite);
      else if (sums[0] > 0)
        alpha = columns.gamma[j] / sums[0];
      else
        columns.stop(j, ColumnState::curvature);
    }
    columns.set(columns.alpha, j, alpha);
  }
};

/// beta = gamma' / gamma from gamma' = r.z; zero where the column is done or rests.
template <class Real>
KOKKOS_FUNCTION void take_product(ColumnScalars<Real> const& columns, std::int64_t j,
                                  Real product) {
  Real beta = 0;
  if (columns.running(j)) {
    if (product > 0 && Kokkos::isfinite(product))
      beta = product / columns.gamma[j];
    else
      columns.stop(j, product <= 0 ? ColumnState::preconditioner : ColumnState::lost);
    columns.gamma[j] = product;
  }
  columns.set(columns.beta, j, beta);
}

/// phi = r.r, and whether the goal is reached; `with_product`: beta as well, from the same pass.
template <class Real>
struct TakeResidual {
  static constexpr int count = 2;
  ColumnScalars<Real> columns;
  bool with_product;

  KOKKOS_FUNCTION void operator()(std::int64_t j, Real const* sums) const {
    if (columns.running(j)) {
      columns.phi[j] = sums[1];
      if (!Kokkos::isfinite(sums[1]))
        columns.stop(j, ColumnState::operator_not_finite);
      else if (sums[1] <= columns.goal[j])
        columns.stop(j, ColumnState::at_goal);
    }
    if (with_product) take_product(columns, j, sums[0]);
  }
};

template <class Real>
struct TakeProduct {
  static constexpr int count = 1;
  ColumnScalars<Real> columns;

  KOKKOS_FUNCTION void operator()(std::int64_t j, Real const* sums) const {
    take_product(columns, j, sums[0]);
  }
};

}  // namespace blockspan::krylov
