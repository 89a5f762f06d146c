#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>
#include <climits>

#include <blockspan/published/kernels/item_kernels.hpp>
#include <blockspan/published/kernels/segmented_scan.hpp>
#include <blockspan/published/kernels/staged_lanes.hpp>
#include <blockspan/published/kernels/staged_tile.hpp>
#include <blockspan/published/kernels/team_kernel.hpp>
#include <blockspan/published/menu/tuning.hpp>
#include <blockspan/spmm/devices/hopper.hpp>
#include <blockspan/spmm/devices/host.hpp>
#include <blockspan/spmm/kernels/rows/direct_lanes.hpp>
#include <blockspan/spmm/kernels/rows/direct_registers.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/parts/cut_tiles.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/spmm/prepared/facts.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::published {

/// Launches kernels with tiles, staged loads and whole teams. They are for comparison only, so they
/// are compiled once for plain and permuted entries, and with two widths of vectors: 16 bytes
/// (Width > 1) and single columns.
template <class Call, int Width>
class PublishedLaunch {
 public:
  using Exec = typename Call::Exec;
  using Scalar = typename Call::Scalar;
  using Ordinal = typename Call::Ordinal;
  static constexpr bool on_host = runs_on_host_v<Exec>;
  static constexpr bool wide = Width > 1 && !on_host;

  explicit PublishedLaunch(Call const& call)
      : call_(call),
        vectors_(static_cast<int>(call.product.X.columns / Width)),
        entries_{call.prepared.pattern.column_indices, call.prepared.permutation, call.values,
                 conjugates(call.product.op)} {}

  /// merge, balanced: one tile per team thread.
  void direct() const {
    auto const& prepared = call_.prepared;
    SegmentsOfTeam share{prepared.tiles.tiles, 1};
    auto const run = [&](auto const& inner, int lanes) {
      LaunchShape shape{0, on_host ? 1 : static_cast<int>(tuning::device_threads) / lanes, lanes};
      share.per_team = shape.team_size;
      shape.teams = ceil_div(share.segments, share.per_team);
      launch_kernel(call_.exec, call_.variant().label, shape, tiles(share), inner, epilogue());
    };
    auto const& block = call_.product.X;
    if constexpr (on_host) {
      constexpr int most = Width > 1 ? host_vector_v<Scalar> : tuning::host_strided_columns;
      run(DirectRegisters<Scalar, Any, most, (Width > 1)>{entries_, block, false}, 1);
    } else {
      double const mean = prepared.statistics.mean();
      SegmentStatistics const rows{prepared.pattern.rows, mean, static_cast<std::int64_t>(mean), 0,
                                   true};
      auto const shape = choose_lanes(*prepared.device, vectors_, rows, 1, prepared.lanes);
      using Inner = DirectLanes<Scalar, Any, Width, wide, 1, true>;
      run(Inner{entries_, block, false, shape.grid, device_row_bytes(block)}, shape.grid.lanes());
    }
  }

  void staged() const {
    staged_by<ScratchStage<Scalar, Ordinal>>(
        on_host ? 1
                : std::max(tuning::staged_lanes, lanes_for_vectors(1 << tuning::device_lane_bits)));
  }
  void broadcast() const {
    if constexpr (on_host)
      staged_by<LaneStage<Scalar, Ordinal>>(1);
    else if constexpr (lanes_exchange_v<Exec>)
      staged_by<LaneStage<Scalar, Ordinal>>(1 << tuning::device_lane_bits);
    else
      staged_by<ScratchStage<Scalar, Ordinal>>(1 << tuning::device_lane_bits);
  }

