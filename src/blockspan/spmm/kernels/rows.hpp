#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/launch_schedule.hpp>
#include <blockspan/spmm/detail/schedule/row_passes.hpp>
#include <blockspan/spmm/kernels/direct_lanes.hpp>
#include <blockspan/spmm/kernels/staged_columns.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::detail {

// Devices: which of the kernels with direct loads runs, and how its lanes stand.

/// From a row of X to the next, as DirectLanes addresses it. Throws Error if that is too far.
template <class Scalar>
std::uint32_t device_row_bytes(BlockRef<Scalar const> const& X) {
  std::int64_t const stride = X.row_stride * std::int64_t{sizeof(Scalar)};
  require(stride < std::int64_t{UINT32_MAX}, "blockspan::spmm", "rows of X lie ", stride,
          " bytes apart, more than a device kernel can address");
  return static_cast<std::uint32_t>(stride);
}

/// Whole rows, whose passes run side by side.
template <class Exec, class Scalar, class Offset, class Ordinal, class Inner>
void launch_passes(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                   Inner const& inner, Lanes const& lanes, std::int64_t packs) {
  auto const& prepared = call.prepared;
  auto const& pattern = prepared.pattern;
  PiecesOfTeam share{pattern.rows * lanes.passes(packs), 1};
  auto const shape =
      launch_shape<Exec>(call.variant().worker, lanes.grid.lanes(), prepared.statistics, share);
  auto const epilogue = make_epilogue<Exec, Scalar, true, true>(call.product);
  SpmmKernel<Exec, RowPasses<Offset>, Inner, std::remove_const_t<decltype(epilogue)>>{
      {share, pattern.rows, pattern.row_offsets}, inner, epilogue}
      .launch(exec, call.variant().label, shape);
}

/// The kernels that one kind of entries has. Several packs (or single columns) a lane are
/// instantiated for plain entries only.
template <class Exec, class Scalar, class Offset, class Ordinal, class Entries>
struct LaneKernels {
  static constexpr bool plain = are_plain_v<Entries>;
  /// Columns in 16 bits serve fewer packs than three a lane.
  static constexpr int most_packs = !plain ? 1 : are_narrow_v<Entries> ? 2 : 3;
  /// Values in single precision and columns in 16 bits have no kernel with passes side by side.
  static constexpr bool spreads = std::is_same_v<Entries, PlainEntries<Scalar, Offset, Ordinal>>;

  Exec const& exec;
  SpmmCall<Exec, Scalar, Offset, Ordinal> const& call;
  Entries const& entries;
  std::int64_t packs;  ///< or single columns
  Lanes const& shape = call.launch.lanes;

  void launch() const {
    if (call.launch.packs)
      launch_packs();
    else
      launch_singles();
  }

 private:
  template <int Width, bool Packed, int Packs, bool EntryLanes, bool Deep = false>
  void run() const {
    using Inner =
        DirectLanes<Scalar, Entries, Offset, Width, Packed, Packs, EntryLanes, 1, false, Deep>;
    auto const& product = call.product;
    Inner const inner{entries, product.X, conjugates(product.op), shape.grid,
                      device_row_bytes(product.X)};
    if constexpr (spreads && Packed && (EntryLanes || Deep))
      if (shape.spread) return launch_passes(exec, call, inner, shape, packs);
    constexpr bool contiguous = Packed || Packs > 1;  // as decided
    launch_schedule<Exec, Scalar, Offset, Ordinal, Inner, contiguous>(exec, call, inner,
                                                                      shape.grid.lanes());
  }

  void launch_singles() const {
    if (shape.grid.entry_bits > 0) return run<1, false, 1, true>();
    if constexpr (plain && !is_complex_v<Scalar>) {
      int const each = shape.packs_per_lane;
      if (each == 2) return run<1, false, 2, false>();
      if (each == 3) return run<1, false, 3, false>();
      if (each == 4) return run<1, false, 4, false>();
      if (each == 5) return run<1, false, 5, false>();
    }
    run<1, false, 1, false>();
  }

