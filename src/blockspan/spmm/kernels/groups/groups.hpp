#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/kernels/rows/direct_lanes.hpp>
#include <blockspan/spmm/kernels/rows/direct_registers.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/schedule.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/fast_division.hpp>

namespace blockspan::products {

/// A group of neighbouring rows that have the same columns: the entries first .. last - 1 are those
/// of the first row, and the other rows' follow.
struct RowGroup {
  std::int64_t first_row;
  int count;
  int first;
  int last;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row() const { return first_row; }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return count; }
  /// From the first row's entries to the i-th's; rows beyond the group's last repeat that.
  KOKKOS_FORCEINLINE_FUNCTION int row_at(int i) const {
    return (i < count ? i : count - 1) * (last - first);
  }
};

/// A segment is a group of rows of a plan's RowGroupList.
template <class Ordinal, class Share = SegmentsOfTeam>
struct RowGroups {
  static constexpr bool splits_rows = false;
  using Segment = RowGroup;

  Share share;             ///< of the groups
  int const* row_offsets;  ///< rows + 1
  Ordinal const* begin;    ///< groups + 1: the first row

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_segment(Team const& team,
                                                    Function const& function) const {
    share.for_each(team, [&](std::int64_t group) {
      auto const row = static_cast<std::int64_t>(begin[group]);
      auto const count = static_cast<int>(begin[group + 1] - begin[group]);
      function(Segment{row, count, row_offsets[row], row_offsets[row + 1]});
    });
  }
};

/// Rows of one block row, which have the same columns. Places count the scalar columns of its
/// blocks: 0 .. last - 1.
struct BlockGroup {
  static constexpr int first = 0;

  std::int64_t first_row;
  int count;
  int last;
  int block;     ///< the first of the block row
  int before;    ///< rows of the block row before the group's first
  int row_step;  ///< values from a row of a block to the next

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row() const { return first_row; }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return count; }
  /// From the begin of a block to the i-th row; rows beyond the group's last repeat that.
  KOKKOS_FORCEINLINE_FUNCTION int row_at(int i) const {
    return (before + (i < count ? i : count - 1)) * row_step;
  }
};

/// A segment is a group of rows of one block row, which has `groups` of them, about equally large.
struct BlockRows {
  static constexpr bool splits_rows = false;
  using Segment = BlockGroup;

  SegmentsOfTeam share;    ///< of the groups
  int const* row_offsets;  ///< block rows + 1
  int size;                ///< rows of a block
  int groups;
  int row_step;

  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_segment(Team const& team,
                                                    Function const& function) const {
    share.for_each(team, [&](std::int64_t segment) {
      std::int64_t const block_row = segment / groups;
      auto const group = static_cast<int>(segment - block_row * groups);
      int const begin = group * size / groups, end = (group + 1) * size / groups;
      int const first = row_offsets[block_row];
      auto const last = (row_offsets[block_row + 1] - first) * size;
      function(Segment{block_row * size + begin, end - begin, last, first, begin, row_step});
    });
  }
};

/// Storage layout of the blocks of a matrix, or of its transpose.
struct BlockShape {
  FastDivision by_size;
  int size;         ///< rows and columns of a block
  int column_step;  ///< values from a column of a block to the next
};

/// One entry of each row of a block row: a column of a block.
template <class Ordinal>
struct BlockPlace {
  Ordinal column;
  std::int64_t value;  ///< of the first row
  int block;           ///< in the block row
  int left;            ///< columns of the block from this one on
};

/// How the entries of a block row are read.
template <class Scalar, class Ordinal>
struct BlockRowEntries {
  Ordinal const* columns;  ///< of the block row
  int const* permutation;  ///< null, or of the block row
  Scalar const* values;    ///< of the block row; with a permutation, of the matrix
  BlockShape shape;

