#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/real_view.hpp>

// Tiles of the dense products on devices: a team stages rows in scratch, a thread owns a 4 x 4 tile
// of the result in registers.

namespace blockspan::multivector::device {

inline constexpr int threads = 256;         ///< of a team
inline constexpr int edge = 4;              ///< rows and columns of a thread's tile
inline constexpr int block = 64;            ///< most real columns of a team's tile: 16 threads x 4
inline constexpr int staged_bytes = 32768;  ///< scratch for the staged rows

/// std::min takes references, and in device code the constants above have no address.
template <class Integer>
KOKKOS_FORCEINLINE_FUNCTION constexpr Integer smaller(Integer a, std::type_identity_t<Integer> b) {
  return a < b ? a : b;
}

template <class Exec>
using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, 2>>;

/// Number of reals that are staged together.
template <class Real>
inline constexpr int staged = staged_bytes / static_cast<int>(sizeof(Real));

/// Sixteen bytes: one shared-memory transaction, and the padding that avoids bank conflicts between
/// rows.
template <class Real>
struct alignas(16) Vector {
  static constexpr int size = 16 / static_cast<int>(sizeof(Real));
  Real values[size];
};

/// Loads `edge` consecutive scalars from 16-byte aligned scratch.
template <class Real>
KOKKOS_FORCEINLINE_FUNCTION void load_edge(Real const* from, Real (&to)[edge]) {
  for (int q = 0; q < edge; q += Vector<Real>::size) {
    auto const vector = *reinterpret_cast<Vector<Real> const*>(from + q);
    for (int s = 0; s < Vector<Real>::size; ++s) to[q + s] = vector.values[s];
  }
}

/// How the threads of a team traverse a tile of `rows` x `columns` entries: adjacent threads along
/// the contiguous direction, a fixed step in the other, so that the loop needs no division of
/// indices.
struct Walk {
  int r, c, row_step, column_step;

  KOKKOS_FORCEINLINE_FUNCTION static Walk over(int rank, int columns, bool down) {
    constexpr int span = 32;
    if (down) return {rank % span, rank / span, span, threads / span};
    int const step = threads / columns;
    return {rank < step * columns ? rank / columns : 1 << 30, rank % columns, step, columns};
  }
};

/// Calls store(r, c, value) for the entries [row, row + count) x [column, column + columns) of X,
/// with zeros outside X, for all rows of the tile. Several loads are issued before the first store,
/// which compilers cannot reorder.
template <class Scalar, class Store>
KOKKOS_FORCEINLINE_FUNCTION void stage(RealView<Scalar> const& X, int rank, std::int64_t row,
                                       int count, int rows, int column, int columns,
                                       Store const& store) {
  using Real = real_t<Scalar>;
  constexpr int depth = 8;
  auto const walk = Walk::over(rank, columns, X.row_stride < X.column_stride);
  for (int c = walk.c; c < columns; c += walk.column_step) {
    bool const inside = column + c < X.columns;
    for (int r = walk.r; r < rows; r += depth * walk.row_step) {
      Real values[depth];
      for (int d = 0; d < depth; ++d) {
        int const at = r + d * walk.row_step;
        values[d] = inside && at < count ? X(row + at, column + c) : Real(0);
      }
      for (int d = 0; d < depth; ++d)
        if (r + d * walk.row_step < rows) store(r + d * walk.row_step, c, values[d]);
    }
  }
}

}  // namespace blockspan::multivector::device
