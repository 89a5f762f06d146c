#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/block.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/kernels/rows/direct_lanes.hpp>
#include <blockspan/spmm/kernels/rows/rows_choice.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/kernel.hpp>
#include <blockspan/spmm/parts/lane_grid.hpp>
#include <blockspan/spmm/parts/load.hpp>
#include <blockspan/spmm/parts/schedule.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// Padded index of the i-th entry in scratch: lanes whose rows begin a power of two apart access
/// different banks.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t scratch_place(std::uint32_t i) { return i + (i >> 4); }

/// Staged column indices, and the offset of a row that is added to them.
template <class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION Ordinal const* stored_columns(
    PlainEntries<Scalar, Ordinal> const& entries) {
  return entries.columns;
}
template <class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION Ordinal origin_of(PlainEntries<Scalar, Ordinal> const&, std::int64_t) {
  return 0;
}
template <class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION std::int16_t const* stored_columns(
    NarrowEntries<Scalar, Ordinal> const& entries) {
  return entries.distances;
}
template <class Scalar, class Ordinal>
KOKKOS_FORCEINLINE_FUNCTION Ordinal origin_of(NarrowEntries<Scalar, Ordinal> const& entries,
                                              std::int64_t row) {
  return static_cast<Ordinal>(row) + entries.shift;
}

/// Entries of one row in scratch, as they are in memory, counted from the first one of the team.
template <class Scalar, class Value, class Column, class Index>
struct ScratchEntries {
  Column const* columns;
  Value const* values;
  Index origin;  ///< of the columns

  KOKKOS_FORCEINLINE_FUNCTION Index column(std::uint32_t k) const {
    return origin + static_cast<Index>(columns[scratch_place(k)]);
  }
  KOKKOS_FORCEINLINE_FUNCTION Scalar value(std::uint32_t k) const {
    return Scalar(values[scratch_place(k)]);
  }
};

/// A segment is a row, one of each lane of a team thread.
struct RowsOfLanes {
  static constexpr bool splits_rows = false;
  using Segment = RowSegment;

  std::int64_t rows;
  int const* row_offsets;  ///< rows + 1

  /// The first of the thread's rows.
  template <class Team>
  static KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row(Team const& team) {
    return (std::int64_t{team.league_rank()} * team.team_size() + team.team_rank()) *
           tuning::staged_column_rows;
  }
  template <class Team, class Function>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_segment(Team const& team,
                                                    Function const& function) const {
    for_each_lane<false>(team, tuning::staged_column_rows, [&](int lane) {
      std::int64_t const row = first_row(team) + lane;
      if (row < rows) function(Segment{row, load(row_offsets + row), load(row_offsets + row + 1)});
    });
  }
};

/// Column-major X of more columns than a lane owns at a time. A lane a row, so that neighbouring
/// lanes read neighbours of a column where neighbouring rows have neighbouring columns; passes over
/// `Columns` columns, the loads of `Depth` nonzeros before the first product. The lanes of a thread
/// first copy the entries of their rows to its scratch, coalesced: A is read once, however many
/// passes there are, and no lane waits for entries that lie a row apart.
template <class Scalar, class Entries, int Columns, std::uint32_t Depth>
struct StagedColumns {
  using Value = std::remove_cvref_t<decltype(*std::declval<Entries>().values)>;
  using Column = std::remove_cvref_t<decltype(*stored_columns(std::declval<Entries>()))>;
  using Index = decltype(origin_of(std::declval<Entries>(), 0));
  using RowEntries = ScratchEntries<Scalar, Value, Column, Index>;
  using Schedule = RowsOfLanes;
  static constexpr unsigned threads_of_team =
      tuning::staged_column_threads * tuning::staged_column_rows;
  static constexpr unsigned blocks = tuning::staged_column_teams<Depth>;
  static constexpr std::size_t entry_bytes = sizeof(Value) + sizeof(Column);
  static constexpr int occupancy = tuning::staged_column_occupancy;

  Entries entries;
  Schedule rows;
  BlockRef<Scalar const> X;  ///< row_stride 1
  bool conjugate_values;
  std::uint32_t row_bytes;     ///< from a row of X to the next
  std::uint32_t column_bytes;  ///< from a column of X to the next
  int room;                    ///< entries of a thread, at most

  struct Stage {
    Value* values;
    Column* columns;
    int first;  ///< of the entries in scratch
  };

