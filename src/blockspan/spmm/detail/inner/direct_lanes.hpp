#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/inner/lane_grid.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/stage.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Direct loads, for devices: the vector lanes of a team thread stand in a grid over the columns of
/// X and the nonzeros of the piece. A lane owns `Packs` packs of `Width` neighbouring columns and
/// issues the loads of several nonzeros before it uses the first. The order of a sum is fixed by
/// the grid, whatever the teams.
///
/// Rows > 1: a piece is a group of up to as many rows with the same columns. What is fetched of X
/// serves all of them; every row has sums of its own, in the order that it has alone.
///
/// OnePass: the lanes are enough for all columns at once. Deep: see DeviceShape, or column-major X.
/// A piece that is one pass over a row (RowPass) gets that pass.
///
/// Packed: a pack is one 16-byte load; X is row-major, aligned, a whole number of packs wide.
/// Otherwise Width is 1 and X may have any strides.
template <class Scalar, class Entries, class Offset, int Width, bool Packed, int Packs = 1,
          bool EntryLanes = false, int Rows = 1, bool OnePass = false, bool Deep = false>
struct DirectLanes {
  static_assert(Packed || Width == 1, "lanes without packs own single columns");
  static constexpr int depth =
      Rows > 1 ? tuning::device_group_depth<Rows> : tuning::device_depth<Deep ? 1 : Packs>;
  static constexpr unsigned blocks = Rows > 1 ? tuning::device_group_blocks
                                     : Deep&& Packs > 2
                                         ? tuning::device_column_blocks<Packs* int(sizeof(Scalar))>
                                     : Deep || Packs > 2 ? tuning::device_deep_blocks
                                                         : tuning::device_blocks;
  static constexpr unsigned blocks_of_many_pieces =
      EntryLanes && Rows == 1 ? tuning::device_many_piece_blocks : blocks;
  static constexpr std::size_t thread_scratch_bytes = 0;
  static constexpr int width = Width, packs = Packs;
  static constexpr bool only_whole_rows = are_narrow_v<Entries>;

  Entries entries;
  BlockRef<Scalar const> X;  ///< columns of op(A) x n
  bool conjugate_values;
  LaneGrid grid;
  std::uint32_t row_bytes;  ///< from a row of X to the next

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION NoStage stage(Team const&) const {
    return {};
  }

  /// consume(column, sum, i, s) for all columns of the i-th row of the piece, once each, on the
  /// lane that has the sum, in its s-th pack. OnePass: on every lane and for every pack, with a
  /// column beyond the last where there is none.
  template <class Team, class Piece, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const& team, NoStage, Piece const& piece,
                                                Consume const& consume) const {
    int const all = static_cast<int>(X.columns / Width);
    for_each_lane<!EntryLanes && !OnePass>(team, grid.lanes(), [&](int lane) {
      int const column = grid.column_of(lane), entry = grid.entry_of(lane);
      if constexpr (OnePass)
        pass(piece, column, all, entry, consume);
      else if constexpr (requires { piece.pass; })
        pass(piece, piece.pass * grid.columns() * Packs + column, all, entry, consume);
      else
        for (int first = column; first - column < all; first += grid.columns() * Packs)
          pass(piece, first, all, entry, consume);
    });
  }

 private:
  /// Of one row of the piece.
  struct Sums {
    Sum<Scalar, Width> of_pack[Packs];
  };

  template <class Piece, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void pass(Piece const& piece, int first, int all, int entry,
                                        Consume const& consume) const {
    Sums sums[Rows] = {};
    multiply(piece, first, all, entry, sums);
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Packs; ++s)
        if constexpr (EntryLanes) add_entry_lanes(grid, sums[i].of_pack[s]);
    }
    bool const summed = !EntryLanes || entry == 0;
    if (!OnePass && !summed) return;
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      if (i >= piece.rows()) continue;
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Packs; ++s) {
        int const pack = summed ? first + s * grid.columns() : all;
        if (OnePass || pack < all) consume(std::int64_t{pack} * Width, sums[i].of_pack[s], i, s);
      }
    }
  }

  /// One multiply-add of 32 by 32 bits finds a row of X: the kernel has few instructions to spare.
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Pack<Scalar, Width> fetch(char const* x, Ordinal row) const {
    using P = Pack<Scalar, Width>;
    using Unsigned = std::make_unsigned_t<Ordinal>;
    return load(reinterpret_cast<P const*>(
        x + static_cast<std::uint64_t>(static_cast<Unsigned>(row)) * row_bytes));
  }

  template <class Own, class Place, class Count>
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(Own const& own, Place const& place, Count row_at) const {
    return conjugate_if(conjugate_values, own.value(place, row_at));
  }

  /// The nonzeros of this lane, `depth` at a time; the last few in one go as well, so that their
  /// loads are in flight together.
  template <class Piece>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Piece const& piece, int first, int all, int entry,
                                            Sums* sums) const {
    auto const& of_piece = entries_of(entries, piece);
    auto const walk = walk_over(of_piece, piece.first, piece.last);
    using Count = std::remove_const_t<decltype(walk.first)>;
    Count row_at[Rows];
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Rows; ++i) row_at[i] = static_cast<Count>(piece.row_at(i));
    char const* x[Packs];
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Packs; ++s) {
      int const pack = first + s * grid.columns();  // lanes beyond the last pack follow it
      x[s] = reinterpret_cast<char const*>(X.data +
                                           (pack < all ? pack : all - 1) * Width * X.column_stride);
    }
    int const bits = EntryLanes ? grid.entry_bits : 0;
    Count const stride = Count(1) << bits;
    Count k = walk.first + Count(EntryLanes ? entry : 0);
    auto left = k < walk.last ? (walk.last - k + stride - Count(1)) >> bits : Count(0);
    for (; left >= Count(depth); left -= Count(depth), k += Count(depth) * stride)
      batch<false>(walk.own, row_at, x, k, stride, left, sums);
    if (left > Count(0)) batch<true>(walk.own, row_at, x, k, stride, left, sums);
  }

  template <bool Last, class Own, class Count>
  KOKKOS_FORCEINLINE_FUNCTION void batch(Own const& own, Count const* row_at, char const* const* x,
                                         Count k, Count stride, Count left, Sums* sums) const {
    Scalar a[depth][Rows];
    Pack<Scalar, Width> b[depth][Packs];
    BLOCKSPAN_UNROLL
    for (int u = 0; u < depth; ++u) {
      // past the end the last one is loaded again and left out below: no branches between loads
      Count const step = Last && !(Count(u) < left) ? left - Count(1) : Count(u);
      auto const place = place_at(own, k + step * stride);
      auto const row = own.column(place);
      BLOCKSPAN_UNROLL
      for (int i = 0; i < Rows; ++i) a[u][i] = value(own, place, row_at[i]);
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Packs; ++s) b[u][s] = fetch(x[s], row);
    }
    BLOCKSPAN_UNROLL
    for (int u = 0; u < depth; ++u) {
      if (Last && !(Count(u) < left)) continue;
      BLOCKSPAN_UNROLL
      for (int i = 0; i < Rows; ++i) {
        BLOCKSPAN_UNROLL
        for (int s = 0; s < Packs; ++s) {
          BLOCKSPAN_UNROLL
          for (int j = 0; j < Width; ++j) sums[i].of_pack[s].value[j] += a[u][i] * b[u][s].value[j];
        }
      }
    }
  }
};

}  // namespace blockspan::detail
