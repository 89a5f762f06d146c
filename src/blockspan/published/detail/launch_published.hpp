#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>
#include <climits>

#include <blockspan/published/detail/cut_tiles.hpp>
#include <blockspan/published/detail/item_kernels.hpp>
#include <blockspan/published/detail/row_classes.hpp>
#include <blockspan/published/detail/segmented_scan.hpp>
#include <blockspan/published/detail/staged_lanes.hpp>
#include <blockspan/published/detail/staged_tile.hpp>
#include <blockspan/published/detail/tuning.hpp>
#include <blockspan/spmm/detail/device_facts.hpp>
#include <blockspan/spmm/detail/launch.hpp>
#include <blockspan/spmm/detail/team_kernel.hpp>
#include <blockspan/spmm/plan/lanes.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::detail {

/// Launches tiles, staged loads and whole teams. They serve as peers, so they are compiled once for
/// plain and permuted entries, and with two widths of packs: 16 bytes (Width > 1) and single
/// columns.
template <class Exec, class Scalar, class Ordinal, int Width>
class PublishedLaunch {
 public:
  using Call = SpmmCall<Exec, Scalar, Ordinal>;
  static constexpr bool on_host = runs_on_host_v<Exec>;
  static constexpr bool wide = Width > 1 && !on_host;

  PublishedLaunch(Exec const& exec, Call const& call)
      : exec_(exec),
        call_(call),
        variant_(call.variant()),
        packs_(static_cast<int>(call.product.X.columns / Width)),
        entries_{call.prepared.pattern.column_indices, call.prepared.permutation, call.values.own,
                 conjugates(call.product.op)} {}

  void operator()() const {
    switch (variant_.inner) {
      case SpmmInner::direct:
        return direct();
      case SpmmInner::staged:
        return variant_.worker == SpmmWorker::whole_team ? row_classes() : staged();
      case SpmmInner::broadcast:
        return broadcast();
      case SpmmInner::prefix_sum:
        return prefix_sum();
      default:
        return staged_tile();
    }
  }

 private:
  using Epilogue = ScaleAdd<Scalar, wide, on_host>;
  using Tiles = CutTiles<Scalar, Ordinal>;
  using X = PackAccess<Scalar, Width, wide>;

  Tiles tiles(PiecesOfTeam const& share) const {
    auto const& list = call_.prepared.tiles;
    return {carry_of(list, call_.product.Y.columns, call_.carry),
            share,
            call_.prepared.pattern.row_offsets,
            list.row.data(),
            list.entry.data(),
            list.slot.data()};
  }
  Epilogue epilogue() const { return make_epilogue<Exec, Scalar, wide>(call_.product); }
  int lanes_for_packs(int most) const {
    return std::min(most, 1 << bits_to_hold(packs_, tuning::device_lane_bits));
  }

  /// merge, balanced: a tile a team thread.
  void direct() const {
    auto const& prepared = call_.prepared;
    PiecesOfTeam share{prepared.tiles.tiles, 1};
    auto const run = [&](auto const& inner, int lanes) {
      LaunchShape shape{0, on_host ? 1 : static_cast<int>(tuning::device_threads) / lanes, lanes};
      share.per_team = shape.team_size;
      shape.teams = ceil_div(share.pieces, share.per_team);
      using Inner = std::remove_cvref_t<decltype(inner)>;
      SpmmKernel<Exec, Tiles, Inner, Epilogue>{tiles(share), inner, epilogue()}.launch(
          exec_, variant_.label, shape);
    };
    auto const& block = call_.product.X;
    if constexpr (on_host) {
      constexpr int most = Width > 1 ? host_pack_v<Scalar> : tuning::host_strided_columns;
      run(DirectRegisters<Scalar, Any, most, (Width > 1)>{entries_, block, false}, 1);
    } else {
      double const mean = prepared.statistics.mean();
      SegmentStatistics const rows{prepared.pattern.rows, mean, static_cast<std::int64_t>(mean), 0,
                                   true};
      auto const shape = choose_lanes(*prepared.device, packs_, rows, 1, prepared.lanes);
      using Inner = DirectLanes<Scalar, Any, Width, wide, 1, true>;
      run(Inner{entries_, block, false, shape.grid, device_row_bytes(block)}, shape.grid.lanes());
    }
  }