  std::size_t thread_scratch_bytes() const { return scratch_for(places() * entry_bytes); }

  /// What the thread copied.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION Stage stage(Team const& team) const {
    auto const& scratch = team.thread_scratch(0);
    Stage stage{
        static_cast<Value*>(scratch.get_shmem_aligned(places() * sizeof(Value), alignof(Value))),
        static_cast<Column*>(scratch.get_shmem_aligned(places() * sizeof(Column), alignof(Column))),
        0};
    std::int64_t const row = rows.first_row(team), last = row + tuning::staged_column_rows;
    if (row >= rows.rows) return stage;
    stage.first = load(rows.row_offsets + row);
    int const end = load(rows.row_offsets + (last < rows.rows ? last : rows.rows));
    for_each_lane<true>(team, tuning::staged_column_rows, [&](int lane) {
      copy(stage, static_cast<std::uint32_t>(lane), static_cast<std::uint32_t>(end - stage.first));
    });
    return stage;
  }

  /// consume(column, sums) for all columns of the row, once each.
  template <class Team, class Consume>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_sum(Team const&, Stage const& stage,
                                                RowSegment const& segment,
                                                Consume const& consume) const {
    RowEntries const own{stage.columns, stage.values, origin_of(entries, segment.row())};
    auto const first = static_cast<std::uint32_t>(segment.first - stage.first);
    auto const last = static_cast<std::uint32_t>(segment.last - stage.first);
    int const columns = static_cast<int>(X.columns);
    BLOCKSPAN_ROLLED
    for (int begin = 0; begin < columns; begin += Columns) {
      Sum<Scalar, Columns> sums{};
      multiply(own, first, last, begin, columns, sums.value);
      if (begin + Columns <= columns) {
        consume(std::int64_t{begin}, sums);
      } else {
        BLOCKSPAN_UNROLL
        for (int s = 0; s < Columns; ++s)
          if (begin + s < columns)
            consume(std::int64_t{begin + s}, Sum<Scalar, 1>{{sums.value[s]}});
      }
    }
  }

 private:
  KOKKOS_FUNCTION std::size_t places() const {
    return scratch_place(static_cast<std::uint32_t>(room)) + 1u;
  }

  /// Adds up a row for the columns from `begin` on; the last column is repeated for those beyond
  /// it.
  KOKKOS_FORCEINLINE_FUNCTION void multiply(RowEntries const& own, std::uint32_t first,
                                            std::uint32_t last, int begin, int columns,
                                            Scalar (&sums)[Columns]) const {
    char const* x[Columns];
    BLOCKSPAN_UNROLL
    for (int s = 0; s < Columns; ++s) {
      auto const column = static_cast<std::uint32_t>(begin + s < columns ? begin + s : columns - 1);
      x[s] = reinterpret_cast<char const*>(X.data) + std::uint64_t{column} * column_bytes;
    }
    std::uint32_t k = first;
    for (; k + Depth <= last; k += Depth) add_products<Depth>(own, k, x, sums);
    for (; k < last; ++k) add_products<1>(own, k, x, sums);
  }

  template <std::uint32_t Count>
  KOKKOS_FORCEINLINE_FUNCTION void add_products(RowEntries const& own, std::uint32_t k,
                                                char const* const (&x)[Columns],
                                                Scalar (&sums)[Columns]) const {
    using Unsigned = std::make_unsigned_t<Index>;
    Scalar b[Count][Columns];
    BLOCKSPAN_UNROLL
    for (std::uint32_t u = 0; u < Count; ++u) {
      auto const column = std::uint64_t{static_cast<Unsigned>(own.column(k + u))};
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Columns; ++s)  // one multiply-add of 32 by 32 bits gives an address
        b[u][s] = load(reinterpret_cast<Scalar const*>(x[s] + column * row_bytes));
    }
    if constexpr (Count > 1) {
      BLOCKSPAN_UNROLL
      for (std::uint32_t u = 0; u < Count; ++u) {
        BLOCKSPAN_UNROLL
        for (int s = 0; s < Columns; ++s) keep_live(b[u][s]);
      }
      scheduling_barrier(k);
    }
    BLOCKSPAN_UNROLL
    for (std::uint32_t u = 0; u < Count; ++u) {
      Scalar const a = conjugate_if(conjugate_values, own.value(k + u));
      BLOCKSPAN_UNROLL
      for (int s = 0; s < Columns; ++s) sums[s] += a * b[u][s];
    }
  }

  /// The last entry is repeated for those beyond it: no branches between loads.
  KOKKOS_FORCEINLINE_FUNCTION void copy(Stage const& stage, std::uint32_t lane,
                                        std::uint32_t count) const {
    constexpr std::uint32_t step = tuning::staged_column_rows;
    constexpr std::uint32_t depth = tuning::staged_column_copies;  // loads in flight
    auto const* const values = entries.values + stage.first;
    auto const* const columns = stored_columns(entries) + stage.first;
    BLOCKSPAN_ROLLED
    for (std::uint32_t k = lane; k < count; k += depth * step) {
      Value value[depth];
      Column column[depth];
      BLOCKSPAN_UNROLL
      for (std::uint32_t u = 0; u < depth; ++u) {
        std::uint32_t const place = k + u * step < count ? k + u * step : count - 1;
        value[u] = load(values + place);
        column[u] = load(columns + place);
      }
      BLOCKSPAN_UNROLL
      for (std::uint32_t u = 0; u < depth; ++u) {
        if (k + u * step >= count) continue;
        stage.values[scratch_place(k + u * step)] = value[u];
        stage.columns[scratch_place(k + u * step)] = column[u];
      }
    }
  }
};