  void prefix_sum() const {
    auto const shape = team_a_tile();
    using Work = SegmentedScan<Scalar, Ordinal>;
    if constexpr (Width == 1)
      run_team(Work{tiles({}), entries_, call_.product.X, shape.team_size}, shape);
  }
  void staged_tile() const {
    int const lanes = on_host ? 1 : lanes_for_vectors(tuning::tile_vectors);
    int const panels = static_cast<int>(ceil_div(std::int64_t{vectors_}, std::int64_t{lanes}));
    int const team_size = on_host ? 1 : static_cast<int>(tuning::device_threads) / lanes;
    std::int64_t const rows = call_.prepared.pattern.rows;
    std::int64_t const teams =
        panels * ceil_div(rows, std::int64_t{team_size} * tuning::tile_thread_rows);
    require(teams <= INT_MAX, "blockspan::spmm", "shared_tiles cannot serve this input: ", teams,
            " teams are more than a launch can have (rows: ", rows,
            ", columns: ", call_.product.X.columns, ")");
    using Work = StagedTile<Scalar, Ordinal, Width, wide>;
    run_team(Work{call_.prepared.pattern.row_offsets, rows, entries_, X{call_.product.X}, vectors_,
                  lanes, panels},
             {teams, team_size, lanes});
  }

 private:
  using Epilogue = ScaleAdd<Scalar, wide, on_host>;
  using Tiles = CutTiles<Scalar, Ordinal>;
  using X = VectorAccess<Scalar, Width, wide>;

  Tiles tiles(SegmentsOfTeam const& share) const {
    auto const& list = call_.prepared.tiles;
    return {carry_of(list, call_.product.Y.columns, call_.carry),
            share,
            call_.prepared.pattern.row_offsets,
            list.row.data(),
            list.entry.data(),
            list.slot.data()};
  }
  Epilogue epilogue() const { return make_epilogue<wide>(call_); }
  int lanes_for_vectors(int most) const {
    return std::min(most, 1 << bits_to_hold(vectors_, tuning::device_lane_bits));
  }

  template <class Stage>
  void staged_by(int lanes) const {
    using Inner = StagedLanes<Scalar, Ordinal, Width, wide, Stage>;
    SegmentsOfTeam share{call_.prepared.pattern.rows, 1};
    auto const shape = launch_shape(call_, lanes, share);
    launch_kernel(call_.exec, call_.variant().label, shape,
                  WholeRows<>{share, call_.prepared.pattern.row_offsets},
                  Inner{entries_, {call_.product.X}, vectors_, lanes}, epilogue());
  }

  template <class Work>
  void run_team(Work const& work, LaunchShape const& shape) const {
    TeamKernel<Exec, Work, Epilogue>{work, epilogue()}.launch(call_.exec, call_.variant().label,
                                                              shape);
  }
  LaunchShape team_a_tile() const {
    return {call_.prepared.tiles.tiles, on_host ? 1 : static_cast<int>(tuning::device_threads), 1};
  }

  using Any = AnyEntries<Scalar, Ordinal>;
  Call const& call_;
  int vectors_;
  Any entries_;
};

/// thread_per_row, thread_per_element: one work item per row, or per element of Y.
template <bool ElementItems, class Call>
void launch_items(Call const& call) {
  auto const& product = call.product;
  char const* const label = call.variant().label;
  auto const epilogue = make_epilogue<false>(call);
  with_entries<!runs_on_host_v<typename Call::Exec>, true>(
      call, [&]<class Entries>(Entries const& entries) {
        using Kernel = ItemKernel<typename Call::Exec, typename Call::Scalar, Entries,
                                  std::remove_const_t<decltype(epilogue)>>;
        Kernel const kernel{call.prepared.pattern.row_offsets, entries, product.X,
                            conjugates(product.op), epilogue};
        if constexpr (ElementItems)
          kernel.template launch<typename Kernel::Element>(call.exec, label,
                                                           product.Y.rows * product.Y.columns);
        else
          kernel.template launch<typename Kernel::Row>(call.exec, label, product.Y.rows);
      });
}

/// Calls run(launch) with vectors of columns if layout and width allow, else with single columns.
template <class Call, class Run>
void with_width(Call const& call, Run const& run) {
  constexpr int width = device_vector_v<typename Call::Scalar>;
  auto const& X = call.product.X;
  if constexpr (width > 1)
    if (call.launch.vectorized && X.column_stride == 1 && X.columns % width == 0)
      return run(PublishedLaunch<Call, width>{call});
  run(PublishedLaunch<Call, 1>{call});
}

}  // namespace blockspan::published
