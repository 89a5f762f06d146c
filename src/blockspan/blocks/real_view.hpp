#pragma once

#include <blockspan/blocks/block.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::blocks {

/// Dense kernels treat a complex scalar as a pair of real columns (or rows), and so exist for reals
/// only: the products of all pairs contain the terms of the complex product, at the same number of
/// multiplications.
template <class Scalar>
inline constexpr int parts = is_complex_v<Scalar> ? 2 : 1;

/// A block of scalars as a block of reals with parts<Scalar> times the columns.
template <class Scalar>
struct RealView {
  using Real = real_t<Scalar>;
  static constexpr int p = parts<Scalar>;

  Real const* data;
  std::int64_t rows;
  std::int64_t row_stride, column_stride;  ///< in reals, of the block's rows and columns
  int columns;                             ///< real columns

  explicit RealView(BlockRef<Scalar const> const& X)
      : data(reinterpret_cast<Real const*>(X.data)),
        rows(X.rows),
        row_stride(X.row_stride * p),
        column_stride(X.column_stride * p),
        columns(static_cast<int>(X.columns) * p) {}

  KOKKOS_FORCEINLINE_FUNCTION Real operator()(std::int64_t i, int c) const {
    if constexpr (p == 1)
      return data[i * row_stride + c * column_stride];
    else
      return data[i * row_stride + (c / 2) * column_stride + (c % 2)];
  }
  KOKKOS_FORCEINLINE_FUNCTION bool rows_contiguous() const { return column_stride == p; }
};

/// Entry (l, column) of alpha C as a real matrix: a complex entry c becomes [re im; -im re], so
/// that a row (x_re, x_im) times it is x c.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION real_t<Scalar> real_coefficient(Scalar const& alpha,
                                                            BlockRef<Scalar const> const& C, int l,
                                                            int column) {
  constexpr int p = parts<Scalar>;
  Scalar const c = alpha * C(l / p, column / p);
  if constexpr (p == 1)
    return c;
  else if (l % 2 == column % 2)
    return real_part(c);
  else
    return l % 2 == 0 ? imaginary_part(c) : -imaginary_part(c);
}

}  // namespace blockspan::blocks
