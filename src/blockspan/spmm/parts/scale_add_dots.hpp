#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/column_terms.hpp>
#include <blockspan/blocks/row_chunks.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// Adds `Count` values (a power of two) over the threads of a warp whose places differ in the bits
/// mask, 2 mask, ..., neighbours first, and calls keep(q, sum) once for the q-th. In each step a
/// thread sends half of its values, which keeps the exchanges few. `first`: the first of the values
/// it has; `own`: no other thread has the same.
template <int Count, class Real, class Keep>
KOKKOS_FORCEINLINE_FUNCTION void add_over_warp(Real* values, int mask, int place, int first,
                                               bool own, Keep const& keep) {
  if constexpr (Count > 1) {
    if (mask < 1 << tuning::device_lane_bits) {
      constexpr int half = Count / 2;
      bool const upper = (place & mask) != 0;
      BLOCKSPAN_UNROLL
      for (int q = 0; q < half; ++q) {
        Real const kept = upper ? values[half + q] : values[q];
        Real const given = upper ? values[q] : values[half + q];
        values[q] = kept + exchange(given, mask, warp_lanes);
      }
      return add_over_warp<half>(values, 2 * mask, place, upper ? first + half : first, own, keep);
    }
  } else {
    for (; mask < 1 << tuning::device_lane_bits; mask *= 2) {
      values[0] += exchange(values[0], mask, warp_lanes);
      own = own && (place & mask) == 0;
    }
  }
  if (!own) return;
  BLOCKSPAN_UNROLL
  for (int q = 0; q < Count; ++q) keep(first + q, values[q]);
}

/// Warps of a team.
inline constexpr int dots_warps =
    static_cast<int>(tuning::device_threads) >> tuning::device_lane_bits;

/// Real sums of a column: the parts of x_dot_y, and y_dot_y.
template <class Scalar, bool Squares>
inline constexpr int dots_sums_v = (is_complex_v<Scalar> ? 2 : 1) + (Squares ? 1 : 0);

/// Scratch of WarpDots.
template <class Scalar, bool Squares>
std::size_t warp_dots_bytes(int columns_of_lane, LaneGrid const& grid) {
  constexpr std::size_t slack = 64;
  int const values = dots_warps * grid.columns() * columns_of_lane * dots_sums_v<Scalar, Squares>;
  return static_cast<std::size_t>(values) * sizeof(real_t<Scalar>) + slack;
}

/// The sums over the rows of a team, for devices whose lanes exchange values, where one pass over
/// the columns is enough: a lane has those of its own vectors in registers; then the rows of a warp
/// are added, neighbours first, then the warps. Where a thread has one row, the order depends on
/// the places of the rows in the matrix only, not on the size of a team. Little scratch, because it
/// is taken from the L1 cache (7-point 100^3, n = 8: 84 us without sums, 159 with a row of scratch
/// for each thread).
template <class Epilogue, class Scalar, class Team, bool Squares, int Width, int Vectors>
class WarpDots {
 public:
  using Real = real_t<Scalar>;

  KOKKOS_FORCEINLINE_FUNCTION WarpDots(Epilogue const& epilogue, Team const& team)
      : epilogue_(epilogue), team_(team) {}