  /// The j-th column of a block.
  KOKKOS_FORCEINLINE_FUNCTION BlockPlace<Ordinal> place(int block, int j) const {
    auto const number = permutation == nullptr
                            ? std::int64_t{block}
                            : static_cast<std::int64_t>(load(permutation + block));
    return {load(columns + block) * static_cast<Ordinal>(shape.size) + static_cast<Ordinal>(j),
            number * shape.size * shape.size + j * shape.column_step, block, shape.size - j};
  }
  KOKKOS_FORCEINLINE_FUNCTION Ordinal column(BlockPlace<Ordinal> const& place) const {
    return place.column;
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(BlockPlace<Ordinal> const& place, int row_at) const {
    return load(values + (place.value + row_at));
  }
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(BlockPlace<Ordinal> const&, int) const {}
};

template <class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION BlockPlace<Ordinal> place_at(
    BlockRowEntries<Scalar, Ordinal> const& own, int k) {
  int const block = own.shape.by_size(k);
  return own.place(block, k - block * own.shape.size);
}
template <class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION void advance(BlockRowEntries<Scalar, Ordinal> const& own,
                                         BlockPlace<Ordinal>& place) {
  if (--place.left == 0) {
    place = own.place(place.block + 1, 0);
  } else {
    ++place.column;
    place.value += own.shape.column_step;
  }
}

/// The entries of a matrix of blocks, as an inner reads them (entries.hpp).
template <class Scalar, class Ordinal>
struct BlockEntries {
  Ordinal const* columns;
  int const* permutation;  ///< of the blocks; null: none
  Scalar const* values;
  BlockShape shape;
};

template <class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION BlockRowEntries<Scalar, Ordinal> entries_of(
    BlockEntries<Scalar, Ordinal> const& all, BlockGroup const& group) {
  auto const first = static_cast<std::int64_t>(group.block);
  auto const& shape = all.shape;
  if (all.permutation != nullptr)
    return {all.columns + first, all.permutation + first, all.values, shape};
  return {all.columns + first, nullptr, all.values + first * shape.size * shape.size, shape};
}

inline namespace BLOCKSPAN_REGISTERS {

/// Direct loads of a group of rows with the same columns, for hosts: what is read of X is used by
/// all rows of the group. As DirectRegisters otherwise, without chains: the sums of the rows do not
/// wait for each other. Every sum runs in the order of its row's entries, whatever the group.
template <class Scalar, class Entries, int MaxWidth, bool Unit>
struct GroupRegisters : DirectRegisters<Scalar, Entries, MaxWidth, Unit> {
  using Base = DirectRegisters<Scalar, Entries, MaxWidth, Unit>;
  template <int Width>
  using Set = typename Base::template Set<Width>;

  /// consume(column, sum, i) for each vector ...
  template <class Team, class Segment, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const&, Segment const& segment,
                                                Consume const& consume) const {
    this->for_each_vector([&](std::int64_t column, auto width) {
      KOKKOS_IF_ON_HOST((multiply_vector<decltype(width)::value>(segment, column, consume);))
      KOKKOS_IF_ON_DEVICE(((void)segment; (void)column; (void)width; (void)consume;))
    });
  }

  /// ... and for the vector of columns from `column` on and the i-th row of the group.
  template <int Width, class Segment, class Consume>
  BLOCKSPAN_HOST_INLINE void multiply_vector(Segment const& segment, std::int64_t column,
                                             Consume const& consume) const {
    static_assert(tuning::group_rows == 4, "the cases below");
    switch (segment.rows()) {
      case 1:
        return multiply<1, Width>(segment, column, consume);
      case 2:
        return multiply<2, Width>(segment, column, consume);
      case 3:
        return multiply<3, Width>(segment, column, consume);
      default:
        return multiply<4, Width>(segment, column, consume);
    }
  }

 private:
  /// Of all rows: nested, because GCC 12 keeps an array of them in memory.
  template <int Rows, int Width>
  struct Sums {
    Set<Width> own[Base::parts];
    Sums<Rows - 1, Width> others;
  };
  template <int Width>
  struct Sums<0, Width> {};

  template <int Rows, int Width, class Segment, class Consume>
  BLOCKSPAN_HOST_INLINE void multiply(Segment const& segment, std::int64_t first,
                                      Consume const& consume) const {
    Sums<Rows, Width> sums;
    Scalar const* const x = this->X.data + first * this->X.column_stride;
    auto const& own = entries_of(this->entries, segment);
    int row_at[Rows];
    for (int i = 0; i < Rows; ++i) row_at[i] = segment.row_at(i);
    int left = segment.last - segment.first;
    if (left > 0)
      for (auto place = place_at(own, segment.first);; advance(own, place)) {
        add_entry<0>(own, place, row_at, this->template fetch<Width>(x, own.column(place)), sums);
        if (--left == 0) break;
      }
    give<0>(first, sums, consume);
  }

  template <int Row, class Own, class Place, int Rows, int Width>
  BLOCKSPAN_HOST_INLINE void add_entry(Own const& own, Place const& place, int const* row_at,
                                       Set<Width> const& b, Sums<Rows, Width>& sums) const {
    if constexpr (Rows > 0) {
      own.prefetch(place, row_at[Row]);
      Base::template add_product<Width>(own.value(place, row_at[Row]), b, sums.own);
      add_entry<Row + 1>(own, place, row_at, b, sums.others);
    }
  }

  template <int Row, int Rows, int Width, class Consume>
  BLOCKSPAN_HOST_INLINE void give(std::int64_t column, Sums<Rows, Width> const& sums,
                                  Consume const& consume) const {
    if constexpr (Rows > 0) {
      consume(column, this->template collect<Width>(sums.own), Row);
      give<Row + 1>(column, sums.others, consume);
    }
  }
};

}  // namespace BLOCKSPAN_REGISTERS

