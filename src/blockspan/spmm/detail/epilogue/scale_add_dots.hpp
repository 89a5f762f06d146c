#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/multivector/detail/column_terms.hpp>
#include <blockspan/spmm/detail/epilogue/warp_dots.hpp>
#include <blockspan/spmm/detail/inner/lane_grid.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// The sums of one cut row: partial sums of its own, each of which one lane makes.
template <class Epilogue>
struct CutRowDots {
  Epilogue const& epilogue;
  std::int64_t partial;

  template <class Scalar, int Width>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column,
                                              Sum<Scalar, Width> const& sum) const {
    Scalar x_dot_y[Width] = {};
    real_t<Scalar> y_dot_y[Width] = {};
    epilogue.template finish<Width>(row, column, sum, x_dot_y, y_dot_y);
    for (int j = 0; j < Width; ++j) epilogue.keep(partial, column + j, x_dot_y[j], y_dot_y[j]);
  }
};

/// As ScaleAdd, and adds up conj(x) y and (Squares) |y|^2 down the columns with the y just written,
/// which is still in registers. A team leaves partial sums, a cut row too; their tree is joined
/// later. For devices: hosts gained nothing by it. Packed: as in DirectLanes; LaneWidth, LanePacks:
/// the packs of a lane.
template <class Scalar, bool Packed, bool Squares, int LaneWidth, int LanePacks>
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
  Real* sums;          ///< number q of column j of a node: sums[(q * columns + j) * nodes + node].
                       ///< A bare pointer: CUDA launches small functors without waiting.

  Real const* weights;  ///< of the rows in y_dot_y; null: ones
  LaneGrid grid;        ///< all columns in one pass

  template <class Team>
  using Sums = WarpDots<ScaleAddDots, Scalar, Team, Squares, LaneWidth, LanePacks>;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION Sums<Team> of_team(Team const& team) const {
    return {*this, team};
  }
  KOKKOS_FORCEINLINE_FUNCTION CutRowDots<ScaleAddDots> of_cut_row(std::int64_t i) const {
    return {*this, teams + i};
  }
  std::size_t scratch_bytes(int) const {
    return warp_dots_bytes<Scalar, Squares>(LaneWidth * LanePacks, grid);
  }

  /// Leaves the sums of a team or cut row ...
  KOKKOS_FORCEINLINE_FUNCTION void keep(std::int64_t node, std::int64_t column, Scalar const& xy,
                                        Real yy) const {
    keep_part(node, column, 0, real_part(xy));
    if constexpr (is_complex_v<Scalar>) keep_part(node, column, 1, imaginary_part(xy));
    if constexpr (Squares) keep_part(node, column, parts<Scalar>, yy);
  }
  /// ... or one real number of them: the parts of x_dot_y, then y_dot_y.
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
    if constexpr (Packed && Width > 1) {
      auto const pack = load(reinterpret_cast<Pack<Scalar, Width> const*>(from));
      for (int j = 0; j < Width; ++j) result.value[j] = pack.value[j];
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
    if constexpr (Packed && Width > 1) {
      auto const pack = *reinterpret_cast<Pack<Scalar, Width> const*>(from);
      for (int j = 0; j < Width; ++j) result.value[j] = pack.value[j];
    } else {
      for (int j = 0; j < Width; ++j) result.value[j] = from[j * Y.column_stride];
    }
    return result;
  }

  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void write(Scalar* to, Sum<Scalar, Width> const& y) const {
    if constexpr (Packed && Width > 1) {
      Pack<Scalar, Width> pack;
      for (int j = 0; j < Width; ++j) pack.value[j] = y.value[j];
      *reinterpret_cast<Pack<Scalar, Width>*>(to) = pack;
      return;
    }
    if (Y.column_stride == 1)
      for (int j = 0; j < Width; ++j) to[j] = y.value[j];
    else
      for (int j = 0; j < Width; ++j) to[j * Y.column_stride] = y.value[j];
  }
};

}  // namespace blockspan::detail
