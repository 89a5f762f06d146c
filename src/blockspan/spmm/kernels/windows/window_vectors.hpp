#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/blocks/tensor_tiles.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

// The columns of X and of the sums on the lanes of a warp that multiplies tiles (WindowTiles), for
// one pass over the tiles of a window. Columns of X are the rows of the instruction's first operand
// and of its result, rows of the window the columns. Lane l fetches a row of X for column l % 4 of
// a step, of whose columns it has those with l / 4, and their sums in the rows 2 (l % 4) and 2 (l %
// 4) + 1.
//
// The four lanes l % 4 fetch different rows of X, whose same columns often lie in the same banks of
// the first-level cache. So each starts with a different load, and reorders the values once they
// have arrived: 27-point 96^3, n = 16, 32, 64 without and with 235, 408, 787; 213, 343, 638.

/// The row of a window and the column of a step whose entry a lane has; the row also selects the
/// vector of X that it fetches.
KOKKOS_FORCEINLINE_FUNCTION int window_row(int lane) { return lane >> 2; }
KOKKOS_FORCEINLINE_FUNCTION int window_step(int lane) { return lane & 3; }

/// The places of a lane's scalars of a pass in the first row of X, in the order of its loads.
template <class Scalar, int Count>
struct XColumns {
  char const* first_row[Count];
  std::uint32_t row_bytes;

  /// One multiply-add of 32 by 32 bits gives an address.
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Scalar fetch(Ordinal row, int i) const {
    using Unsigned = std::make_unsigned_t<Ordinal>;
    return load(reinterpret_cast<Scalar const*>(
        first_row[i] + static_cast<std::uint64_t>(static_cast<Unsigned>(row)) * row_bytes));
  }
};

/// What a lane has loaded beginning with the `first`-th scalar, in their order.
template <int Count, class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void put_in_order(Scalar (&loaded)[Count], int first) {
  BLOCKSPAN_UNROLL
  for (int step = 1; step < Count; step *= 2) {
    bool const turned = (first & step) != 0;
    Scalar before[Count];
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Count; ++i) before[i] = loaded[i];
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Count; ++i)
      loaded[i] = turned ? before[(i + Count - step) % Count] : before[i];
  }
}

/// Adds to the sums of a lane the products of its value of A with its vector of X: two real
/// scalars, or the parts of a complex one.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION void add_products(Scalar const& a, tensor::Pair const& x,
                                              double (&sums)[4]) {
  if constexpr (is_complex_v<Scalar>) {
    tensor::multiply_add({x.first, x.second}, a.real(), sums);
    tensor::multiply_add({-x.second, x.first}, a.imag(), sums);
  } else {
    tensor::multiply_add({x.first, x.second}, a, sums);
  }
}
/// The i-th of the two sums of vectors among them.
template <class Scalar>
KOKKOS_FORCEINLINE_FUNCTION auto vector_sum(double const (&sums)[4], int i) {
  if constexpr (is_complex_v<Scalar>)
    return Sum<Scalar, 1>{{Scalar(sums[i], sums[2 + i])}};
  else
    return Sum<Scalar, 2>{{sums[i], sums[2 + i]}};
}

/// The sums of a lane in `Groups` results of an instruction.
template <int Groups, int Numbers>
struct WindowSums {
  double of[Groups][Numbers];

  KOKKOS_FORCEINLINE_FUNCTION bool has_nan() const {
    bool found = false;
    BLOCKSPAN_UNROLL
    for (int g = 0; g < Groups; ++g) {
      BLOCKSPAN_UNROLL
      for (int j = 0; j < Numbers; ++j) found |= of[g][j] != of[g][j];
    }
    return found;
  }
};

/// The sums of a lane as they leave: in some rows of the window and some vectors (or single
/// columns) of the pass.
template <class Scalar, int Width, int Rows, int Vectors>
struct FinishedSums {
  Sum<Scalar, Width> of[Rows][Vectors];
};

/// Groups of eight 16-byte vectors, of which a lane fetches one: the first scalars of all eight are
/// the upper half of an instruction's rows, the second ones the lower half.
template <class Scalar, int Groups>
struct WindowVectors {
  static constexpr int width = int(sizeof(tensor::Pair) / sizeof(Scalar));
  static constexpr int vectors = 8 * Groups, vectors_of_lane = Groups, rows_of_lane = 2;
  static constexpr unsigned blocks = tuning::window_blocks<Groups, is_complex_v<Scalar>>;
  static constexpr bool loads_first = 16 * Groups > tuning::window_reals_in_any_order;
  using Sums = WindowSums<Groups, 4>;
  using Finished = FinishedSums<Scalar, width, rows_of_lane, vectors_of_lane>;
  struct Fetched {
    tensor::Pair of[Groups];
  };

  XColumns<tensor::Pair, Groups> x;
  int first_load;

