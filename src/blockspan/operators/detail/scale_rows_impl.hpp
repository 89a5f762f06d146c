#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/operators/detail/matrix_measures.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::detail {

template <class Scalar>
struct ScaleRows {
  real_t<Scalar> const* factors;
  BlockRef<Scalar const> X;
  BlockRef<Scalar> Y;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const i = item / X.columns, j = item % X.columns;
    Y(i, j) = factors[i] * X(i, j);
  }
};

/// Hosts: a row a work item, so that the compiler vectorises along it.
template <class Scalar>
struct ScaleWholeRows {
  ScaleRows<Scalar> rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const& [factors, X, Y] = rows;
    auto const factor = factors[i];
    if (X.column_stride == 1 && Y.column_stride == 1) {
      Scalar const* const x = &X(i, 0);
      Scalar* const y = &Y(i, 0);
      for (std::int64_t j = 0; j < X.columns; ++j) y[j] = factor * x[j];
    } else {
      for (std::int64_t j = 0; j < X.columns; ++j) Y(i, j) = factor * X(i, j);
    }
  }
};

template <class Exec, class Scalar>
void scale_rows(Exec const& exec, real_t<Scalar> const* factors, BlockRef<Scalar const> const& X,
                BlockRef<Scalar> const& Y) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (X.rows == 0 || X.columns == 0) return;
  ScaleRows<Scalar> const rows{factors, X, Y};
  if constexpr (runs_on_host_v<Exec>)
    Kokkos::parallel_for("Blockspan::jacobi", Policy(exec, 0, X.rows),
                         ScaleWholeRows<Scalar>{rows});
  else
    Kokkos::parallel_for("Blockspan::jacobi", Policy(exec, 0, X.rows * X.columns), rows);
}

template <class Scalar>
struct InvertMagnitudes {
  Scalar const* diagonal;
  real_t<Scalar>* factors;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    real_t<Scalar> const inverse = 1 / Kokkos::abs(diagonal[i]);
    factors[i] = Kokkos::isinf(inverse) ? real_t<Scalar>(1) : inverse;
  }
};

template <class Exec, class Scalar>
void invert_magnitudes(Exec const& exec, Scalar const* diagonal, std::int64_t length,
                       real_t<Scalar>* factors) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("Blockspan::jacobi_setup", Policy(exec, 0, length),
                       InvertMagnitudes<Scalar>{diagonal, factors});
}

}  // namespace blockspan::detail