/// Hosts: columns of a vector of a group's sums.
template <class Scalar>
inline constexpr int host_group_vector_v = tuning::host_group_vector_bytes / int(sizeof(Scalar)) /
                                           (is_complex_v<Scalar> ? 2 : 1);

/// The inners of groups of rows. OnePass: see DirectLanes.
template <class Exec, class Scalar, class Entries, bool OnePass = false>
struct GroupInners {
  Entries entries;
  BlockRef<Scalar const> X;
  bool conjugate_values;
  bool vectors;  ///< a lane owns vectors of 16 bytes

  /// run.operator()<Vectorized>(inner), for groups of at most `most` rows. Devices: AllSizes: each
  /// number of rows has a kernel of its own; otherwise the largest runs all of them.
  template <bool AllSizes, class Run>
  void with(int most, LaneGrid const& grid, Run const& run) const {
    if constexpr (!runs_on_host_v<Exec>) {
      if (vectors) return with_lanes<AllSizes, device_vector_v<Scalar>, true>(most, grid, run);
      with_lanes<AllSizes, 1, false>(most, grid, run);
    } else if (X.column_stride == 1) {
      with_registers<host_group_vector_v<Scalar>, true>(run);
    } else {
      with_registers<tuning::host_strided_columns, false>(run);
    }
  }

 private:
  template <int MaxWidth, bool Unit, class Run>
  void with_registers(Run const& run) const {
    using Inner = GroupRegisters<Scalar, Entries, MaxWidth, Unit>;
    run.template operator()<false>(Inner{{entries, X, conjugate_values}});
  }

  template <bool AllSizes, int Width, bool Vectorized, class Run>
  void with_lanes(int most, LaneGrid const& grid, Run const& run) const {
    // always with lanes over the nonzeros, possibly just one
    auto const with_rows = [&]<int Rows>() {
      using Inner = DirectLanes<Scalar, Entries, Width, Vectorized, 1, true, Rows, OnePass>;
      run.template operator()<Vectorized>(
          Inner{entries, X, conjugate_values, grid, device_row_bytes(X)});
    };
    if constexpr (AllSizes) {
      if (most <= 2) return with_rows.template operator()<2>();
      if (most == 3) return with_rows.template operator()<3>();
    }
    with_rows.template operator()<tuning::group_rows>();
  }
};

/// `schedule`: its share of the groups still to be set. AllSizes: see GroupInners.
template <bool AllSizes, class Call, class Schedule, class Entries>
void launch_groups_with(Call const& call, Schedule schedule, Entries const& entries) {
  LaneGrid const& grid = call.launch.lanes.grid;
  auto const shape = launch_shape(call, grid.lanes(), schedule.share);
  GroupInners<typename Call::Exec, typename Call::Scalar, Entries> const inners{
      entries, call.product.X, conjugates(call.product.op), call.launch.vectorized};
  auto const run = [&]<bool Vectorized, class Inner>(Inner const& inner) {
    launch_kernel(call.exec, call.variant().label, shape, schedule, inner,
                  make_epilogue<Vectorized, supports_strided_y_v<Inner>>(call));
  };
  inners.template with<AllSizes>(call.prepared.groups.most, grid, run);
}

/// The groups that a plan has found in a matrix without blocks.
template <class Share = SegmentsOfTeam, class Exec, class Ordinal>
RowGroups<Ordinal, Share> row_groups_of(PreparedPattern<Exec, Ordinal> const& prepared) {
  return {{prepared.groups.count.groups, 1},
          prepared.pattern.row_offsets,
          prepared.groups.begin.data()};
}

/// A block is read by rows, a block of the transpose by columns.
template <class Call>
void launch_blocks(Call const& call) {
  auto const& prepared = call.prepared;
  auto const& pattern = prepared.pattern;
  auto const size = static_cast<int>(pattern.block);
  bool const by_rows = prepared.permutation == nullptr;
  BlockRows const schedule{{prepared.groups.count.groups, 1},
                           pattern.row_offsets,
                           size,
                           static_cast<int>(groups_of_block(pattern.block)),
                           by_rows ? size : 1};
  BlockEntries<typename Call::Scalar, typename Call::Ordinal> const entries{
      pattern.column_indices,
      prepared.permutation,
      call.values,
      {FastDivision(size), size, by_rows ? 1 : size}};
  launch_groups_with<true>(call, schedule, entries);
}

template <class Call>
void launch_groups(Call const& call) {
  auto const& prepared = call.prepared;
  if (prepared.pattern.block > 1) return launch_blocks(call);
  if (prepared.permutation != nullptr)
    return launch_groups_with<false>(call, row_groups_of(prepared), permuted_entries(call));
  with_entries<false, false>(call, [&](auto const& entries) {
    launch_groups_with<true>(call, row_groups_of(prepared), entries);
  });
}

}  // namespace blockspan::products
