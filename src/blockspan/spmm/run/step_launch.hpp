#pragma once

#include <string>

#include <blockspan/spmm/kernels/groups/groups.hpp>
#include <blockspan/spmm/kernels/rows/direct_lanes.hpp>
#include <blockspan/spmm/kernels/windows/windows.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/spmm/parts/step.hpp>

namespace blockspan::products {

/// The launches of products fused with a step: the schedules and inners of the plain ones,
/// in the smallest sufficient set (plain entries; at most two vectors per lane, one of complex
/// scalars).
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
        entries_{call.prepared.pattern.column_indices, call.values},
        label_(std::string(call.variant().label) + "::step") {}

  void run() const {
    if (call_.variant().lists_groups()) return run_groups();
    if (call_.variant().lists_windows()) {
      if constexpr (tensor::available<Exec, real_t<Scalar>>)
        launch_windows_with<PassWidths::vectors>(call_, entries_, label_.c_str(), epilogue_);
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
    NarrowEntries<Scalar, Ordinal> const narrow{distances.data(), call_.values,
                                                static_cast<Ordinal>(distances.shift)};
    shared ? rows<1, 1, true>(narrow) : rows<1, 1, false>(narrow);
  }

  template <int Width, int Vectors, bool EntryLanes, bool Deep = false>
  void rows() const {
    rows<Width, Vectors, EntryLanes, Deep>(entries_);
  }
  template <int Width, int Vectors, bool EntryLanes, bool Deep = false, class Read>
  void rows(Read const& entries) const {
    using Inner =
        DirectLanes<Scalar, Read, Width, Width == width, Vectors, EntryLanes, 1, false, Deep>;
    with_schedule<Inner>(call_, [&](LaunchShape const& shape, auto const& schedule) {
      launch(shape, schedule, Inner::of(call_, entries));
    });
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

  Call const& call_;
  TakeStep<Scalar> epilogue_;
  Entries entries_;
  std::string label_;
};

}  // namespace blockspan::products
