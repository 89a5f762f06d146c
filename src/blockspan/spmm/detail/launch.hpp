#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>
#include <climits>

#include <blockspan/spmm/detail/epilogue/scale_add.hpp>
#include <blockspan/spmm/detail/inner/direct_lanes.hpp>
#include <blockspan/spmm/detail/inner/direct_registers.hpp>
#include <blockspan/spmm/detail/inner/entries.hpp>
#include <blockspan/spmm/detail/kernel.hpp>
#include <blockspan/spmm/detail/multiply.hpp>
#include <blockspan/spmm/detail/schedule/cut_rows.hpp>
#include <blockspan/spmm/detail/schedule/whole_rows.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::detail {

/// Everything a launch needs, with the choices still to be made types of: which schedule, which
/// entries, which inner.
template <class Exec, class Scalar, class Offset, class Ordinal>
struct SpmmCall {
  PreparedPattern<Exec, Offset, Ordinal> const& prepared;
  Scalar const* values;
  Scalar* carry;
  bool packs;  ///< a lane takes whole packs of columns; hosts: wide registers
  Product<Scalar> const& product;
  char const* label;
};

/// Columns in a lane's pack.
template <class Scalar>
inline constexpr int device_pack_v = tuning::device_pack_bytes / int(sizeof(Scalar));
template <class Scalar>
inline constexpr int host_pack_v = tuning::host_pack_bytes / int(sizeof(Scalar)) /
                                   (is_complex_v<Scalar> ? 2 : 1);

/// Hosts: packs fit everything. Devices: see variants.hpp.
template <class Exec, class Scalar>
bool packs_fit(BlockRef<Scalar const> const& X, BlockRef<Scalar> const& Y) {
  if constexpr (runs_on_host_v<Exec>) return true;
  auto const aligned = [](auto const& B) {
    return B.column_stride == 1 && B.row_stride % device_pack_v<Scalar> == 0 &&
           reinterpret_cast<std::uintptr_t>(B.data) % tuning::device_pack_bytes == 0;
  };
  return X.columns % device_pack_v<Scalar> == 0 && aligned(X) && aligned(Y);
}

/// The one place that decides teams, team size and vector length; also hands the schedule its
/// share. `packs`: loads of a row of X, one a lane.
template <class Exec>
LaunchShape launch_shape(std::int64_t packs, RowStatistics const& rows, PiecesOfTeam& share) {
  LaunchShape shape{0, 1, 1};
  if constexpr (runs_on_host_v<Exec>) {
    auto const mean = static_cast<std::int64_t>(rows.mean());
    share.per_team =
        std::clamp<std::int64_t>(tuning::host_team_entries / (mean + 1), 1, tuning::host_team_rows);
  } else {
    while (shape.vector_length < packs && shape.vector_length < tuning::device_max_lanes)
      shape.vector_length *= 2;
    shape.team_size = static_cast<int>(tuning::device_threads) / shape.vector_length;
    share.per_team = shape.team_size;
  }
  // a league is an int: where there are more teams than that, each takes more pieces
  share.per_team = std::max(share.per_team, ceil_div(share.pieces, std::int64_t{INT_MAX}));
  shape.teams = ceil_div(share.pieces, share.per_team);
  return shape;
}

template <class Exec, class Scalar, class Offset, class Ordinal, class Inner, bool Packed>
void launch_schedule(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                     Inner const& inner, std::int64_t packs) {
  auto const& [prepared, values, carry, use_packs, product, label] = call;
  using Epilogue = ScaleAdd<Scalar, Packed, runs_on_host_v<Exec>>;
  Epilogue const epilogue{product.alpha, product.beta, product.beta == Scalar(0),
                          product.Y.rows * product.Y.columns * std::int64_t{sizeof(Scalar)} >=
                              tuning::host_stream_bytes,
                          product.Y};
  auto const& cuts = prepared.cuts;
  PiecesOfTeam share{cuts.pieces > 0 ? cuts.pieces : prepared.pattern.rows, 1};
  LaunchShape const shape = launch_shape<Exec>(packs, prepared.statistics, share);
  if (cuts.pieces > 0) {
    using Schedule = CutRows<Scalar, Offset, Ordinal>;
    Schedule const schedule{share,
                            cuts.target.data(),
                            cuts.first.data(),
                            cuts.first.data() + 1,
                            cuts.cut_rows,
                            cuts.cut_row.data(),
                            cuts.cut_slot.data(),
                            carry,
                            product.Y.columns};
    SpmmKernel<Exec, Schedule, Inner, Epilogue>{schedule, inner, epilogue}.launch(exec, label,
                                                                                  shape);
  } else {
    using Schedule = WholeRows<Offset>;
    Schedule const schedule{share, prepared.pattern.row_offsets};
    SpmmKernel<Exec, Schedule, Inner, Epilogue>{schedule, inner, epilogue}.launch(exec, label,
                                                                                  shape);
  }
}

template <class Exec, class Scalar, class Offset, class Ordinal, class Entries>
void launch_inner(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call,
                  Entries const& entries) {
  auto const& X = call.product.X;
  bool const conjugate_values = conjugates(call.product.op);
  if constexpr (runs_on_host_v<Exec>) {
    constexpr int widest = host_pack_v<Scalar>;
    // one column has no choice among packs
    if (!call.packs || X.columns == 1) {
      using Inner = DirectRegisters<Scalar, Entries, Offset, 1, false>;
      launch_schedule<Exec, Scalar, Offset, Ordinal, Inner, false>(
          exec, call, {entries, X, conjugate_values}, 1);
    } else if (X.column_stride == 1) {
      using Inner = DirectRegisters<Scalar, Entries, Offset, widest, true>;
      launch_schedule<Exec, Scalar, Offset, Ordinal, Inner, false>(
          exec, call, {entries, X, conjugate_values}, 1);
    } else {
      constexpr int few = tuning::host_strided_columns;
      using Inner = DirectRegisters<Scalar, Entries, Offset, few, false>;
      launch_schedule<Exec, Scalar, Offset, Ordinal, Inner, false>(
          exec, call, {entries, X, conjugate_values}, 1);
    }
  } else if (call.packs) {
    constexpr int width = device_pack_v<Scalar>;
    using Inner = DirectLanes<Scalar, Entries, Offset, width, true>;
    launch_schedule<Exec, Scalar, Offset, Ordinal, Inner, true>(
        exec, call, {entries, X, conjugate_values}, X.columns / width);
  } else {
    using Inner = DirectLanes<Scalar, Entries, Offset, 1, false>;
    launch_schedule<Exec, Scalar, Offset, Ordinal, Inner, false>(
        exec, call, {entries, X, conjugate_values}, X.columns);
  }
}

template <class Exec, class Scalar, class Offset, class Ordinal>
void launch(Exec const& exec, SpmmCall<Exec, Scalar, Offset, Ordinal> const& call) {
  auto const& prepared = call.prepared;
  if (prepared.permutation != nullptr)
    launch_inner(exec, call,
                 PermutedEntries<Scalar, Offset, Ordinal>{
                     prepared.pattern.column_indices, prepared.permutation, call.values,
                     static_cast<Offset>(prepared.pattern.entries - 1)});
  else
    launch_inner(
        exec, call,
        PlainEntries<Scalar, Offset, Ordinal>{prepared.pattern.column_indices, call.values});
}

}  // namespace blockspan::detail
