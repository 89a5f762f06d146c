#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/run/step.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// The step of a polynomial in W A, from the sums of a row, those of A X, while they are in
/// registers (see ProductStep). Sees each row once, finished, and alone writes Y. Rows are
/// contiguous, and aligned for the vectors that sums come in.
template <class Scalar>
struct TakeStep {
  ProductStep<Scalar> step;
  BlockRef<Scalar> Y;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION TakeStep const& of_team(Team const&) const {
    return *this;
  }
  static constexpr std::size_t scratch_bytes(int) { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION void finish_team() const {}

  KOKKOS_FORCEINLINE_FUNCTION real_t<Scalar> factor_of(std::int64_t row) const {
    return step.weights == nullptr ? step.factor : step.factor * load(step.weights + row);
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column,
                                              Sum<Scalar, Width> const& sum) const {
    using P = Vector<Scalar, Width>;
    P* const to = reinterpret_cast<P*>(Y.data + row * Y.row_stride + column);
    P const r = load(reinterpret_cast<P const*>(step.R.data + row * step.R.row_stride + column));
    P z{}, y{};
    if (step.add_z) {
      z = load(reinterpret_cast<P const*>(step.Z.data + row * step.Z.row_stride + column));
      if (step.add_y) y = *to;
    }
    real_t<Scalar> const factor = factor_of(row);
    BLOCKSPAN_UNROLL
    for (int j = 0; j < Width; ++j)
      y.value[j] = z.value[j] + step.momentum * (z.value[j] - y.value[j]) +
                   factor * (r.value[j] - sum.value[j]);
    *to = y;
  }

  /// The i-th row of a segment that begins with `row`; which of a lane's vectors it is does not
  /// matter.
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int i, std::int64_t column,
                                              Sum<Scalar, Width> const& sum, int) const {
    (*this)(row + i, column, sum);
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void finish_cut_row(std::int64_t, std::int64_t row,
                                                  std::int64_t column,
                                                  Sum<Scalar, Width> const& sum) const {
    (*this)(row, column, sum);
  }
};

}  // namespace blockspan::products