/// Column-major X, with the entries staged in scratch.
template <int Columns, class Call, class Entries>
void launch_staged_columns(Call const& call, Entries const& entries) {
  constexpr int threads = tuning::staged_column_threads, rows = tuning::staged_column_rows;
  using Scalar = typename Call::Scalar;
  auto const& X = call.product.X;
  auto const& pattern = call.prepared.pattern;
  auto const& statistics = call.prepared.statistics;
  auto const run = [&]<std::uint32_t Depth>() {
    using Inner = StagedColumns<Scalar, Entries, Columns, Depth>;
    RowsOfLanes const schedule{pattern.rows, pattern.row_offsets};
    Inner const inner{entries,
                      schedule,
                      X,
                      conjugates(call.product.op),
                      device_row_bytes(X),
                      static_cast<std::uint32_t>(X.column_stride * std::int64_t{sizeof(Scalar)}),
                      static_cast<int>(rows * statistics.longest)};
    launch_kernel(call.exec, "Blockspan::spmm::single_columns::staged",
                  {ceil_div(pattern.rows, std::int64_t{threads} * rows), threads, rows}, schedule,
                  inner, make_epilogue<false>(call));
  };
  if (statistics.mean() < tuning::device_short_row)
    return run.template operator()<tuning::staged_column_depth_short>();
  run.template operator()<tuning::staged_column_depth>();
}

/// Column-major X: whole rows, a lane a row, so that neighbouring lanes read neighbours of a column
/// of X where neighbouring rows have neighbouring columns. Values are in the order of the pattern.
template <class Call>
void launch_columns(Call const& call) {
  using Exec = typename Call::Exec;
  using Scalar = typename Call::Scalar;
  auto const& X = call.product.X;
  constexpr int size = sizeof(Scalar);
  with_entries<true, false>(call, [&](auto const& entries) {
    using Entries = std::remove_cvref_t<decltype(entries)>;
    constexpr int all = tuning::device_column_bytes / size;
    if constexpr (lanes_exchange_v<Exec>)
      if (call.launch.form == LaunchForm::staged_columns)
        return launch_staged_columns<all>(call, entries);
    auto const run = [&]<int Columns>() {
      using Inner = DirectLanes<Scalar, Entries, 1, false, Columns, false, 1, false, true>;
      using Schedule = WholeRows<SegmentShare<RowSegment, Inner>>;
      Schedule schedule{{call.prepared.pattern.rows, 1}, call.prepared.pattern.row_offsets};
      auto const shape = launch_shape(call, 1, schedule.share);
      Inner const inner{entries, X, conjugates(call.product.op), {}, device_row_bytes(X)};
      launch_kernel(call.exec, call.variant().label, shape, schedule, inner,
                    make_epilogue<false>(call));
    };
    constexpr int few = tuning::device_few_column_bytes / size;
    if (X.columns <= few) return run.template operator()<few>();
    run.template operator()<all>();
  });
}

template <class Call>
void launch_single_columns(Call const& call) {
  if constexpr (!runs_on_host_v<typename Call::Exec>)
    if (call.launch.form != LaunchForm::usual) return launch_columns(call);
  launch_by_rows(call);
}

}  // namespace blockspan::products
