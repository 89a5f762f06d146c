#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/small_ref.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::operators {

/// An upper bound of a sum of m magnitudes from its computed value, which is low by at most (m + 4)
/// u relatively.
template <class Scalar, class Offset>
KOKKOS_FORCEINLINE_FUNCTION real_t<Scalar> rounded_up(real_t<Scalar> sum, Offset m) {
  return sum * (1 + real_t<Scalar>(m + 4) * 2 * unit_roundoff<Scalar>);
}

/// RowBounds of factor A; NaN propagates.
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
  // If finite entries overflow in the sum, the bound is the largest finite value.
  if (Kokkos::isinf(result.norm) && Kokkos::isfinite(bounds(std::ldexp(Real(1), -60)).norm))
    result.norm = std::numeric_limits<Real>::max();
  return result;
}

/// Counts rows whose sum exceeds the rounding errors; NaN counts too.
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

  KOKKOS_FUNCTION Scalar entry(std::int64_t row) const {
    Scalar sum(0);
    for (Offset k = A.pattern.row_offsets[row]; k < A.pattern.row_offsets[row + 1]; ++k)
      if (static_cast<std::int64_t>(A.pattern.column_indices[k]) == row) sum += A.values[k];
    return sum;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t row) const { diagonal[row] = entry(row); }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
Kokkos::View<Scalar*, typename Exec::memory_space> diagonal_on_device(
    Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using Values = Kokkos::View<Scalar*, typename Exec::memory_space>;
  auto const d = allocate<Values>(exec, "Blockspan::diagonal", A.pattern.rows);
  Kokkos::parallel_for("Blockspan::read_diagonal", Policy(exec, 0, A.pattern.rows),
                       ReadDiagonal<Scalar, Offset, Ordinal>{A, d.data()});
  return d;
}

template <class Exec, class Scalar, class Offset, class Ordinal>
std::vector<real_t<Scalar>> real_diagonal(Exec const& exec,
                                          MatrixRef<Scalar, Offset, Ordinal> const& A) {
  auto const d = diagonal_on_device(exec, A);
  std::vector<Scalar> values(d.size());
  copy_elements<Exec, Kokkos::HostSpace, typename Exec::memory_space>(exec, values.data(), d.data(),
                                                                      A.pattern.rows);
  exec.fence("Blockspan::diagonal");
  std::vector<real_t<Scalar>> result;
  for (Scalar const& value : values) result.push_back(real_part(value));
  return result;
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

/// Y = factor W X; weights null: W = I.
template <class Scalar>
struct ScaleRows {
  real_t<Scalar> const* weights;
  BlockRef<Scalar const> X;
  BlockRef<Scalar> Y;
  real_t<Scalar> factor = 1;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t last) const {
    auto const weight = of_row(i);
    if (X.column_stride == 1 && Y.column_stride == 1) {
      Scalar const* const x = &X(i, 0);
      Scalar* const y = &Y(i, 0);
      for (; j < last; ++j) y[j] = weight * x[j];
    } else {
      for (; j < last; ++j) Y(i, j) = weight * X(i, j);
    }
  }

  struct Operands {
    Scalar x;
    real_t<Scalar> weight;
  };
  KOKKOS_FUNCTION Operands load(std::int64_t i, std::int64_t j) const {
    return {X(i, j), of_row(i)};
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, Operands const& o) const {
    Y(i, j) = o.weight * o.x;
  }

 private:
  KOKKOS_FUNCTION real_t<Scalar> of_row(std::int64_t i) const {
    return weights == nullptr ? factor : factor * weights[i];
  }
};

template <class Exec, class Scalar>
void scale_rows(Exec const& exec, real_t<Scalar> const* weights, BlockRef<Scalar const> const& X,
                BlockRef<Scalar> const& Y) {
  for_each_row(exec, "Blockspan::jacobi", X.rows, X.columns, ScaleRows<Scalar>{weights, X, Y});
}

template <class Scalar, class Offset, class Ordinal>
struct InvertMagnitudes {
  ReadDiagonal<Scalar, Offset, Ordinal> diagonal;
  real_t<Scalar>* factors;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    real_t<Scalar> const inverse = 1 / Kokkos::abs(diagonal.entry(i));
    factors[i] = Kokkos::isinf(inverse) ? real_t<Scalar>(0) : inverse;
  }
};
template <class Real>
struct LargestFactor {
  Real const* factors;
  KOKKOS_FUNCTION void operator()(std::int64_t i, Real& largest) const {
    largest = Kokkos::max(largest, factors[i]);
  }
};
template <class Real>
struct FillZeroFactors {
  Real* factors;
  Real value;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (factors[i] == Real(0)) factors[i] = value;
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
Kokkos::View<real_t<Scalar>*, typename Exec::memory_space> inverse_magnitudes(
    Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using Factors = Kokkos::View<real_t<Scalar>*, typename Exec::memory_space>;
  std::int64_t const rows = A.pattern.rows;
  auto const factors = allocate<Factors>(exec, "Blockspan::jacobi", rows);
  Kokkos::parallel_for("Blockspan::jacobi_setup", Policy(exec, 0, rows),
                       InvertMagnitudes<Scalar, Offset, Ordinal>{{A, nullptr}, factors.data()});
  exec.fence("Blockspan::jacobi");
  return factors;
}

template <class Exec, class Scalar>
void weigh_zero_diagonals(Exec const& exec, std::int64_t rows, real_t<Scalar>* factors,
                          Communicator const& all) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  using Real = real_t<Scalar>;
  Real largest = 0;
  Kokkos::parallel_reduce("Blockspan::jacobi_largest", Policy(exec, 0, rows),
                          LargestFactor<Real>{factors}, Kokkos::Max<Real>(largest));
  largest = all.largest(rows > 0 ? largest : Real(0));
  Kokkos::parallel_for("Blockspan::jacobi_fill", Policy(exec, 0, rows),
                       FillZeroFactors<Real>{factors, largest > 0 ? largest : Real(1)});
  exec.fence("Blockspan::jacobi");
}

}  // namespace blockspan::operators
