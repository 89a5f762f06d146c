#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/multivector/detail/tensor_tiles.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

// The columns of X and of the sums on the lanes of a warp that multiplies tiles (WindowTiles), for
// one pass over the tiles of a window. Lane l fetches rows of X for column l % 4 of a step, and has
// sums of row l / 4 (and of that 8 below, where a window has 16).

/// Where a lane's numbers of a pass begin in the rows of X.
struct XColumns {
  char const* data;
  std::uint32_t row_bytes;

  /// One multiply-add of 32 by 32 bits finds a row.
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION char const* of_row(Ordinal row) const {
    using Unsigned = std::make_unsigned_t<Ordinal>;
    return data + static_cast<std::uint64_t>(static_cast<Unsigned>(row)) * row_bytes;
  }
};

template <int Tiles, int Rows>
struct WindowSums {
  double of[Tiles][Rows / 4];

  KOKKOS_FORCEINLINE_FUNCTION bool has_nan() const {
    bool found = false;
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Tiles; ++i) {
      BLOCKSPAN_UNROLL
      for (int j = 0; j < Rows / 4; ++j) found |= of[i][j] != of[i][j];
    }
    return found;
  }
};

/// Groups of eight 16-byte packs, of which a lane fetches one: the first numbers of all eight make
/// one tile, the second ones another. So a lane has the sums of two neighbouring packs.
template <class Scalar, int Rows, int Groups>
struct WindowPacks {
  static constexpr int halves = Rows / 8, width = int(sizeof(tensor::Pair) / sizeof(Scalar));
  static constexpr int packs = 8 * Groups, packs_of_lane = 2 * Groups;
  static constexpr int steps = tuning::window_steps<Groups>;
  static constexpr unsigned blocks = tuning::window_blocks<Groups, Rows, is_complex_v<Scalar>>;
  using Sums = WindowSums<2 * Groups, Rows>;
  struct Fetched {
    tensor::Pair of[Groups];
  };

  XColumns x;
  int from_first[Groups];  ///< bytes from the lane's first pack to the others

  /// `first`: pack of the pass; `all`: packs of X, whose last one stands for those beyond it.
  KOKKOS_FORCEINLINE_FUNCTION WindowPacks(BlockRef<Scalar const> const& X, std::uint32_t row_bytes,
                                          int first, int all, int lane) {
    int const own = first + lane / 4, last = all - 1, begin = own < last ? own : last;
    x = {reinterpret_cast<char const*>(X.data + begin * width), row_bytes};
    BLOCKSPAN_UNROLL
    for (int g = 0; g < Groups; ++g)
      from_first[g] = (8 * g < last - begin ? 8 * g : last - begin) * int(sizeof(tensor::Pair));
  }

  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Fetched fetch(Ordinal row) const {
    Fetched fetched;
    char const* const begin = x.of_row(row);
    fetched.of[0] = load(reinterpret_cast<tensor::Pair const*>(begin));
    BLOCKSPAN_UNROLL
    for (int g = 1; g < Groups; ++g)
      fetched.of[g] = load(reinterpret_cast<tensor::Pair const*>(begin + from_first[g]));
    return fetched;
  }

  static KOKKOS_FORCEINLINE_FUNCTION void add(Scalar const (&a)[halves], Fetched const& b,
                                              Sums& sums) {
    if constexpr (is_complex_v<Scalar>) {
      double real[halves], imaginary[halves];
      BLOCKSPAN_UNROLL
      for (int h = 0; h < halves; ++h) {
        real[h] = a[h].real();
        imaginary[h] = a[h].imag();
      }
      add_pairs(real, b, sums);
      BLOCKSPAN_UNROLL
      for (int g = 0; g < Groups; ++g) {
        tensor::multiply_add(imaginary, -b.of[g].second, sums.of[2 * g]);
        tensor::multiply_add(imaginary, b.of[g].first, sums.of[2 * g + 1]);
      }
    } else {
      add_pairs(a, b, sums);
    }
  }

  /// The s-th of the lane's packs, counted from the first of the pass ...
  static KOKKOS_FORCEINLINE_FUNCTION int pack_of(int lane, int s) {
    return 8 * (s / 2) + 2 * (lane % 4) + s % 2;
  }
  /// ... and its sum in row 8 h + lane / 4.
  static KOKKOS_FORCEINLINE_FUNCTION Sum<Scalar, width> sum_of(Sums const& sums, int h, int s) {
    double const first = sums.of[s / 2 * 2][2 * h + s % 2];
    double const second = sums.of[s / 2 * 2 + 1][2 * h + s % 2];
    if constexpr (is_complex_v<Scalar>)
      return {{Scalar(first, second)}};
    else
      return {{first, second}};
  }

 private:
  static KOKKOS_FORCEINLINE_FUNCTION void add_pairs(double const (&a)[halves], Fetched const& b,
                                                    Sums& sums) {
    BLOCKSPAN_UNROLL
    for (int g = 0; g < Groups; ++g) {
      tensor::multiply_add(a, b.of[g].first, sums.of[2 * g]);
      tensor::multiply_add(a, b.of[g].second, sums.of[2 * g + 1]);
    }
  }
};

/// Eight single real columns or fewer, of which a lane fetches one: one tile, and half the work.
/// Width: of the packs that sums leave in, 2 or, where packs do not fit X and Y, 1.
template <int Rows, int Width>
struct WindowColumns {
  static constexpr int halves = Rows / 8, width = Width, packs = 8 / Width,
                       packs_of_lane = 2 / Width;
  static constexpr int steps = tuning::window_steps<0>;
  static constexpr unsigned blocks = tuning::window_blocks<0, Rows, false>;
  using Sums = WindowSums<1, Rows>;
  using Fetched = double;

  XColumns x;

  KOKKOS_FORCEINLINE_FUNCTION WindowColumns(BlockRef<double const> const& X,
                                            std::uint32_t row_bytes, int first, int all, int lane) {
    int const own = width * first + lane / 4, last = width * all - 1;
    x = {reinterpret_cast<char const*>(X.data + (own < last ? own : last)), row_bytes};
  }

  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Fetched fetch(Ordinal row) const {
    return load(reinterpret_cast<double const*>(x.of_row(row)));
  }
  static KOKKOS_FORCEINLINE_FUNCTION void add(double const (&a)[halves], Fetched b, Sums& sums) {
    tensor::multiply_add(a, b, sums.of[0]);
  }
  static KOKKOS_FORCEINLINE_FUNCTION int pack_of(int lane, int s) {
    return packs_of_lane * (lane % 4) + s;
  }
  static KOKKOS_FORCEINLINE_FUNCTION Sum<double, width> sum_of(Sums const& sums, int h, int s) {
    if constexpr (Width == 1)
      return {{sums.of[0][2 * h + s]}};
    else
      return {{sums.of[0][2 * h], sums.of[0][2 * h + 1]}};
  }
};

}  // namespace blockspan::detail
