#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>
#include <climits>

#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/launch/kernel_table.hpp>
#include <blockspan/spmm/parts/entries.hpp>
#include <blockspan/spmm/parts/kernel.hpp>
#include <blockspan/spmm/parts/scale_add.hpp>
#include <blockspan/spmm/plan/launch.hpp>
#include <blockspan/spmm/prepared/facts.hpp>
#include <blockspan/spmm/run/multiply.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/backend.hpp>
#include <blockspan/support/error.hpp>

// The arguments of kernels, and helpers of their launch functions.

namespace blockspan::products {

/// Where the sums of cut rows' segments are kept, of one instance.
template <class Scalar>
struct CarrySpace {
  Scalar* sums = nullptr;
  int* arrived = nullptr;
};

/// Room for the segments of `list`, in the plan's pools; nothing where no row was cut.
template <class Scalar, class Exec, class List>
CarrySpace<Scalar> reserve_carry(Exec const& exec, CarryPools<Exec>& pools, List const& list,
                                 std::int64_t columns) {
  if (list.slots == 0) return {};
  auto const bytes = [&](std::int64_t rows, std::size_t each) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * each;
  };
  return {static_cast<Scalar*>(pools.sums.reserve(exec, bytes(list.slots, sizeof(Scalar)))),
          static_cast<int*>(pools.arrived.reserve(exec, bytes(list.cut_rows, sizeof(int))))};
}

template <class Scalar, class Exec, class Ordinal>
Carry<Scalar, Ordinal> carry_of(CutRowList<Exec, Ordinal> const& list, std::int64_t columns,
                                CarrySpace<Scalar> const& space) {
  return {list.cut_row.data(), list.cut_slot.data(), list.slot_row.data(), columns,
          space.sums,          space.arrived};
}

/// A launch with its operands. Storage: the type of values and blocks in memory.
template <class ExecSpace, class ScalarType, class OrdinalType, class StorageType>
struct SpmmCall {
  using Exec = ExecSpace;
  using Scalar = ScalarType;
  using Ordinal = OrdinalType;
  using Storage = StorageType;

  Exec const& exec;
  PreparedPattern<Exec, Ordinal> const& prepared;
  Storage const* values;  ///< of op(A), where the kernels read them
  CarrySpace<Scalar> carry;
  Launch const& launch;
  Product<Scalar, Storage> const& product;
  void const* slices = nullptr;  ///< RowSlices of op(A); null: there are none

  SpmmVariant const& variant() const { return *launch.variant; }
};

/// The one place that decides teams, team size and vector length; also sets the schedule's share.
/// `lanes`: of a team thread, a power of two. Throws Error if a thread can have one segment only
/// and there are more of them.
template <class Call, class Share>
LaunchShape launch_shape(Call const& call, int lanes, Share& share) {
  LaunchShape shape{0, 1, lanes};
  if (call.variant().team_of_one) {
    share.per_team = 1;
  } else if constexpr (runs_on_host_v<typename Call::Exec>) {
    auto const mean = static_cast<std::int64_t>(call.prepared.statistics.mean());
    share.per_team =
        std::clamp<std::int64_t>(tuning::host_team_entries / (mean + 1), 1, tuning::host_team_rows);
  } else {
    shape.team_size = static_cast<int>(tuning::device_threads) / lanes;
    share.per_team = shape.team_size;
  }
  // a league is an int: where there are more teams than that, each has more segments
  share.per_team = std::max(share.per_team, ceil_div(share.segments, std::int64_t{INT_MAX}));
  if constexpr (std::is_same_v<Share, SegmentOfThread>)
    require(share.per_team <= shape.team_size, "blockspan::spmm", "a launch has no threads for ",
            share.segments, " segments");
  shape.teams = ceil_div(share.segments, share.per_team);
  return shape;
}

/// Contiguous, Masked: see ScaleAdd.
template <bool Contiguous, bool Masked = false, class Call>
auto make_epilogue(Call const& call) {
  using Scalar = typename Call::Scalar;
  auto const& [op, alpha, X, beta, Y] = call.product;
  bool const stream =
      Y.rows * Y.columns * std::int64_t{sizeof(Scalar)} >= tuning::host_stream_bytes;
  return ScaleAdd<Scalar, Contiguous, runs_on_host_v<typename Call::Exec>, Masked>{
      alpha, beta, beta == Scalar(0), stream, Y, Masked && rows_are_vectors(Y)};
}

/// The schedule of the segments that the plan has listed.
template <class Call, class Share>
CutRows<typename Call::Scalar, typename Call::Ordinal, Share> cut_rows_of(Call const& call,
                                                                          Share const& share) {
  auto const& list = call.prepared.list;
  return {carry_of(list, call.product.Y.columns, call.carry), share, list.target.data(),
          list.first.data(), list.last.data()};
}

