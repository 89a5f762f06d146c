#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/schedule.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// Row stride of X in bytes, as DirectLanes uses it. Throws Error where it exceeds 32 bits.
template <class Scalar>
std::uint32_t device_row_bytes(BlockRef<Scalar const> const& X) {
  std::int64_t const stride = X.row_stride * std::int64_t{sizeof(Scalar)};
  require(stride < std::int64_t{UINT32_MAX}, "blockspan::spmm", "rows of X lie ", stride,
          " bytes apart, more than a device kernel can address");
  return static_cast<std::uint32_t>(stride);
}

/// Direct loads, for devices: the vector lanes of a team thread form a grid over the columns of X
/// and the nonzeros of the segment. A lane owns `Vectors` vectors of `Width` neighbouring columns
/// and issues the loads of several nonzeros before it uses the first. The order of a sum is fixed
/// by the grid, whatever the teams.
///
/// Rows > 1: a segment is a group of up to `Rows` rows with the same columns. What is fetched of X
/// is used by all of them; every row has sums of its own, in the order that it has alone.
///
/// OnePass: the lanes are enough for all columns at once. Deep: see Lanes, or column-major X.
///
/// Across: lanes over the columns, a whole number of times those of a row, known to the compiler:
/// the vectors of a lane are at constant distances then, and their addresses cost nothing. 0: any.
///
/// Vectorized: a vector is one 16-byte load; X is row-major, aligned, a whole number of vectors
/// wide. Otherwise Width is 1 and X may have any strides.
template <class Scalar, class Entries, int Width, bool Vectorized, int Vectors = 1,
          bool EntryLanes = false, int Rows = 1, bool OnePass = false, bool Deep = false,
          int Across = 0>
struct DirectLanes {
  static_assert(Vectorized || Width == 1, "lanes without vectors own single columns");
  static_assert(Across == 0 || (Vectorized && !OnePass), "vectors of a row, in passes");
  static constexpr int addresses = Across > 0 ? 1 : Vectors;  ///< of a lane in a row of X
  static constexpr bool is_shallow = Vectorized || OnePass;   ///< with several vectors a lane
  static constexpr int depth = Rows > 1 ? tuning::device_group_depth<Rows>
                                        : tuning::device_depth<Deep || !is_shallow ? 1 : Vectors>;
  /// Needs few registers.
  static constexpr bool is_lean =
      std::is_same_v<Scalar, float> && Vectorized && Vectors == 1 && !EntryLanes && !OnePass;
  static constexpr bool is_deep = Deep || Vectors > (Vectorized ? 2 : 3);
  static constexpr unsigned blocks =
      Rows > 1             ? tuning::device_group_blocks
      : Deep&& Vectors > 2 ? tuning::device_column_blocks<Vectors* int(sizeof(Scalar))>
      : is_deep            ? tuning::device_deep_blocks
      : is_lean            ? tuning::device_lean_blocks
                           : tuning::device_blocks;
  static constexpr bool has_many_segment_blocks =
      Rows == 1 && (EntryLanes || (!Vectorized && Vectors == 3));
  static constexpr unsigned blocks_of_many_segments =
      has_many_segment_blocks ? tuning::device_many_segment_blocks : blocks;
  static constexpr int width = Width, vectors = Vectors;
  static constexpr bool vectorized = Vectorized;
  static constexpr bool strided_y = Vectorized && Vectors <= 2 && !Deep && Across == 0;
  static constexpr bool only_whole_rows = are_narrow_v<Entries> || Across > 0;
  static constexpr bool contiguous = Vectorized || Vectors > 1;  ///< rows of Y, as decided
  static constexpr bool may_split_passes = Vectorized && (EntryLanes || Deep);
  template <class Segment>
  static constexpr tuning::LaneCode code = OnePass || Rows > 1 || is_pass_v<Segment>
                                               ? tuning::LaneCode{}
                                               : tuning::lane_code(is_listed_v<Segment>, Vectors,
                                                                   EntryLanes, Deep, !Vectorized,
                                                                   Across > 0);

  Entries entries;
  BlockRef<Scalar const> X;  ///< columns of op(A) x n
  bool conjugate_values;
  LaneGrid grid;
  std::uint32_t row_bytes;  ///< from a row of X to the next

