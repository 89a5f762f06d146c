#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <blockspan/multivector/detail/real_view.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/register_set.hpp>

// Register tiles of the dense products on hosts: the sums of a tile fill half of the vector
// registers, what they are made of passes through the others.

namespace blockspan::detail {

/// Real columns of a tile: two registers, or halves of that down to a unit, to whose multiples
/// blocks are padded.
template <class Real>
inline constexpr int widest_tile = 2 * register_bytes / static_cast<int>(sizeof(Real));
inline constexpr int tile_unit = 4;

/// Rows of a tile of so many columns.
template <class Real>
constexpr int tile_height(int width) {
  int const in_a_row = ceil_div(width * static_cast<int>(sizeof(Real)), register_bytes);
  return registers / 2 / in_a_row > 8 ? 8 : registers / 2 / in_a_row;
}

/// function(first column, integral constant of the width) for the tiles of `columns`, a multiple of
/// the unit.
template <class Real, int width = widest_tile<Real>, class Function>
void for_each_tile(int columns, Function const& function, int first = 0) {
  for (; first + width <= columns; first += width)
    function(first, std::integral_constant<int, width>{});
  if constexpr (width > tile_unit) for_each_tile<Real, width / 2>(columns, function, first);
}

/// The same for the rows, by tiles of `height` and halves of it down to `least`.
template <int height, int least, class Function>
void for_each_height(int rows, Function const& function, int first = 0) {
  for (; first + height <= rows; first += height)
    function(first, std::integral_constant<int, height>{});
  if constexpr (height > least) for_each_height<height / 2, least>(rows, function, first);
}

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

/// Copies a row: few numbers, for which a call of memcpy takes longer than they do.
template <class Real>
void copy_row(Real const* from, Real* to, int count) {
  static_assert(tile_unit == 4, "what is left over below");
  int c = 0;
  for (; c + tile_unit <= count; c += tile_unit)
    std::memcpy(to + c, from + c, tile_unit * sizeof(Real));
  if (count & 2) std::memcpy(to + c, from + c, 2 * sizeof(Real));
  if (count & 1) to[count - 1] = from[count - 1];
}

/// Copies rows [first, first + rows) of X into `buffer`, whose rows have `width` entries.
template <class Scalar>
Panel<real_t<Scalar>> pack(RealView<Scalar> const& X, std::int64_t first, int rows, int width,
                           real_t<Scalar>* buffer) {
  if (X.rows_contiguous()) {
    for (int r = 0; r < rows; ++r)
      copy_row(X.data + (first + r) * X.row_stride, buffer + r * std::int64_t(width), X.columns);
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

/// The sums of a tile. Nested like RegisterSet, and for the same reason.
template <class Real, int height, int width>
struct TileSums {
  using Row = RegisterSet<Real, width>;

  Row row;
  TileSums<Real, height - 1, width> others;

  /// (a, :) += x[a * stride] right
  BLOCKSPAN_HOST_INLINE void add_products(Real const* x, std::int64_t stride, Row const& right) {
    row.add_product(*x, right);
    others.add_products(x + stride, stride, right);
  }
  BLOCKSPAN_HOST_INLINE void add(TileSums const& more) {
    row.add(more.row);
    others.add(more.others);
  }
  /// function(a, its sums)
  template <class Function>
  BLOCKSPAN_HOST_INLINE void for_each_row(Function const& function, int a = 0) {
    function(a, row);
    others.for_each_row(function, a + 1);
  }
};
template <class Real, int width>
struct TileSums<Real, 0, width> {
  using Row = RegisterSet<Real, width>;
  BLOCKSPAN_HOST_INLINE void add_products(Real const*, std::int64_t, Row const&) {}
  BLOCKSPAN_HOST_INLINE void add(TileSums const&) {}
  template <class Function>
  BLOCKSPAN_HOST_INLINE void for_each_row(Function const&, int = 0) {}
};

/// (a, :) = sum over l < length of x[a * x_stride + l * x_step] y[l * y_step + (0 .. width - 1)].
/// Small tiles have two chains of sums, for even l and odd: an addition waits for the one before
/// it.
template <int height, int width, class Real>
BLOCKSPAN_HOST_INLINE TileSums<Real, height, width> multiply_tile(int length, Real const* x,
                                                                  std::int64_t x_stride,
                                                                  std::int64_t x_step,
                                                                  Real const* y,
                                                                  std::int64_t y_step) {
  constexpr int sums_in_flight = 8;
  TileSums<Real, height, width> even, odd;
  RegisterSet<Real, width> right;
  int l = 0;
  if constexpr (height * ceil_div(width * int(sizeof(Real)), register_bytes) < sums_in_flight) {
    for (; l + 2 <= length; l += 2, x += 2 * x_step, y += 2 * y_step) {
      right.load(y);
      even.add_products(x, x_stride, right);
      right.load(y + y_step);
      odd.add_products(x + x_step, x_stride, right);
    }
    even.add(odd);
  }
  for (; l < length; ++l, x += x_step, y += y_step) {
    right.load(y);
    even.add_products(x, x_stride, right);
  }
  return even;
}

}  // namespace blockspan::detail
