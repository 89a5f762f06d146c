#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/multivector/detail/tensor_tiles.hpp>
#include <blockspan/spmm/detail/inner/lane_grid.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

namespace tuning {
/// Groups of eight packs that a warp multiplies at once (or of sixteen single columns; 0: eight of
/// those) and the blocks asked of the compiler. The same scratch kernel, n = 32: two groups 343 at
/// 4 blocks, 360 at 3, one and one 401; n = 64: four groups 638 at 2 blocks, 780 and more at 3
/// (spills), two passes of two 668. Here, with the rows of X of one, two and all four steps of a
/// tile (4 columns each) on their way together, n = 32: 27-point 363, 373, 339; elasticity 179,
/// 182, 167. Complex values take twice as many registers. Values fetched a tile ahead or in another
/// order of a lane's steps, all of a window asked into the L2 cache or copied to scratch,
/// neighbouring columns in one lane, halves of the numbers in turn (one group of complex packs,
/// eight columns): gained nothing or lost. Windows of neighbouring lines of a grid in one team
/// gained 4 % of 27-point and nothing of elasticity.
template <int Groups, bool Complex>
inline constexpr unsigned window_blocks = Groups == 4 || (Groups == 2 && Complex) ? 2
                                          : Complex                               ? 3
                                          : Groups == 0                           ? 5
                                                                                  : 4;
/// Of four times eight single columns. n = 17, 31, with 4 and 3 blocks: elasticity 180, 211; 147,
/// 166; 27-point 384, 460; 319, 359.
inline constexpr unsigned window_blocks_of_four_eights = 3;

/// Kernels of more real numbers a row have all loads of a tile before its products: without and
/// with, n = 24, 32: elasticity 169, 177; 157, 164; 27-point 348, 359; 325, 333; with fewer the
/// compiler does so by itself, as long as its registers reach (n = 8: 94 where they did not, 80).
inline constexpr int window_numbers_in_any_order = 16;
}  // namespace tuning

// The columns of X and of the sums on the lanes of a warp that multiplies tiles (WindowTiles), for
// one pass over the tiles of a window. Columns of X are the rows of the instruction's first operand
// and of its result, rows of the window the columns: so eight rows of a window and sixteen columns
// of X are one instruction of the fast shape. Lane l fetches a row of X for column l % 4 of a step,
// of whose columns it has those with l / 4, and their sums in the rows 2 (l % 4) and 2 (l % 4) + 1.
//
// The first-level cache serves each of its 32 banks once in a cycle. The four lanes l % 4 fetch
// different rows of X, whose same columns often lie in the same banks (rows that are whole lines
// long). So each of them begins with another one of its loads, and puts the numbers in order when
// they have come. One H200, a scratch kernel with the same loop, microseconds without and with: 27-
// point 96^3, n = 16, 32, 64 235, 408, 787; 213, 343, 638; elasticity 44^3 x 3 125, 202, 377; 106,
// 167, 284. Nsight Compute says that these loads were the limit (97 % of the cycles).

/// The row of a window and the column of a step whose entry a lane has; the row is also the part of
/// X that it fetches. (Rows in two runs of four, so that column-major Y takes whole sectors, gain 3
/// to 6 % of n = 32 and 64 there, and cost row-major products 1 to 3 %.)
KOKKOS_FORCEINLINE_FUNCTION int window_row(int lane) { return lane >> 2; }
KOKKOS_FORCEINLINE_FUNCTION int window_step(int lane) { return lane & 3; }

/// Where a lane's numbers of a pass stand in the first row of X, in the order of its loads.
template <class Number, int Count>
struct XColumns {
  char const* first_row[Count];
  std::uint32_t row_bytes;

  /// One multiply-add of 32 by 32 bits finds a number.
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Number fetch(Ordinal row, int i) const {
    using Unsigned = std::make_unsigned_t<Ordinal>;
    return load(reinterpret_cast<Number const*>(
        first_row[i] + static_cast<std::uint64_t>(static_cast<Unsigned>(row)) * row_bytes));
  }
};

/// What a lane has loaded beginning with the `first`-th number, in the order of the numbers.
template <int Count, class Number>
KOKKOS_FORCEINLINE_FUNCTION void put_in_order(Number (&loaded)[Count], int first) {
  BLOCKSPAN_UNROLL
  for (int step = 1; step < Count; step *= 2) {
    bool const turned = (first & step) != 0;
    Number before[Count];
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Count; ++i) before[i] = loaded[i];
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Count; ++i)
      loaded[i] = turned ? before[(i + Count - step) % Count] : before[i];
  }
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