  template <class Call>
  static DirectLanes of(Call const& call, Entries const& entries) {
    auto const& X = call.product.X;
    return {entries, X, conjugates(call.product.op), call.launch.lanes.grid, device_row_bytes(X)};
  }

  /// consume(column, sum, i, s) for all columns of the i-th row of the segment, once each, on the
  /// lane that has the sum, in its s-th vector. OnePass: on every lane and for every vector, with a
  /// column beyond the last where there is none.
  template <class Team, class Segment, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const& team, Segment const& segment,
                                                Consume const& consume) const {
    int const all = vectors_of_row();
    on_lanes(team, [&](int column, int entry) {
      if constexpr (OnePass)
        pass(segment, column, all, entry, consume);
      else if constexpr (is_pass_v<Segment>)
        pass(segment, segment.pass * vectors_of_pass() + column, all, entry, consume);
      else
        for (int first = column; first - column < all; first += vectors_of_pass())
          pass(segment, first, all, entry, consume);
    });
  }
  /// The same for the columns of the pass that begins with this vector.
  template <class Team, class Segment, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum_of_pass(Team const& team, Segment const& segment,
                                                        int first, Consume const& consume) const {
    on_lanes(team, [&](int column, int entry) {
      pass(segment, first + column, vectors_of_row(), entry, consume);
    });
  }
  KOKKOS_FORCEINLINE_FUNCTION int vectors_of_row() const {
    return static_cast<int>(X.columns / Width);
  }
  KOKKOS_FORCEINLINE_FUNCTION int vectors_of_pass() const { return grid.columns() * Vectors; }

 private:
  /// Of one row of the segment.
  struct Sums {
    Sum<Scalar, Width> of_vector[Vectors];
  };

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void on_lanes(Team const& team, Function const& function) const {
    for_each_lane<!EntryLanes && !OnePass>(
        team, grid.lanes(), [&](int lane) { function(grid.column_of(lane), grid.entry_of(lane)); });
  }

  template <class Segment, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void pass(Segment const& segment, int first, int all, int entry,
                                        Consume const& consume) const {
    Sums sums[Rows] = {};
    multiply(segment, first, all, entry, sums);
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Vectors; ++s)
        if constexpr (EntryLanes) add_entry_lanes(grid, sums[i].of_vector[s]);
    }
    bool const summed = !EntryLanes || entry == 0;
    if (!OnePass && !summed) return;
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Rows; ++i) {
      if (i >= segment.rows()) continue;
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Vectors; ++s) {
        int const vector = summed ? first + s * grid.columns() : all;
        if (OnePass || vector < all)
          consume(std::int64_t{vector} * Width, sums[i].of_vector[s], i, s);
      }
    }
  }

  /// One multiply-add of 32 by 32 bits finds a row of X: the kernel has few instructions to spare.
  template <class Ordinal>
  KOKKOS_FORCEINLINE_FUNCTION Vector<Scalar, Width> fetch(char const* const* x, Ordinal row,
                                                          int s) const {
    using P = Vector<Scalar, Width>;
    using Unsigned = std::make_unsigned_t<Ordinal>;
    char const* const of_row =
        x[Across > 0 ? 0 : s] + static_cast<std::uint64_t>(static_cast<Unsigned>(row)) * row_bytes;
    return load(reinterpret_cast<P const*>(of_row) + s * Across);
  }

  template <class Own, class Place>
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(Own const& own, Place const& place, int row_at) const {
    return conjugate_if(conjugate_values, own.value(place, row_at));
  }

  /// The nonzeros of this lane, `depth` at a time; the last few in one go as well, so that their
  /// loads are in flight together.
  template <class Segment>
  KOKKOS_FORCEINLINE_FUNCTION void multiply(Segment const& segment, int first, int all, int entry,
                                            Sums* sums) const {
    auto const& own = entries_of(entries, segment);
    int row_at[Rows];
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Rows; ++i) row_at[i] = segment.row_at(i);
    char const* x[addresses];
    BLOCKSPAN_UNROLL
    for (int s = 0; s < addresses; ++s) {
      int const vector = first + s * grid.columns();  // lanes beyond the last vector follow it
      x[s] = reinterpret_cast<char const*>(X.data + (vector < all ? vector : all - 1) * Width *
                                                        X.column_stride);
    }
    int const bits = EntryLanes ? grid.entry_bits : 0;
    int const stride = 1 << bits;
    int k = segment.first + (EntryLanes ? entry : 0);
    constexpr tuning::LaneCode how = code<Segment>;
    if constexpr (how.ends_by_place) {
      int const last = segment.last;
      for (; has_entry<true>(k, depth - 1, stride, last); k += depth * stride)
        batch<false, how>(own, row_at, x, k, stride, last, sums);
      if (has_entry<true>(k, 0, stride, last))
        batch<true, how>(own, row_at, x, k, stride, last, sums);
    } else {
      int left = k < segment.last ? (segment.last - k + stride - 1) >> bits : 0;
      for (; left >= depth; left -= depth, k += depth * stride)
        batch<false, how>(own, row_at, x, k, stride, left, sums);
      if (left > 0) batch<true, how>(own, row_at, x, k, stride, left, sums);
    }
  }

  /// Whether the lane has an entry `steps` strides after the k-th, before the place `end` or among
  /// `end` of them that are left. Indices are compared as unsigned: index plus stride may overflow
  /// an int.
  template <bool ByPlace>
  static KOKKOS_FORCEINLINE_FUNCTION bool has_entry(int k, int steps, int stride, int end) {
    if constexpr (ByPlace) {
      return static_cast<unsigned>(k) +
                 static_cast<unsigned>(steps) * static_cast<unsigned>(stride) <
             static_cast<unsigned>(end);
    } else {
      return steps < end;
    }
  }

  static KOKKOS_FORCEINLINE_FUNCTION void keep_all_live(Scalar const (&a)[Rows],
                                                        Vector<Scalar, Width> const (&b)[Vectors]) {
    BLOCKSPAN_UNROLL
    for (int i = 0; i < Rows; ++i) keep_live(a[i]);
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Vectors; ++s) {
      BLOCKSPAN_UNROLL
      for (int j = 0; j < Width; ++j) keep_live(b[s].value[j]);
    }
  }

  template <bool Last, tuning::LaneCode Code, class Own>
  KOKKOS_FORCEINLINE_FUNCTION void batch(Own const& own, int const* row_at, char const* const* x,
                                         int k, int stride, int end, Sums* sums) const {
    Scalar a[depth][Rows];
    Vector<Scalar, Width> b[depth][Vectors];
    BLOCKSPAN_UNROLL
    for (int u = 0; u < depth; ++u) {
      // past the end one is loaded again and left out below: no branches between loads
      bool const is_there = !Last || has_entry<Code.ends_by_place>(k, u, stride, end);
      int const spare = Code.ends_by_place ? 0 : end - 1;
      auto const place = place_at(own, k + (is_there ? u : spare) * stride);
      auto const row = own.column(place);
      BLOCKSPAN_UNROLL
      for (int i = 0; i < Rows; ++i) a[u][i] = value(own, place, row_at[i]);
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Vectors; ++s) b[u][s] = fetch(x, row, s);
    }
    if constexpr (!Last && Code.loads_first) {
      BLOCKSPAN_UNROLL
      for (int u = 0; u < depth; ++u) keep_all_live(a[u], b[u]);
      scheduling_barrier(static_cast<std::uint32_t>(k));
    }
    BLOCKSPAN_UNROLL
    for (int u = 0; u < depth; ++u) {
      bool const is_there = !Last || has_entry<Code.ends_by_place>(k, u, stride, end);
      if (!(Last && Code.tail_in_flight) && !is_there) continue;
      BLOCKSPAN_UNROLL
      for (int i = 0; i < Rows; ++i) {
        BLOCKSPAN_UNROLL
        for (int s = 0; s < Vectors; ++s) {
          BLOCKSPAN_UNROLL
          for (int j = 0; j < Width; ++j)
            if constexpr (Last && Code.tail_in_flight)
              add_product_if(is_there, a[u][i], b[u][s].value[j], sums[i].of_vector[s].value[j]);
            else
              sums[i].of_vector[s].value[j] += a[u][i] * b[u][s].value[j];
        }
      }
    }
  }
};

}  // namespace blockspan::products