  void launch_packs() const {
    constexpr int width = device_pack_v<Scalar>;
    int const each = shape.packs_per_lane;
    if (shape.grid.entry_bits > 0 || (shape.spread && each == 1))
      return run<width, true, 1, true>();
    if constexpr (plain && !are_narrow_v<Entries>)
      if (each == 2 && shape.deep) return run<width, true, 2, false, true>();
    if constexpr (most_packs == 3)
      if (each == 3) return run<width, true, 3, false>();
    if constexpr (plain)
      if (each == 2) return run<width, true, 2, false>();
    run<width, true, 1, false>();
  }
};

template <class Exec, class Scalar, class Offset, class Ordinal, class Entries>
void launch_lanes(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                  Entries const& entries) {
  std::int64_t const columns = call.product.X.columns;
  std::int64_t const packs = call.launch.packs ? columns / device_pack_v<Scalar> : columns;
  LaneKernels<Exec, Scalar, Offset, Ordinal, Entries>{exec, call, entries, packs}.launch();
}

/// Column-major X by way of scratch.
template <int Columns, class Exec, class Scalar, class Offset, class Ordinal, class Entries>
void launch_staged_columns(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                           Entries const& entries) {
  constexpr int threads = tuning::staged_column_threads, rows = tuning::staged_column_rows;
  auto const& product = call.product;
  auto const& pattern = call.prepared.pattern;
  auto const& statistics = call.prepared.statistics;
  auto const epilogue = make_epilogue<Exec, Scalar, false>(product);
  auto const run = [&]<std::uint32_t Depth>() {
    using Inner = StagedColumns<Scalar, Entries, Offset, Columns, Depth>;
    typename Inner::Schedule const schedule{pattern.rows, pattern.row_offsets};
    Inner const inner{
        entries,
        schedule,
        product.X,
        conjugates(product.op),
        device_row_bytes(product.X),
        static_cast<std::uint32_t>(product.X.column_stride * std::int64_t{sizeof(Scalar)}),
        static_cast<int>(rows * statistics.longest)};
    SpmmKernel<Exec, typename Inner::Schedule, Inner, std::remove_const_t<decltype(epilogue)>>{
        schedule, inner, epilogue}
        .launch(exec, "Blockspan::spmm::warp_per_row::staged",
                {ceil_div(pattern.rows, std::int64_t{threads} * rows), threads, rows});
  };
  if (statistics.mean() < tuning::device_short_row)
    return run.template operator()<tuning::staged_column_depth_short>();
  run.template operator()<tuning::staged_column_depth>();
}

/// Column-major X: whole rows, a lane a row, so that neighbouring lanes read neighbours of a column
/// of X where neighbouring rows have neighbouring columns. Values are in the order of the pattern.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_columns(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  auto const& product = call.product;
  auto const& prepared = call.prepared;
  auto const epilogue = make_epilogue<Exec, Scalar, false>(product);
  constexpr int size = sizeof(Scalar);
  with_entries_of_rows(call, [&](auto const& entries) {
    using Entries = std::remove_cvref_t<decltype(entries)>;
    constexpr int all = tuning::device_column_bytes / size;
    if constexpr (lanes_exchange_v<Exec>)
      if (call.launch.kernel == SpmmKernelKind::staged_columns)
        return launch_staged_columns<all>(exec, call, entries);
    auto const run = [&]<int Columns>() {
      using Inner = DirectLanes<Scalar, Entries, Offset, 1, false, Columns, false, 1, false, true>;
      using Schedule = WholeRows<Offset, PieceShare<Piece<Offset>, Inner>>;
      Schedule schedule{{prepared.pattern.rows, 1}, prepared.pattern.row_offsets};
      auto const shape =
          launch_shape<Exec>(call.variant().worker, 1, prepared.statistics, schedule.share);
      SpmmKernel<Exec, Schedule, Inner, std::remove_const_t<decltype(epilogue)>>{
          schedule,
          {entries, product.X, conjugates(product.op), {}, device_row_bytes(product.X)},
          epilogue}
          .launch(exec, call.variant().label, shape);
    };
    constexpr int few = tuning::device_few_column_bytes / size;
    if (product.X.columns <= few) return run.template operator()<few>();
    run.template operator()<all>();
  });
}

}  // namespace blockspan::detail
