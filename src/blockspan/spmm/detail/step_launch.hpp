#pragma once

#include <cstdint>
#include <string>

#include <blockspan/spmm/detail/call.hpp>
#include <blockspan/spmm/kernels/direct_lanes.hpp>
#include <blockspan/spmm/kernels/groups.hpp>
#include <blockspan/spmm/kernels/windows.hpp>
#include <blockspan/spmm/parts/step.hpp>

namespace blockspan::detail {

/// The launches of products that take a step with them: the schedules and inners of the plain ones,
/// as few of them as serve (plain entries; at most two vectors a lane, one of complex numbers).
template <class Call>
class StepLaunch {
 public:
  using Exec = typename Call::Exec;
  using Scalar = typename Call::Scalar;
  using Ordinal = typename Call::Ordinal;
  using Entries = PlainEntries<Scalar, Ordinal>;

  StepLaunch(Call const& call, ProductStep<Scalar> const& step)
      : call_(call),
        epilogue_{step, call.product.Y},
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
  static constexpr int width = device_vector_v<Scalar>;

  template <class Schedule, class Inner>
  void launch(LaunchShape const& shape, Schedule const& schedule, Inner const& inner) const {
    launch_kernel(call_.exec, label_.c_str(), shape, schedule, inner, epilogue_);
  }

  void run_rows() const {
    auto const& lanes = call_.launch.lanes;
    bool const shared = lanes.grid.entry_bits > 0, vectors = call_.launch.vectorized;
    if constexpr (!is_complex_v<Scalar>) {
      if (lanes.vectors_per_lane == 2) {
        if (!vectors) return rows<1, 2, false>();
        return lanes.deep ? rows<width, 2, false, true>() : rows<width, 2, false>();
      }
    }
    if (vectors) return shared ? rows<width, 1, true>() : rows<width, 1, false>();
    if (!call_.launch.narrow) return shared ? rows<1, 1, true>() : rows<1, 1, false>();
    auto const& distances = call_.prepared.distances;
    NarrowEntries<Scalar, Ordinal> const narrow{distances.data(), call_.values.own,
                                                static_cast<Ordinal>(distances.shift)};
    shared ? whole_rows<1, 1, true, false>(narrow) : whole_rows<1, 1, false, false>(narrow);
  }

  template <class Read, int Width, int Vectors, bool EntryLanes, bool Deep>
  using RowInner =
      DirectLanes<Scalar, Read, Width, Width == width, Vectors, EntryLanes, 1, false, Deep>;

  template <int Width, int Vectors, bool EntryLanes, bool Deep = false>
  void rows() const {
    if (!call_.variant().lists_segments())
      return whole_rows<Width, Vectors, EntryLanes, Deep>(entries_);
    using Inner = RowInner<Entries, Width, Vectors, EntryLanes, Deep>;
    SegmentShare<ListedSegment, Inner> share{call_.prepared.segments(call_.variant()), 1};
    auto const shape = launch_shape(call_, call_.launch.lanes.grid.lanes(), share);
    launch(shape, cut_rows_of(call_, share), Inner::of(call_, entries_));
  }

  template <int Width, int Vectors, bool EntryLanes, bool Deep, class Read>
  void whole_rows(Read const& entries) const {
    using Inner = RowInner<Read, Width, Vectors, EntryLanes, Deep>;
    using Share = SegmentShare<RowSegment, Inner>;
    auto const& pattern = call_.prepared.pattern;
    Share share{pattern.rows, 1};
    auto const shape = launch_shape(call_, call_.launch.lanes.grid.lanes(), share);
    launch(shape, WholeRows<Share>{share, pattern.row_offsets}, Inner::of(call_, entries));
  }

  void run_groups() const {
    auto schedule = row_groups_of(call_.prepared);
    auto const& grid = call_.launch.lanes.grid;
    auto const shape = launch_shape(call_, grid.lanes(), schedule.share);
    GroupInners<Exec, Scalar, Entries> const inners{entries_, call_.product.X, false,
                                                    call_.launch.vectorized};
    inners.template with<true>(
        call_.prepared.groups.most, grid,
        [&]<bool, class Inner>(Inner const& inner) { launch(shape, schedule, inner); });
  }

  void run_windows() const {
    std::int64_t const columns = call_.product.X.columns;
    if constexpr (is_complex_v<Scalar>) {
      if (groups_of_pass(columns, 2) == 2) return windows<WindowVectors<Scalar, 2>>();
      windows<WindowVectors<Scalar, 1>>();
    } else {
      if (!call_.launch.vectorized) return windows<WindowColumns<1, 1>>();
      if (columns <= 8) return windows<WindowColumns<1, 2>>();
      int const groups = groups_of_pass(columns / width, 4);
      if (groups == 4) return windows<WindowVectors<Scalar, 4>>();
      if (groups == 2) return windows<WindowVectors<Scalar, 2>>();
      windows<WindowColumns<2, 2>>();
    }
  }

  template <class Columns>
  void windows() const {
    launch_window_columns<Columns>(call_, entries_, label_.c_str(), epilogue_);
  }

  Call const& call_;
  TakeStep<Scalar> epilogue_;
  Entries entries_;
  std::string label_;
};

}  // namespace blockspan::detail