  template <class Stage>
  void staged_by(int lanes) const {
    using Inner = StagedLanes<Scalar, Ordinal, Width, wide, Stage>;
    using Schedule = WholeRows<>;
    PiecesOfTeam share{call_.prepared.pattern.rows, 1};
    auto const shape =
        launch_shape<Exec>(SpmmWorker::team_thread, lanes, call_.prepared.statistics, share);
    SpmmKernel<Exec, Schedule, Inner, Epilogue>{{share, call_.prepared.pattern.row_offsets},
                                                {entries_, {call_.product.X}, packs_, lanes},
                                                epilogue()}
        .launch(exec_, variant_.label, shape);
  }
  void staged() const {
    staged_by<ScratchStage<Scalar, Ordinal>>(
        on_host ? 1
                : std::max(tuning::staged_lanes, lanes_for_packs(1 << tuning::device_lane_bits)));
  }
  void broadcast() const {
    if constexpr (on_host)
      staged_by<LaneStage<Scalar, Ordinal>>(1);
    else if constexpr (lanes_exchange_v<Exec>)
      staged_by<LaneStage<Scalar, Ordinal>>(1 << tuning::device_lane_bits);
    else
      staged_by<ScratchStage<Scalar, Ordinal>>(1 << tuning::device_lane_bits);
  }

  template <class Work>
  void run_team(Work const& work, LaunchShape const& shape) const {
    TeamKernel<Exec, Work, Epilogue>{work, epilogue()}.launch(exec_, variant_.label, shape);
  }
  LaunchShape team_a_tile() const {
    return {call_.prepared.tiles.tiles, on_host ? 1 : static_cast<int>(tuning::device_threads), 1};
  }
  void row_classes() const {
    int const bits = bits_to_hold(packs_, on_host ? 0 : tuning::device_lane_bits);
    auto shape = team_a_tile();
    if (!on_host && packs_ == 1) shape.team_size = tuning::team_stream_threads;
    using Work = RowClasses<Scalar, Ordinal, Width, wide>;
    run_team(Work{tiles({}), entries_, X{call_.product.X}, packs_, bits, shape.team_size,
                  lanes_exchange_v<Exec>},
             shape);
  }
  void prefix_sum() const {
    auto const shape = team_a_tile();
    using Work = SegmentedScan<Scalar, Ordinal>;
    if constexpr (Width == 1)
      run_team(Work{tiles({}), entries_, call_.product.X, shape.team_size}, shape);
  }
  void staged_tile() const {
    int const lanes = on_host ? 1 : lanes_for_packs(tuning::tile_packs);
    int const panels = static_cast<int>(ceil_div(std::int64_t{packs_}, std::int64_t{lanes}));
    int const team_size = on_host ? 1 : static_cast<int>(tuning::device_threads) / lanes;
    std::int64_t const rows = call_.prepared.pattern.rows;
    std::int64_t const teams =
        panels * ceil_div(rows, std::int64_t{team_size} * tuning::tile_thread_rows);
    require(teams <= INT_MAX, "blockspan::spmm", "tile_staged cannot serve this input: ", teams,
            " teams are more than a launch can have (rows: ", rows,
            ", columns: ", call_.product.X.columns, ")");
    using Work = StagedTile<Scalar, Ordinal, Width, wide>;
    run_team(Work{call_.prepared.pattern.row_offsets, rows, entries_, X{call_.product.X}, packs_,
                  lanes, panels},
             {teams, team_size, lanes});
  }

  using Any = AnyEntries<Scalar, Ordinal>;
  Exec const& exec_;
  Call const& call_;
  SpmmVariant const& variant_;
  int packs_;
  Any entries_;
};

template <class Exec, class Scalar, class Ordinal, class Entries>
void launch_items(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call,
                  Entries const& entries) {
  auto const& product = call.product;
  auto const epilogue = make_epilogue<Exec, Scalar, false>(product);
  using Kernel = ItemKernel<Exec, Scalar, Entries, std::remove_const_t<decltype(epilogue)>>;
  Kernel const kernel{call.prepared.pattern.row_offsets, entries, product.X, conjugates(product.op),
                      epilogue};
  if (call.variant().worker == SpmmWorker::row_item)
    kernel.template launch<typename Kernel::Row>(exec, call.variant().label, product.Y.rows);
  else
    kernel.template launch<typename Kernel::Element>(exec, call.variant().label,
                                                     product.Y.rows * product.Y.columns);
}

template <class Exec, class Scalar, class Ordinal>
void launch_published(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call) {
  constexpr int width = device_pack_v<Scalar>;
  if (call.variant().is_direct())
    return with_entries(call, [&](auto const& entries) { launch_items(exec, call, entries); });
  auto const& X = call.product.X;
  bool const contiguous = X.column_stride == 1 && X.columns % width == 0;
  if constexpr (width > 1)
    if (call.launch.packs && contiguous)
      return PublishedLaunch<Exec, Scalar, Ordinal, width>(exec, call)();
  PublishedLaunch<Exec, Scalar, Ordinal, 1>(exec, call)();
}

}  // namespace blockspan::detail