  /// `first`: vector of the pass; `all`: vectors of X, whose last one is repeated for those beyond
  /// it.
  KOKKOS_FORCEINLINE_FUNCTION WindowVectors(BlockRef<Scalar const> const& X,
                                            std::uint32_t row_bytes, int first, int all, int lane)
      : x{{}, row_bytes}, first_load(window_step(lane)) {
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Groups; ++i) {
      int const own = first + vector_of(lane, (i + first_load) % Groups);
      x.first_row[i] = reinterpret_cast<char const*>(X.data + (own < all ? own : all - 1) * width);
    }
  }

  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Fetched fetch(Ordinal row) const {
    Fetched fetched;
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Groups; ++i) fetched.of[i] = x.fetch(row, i);
    return fetched;
  }

  KOKKOS_FORCEINLINE_FUNCTION void add(Scalar const& a, Fetched b, Sums& sums) const {
    put_in_order(b.of, first_load);
    BLOCKSPAN_UNROLL
    for (int g = 0; g < Groups; ++g) add_products(a, b.of[g], sums.of[g]);
  }

  /// The i-th row of the window of which the lane has sums ...
  static KOKKOS_FORCEINLINE_FUNCTION int row_of(int lane, int i) {
    return 2 * window_step(lane) + i;
  }
  /// ... and the s-th of its vectors, counted from the first of the pass. Four vectors lie in four
  /// parts of a line, so that loads in turn meet different banks.
  static KOKKOS_FORCEINLINE_FUNCTION int vector_of(int lane, int s) {
    return 8 * s + (window_row(lane) + 2 * s) % 8;
  }
  KOKKOS_FORCEINLINE_FUNCTION Finished finish(Sums const& sums, int) const {
    Finished finished;
    BLOCKSPAN_UNROLL
    for (int i = 0; i < rows_of_lane; ++i) {
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Groups; ++s) finished.of[i][s] = vector_sum<Scalar>(sums.of[s], i);
    }
    return finished;
  }
};

/// Eight, 16 or 32 single real columns, of each eight of which a lane fetches one.
/// Width: of the vectors that sums leave in, 2 or, where vectors do not fit X and Y, 1.
template <int Eights, int Width>
struct WindowColumns {
  static constexpr int width = Width, vectors = 8 * Eights / Width;
  static constexpr int vectors_of_lane = Eights, rows_of_lane = Width == 1 ? 2 : 1;
  static constexpr unsigned blocks =
      Eights == 4 ? tuning::window_blocks_of_four_eights : tuning::window_blocks<Eights / 2, false>;
  static constexpr bool loads_first = 8 * Eights > tuning::window_reals_in_any_order;
  /// Eights that are one instruction.
  static constexpr int together = Eights == 1 ? 1 : 2;
  using Sums = WindowSums<Eights / together, 2 * together>;
  using Finished = FinishedSums<double, Width, rows_of_lane, vectors_of_lane>;
  struct Fetched {
    double of[Eights];
  };

  XColumns<double, Eights> x;
  int first_load;

  KOKKOS_FORCEINLINE_FUNCTION WindowColumns(BlockRef<double const> const& X,
                                            std::uint32_t row_bytes, int first, int all, int lane)
      : x{{}, row_bytes}, first_load(turns(row_bytes) ? window_step(lane) : 0) {
    int const last = width * all - 1;
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Eights; ++i) {
      int const own = width * first + 8 * ((i + first_load) % Eights) + window_row(lane);
      x.first_row[i] = reinterpret_cast<char const*>(X.data + (own < last ? own : last));
    }
  }

  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Fetched fetch(Ordinal row) const {
    Fetched fetched;
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Eights; ++i) fetched.of[i] = x.fetch(row, i);
    return fetched;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(double a, Fetched b, Sums& sums) const {
    put_in_order(b.of, first_load);
    BLOCKSPAN_UNROLL
    for (int g = 0; g < Eights / together; ++g) {
      double columns[together];
      BLOCKSPAN_UNROLL
      for (int i = 0; i < together; ++i) columns[i] = b.of[together * g + i];
      tensor::multiply_add(columns, a, sums.of[g]);
    }
  }

  /// As in WindowVectors. Vectors are put together by neighbouring columns, which share their two
  /// rows.
  static KOKKOS_FORCEINLINE_FUNCTION int row_of(int lane, int i) {
    return 2 * window_step(lane) + (Width == 1 ? i : window_row(lane) & 1);
  }
  static KOKKOS_FORCEINLINE_FUNCTION int vector_of(int lane, int s) {
    return 8 / Width * s + window_row(lane) / Width;
  }
  KOKKOS_FORCEINLINE_FUNCTION Finished finish(Sums const& sums, int lane) const {
    Finished finished;
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Eights; ++s) {
      double const(&of)[2 * together] = sums.of[s / together];
      double const upper = of[2 * (s % together)], lower = of[2 * (s % together) + 1];
      if constexpr (Width == 1) {
        finished.of[0][s] = {{upper}};
        finished.of[1][s] = {{lower}};
      } else {
        finished.of[0][s] = paired(upper, lower, (window_row(lane) & 1) != 0);
      }
    }
    return finished;
  }

 private:
  /// Loads in turn meet other banks where four neighbouring rows of X begin near the same ones; not
  /// where they begin half of the banks apart as it is.
  static KOKKOS_FORCEINLINE_FUNCTION bool turns(std::uint32_t row_bytes) {
    return ((row_bytes - 56u) & 127u) > 16u;
  }
  /// Of the sums of a column in two rows those of both columns in one: the upper row on the even
  /// column's lane, the lower one on the odd one's.
  static KOKKOS_FORCEINLINE_FUNCTION Sum<double, 2> paired(double upper, double lower, bool odd) {
    double const taken = exchange(odd ? upper : lower, 4, warp_lanes);
    return {{odd ? taken : upper, odd ? lower : taken}};
  }
};

}  // namespace blockspan::products
