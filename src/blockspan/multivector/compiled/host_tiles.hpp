#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <blockspan/blocks/real_view.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/registers/register_set.hpp>

// Register tiles of the dense products on hosts: the sums of a tile occupy half to three quarters
// of the vector registers, the operands use the others.

namespace blockspan::multivector {

/// Real columns of a tile: two registers. The last tile of a block has one register or part of one,
/// at least `narrowest_tile` columns, where the remaining columns fit into that.
template <class Real>
inline constexpr int widest_tile = 2 * register_bytes / static_cast<int>(sizeof(Real));
template <class Real>
inline constexpr int narrowest_tile = std::min(4, widest_tile<Real> / 2);

/// Rows of a tile of `width` columns: 12 if a row is one register; 8, or 6 with 16 registers, if
/// two.
template <class Real>
constexpr int tile_height(int width) {
  int const in_a_row = ceil_div(width * static_cast<int>(sizeof(Real)), register_bytes);
  return std::min(12, std::max(12, registers / 2) / in_a_row);
}

/// Calls function(first column, integral constant of the width) for the tiles that cover `columns`.
template <class Real, int width = widest_tile<Real>, class Function>
void for_each_tile(int columns, Function const& function, int first = 0) {
  constexpr bool narrower = width > narrowest_tile<Real>;
  for (; columns - first > (narrower ? width / 2 : 0); first += width)
    function(first, std::integral_constant<int, width>{});
  if constexpr (narrower) for_each_tile<Real, width / 2>(columns, function, first);
}

/// The columns of these tiles, including the padding of the last one.
template <class Real>
int tiled_columns(int columns) {
  int end = 0;
  for_each_tile<Real>(columns, [&](int first, int width) { end = first + width; });
  return end;
}

/// Calls function(first row, integral constant of the height) for tiles of `height` and for the
/// remaining rows; both are even.
template <int height, class Function>
void for_each_height(int rows, Function const& function, int first = 0) {
  for (; first + height <= rows; first += height)
    function(first, std::integral_constant<int, height>{});
  if constexpr (height > 2) for_each_height<height - 2>(rows, function, first);
}

constexpr int round_up(int a, int b) { return ceil_div(a, b) * b; }

/// Runs kernel(0), ..., kernel(tasks - 1), which handle `numbers` scalars in total. Small work runs
/// on the calling thread: waking the others costs more. That is in order, as earlier kernels of
/// hosts have finished.
template <class Exec, class Kernel>
void for_each_task(Exec const& exec, char const* name, std::int64_t tasks, std::int64_t numbers,
                   Kernel const& kernel) {
  if (numbers <= 1024) {
    for (std::int64_t task = 0; task < tasks; ++task) kernel(task);
  } else {
    IndexRange<Exec> const range(exec, 0, tasks);
    Kokkos::parallel_for(name, range, kernel);
  }
}

/// A range of rows of a block.
template <class Real>
using Panel = RowMajorRef<Real const>;

/// Zeros the padding columns of a packed panel, which pack() does not write.
template <class Scalar>
void clear_padding(RealView<Scalar> const& X, int rows, int width, real_t<Scalar>* buffer) {
  for (int r = 0; r < rows; ++r)
    for (int c = X.columns; c < width; ++c) buffer[r * std::int64_t(width) + c] = 0;
}

/// Copies a row of few scalars, for which memcpy costs more than the copy. In steps that do not
/// overlap: a load from two recent stores cannot be forwarded and stalls.
template <class Real, int step = register_bytes / static_cast<int>(sizeof(Real))>
BLOCKSPAN_HOST_INLINE void copy_row(Real const* from, Real* to, int count) {
  int c = 0;
  for (; c + step <= count; c += step) std::memcpy(to + c, from + c, step * sizeof(Real));
  if constexpr (step > 1)
    if (c < count) copy_row<Real, step / 2>(from + c, to + c, count - c);
}

/// Copies rows [first, first + rows) of X into `buffer`, whose rows have `width` entries.
template <class Scalar>
Panel<real_t<Scalar>> pack(RealView<Scalar> const& X, std::int64_t first, int rows, int width,
                           real_t<Scalar>* buffer) {
  if (X.rows_contiguous() && X.row_stride == X.columns && X.columns == width) {
    std::memcpy(buffer, X.data + first * X.row_stride,
                static_cast<std::size_t>(rows) * static_cast<std::size_t>(width) * sizeof(*buffer));
  } else if (X.rows_contiguous()) {
    for (int r = 0; r < rows; ++r)
      copy_row(X.data + (first + r) * X.row_stride, buffer + r * std::int64_t(width), X.columns);
  } else if (X.row_stride <= X.column_stride) {
    for (int c = 0; c < X.columns; ++c)
      for (int r = 0; r < rows; ++r) buffer[r * std::int64_t(width) + c] = X(first + r, c);
  } else {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < X.columns; ++c) buffer[r * std::int64_t(width) + c] = X(first + r, c);
  }
  return {buffer, rows, width, width, 1};
}

/// Whether rows before `end` are contiguous and `width` columns of each may be read. With no gap
/// between rows, the entries read behind a row are those of the next row, and finite if X is; they
/// only enter padding columns of a tile. Wide rows are copied instead: unaligned registers across
/// cache lines, read for every tile, cost more than the copy.
template <class Scalar>
bool readable(RealView<Scalar> const& X, std::int64_t end, int width) {
  bool const followed = width <= 4 * widest_tile<real_t<Scalar>> && X.row_stride == X.columns &&
                        (end - 1) * X.row_stride + width <= X.rows * X.row_stride;
  return X.rows_contiguous() && (X.columns == width || followed);
}

/// Rows [first, first + rows) of X with `width` readable columns: X itself or a copy in `buffer`.
template <class Scalar>
Panel<real_t<Scalar>> panel(RealView<Scalar> const& X, std::int64_t first, int rows, int width,
                            real_t<Scalar>* buffer) {
  if (readable(X, first + rows, width))
    return {X.data + first * X.row_stride, rows, width, X.row_stride, 1};
  return pack(X, first, rows, width, buffer);
}

/// The sums of a tile. Nested for the same reason as RegisterSet.
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
  /// Calls function(a, its sums) for every row a.
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
/// Small tiles use two independent sums, of even and odd l, to hide the latency of additions.
/// `like`: the height that decides on this, so that remaining rows are summed in the same order as
/// whole tiles.
template <int height, int width, int like = height, class Real>
BLOCKSPAN_HOST_INLINE TileSums<Real, height, width> multiply_tile(int length, Real const* x,
                                                                  std::int64_t x_stride,
                                                                  std::int64_t x_step,
                                                                  Real const* y,
                                                                  std::int64_t y_step) {
  constexpr int sums_in_flight = 8;
  TileSums<Real, height, width> even, odd;
  RegisterSet<Real, width> right;
  int l = 0;
  if constexpr (like * ceil_div(width * int(sizeof(Real)), register_bytes) < sums_in_flight) {
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

}  // namespace blockspan::multivector