/// Whether an inner of vectors may have its passes over the columns in parallel (RowPasses): there
/// are no such kernels for other entries than plain ones.
template <class Call, class Inner, class Entries>
inline constexpr bool may_split_passes_v = false;
template <class Call, class Inner>
requires has_parallel_passes_v<Inner>
inline constexpr bool
    may_split_passes_v<Call, Inner, PlainEntries<typename Call::Scalar, typename Call::Ordinal>> =
        true;

/// run(shape, schedule) for the listed segments or the whole rows that the inner multiplies.
template <class Inner, class Call, class Run>
void with_schedule(Call const& call, Run const& run) {
  int const lanes = call.launch.lanes.grid.lanes();
  auto const& pattern = call.prepared.pattern;
  if constexpr (!only_whole_rows_v<Inner>)
    if (call.variant().lists_segments()) {
      SegmentShare<ListedSegment, Inner> share{call.prepared.segments(call.variant()), 1};
      auto const shape = launch_shape(call, lanes, share);
      return run(shape, cut_rows_of(call, share));
    }
  using Share = SegmentShare<RowSegment, Inner>;
  Share share{pattern.rows, 1};
  auto const shape = launch_shape(call, lanes, share);
  run(shape, WholeRows<Share>{share, pattern.row_offsets});
}

/// Whole rows or listed segments of them, multiplied by an inner with these entries. Masked: rows
/// of Y are not whole vectors.
template <bool Masked, class Inner, class Call, class Entries>
void launch_segments_to(Call const& call, Entries const& entries) {
  char const* const label = call.variant().label;
  Lanes const& lanes = call.launch.lanes;
  Inner const inner = Inner::of(call, entries);
  if constexpr (may_split_passes_v<Call, Inner, Entries>)
    if (lanes.spread) {
      auto const& pattern = call.prepared.pattern;
      SegmentsOfTeam share{pattern.rows * lanes.passes(call.product.X.columns / Inner::width), 1};
      auto const shape = launch_shape(call, lanes.grid.lanes(), share);
      return launch_kernel(call.exec, label, shape,
                           RowPasses{share, pattern.rows, pattern.row_offsets}, inner,
                           make_epilogue<Inner::contiguous, Masked>(call));
    }
  with_schedule<Inner>(
      call, [&]<class Schedule>(LaunchShape const& shape, Schedule const& schedule) {
        constexpr bool listed = Schedule::splits_rows;
        auto const epilogue = make_epilogue < Inner::contiguous, !listed && Masked > (call);
        constexpr unsigned blocks = blocks_of_many_segments_v<Inner>;
        if constexpr (listed && blocks > 0)
          if (schedule.share.segments >= tuning::device_few_listed)
            return launch_kernel<blocks>(call.exec, label, shape, schedule, inner, epilogue);
        launch_kernel(call.exec, label, shape, schedule, inner, epilogue);
      });
}

template <class Inner, class Call, class Entries>
void launch_segments(Call const& call, Entries const& entries) {
  if constexpr (supports_strided_y_v<Inner>)
    if (!rows_are_vectors(call.product.Y)) return launch_segments_to<true, Inner>(call, entries);
  launch_segments_to<false, Inner>(call, entries);
}

/// The entries of a pattern whose values are read through a permutation.
template <class Exec, class Scalar, class Ordinal, class Storage>
PermutedEntries<Scalar, Ordinal, Storage> permuted_entries(
    SpmmCall<Exec, Scalar, Ordinal, Storage> const& call) {
  auto const& pattern = call.prepared.pattern;
  return {pattern.column_indices, call.prepared.permutation, call.values,
          static_cast<int>(pattern.entries - 1)};
}

/// run(entries) with the type of entries that was decided. Narrow, Permuted: whether the kernel is
/// compiled for 16-bit columns, for permuted values.
template <bool Narrow, bool Permuted, class Call, class Run>
void with_entries(Call const& call, Run const& run) {
  using Scalar = typename Call::Scalar;
  using Ordinal = typename Call::Ordinal;
  auto const& prepared = call.prepared;
  if constexpr (Permuted)
    if (prepared.permutation != nullptr) return run(permuted_entries(call));
  if constexpr (Narrow)
    if (call.launch.narrow)
      return run(NarrowEntries<Scalar, Ordinal>{prepared.distances.data(), call.values,
                                                static_cast<Ordinal>(prepared.distances.shift)});
  run(PlainEntries<Scalar, Ordinal, typename Call::Storage>{prepared.pattern.column_indices,
                                                            call.values});
}

}  // namespace blockspan::products