  /// For each row i of the thread's segment; a column beyond the last: nothing is there.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, int i, std::int64_t column,
                                              Sum<Scalar, Width> const& sum, int vector) {
    if (i == 0) {
      x_dot_y_[vector] = {};
      y_dot_y_[vector] = {};
    }
    if (column < epilogue_.Y.columns)
      epilogue_.template finish<Width>(row + i, column, sum, x_dot_y_[vector].value,
                                       y_dot_y_[vector].value);
  }

  /// By all lanes of the team together.
  KOKKOS_FORCEINLINE_FUNCTION void finish_team() const {
    LaneGrid const grid = epilogue_.grid;
    int const step = grid.columns() * of_lane;  // from a warp's sums to the next's
    auto* const scratch = static_cast<Real*>(team_.team_scratch(0).get_shmem_aligned(
        static_cast<std::size_t>(dots_warps * step) * sizeof(Real), 16));
    int const place = place_in_team(), lane = place & (grid.lanes() - 1);
    Real values[padded];
    collect(values);
    Real* const own =
        scratch + (place >> tuning::device_lane_bits) * step + grid.column_of(lane) * of_lane;
    add_over_warp<padded>(values, grid.lanes(), place, 0, grid.entry_of(lane) == 0,
                          [&](int q, Real sum) {
                            if (padded == of_lane || q < of_lane) own[q] = sum;
                          });
    team_.team_barrier();
    auto const count = static_cast<int>(epilogue_.Y.columns) * of_column;
    for (int item = place; item < count; item += static_cast<int>(tuning::device_threads)) {
      int const j = item / of_column, vector = j / Width;
      int const q =
          ((vector >> grid.column_bits) * Width + j % Width) * of_column + item % of_column;
      Real const* const first = scratch + (vector & (grid.columns() - 1)) * of_lane + q;
      epilogue_.keep_part(
          team_.league_rank(), j, item % of_column,
          join_eight<AddTerms, Real>(dots_warps, [&](int w) { return first[w * step]; }));
    }
  }

 private:
  static_assert(dots_warps <= 8);
  static constexpr int of_column = dots_sums_v<Scalar, Squares>;
  static constexpr int of_lane = Vectors * Width * of_column;
  static constexpr int padded = of_lane <= 1   ? 1
                                : of_lane <= 2 ? 2
                                : of_lane <= 4 ? 4
                                : of_lane <= 8 ? 8
                                               : 16;
  static_assert(of_lane <= padded);

  KOKKOS_FORCEINLINE_FUNCTION void collect(Real* values) const {
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Vectors; ++s) {
      BLOCKSPAN_UNROLL
      for (int j = 0; j < Width; ++j) {
        Real* const to = values + (s * Width + j) * of_column;
        to[0] = real_part(x_dot_y_[s].value[j]);
        if constexpr (is_complex_v<Scalar>) to[1] = imaginary_part(x_dot_y_[s].value[j]);
        if constexpr (Squares) to[of_column - 1] = y_dot_y_[s].value[j];
      }
    }
    BLOCKSPAN_UNROLL
    for (int q = of_lane; q < padded; ++q) values[q] = Real(0);
  }

  Epilogue const& epilogue_;
  Team const& team_;
  Sum<Scalar, Width> x_dot_y_[Vectors] = {};
  Sum<Real, Width> y_dot_y_[Vectors] = {};
};

/// As ScaleAdd, and adds up conj(x) y and (Squares) |y|^2 down the columns with the y just written,
/// which is still in registers. A team leaves partial sums, a cut row too; their tree is joined
/// later. For devices only. Vectorized: as in DirectLanes; LaneWidth, LaneVectors: the vectors of a
/// lane.
template <class Scalar, bool Vectorized, bool Squares, int LaneWidth, int LaneVectors>
struct ScaleAddDots {
  using Real = real_t<Scalar>;

  Scalar alpha;
  Scalar beta;
  bool overwrite;  ///< beta is zero
  Scalar const* X;
  std::int64_t x_row_stride;
  std::int64_t x_column_stride;
  BlockRef<Scalar> Y;
  std::int64_t teams;
  std::int64_t nodes;  ///< teams + cut rows
  Real* sums;          ///< sum q of column j of a node: sums[(q * columns + j) * nodes + node].
                       ///< A bare pointer: CUDA launches small functors without waiting.

  Real const* weights;  ///< of the rows in y_dot_y; null: ones
  LaneGrid grid;        ///< all columns in one pass

  template <class Team>
  using Sums = WarpDots<ScaleAddDots, Scalar, Team, Squares, LaneWidth, LaneVectors>;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION Sums<Team> of_team(Team const& team) const {
    return {*this, team};
  }
  /// The sums of a cut row: partial sums of its own, each of which one lane makes.
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void finish_cut_row(std::int64_t cut, std::int64_t row,
                                                  std::int64_t column,
                                                  Sum<Scalar, Width> const& sum) const {
    Scalar x_dot_y[Width] = {};
    Real y_dot_y[Width] = {};
    finish<Width>(row, column, sum, x_dot_y, y_dot_y);
    for (int j = 0; j < Width; ++j) keep(teams + cut, column + j, x_dot_y[j], y_dot_y[j]);
  }
  std::size_t scratch_bytes(int) const {
    return warp_dots_bytes<Scalar, Squares>(LaneWidth * LaneVectors, grid);
  }

