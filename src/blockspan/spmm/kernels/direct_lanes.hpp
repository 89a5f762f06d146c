#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/block.hpp>
#include <blockspan/spmm/detail/inner/add_product.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/inner/lane_grid.hpp>
#include <blockspan/spmm/detail/inner/load.hpp>
#include <blockspan/spmm/detail/inner/stage.hpp>
#include <blockspan/spmm/detail/inner/sum.hpp>
#include <blockspan/spmm/detail/schedule/piece.hpp>
#include <blockspan/spmm/detail/tuning.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

namespace tuning {
/// Blocks for one pack of floats a lane, without lanes over nonzeros. Same machine, microseconds
/// with 5 and 6: 7-point n = 8, 16, 32 87, 147, 236; 84, 142, 235; 27-point 96, 137, 237; 94, 133,
/// 229; R-MAT 20, n = 16, 32 211, 306; 219, 294. Of doubles six are slower (7-point n = 4 100,
/// 109).
inline constexpr unsigned device_lean_blocks = 6;

/// Blocks for lanes over the nonzeros of listed pieces, of which there are many: 64 registers keep
/// what a piece needs. Same machine, with 5 blocks and with 4, microseconds: R-MAT 18, n = 1 51,
/// 49; 2 55, 48; 4 63, 55; R-MAT 20, n = 2 233, 209; but 512 rows of 2242 nonzeros (36,000 pieces),
/// n = 4 16, 20; 8 21, 26.
inline constexpr unsigned device_many_piece_blocks = 4;

/// Blocks for two packs a lane at the depth of one (device_deep_row), and for a lane that owns a
/// row of column-major X (device_column_bytes): as many as the registers of that allow.
inline constexpr unsigned device_deep_blocks = 4;
template <int Bytes>
inline constexpr unsigned device_column_blocks = Bytes > device_few_column_bytes ? 2 : 3;

/// Nonzeros in flight in a lane for a group of rows that share what is fetched of X, by its rows:
/// more sums, more values. 64 registers at 4 blocks hold them without spills (ptxas, CUDA 13.0:
/// double; with products summed beside it, 40 to 72 bytes). Same machine, elasticity 44^3 x 3, n =
/// 1, 2, 4, 8, 16, 32, 64, microseconds: 69, 66, 81, 107, 163, 263, 413; without groups 73, 77, 97,
/// 139, 219, 346, 563. Other depths and blocks were not tried.
template <int Rows>
inline constexpr int device_group_depth = Rows == 2 ? 4 : 2;
inline constexpr unsigned device_group_blocks = 4;

/// For pieces that a plan has listed, and for whole rows: what measured best, because registers and
/// the order of loads are the compiler's. One H200, CUDA 13.0, double, microseconds with none of it
/// and as below, then what else was tried. Listed, R-MAT 20, n = 16, 32, 64: 345, 581, 1156; 333,
/// 571, 1141; with pieces of threads alone 336, 587, 1165. Three packs, 27-point n = 24: 376, 344;
/// 7-point 346, 336. Two deep ones, 27-point n = 32, 64: 423, 773; 418, 765; shallow ones lose by
/// any of it (7-point n = 32: 423; 431 to 459). Single columns: see device_depth. One pack, 7-point
/// n = 1, 4, 8: 64.6, 102, 162; 59.2, 100, 160; with passes outside 58.7, 109, 163. Columns of
/// column-major X, 27-point n = 8, 32: 168, 514; 157, 483. Lanes over nonzeros lose by any of it
/// (27-point n = 2: 92; 94 to 101; elasticity by rows, n = 8: 132; 142 to 177), groups of rows too
/// (elasticity, n = 4: 81; 96). With loads first, without and with: R-MAT 20, n = 4, 8, 16, 31 218,
/// 243, 330, 739; 213, 237, 321, 717; R-MAT 18, n = 4, 15, 16 54, 107, 79; 52, 95, 76; 512 rows of
/// 2242, n = 32 65, 59; 8192 rows of 82, n = 64 34.5, 32.3; 32768 of 266 271, 259; 7-point, n = 15
/// 341, 319; but whole rows with one pack, two shallow ones or four single columns 7-point, n = 4,
/// 32, 9, 31 99, 426, 199, 514; 110, 549, 395, 610, and listed ones with five, which have no
/// registers for that, R-MAT 18, n = 33, 39 199, 212; 290, 304.
constexpr LaneCode lane_code(bool listed, int packs, bool entry_lanes, bool deep, bool single) {
  bool const columns = deep && packs > 2;  // of column-major X
  if (columns) return {true, false, true, false};
  if (single && packs > 1) return {true, true, true, true, packs == 2 || (listed && packs < 5)};
  if (listed || packs == 3) return {true, true, true, true, true};
  if (deep) return {true, true, false, false, true};
  if (packs == 1 && !entry_lanes) return {true, false, true, true};
  return {};
}
}  // namespace tuning