/// The sums of a lane as they leave: in some rows of the window and some packs (or single columns)
/// of the pass.
template <class Scalar, int Width, int Rows, int Packs>
struct FinishedSums {
  Sum<Scalar, Width> of[Rows][Packs];
};

/// Groups of eight 16-byte packs, of which a lane fetches one: the first numbers of all eight are
/// the upper half of an instruction's rows, the second ones the lower half.
template <class Scalar, int Groups>
struct WindowPacks {
  static constexpr int width = int(sizeof(tensor::Pair) / sizeof(Scalar));
  static constexpr int packs = 8 * Groups, packs_of_lane = Groups, rows_of_lane = 2;
  static constexpr unsigned blocks = tuning::window_blocks<Groups, is_complex_v<Scalar>>;
  static constexpr bool loads_first = 16 * Groups > tuning::window_numbers_in_any_order;
  using Sums = WindowSums<Groups, 4>;
  using Finished = FinishedSums<Scalar, width, rows_of_lane, packs_of_lane>;
  struct Fetched {
    tensor::Pair of[Groups];
  };

  XColumns<tensor::Pair, Groups> x;
  int first_load;

  /// `first`: pack of the pass; `all`: packs of X, whose last one stands for those beyond it.
  KOKKOS_FORCEINLINE_FUNCTION WindowPacks(BlockRef<Scalar const> const& X, std::uint32_t row_bytes,
                                          int first, int all, int lane)
      : x{{}, row_bytes}, first_load(window_step(lane)) {
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Groups; ++i) {
      int const own = first + pack_of(lane, (i + first_load) % Groups);
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
    for (int g = 0; g < Groups; ++g) {
      auto const& [first, second] = b.of[g];
      if constexpr (is_complex_v<Scalar>) {
        tensor::multiply_add({first, second}, a.real(), sums.of[g]);
        tensor::multiply_add({-second, first}, a.imag(), sums.of[g]);
      } else {
        tensor::multiply_add({first, second}, a, sums.of[g]);
      }
    }
  }

  /// The i-th row of the window of which the lane has sums ...
  static KOKKOS_FORCEINLINE_FUNCTION int row_of(int lane, int i) {
    return 2 * window_step(lane) + i;
  }
  /// ... and the s-th of its packs, counted from the first of the pass. Four packs lie in four
  /// parts of a line, so that loads in turn meet different banks.
  static KOKKOS_FORCEINLINE_FUNCTION int pack_of(int lane, int s) {
    return 8 * s + (window_row(lane) + 2 * s) % 8;
  }
  KOKKOS_FORCEINLINE_FUNCTION Finished finish(Sums const& sums, int) const {
    Finished finished;
    BLOCKSPAN_UNROLL
    for (int i = 0; i < rows_of_lane; ++i) {
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Groups; ++s) {
        if constexpr (is_complex_v<Scalar>)
          finished.of[i][s] = {{Scalar(sums.of[s][i], sums.of[s][2 + i])}};
        else
          finished.of[i][s] = {{sums.of[s][i], sums.of[s][2 + i]}};
      }
    }
    return finished;
  }
};

/// Eight single real columns, or two or four times as many, of which a lane fetches one each.
/// Width: of the packs that sums leave in, 2 or, where packs do not fit X and Y, 1.
template <int Eights, int Width>
struct WindowColumns {
  static constexpr int width = Width, packs = 8 * Eights / Width;
  static constexpr int packs_of_lane = Eights, rows_of_lane = Width == 1 ? 2 : 1;
  static constexpr unsigned blocks =
      Eights == 4 ? tuning::window_blocks_of_four_eights : tuning::window_blocks<Eights / 2, false>;
  static constexpr bool loads_first = 8 * Eights > tuning::window_numbers_in_any_order;
  /// Eights that are one instruction.
  static constexpr int together = Eights == 1 ? 1 : 2;
  using Sums = WindowSums<Eights / together, 2 * together>;
  using Finished = FinishedSums<double, Width, rows_of_lane, packs_of_lane>;
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

  /// As in WindowPacks. Packs are put together by neighbouring columns, which share their two rows.
  static KOKKOS_FORCEINLINE_FUNCTION int row_of(int lane, int i) {
    return 2 * window_step(lane) + (Width == 1 ? i : window_row(lane) & 1);
  }
  static KOKKOS_FORCEINLINE_FUNCTION int pack_of(int lane, int s) {
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
    double const taken = exchange_in_warp(odd ? upper : lower, 4);
    return {{odd ? taken : upper, odd ? lower : taken}};
  }
};

}  // namespace blockspan::detail
