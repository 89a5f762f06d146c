#pragma once

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/kernels/rows/direct_lanes.hpp>
#include <blockspan/spmm/launch/call.hpp>
#include <blockspan/support/backend.hpp>

namespace blockspan::products {

/// False where other lanes were decided than `Across` of `Vectors` vectors each, or where those of
/// a row are not a whole number of times as many.
template <int Vectors, int Across, class Call, class Entries>
bool launch_known_lanes(Call const& call, Entries const& entries) {
  using Scalar = typename Call::Scalar;
  Lanes const& lanes = call.launch.lanes;
  constexpr int width = device_vector_v<Scalar>;
  if (call.variant().lists_segments() || lanes.vectors_per_lane != Vectors ||
      lanes.grid.columns() != Across || lanes.deep ||
      call.product.X.columns % (Vectors * Across * width) != 0)
    return false;
  using Inner = DirectLanes<Scalar, Entries, width, true, Vectors, false, 1, false, false, Across>;
  launch_segments<Inner>(call, entries);
  return true;
}

/// Devices: whole rows or listed segments, by the lanes that were decided. Several vectors (or
/// single columns) a lane are instantiated for plain entries only.
template <class Call, class Entries>
requires(!runs_on_host_v<typename Call::Exec>) void launch_rows(Call const& call,
                                                                Entries const& entries) {
  using Scalar = typename Call::Scalar;
  constexpr bool plain = are_plain_v<Entries>, narrow = are_narrow_v<Entries>;
  constexpr int width = device_vector_v<Scalar>;
  Lanes const& lanes = call.launch.lanes;
  int const each = lanes.vectors_per_lane;
  bool const entry_lanes = lanes.grid.entry_bits > 0;
  if (!call.launch.vectorized) {  // single columns
    if (entry_lanes)
      return launch_segments<DirectLanes<Scalar, Entries, 1, false, 1, true>>(call, entries);
    if constexpr (plain && !is_complex_v<Scalar>) {
      if (each == 2)
        return launch_segments<DirectLanes<Scalar, Entries, 1, false, 2>>(call, entries);
      if (each == 3)
        return launch_segments<DirectLanes<Scalar, Entries, 1, false, 3>>(call, entries);
      if (each == 4)
        return launch_segments<DirectLanes<Scalar, Entries, 1, false, 4>>(call, entries);
      if (each == 5)
        return launch_segments<DirectLanes<Scalar, Entries, 1, false, 5>>(call, entries);
    }
    return launch_segments<DirectLanes<Scalar, Entries, 1, false>>(call, entries);
  }
  if (entry_lanes || (lanes.spread && each == 1))
    return launch_segments<DirectLanes<Scalar, Entries, width, true, 1, true>>(call, entries);
  if constexpr (plain && !narrow)
    if (rows_are_vectors(call.product.Y)) {
      if (launch_known_lanes<2, 16>(call, entries) || launch_known_lanes<2, 8>(call, entries) ||
          launch_known_lanes<2, 4>(call, entries))
        return;
      using Deep = DirectLanes<Scalar, Entries, width, true, 2, false, 1, false, true>;
      if (each == 2 && lanes.deep) return launch_segments<Deep>(call, entries);
      if (each == 3)
        return launch_segments<DirectLanes<Scalar, Entries, width, true, 3>>(call, entries);
    }
  if constexpr (plain)
    if (each >= 2)
      return launch_segments<DirectLanes<Scalar, Entries, width, true, 2>>(call, entries);
  launch_segments<DirectLanes<Scalar, Entries, width, true>>(call, entries);
}

}  // namespace blockspan::products