/// Direct loads, for devices: the vector lanes of a team thread stand in a grid over the columns of
/// X and the nonzeros of the piece. A lane owns `Packs` packs of `Width` neighbouring columns and
/// issues the loads of several nonzeros before it uses the first. The order of a sum is fixed by
/// the grid, whatever the teams.
///
/// Rows > 1: a piece is a group of up to as many rows with the same columns. What is fetched of X
/// serves all of them; every row has sums of its own, in the order that it has alone.
///
/// OnePass: the lanes are enough for all columns at once. Deep: see Lanes, or column-major X.
/// A piece that is one pass over a row (RowPass) gets that pass.
///
/// Packed: a pack is one 16-byte load; X is row-major, aligned, a whole number of packs wide.
/// Otherwise Width is 1 and X may have any strides.
template <class Scalar, class Entries, int Width, bool Packed, int Packs = 1,
          bool EntryLanes = false, int Rows = 1, bool OnePass = false, bool Deep = false>
struct DirectLanes {
  static_assert(Packed || Width == 1, "lanes without packs own single columns");
  static constexpr bool is_shallow = Packed || OnePass;  ///< with several packs a lane
  static constexpr int depth = Rows > 1 ? tuning::device_group_depth<Rows>
                                        : tuning::device_depth<Deep || !is_shallow ? 1 : Packs>;
  /// Needs few registers.
  static constexpr bool is_lean =
      std::is_same_v<Scalar, float> && Packed && Packs == 1 && !EntryLanes && !OnePass;
  static constexpr bool is_deep = Deep || Packs > (Packed ? 2 : 3);
  static constexpr unsigned blocks = Rows > 1 ? tuning::device_group_blocks
                                     : Deep&& Packs > 2
                                         ? tuning::device_column_blocks<Packs* int(sizeof(Scalar))>
                                     : is_deep ? tuning::device_deep_blocks
                                     : is_lean ? tuning::device_lean_blocks
                                               : tuning::device_blocks;
  static constexpr bool has_many_piece_blocks =
      Rows == 1 && (EntryLanes || (!Packed && Packs == 3));
  static constexpr unsigned blocks_of_many_pieces =
      has_many_piece_blocks ? tuning::device_many_piece_blocks : blocks;
  static constexpr std::size_t thread_scratch_bytes = 0;
  static constexpr int width = Width, packs = Packs;
  static constexpr bool takes_packs = Packed;
  static constexpr bool only_whole_rows = are_narrow_v<Entries>;
  template <class Piece>
  static constexpr tuning::LaneCode code = OnePass || Rows > 1 || is_pass_v<Piece>
                                               ? tuning::LaneCode{}
                                               : tuning::lane_code(is_listed_v<Piece>, Packs,
                                                                   EntryLanes, Deep, !Packed);

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
    int const all = packs_of_row();
    on_lanes(team, [&](int column, int entry) {
      if constexpr (OnePass)
        pass(piece, column, all, entry, consume);
      else if constexpr (is_pass_v<Piece>)
        pass(piece, piece.pass * packs_of_pass() + column, all, entry, consume);
      else
        for (int first = column; first - column < all; first += packs_of_pass())
          pass(piece, first, all, entry, consume);
    });
  }
  /// The same for the columns of the pass that begins with this pack.
  template <class Team, class Piece, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum_of_pass(Team const& team, Piece const& piece,
                                                        int first, Consume const& consume) const {
    on_lanes(team, [&](int column, int entry) {
      pass(piece, first + column, packs_of_row(), entry, consume);
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION int packs_of_row() const {
    return static_cast<int>(X.columns / Width);
  }
  KOKKOS_FORCEINLINE_FUNCTION int packs_of_pass() const { return grid.columns() * Packs; }

 private:
  /// Of one row of the piece.
  struct Sums {
    Sum<Scalar, Width> of_pack[Packs];
  };

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void on_lanes(Team const& team, Function const& function) const {
    for_each_lane<!EntryLanes && !OnePass>(
        team, grid.lanes(), [&](int lane) { function(grid.column_of(lane), grid.entry_of(lane)); });
  }

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

  template <class Own, class Place>
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(Own const& own, Place const& place, int row_at) const {
    return conjugate_if(conjugate_values, own.value(place, row_at));
  }

  /// The nonzeros of this lane, `depth` at a time; the last few in one go as well, so that their
  /// loads are in flight together.
  template <class Piece>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Piece const& piece, int first, int all, int entry,
                                            Sums* sums) const {
    auto const& own = entries_of(entries, piece);
    int row_at[Rows];
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Rows; ++i) row_at[i] = piece.row_at(i);
    char const* x[Packs];
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Packs; ++s) {
      int const pack = first + s * grid.columns();  // lanes beyond the last pack follow it
      x[s] = reinterpret_cast<char const*>(X.data +
                                           (pack < all ? pack : all - 1) * Width * X.column_stride);
    }
    int const bits = EntryLanes ? grid.entry_bits : 0;
    int const stride = 1 << bits;
    int k = piece.first + (EntryLanes ? entry : 0);
    constexpr tuning::LaneCode how = code<Piece>;
    if constexpr (how.ends_by_place) {
      int const last = piece.last;
      for (; reaches<true>(k, depth - 1, stride, last); k += depth * stride)
        batch<false, how>(own, row_at, x, k, stride, last, sums);
      if (reaches<true>(k, 0, stride, last))
        batch<true, how>(own, row_at, x, k, stride, last, sums);
    } else {
      int left = k < piece.last ? (piece.last - k + stride - 1) >> bits : 0;
      for (; left >= depth; left -= depth, k += depth * stride)
        batch<false, how>(own, row_at, x, k, stride, left, sums);
      if (left > 0) batch<true, how>(own, row_at, x, k, stride, left, sums);
    }
  }

  /// Whether the lane has an entry `steps` strides behind the k-th, before the place `end` or among
  /// as many as `end` that are left. Places are compared unsigned: one and some strides may be more
  /// than an int holds.
  template <bool ByPlace>
  static KOKKOS_FORCEINLINE_FUNCTION bool reaches(int k, int steps, int stride, int end) {
    if constexpr (ByPlace) {
      return static_cast<unsigned>(k) +
                 static_cast<unsigned>(steps) * static_cast<unsigned>(stride) <
             static_cast<unsigned>(end);
    } else {
      return steps < end;
    }
  }

  static KOKKOS_FORCEINLINE_FUNCTION void are_loaded(Scalar const (&a)[Rows],
                                                     Pack<Scalar, Width> const (&b)[Packs]) {
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Rows; ++i) is_loaded(a[i]);
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Packs; ++s) {
      BLOCKSPAN_UNROLL
      for (int j = 0; j < Width; ++j) is_loaded(b[s].value[j]);
    }
  }

  template <bool Last, tuning::LaneCode Code, class Own>
  KOKKOS_FORCEINLINE_FUNCTION void batch(Own const& own, int const* row_at, char const* const* x,
                                         int k, int stride, int end, Sums* sums) const {
    Scalar a[depth][Rows];
    Pack<Scalar, Width> b[depth][Packs];
    BLOCKSPAN_UNROLL
    for (int u = 0; u < depth; ++u) {
      // past the end one is loaded again and left out below: no branches between loads
      bool const is_there = !Last || reaches<Code.ends_by_place>(k, u, stride, end);
      int const spare = Code.ends_by_place ? 0 : end - 1;
      auto const place = place_at(own, k + (is_there ? u : spare) * stride);
      auto const row = own.column(place);
      BLOCKSPAN_UNROLL
      for (int i = 0; i < Rows; ++i) a[u][i] = value(own, place, row_at[i]);
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Packs; ++s) b[u][s] = fetch(x[s], row);
    }
    if constexpr (!Last && Code.loads_first) {
      BLOCKSPAN_UNROLL
      for (int u = 0; u < depth; ++u) are_loaded(a[u], b[u]);
      no_load_passes(static_cast<std::uint32_t>(k));
    }
    BLOCKSPAN_UNROLL
    for (int u = 0; u < depth; ++u) {
      bool const is_there = !Last || reaches<Code.ends_by_place>(k, u, stride, end);
      if (!(Last && Code.tail_in_flight) && !is_there) continue;
      BLOCKSPAN_UNROLL
      for (int i = 0; i < Rows; ++i) {
        BLOCKSPAN_UNROLL
        for (int s = 0; s < Packs; ++s) {
          BLOCKSPAN_UNROLL
          for (int j = 0; j < Width; ++j)
            if constexpr (Last && Code.tail_in_flight)
              add_product_if(is_there, a[u][i], b[u][s].value[j], sums[i].of_pack[s].value[j]);
            else
              sums[i].of_pack[s].value[j] += a[u][i] * b[u][s].value[j];
        }
      }
    }
  }
};

/// From a row of X to the next, as DirectLanes addresses it. Throws Error if that is too far.
template <class Scalar>
std::uint32_t device_row_bytes(BlockRef<Scalar const> const& X) {
  std::int64_t const stride = X.row_stride * std::int64_t{sizeof(Scalar)};
  require(stride < std::int64_t{UINT32_MAX}, "blockspan::spmm", "rows of X lie ", stride,
          " bytes apart, more than a device kernel can address");
  return static_cast<std::uint32_t>(stride);
}

}  // namespace blockspan::detail