  /// Leaves the sums of a team or cut row ...
  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t node, std::int64_t column, Scalar const& xy,
                                        Real yy) const {
    keep_part(node, column, 0, real_part(xy));
    if constexpr (is_complex_v<Scalar>) keep_part(node, column, 1, imaginary_part(xy));
    if constexpr (Squares) keep_part(node, column, parts<Scalar>, yy);
  }
  /// ... or one real sum of them: the parts of x_dot_y, then y_dot_y.
  KOKKOS_FORCEINLINE_FUNCTION void keep_part(std::int64_t node, std::int64_t column, int part,
                                             Real sum) const {
    sums[(part * Y.columns + column) * nodes + node] = sum;
  }

  /// Writes Y; adds to the sums of these columns so far.
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void finish(std::int64_t row, std::int64_t column,
                                          Sum<Scalar, Width> const& sum, Scalar* x_sums,
                                          Real* y_sums) const {
    Scalar* const y_row = Y.data + row * Y.row_stride + column * Y.column_stride;
    Scalar const* const x_row = X + row * x_row_stride + column * x_column_stride;
    Sum<Scalar, Width> const x = read<Width>(x_row, x_column_stride);
    Sum<Scalar, Width> y;
    if (overwrite) {
      for (int j = 0; j < Width; ++j) y.value[j] = alpha * sum.value[j];
    } else {
      Sum<Scalar, Width> const old = read_own<Width>(y_row);
      for (int j = 0; j < Width; ++j) y.value[j] = alpha * sum.value[j] + beta * old.value[j];
    }
    write<Width>(y_row, y);
    for (int j = 0; j < Width; ++j) add_product(x_sums[j], x.value[j], y.value[j]);
    if constexpr (!Squares) return;
    if (weights == nullptr) {
      for (int j = 0; j < Width; ++j) y_sums[j] += squared_magnitude(y.value[j]);
    } else {
      Real const weight = load(weights + row);
      for (int j = 0; j < Width; ++j) y_sums[j] += weight * squared_magnitude(y.value[j]);
    }
  }

 private:
  /// What no thread writes.
  template <int Width>
  static KOKKOS_FORCEINLINE_FUNCTION Sum<Scalar, Width> read(Scalar const* from,
                                                             std::int64_t stride) {
    Sum<Scalar, Width> result;
    if constexpr (Vectorized && Width > 1) {
      auto const vector = load(reinterpret_cast<Vector<Scalar, Width> const*>(from));
      for (int j = 0; j < Width; ++j) result.value[j] = vector.value[j];
    } else if (stride == 1) {
      for (int j = 0; j < Width; ++j) result.value[j] = load(from + j);
    } else {
      for (int j = 0; j < Width; ++j) result.value[j] = load(from + j * stride);
    }
    return result;
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION Sum<Scalar, Width> read_own(Scalar const* from) const {
    Sum<Scalar, Width> result;
    if constexpr (Vectorized && Width > 1) {
      auto const vector = *reinterpret_cast<Vector<Scalar, Width> const*>(from);
      for (int j = 0; j < Width; ++j) result.value[j] = vector.value[j];
    } else {
      for (int j = 0; j < Width; ++j) result.value[j] = from[j * Y.column_stride];
    }
    return result;
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void write(Scalar* to, Sum<Scalar, Width> const& y) const {
    if constexpr (Vectorized && Width > 1) {
      Vector<Scalar, Width> vector;
      for (int j = 0; j < Width; ++j) vector.value[j] = y.value[j];
      *reinterpret_cast<Vector<Scalar, Width>*>(to) = vector;
      return;
    }
    if (Y.column_stride == 1)
      for (int j = 0; j < Width; ++j) to[j] = y.value[j];
    else
      for (int j = 0; j < Width; ++j) to[j * Y.column_stride] = y.value[j];
  }
};

}  // namespace blockspan::products
