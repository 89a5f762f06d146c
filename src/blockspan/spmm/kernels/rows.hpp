#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/launch_schedule.hpp>
#include <blockspan/spmm/detail/schedule/row_passes.hpp>
#include <blockspan/spmm/kernels/direct_lanes.hpp>

namespace blockspan::detail {

// Devices: which of the kernels with direct loads runs, and how its lanes stand.

/// Whole rows, whose passes run side by side.
template <class Exec, class Scalar, class Ordinal, class Inner>
void launch_passes(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call,
                   Inner const& inner, Lanes const& lanes, std::int64_t packs) {
  auto const& prepared = call.prepared;
  auto const& pattern = prepared.pattern;
  PiecesOfTeam share{pattern.rows * lanes.passes(packs), 1};
  auto const shape =
      launch_shape<Exec>(call.variant().worker, lanes.grid.lanes(), prepared.statistics, share);
  auto const epilogue = make_epilogue<Exec, Scalar, true, true>(call.product);
  SpmmKernel<Exec, RowPasses, Inner, std::remove_const_t<decltype(epilogue)>>{
      {share, pattern.rows, pattern.row_offsets}, inner, epilogue}
      .launch(exec, call.variant().label, shape);
}

/// The kernels that one kind of entries has. Several packs (or single columns) a lane are
/// instantiated for plain entries only.
template <class Exec, class Scalar, class Ordinal, class Entries>
struct LaneKernels {
  static constexpr bool plain = are_plain_v<Entries>;
  /// Columns in 16 bits serve fewer packs than three a lane.
  static constexpr int most_packs = !plain ? 1 : are_narrow_v<Entries> ? 2 : 3;
  /// Values in single precision and columns in 16 bits have no kernel with passes side by side.
  static constexpr bool spreads = std::is_same_v<Entries, PlainEntries<Scalar, Ordinal>>;

  Exec const& exec;
  SpmmCall<Exec, Scalar, Ordinal> const& call;
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
    using Inner = DirectLanes<Scalar, Entries, Width, Packed, Packs, EntryLanes, 1, false, Deep>;
    auto const& product = call.product;
    Inner const inner{entries, product.X, conjugates(product.op), shape.grid,
                      device_row_bytes(product.X)};
    if constexpr (spreads && Packed && (EntryLanes || Deep))
      if (shape.spread) return launch_passes(exec, call, inner, shape, packs);
    constexpr bool contiguous = Packed || Packs > 1;  // as decided
    launch_schedule<Exec, Scalar, Ordinal, Inner, contiguous>(exec, call, inner,
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

template <class Exec, class Scalar, class Ordinal, class Entries>
void launch_lanes(Exec const& exec, SpmmCall<Exec, Scalar, Ordinal> const& call,
                  Entries const& entries) {
  std::int64_t const columns = call.product.X.columns;
  std::int64_t const packs = call.launch.packs ? columns / device_pack_v<Scalar> : columns;
  LaneKernels<Exec, Scalar, Ordinal, Entries>{exec, call, entries, packs}.launch();
}

}  // namespace blockspan::detail
