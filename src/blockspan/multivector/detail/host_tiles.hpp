#pragma once

#include <cstdint>
#include <cstring>

#include <blockspan/multivector/detail/real_view.hpp>
#include <blockspan/support/arithmetic.hpp>

// Register tiles of the dense products on hosts. The accumulators of a tile fill the vector
// registers: `lanes` columns wide and a few rows high.

namespace blockspan::detail {

/// Real numbers in a cache line: one 512-bit register, or two of 256 bits.
template <class Real>
inline constexpr int lanes = 64 / static_cast<int>(sizeof(Real));

#if defined(__AVX512F__)
inline constexpr int tall_tile = 8;
#else
inline constexpr int tall_tile = 4;
#endif
inline constexpr int short_tile = 4;

constexpr int round_up(int a, int b) { return ceil_div(a, b) * b; }

/// Some rows of a block, row-major: entry (r, c) is data[r * ld + c].
template <class Real>
struct Panel {
  Real const* data;
  std::int64_t ld;
};

/// Zeros the columns of a packed panel that X does not have; pack() leaves them alone.
template <class Scalar>
void clear_padding(RealView<Scalar> const& X, int rows, int width, real_t<Scalar>* buffer) {
  for (int r = 0; r < rows; ++r)
    for (int c = X.columns; c < width; ++c) buffer[r * std::int64_t(width) + c] = 0;
}

/// Copies rows [first, first + rows) of X into `buffer`, whose rows have `width` entries.
template <class Scalar>
Panel<real_t<Scalar>> pack(RealView<Scalar> const& X, std::int64_t first, int rows, int width,
                           real_t<Scalar>* buffer) {
  if (X.rows_contiguous()) {
    auto const bytes = static_cast<std::size_t>(X.columns) * sizeof(real_t<Scalar>);
    for (int r = 0; r < rows; ++r)
      std::memcpy(buffer + r * std::int64_t(width), X.data + (first + r) * X.row_stride, bytes);
  } else if (X.row_stride <= X.column_stride) {
    for (int c = 0; c < X.columns; ++c)
      for (int r = 0; r < rows; ++r) buffer[r * std::int64_t(width) + c] = X(first + r, c);
  } else {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < X.columns; ++c) buffer[r * std::int64_t(width) + c] = X(first + r, c);
  }
  return {buffer, width};
}

/// Rows [first, first + rows) of X with `width` readable columns: X itself where it is laid out so,
/// or a copy in `buffer`.
template <class Scalar>
Panel<real_t<Scalar>> panel(RealView<Scalar> const& X, std::int64_t first, int rows, int width,
                            real_t<Scalar>* buffer) {
  if (X.rows_contiguous() && X.columns == width)
    return {X.data + first * X.row_stride, X.row_stride};
  return pack(X, first, rows, width, buffer);
}

/// `lanes` numbers as one value. Vector types of the compiler, since loops over small arrays do not
/// stay in registers; each compiler lowers them to what the processor has.
template <class Real>
struct Lanes;
template <>
struct Lanes<float> {
  typedef float type __attribute__((vector_size(64)));
};
template <>
struct Lanes<double> {
  typedef double type __attribute__((vector_size(64)));
};

/// g(a, b) += sum over the rows of x(r, a) y(r, b), for `height` columns of x and `lanes` of y.
template <int height, class Real>
void add_outer_products(int rows, Real const* x, std::int64_t ldx, Real const* y, std::int64_t ldy,
                        Real* g, std::int64_t ldg) {
  using Vector = typename Lanes<Real>::type;
  Vector sums[height] = {};
  for (int r = 0; r < rows; ++r, x += ldx, y += ldy) {
    Vector right;
    std::memcpy(&right, y, sizeof(Vector));
    for (int a = 0; a < height; ++a) sums[a] += x[a] * right;
  }
  for (int a = 0; a < height; ++a)
    for (int b = 0; b < lanes<Real>; ++b) g[a * ldg + b] += sums[a][b];
}

/// sums[a] = sum over l of x(a, l) c(l, :), for `height` rows of x and `lanes` columns of c.
template <int height, class Real>
void multiply_rows(int inner, Real const* x, std::int64_t ldx, Real const* c,
                   typename Lanes<Real>::type (&sums)[height]) {
  using Vector = typename Lanes<Real>::type;
  Vector local[height] = {};
  for (int l = 0; l < inner; ++l, c += lanes<Real>) {
    Vector right;
    std::memcpy(&right, c, sizeof(Vector));
    for (int a = 0; a < height; ++a) local[a] += x[a * ldx + l] * right;
  }
  for (int a = 0; a < height; ++a) sums[a] = local[a];
}

}  // namespace blockspan::detail
