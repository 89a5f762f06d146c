#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <blockspan/spmm/detail/epilogue/step.hpp>
#include <blockspan/spmm/detail/launch.hpp>
#include <blockspan/spmm/kernels/groups.hpp>
#include <blockspan/spmm/kernels/windows.hpp>

namespace blockspan::detail {

/// The launches of products that take a step with them: the schedules and inners of the plain ones,
/// as few of them as serve (plain entries; at most two packs a lane, one of complex numbers).
template <class Exec, class Scalar, class Offset, class Ordinal>
class StepLaunch {
 public:
  using Call = SpmmCall<Exec, Scalar, Offset, Ordinal>;
  using Entries = PlainEntries<Scalar, Offset, Ordinal>;

  StepLaunch(Exec const& exec, Call const& call, ProductStep<Scalar> const& step)
      : exec_(exec),
        call_(call),
        epilogue_{step, call.product.X, call.product.Y},
        entries_{call.prepared.pattern.column_indices, call.values.own},
        label_(std::string(call.variant().label) + "::step") {}

  void run() const {
    if (call_.launch.kernel == SpmmKernelKind::groups) return run_groups();
    if (call_.launch.kernel == SpmmKernelKind::windows) {
      if constexpr (tensor::available<Exec, real_t<Scalar>>) run_windows();
      return;
    }
    run_rows();
  }

 private:
  static constexpr int width = device_pack_v<Scalar>;

  template <class Schedule, class Inner>
  void launch(Schedule const& schedule, Inner const& inner, LaunchShape const& shape) const {
    SpmmKernel<Exec, Schedule, Inner, TakeStep<Scalar>>{schedule, inner, epilogue_}.launch(
        exec_, label_.c_str(), shape);
  }

  /// The share of each thread, and the teams for that.
  template <class Share>
  LaunchShape shape_of(int lanes, Share& share) const {
    return launch_shape<Exec>(call_.variant().worker, lanes, call_.prepared.statistics, share);
  }

  void run_rows() const {
    auto const& lanes = call_.launch.lanes;
    bool const shared = lanes.grid.entry_bits > 0, packs = call_.launch.packs;
    constexpr bool two = !is_complex_v<Scalar>;
    if constexpr (two) {
      if (packs && lanes.packs_per_lane == 2 && lanes.deep) return rows<width, 2, false, true>();
      if (packs && lanes.packs_per_lane == 2) return rows<width, 2, false>();
      if (!packs && lanes.packs_per_lane == 2) return rows<1, 2, false>();
    }
    if (packs) return shared ? rows<width, 1, true>() : rows<width, 1, false>();
    if (!call_.launch.narrow) return shared ? rows<1, 1, true>() : rows<1, 1, false>();
    NarrowEntries<Scalar, Offset, Ordinal> const narrow{call_.prepared.distances.data(),
                                                        call_.values.own};
    shared ? whole_rows<1, 1, true, false>(narrow) : whole_rows<1, 1, false, false>(narrow);
  }

  template <int Width, int Packs, bool EntryLanes, bool Deep = false>
  void rows() const {
    if (!call_.variant().lists_pieces())
      return whole_rows<Width, Packs, EntryLanes, Deep>(entries_);
    auto const& list = call_.prepared.list;
    auto const inner = inner_of<Width, Packs, EntryLanes, Deep>(entries_);
    using Share = PieceShare<ListedPiece<Offset>, std::remove_const_t<decltype(inner)>>;
    Share share{list.pieces, 1};
    auto const teams = shape_of(call_.launch.lanes.grid.lanes(), share);
    launch(
        CutRows<Scalar, Offset, Ordinal, Share>{
            carry_of(list, call_.product.Y.columns, call_.carry), share, list.target.data(),
            list.first.data(), list.last.data()},
        inner, teams);
  }

  template <int Width, int Packs, bool EntryLanes, bool Deep, class Read>
  auto inner_of(Read const& entries) const {
    using Inner =
        DirectLanes<Scalar, Read, Offset, Width, Width == width, Packs, EntryLanes, 1, false, Deep>;
    auto const& X = call_.product.X;
    return Inner{entries, X, false, call_.launch.lanes.grid, device_row_bytes(X)};
  }

  template <int Width, int Packs, bool EntryLanes, bool Deep, class Read>
  void whole_rows(Read const& entries) const {
    auto const inner = inner_of<Width, Packs, EntryLanes, Deep>(entries);
    auto const& pattern = call_.prepared.pattern;
    using Share = PieceShare<Piece<Offset>, std::remove_const_t<decltype(inner)>>;
    Share share{pattern.rows, 1};
    auto const teams = shape_of(call_.launch.lanes.grid.lanes(), share);
    launch(WholeRows<Offset, Share>{share, pattern.row_offsets}, inner, teams);
  }

  void run_groups() const {
    auto schedule = row_groups_of(call_.prepared);
    auto const& grid = call_.launch.lanes.grid;
    auto const teams = shape_of(grid.lanes(), schedule.share);
    GroupInners<Exec, Scalar, Offset, Entries> const inners{entries_, call_.product.X, false,
                                                            call_.launch.packs};
    inners.template with<true>(
        call_.prepared.groups.most, grid,
        [&]<bool, class Inner>(Inner const& inner) { launch(schedule, inner, teams); });
  }

  void run_windows() const {
    std::int64_t const columns = call_.product.X.columns;
    if constexpr (is_complex_v<Scalar>) {
      if (groups_of_pass(columns, 2) == 2) return windows<WindowPacks<Scalar, 2>>();
      windows<WindowPacks<Scalar, 1>>();
    } else {
      if (!call_.launch.packs) return windows<WindowColumns<1, 1>>();
      if (columns <= 8) return windows<WindowColumns<1, 2>>();
      int const groups = groups_of_pass(columns / width, 4);
      if (groups == 4) return windows<WindowPacks<Scalar, 4>>();
      if (groups == 2) return windows<WindowPacks<Scalar, 2>>();
      windows<WindowColumns<2, 2>>();
    }
  }

  template <class Columns>
  void windows() const {
    auto const& list = call_.prepared.windows;
    auto const& X = call_.product.X;
    auto const passes =
        static_cast<int>(ceil_div(X.columns, std::int64_t{Columns::packs} * Columns::width));
    PieceOfThread share{list.count.windows, 1};
    auto teams = shape_of(tensor::lanes, share);
    teams.teams *= passes;
    auto const& pattern = call_.prepared.pattern;
    launch(RowWindows{static_cast<int>(list.count.windows), passes, static_cast<int>(pattern.rows),
                      list.first_tile.data()},
           WindowTiles<Scalar, Entries, Offset, Ordinal, Columns>{
               entries_, X, false, device_row_bytes(X), pattern.row_offsets,
               list.first_column.data(), list.distance.data(), list.masks.data()},
           teams);
  }

  Exec const& exec_;
  Call const& call_;
  TakeStep<Scalar> epilogue_;
  Entries entries_;
  std::string label_;
};

}  // namespace blockspan::detail
