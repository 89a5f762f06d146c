#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/detail/matrix_measures.hpp>

namespace blockspan::detail {

/// A sum of m terms and their magnitudes, which is low by at most (m + 4) u of itself.
template <class Scalar, class Offset>
KOKKOS_FORCEINLINE_FUNCTION real_t<Scalar> rounded_up(real_t<Scalar> sum, Offset m) {
  return sum * (1 + real_t<Scalar>(m + 4) * 2 * unit_roundoff<Scalar>);
}

/// RowBounds of factor A; a NaN, once seen, stays.
template <class Scalar, class Offset, class Ordinal>
struct BoundRows {
  using Real = real_t<Scalar>;
  using value_type = RowBounds<Real>;
  MatrixRef<Scalar, Offset, Ordinal> A;
  Real factor;

  KOKKOS_FUNCTION void operator()(std::int64_t row, value_type& bounds) const {
    Offset const first = A.pattern.row_offsets[row];
    Offset const last = A.pattern.row_offsets[row + 1];
    Real diagonal = 0, others = 0, sum = 0;
    for (Offset k = first; k < last; ++k) {
      Scalar const entry = factor * A.values[k];
      Real const size = Kokkos::abs(entry);
      sum += size;
      if (static_cast<std::int64_t>(A.pattern.column_indices[k]) == row)
        diagonal += real_part(entry);
      else
        others += size;
    }
    Real const rounding = Real(last - first + 4) * 4 * unit_roundoff<Scalar>;
    join(bounds, {rounded_up<Scalar>(sum, last - first), diagonal - others - rounding * sum});
  }
  KOKKOS_FUNCTION void init(value_type& bounds) const {
    bounds = {0, Kokkos::Experimental::infinity_v<Real>};
  }
  KOKKOS_FUNCTION void join(value_type& a, value_type const& b) const {
    if (b.norm > a.norm || b.norm != b.norm) a.norm = b.norm;
    if (b.lowest < a.lowest || b.lowest != b.lowest) a.lowest = b.lowest;
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
RowBounds<real_t<Scalar>> row_bounds(Exec const& exec,
                                     MatrixRef<Scalar, Offset, Ordinal> const& A) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using Real = real_t<Scalar>;
  auto const bounds = [&](Real factor) {
    RowBounds<Real> result;
    if (A.pattern.rows > 0)
      Kokkos::parallel_reduce("Blockspan::row_bounds", Policy(exec, 0, A.pattern.rows),
                              BoundRows<Scalar, Offset, Ordinal>{A, factor}, result);
    return result;
  };
  auto result = bounds(Real(1));
  // Finite entries at the end of the range: the largest finite number replaces their sum.
  if (Kokkos::isinf(result.norm) && Kokkos::isfinite(bounds(std::ldexp(Real(1), -60)).norm))
    result.norm = std::numeric_limits<Real>::max();
  return result;
}

/// Rows whose entries add up to more than rounding errors; a NaN is more.
template <class Scalar, class Offset, class Ordinal>
struct CountRowSums {
  MatrixRef<Scalar, Offset, Ordinal> A;

  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& count) const {
    Offset const first = A.pattern.row_offsets[row];
    Offset const last = A.pattern.row_offsets[row + 1];
    Scalar sum(0);
    real_t<Scalar> magnitude = 0;
    for (Offset k = first; k < last; ++k) {
      sum += A.values[k];
      magnitude += Kokkos::abs(A.values[k]);
    }
    real_t<Scalar> const rounding = rounded_up<Scalar>(magnitude, last - first) - magnitude;
    if (!(Kokkos::abs(sum) <= rounding)) ++count;
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
bool rows_sum_to_zero(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  std::int64_t count = 0;
  if (A.pattern.rows > 0)
    Kokkos::parallel_reduce("Blockspan::rows_sum_to_zero", Policy(exec, 0, A.pattern.rows),
                            CountRowSums<Scalar, Offset, Ordinal>{A}, count);
  return count == 0;
}

template <class Scalar, class Offset, class Ordinal>
struct ReadDiagonal {
  MatrixRef<Scalar, Offset, Ordinal> A;
  Scalar* diagonal;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    Scalar sum(0);
    for (Offset k = A.pattern.row_offsets[row]; k < A.pattern.row_offsets[row + 1]; ++k)
      if (static_cast<std::int64_t>(A.pattern.column_indices[k]) == row) sum += A.values[k];
    diagonal[row] = sum;
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
void read_diagonal(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                   Scalar* diagonal) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("Blockspan::read_diagonal", Policy(exec, 0, A.pattern.rows),
                       ReadDiagonal<Scalar, Offset, Ordinal>{A, diagonal});
}

template <class Scalar, class Offset, class Ordinal>
struct MultiplyMagnitudes {
  MatrixRef<Scalar, Offset, Ordinal> A;
  real_t<Scalar> const* x;
  real_t<Scalar>* y;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    real_t<Scalar> sum = 0;
    for (Offset k = A.pattern.row_offsets[row]; k < A.pattern.row_offsets[row + 1]; ++k)
      sum += Kokkos::abs(A.values[k]) * x[A.pattern.column_indices[k]];
    y[row] = sum;
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
void multiply_magnitudes(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                         real_t<Scalar> const* x, real_t<Scalar>* y) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("Blockspan::magnitudes", Policy(exec, 0, A.pattern.rows),
                       MultiplyMagnitudes<Scalar, Offset, Ordinal>{A, x, y});
  exec.fence("Blockspan::magnitudes");
}

}  // namespace blockspan::detail
