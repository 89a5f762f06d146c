#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/entries.hpp>
#include <blockspan/blocks/real_view.hpp>
#include <blockspan/operators/entries/matrix_measures_impl.hpp>
#include <blockspan/operators/smoothers/chebyshev.hpp>

// Kernels of the Chebyshev polynomial: row sums that bound its interval, and the pass of a step.

namespace blockspan::operators {

template <class Scalar, class Offset, class Ordinal>
struct MeasureRows {
  using value_type = RowMeasures<Scalar>;
  using Real = real_t<Scalar>;
  MatrixRef<Scalar, Offset, Ordinal> A;
  Real const* weights;

  KOKKOS_FUNCTION void operator()(std::int64_t row, value_type& all) const {
    Offset const first = A.pattern.row_offsets[row], last = A.pattern.row_offsets[row + 1];
    Real sum = 0, diagonal = 0;
    for (Offset k = first; k < last; ++k) {
      sum += Kokkos::abs(A.values[k]);
      if (static_cast<std::int64_t>(A.pattern.column_indices[k]) == row)
        diagonal += real_part(A.values[k]);
    }
    bool const indefinite = diagonal < 0 || (diagonal == 0 && sum > 0);
    join(all, {rounded_up<Scalar>(sum * weights[row], last - first + 1), indefinite ? row : -1});
  }
  KOKKOS_FUNCTION void init(value_type& all) const { all = value_type{}; }
  KOKKOS_FUNCTION void join(value_type& all, value_type const& some) const { all.join(some); }
};

template <class Exec, class Scalar, class Offset, class Ordinal>
RowMeasures<Scalar> measure_rows(Exec const& exec, MatrixRef<Scalar, Offset, Ordinal> const& A,
                                 real_t<Scalar> const* weights) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  RowMeasures<Scalar> result;
  if (A.pattern.rows > 0)
    Kokkos::parallel_reduce("Blockspan::chebyshev_rows", Policy(exec, 0, A.pattern.rows),
                            MeasureRows<Scalar, Offset, Ordinal>{A, weights}, result);
  return result;
}

/// All coefficients are real: a complex block is treated as a real one with twice the columns.
template <class Real>
struct StepRows {
  bool add_z, add_y;
  Real momentum, step;
  Real const *weights, *r, *az, *z;
  Real* y;
  std::int64_t r_stride, az_stride, z_stride, y_stride;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t last) const {
    Real const factor = weights == nullptr ? step : step * weights[i];
    Real* const to = y + i * y_stride + j;
    step_row(add_z, add_y, momentum, factor, r + i * r_stride + j,
             add_z ? az + i * az_stride + j : to, z + i * z_stride + j, to, last - j);
  }
};

template <class Exec, class Scalar>
void pass_of_step(Exec const& exec, ProductStep<Scalar> const& step,
                  BlockRef<Scalar const> const& AZ, BlockRef<Scalar> const& Y) {
  using Real = real_t<Scalar>;
  constexpr std::int64_t p = parts<Scalar>;
  if (AZ.data == nullptr)
    return for_each_row(exec, "Blockspan::chebyshev", Y.rows, Y.columns,
                        ScaleRows<Scalar>{step.weights, step.R, Y, step.factor});
  auto const real = [](auto* data) {
    using Element = std::remove_pointer_t<decltype(data)>;
    return reinterpret_cast<std::conditional_t<std::is_const_v<Element>, Real const, Real>*>(data);
  };
  for_each_row(exec, "Blockspan::chebyshev", Y.rows, p * Y.columns,
               StepRows<Real>{step.add_z, step.add_y, step.momentum, step.factor, step.weights,
                              real(step.R.data), real(AZ.data), real(step.Z.data), real(Y.data),
                              p * step.R.row_stride, p * AZ.row_stride, p * step.Z.row_stride,
                              p * Y.row_stride});
}

}  // namespace blockspan::operators
