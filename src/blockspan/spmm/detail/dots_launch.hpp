#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/detail/dots.hpp>
#include <blockspan/spmm/detail/epilogue/scale_add_dots.hpp>
#include <blockspan/spmm/detail/launch.hpp>
#include <blockspan/spmm/detail/launch_groups.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// What there is a fused kernel for, beside its schedules: direct loads by team threads.
inline constexpr std::array<std::string_view, 6> dots_variants{
    "warp_per_row",    "warp_per_row_packs", "segments",
    "segments_sorted", "nonempty_rows",      "row_group"};

/// Whether a lane may own two packs of a row, or two single columns. Of complex ones,
/// registers spill.
template <class Scalar>
inline constexpr bool dots_two_packs_v = !is_complex_v<Scalar>;

/// How a fused product runs, or that it does not.
struct DotsLaunch {
  SpmmVariant const* variant = nullptr;  ///< null: the products are a pass of their own
  bool packs = false;
  DeviceShape lanes;
  LaunchShape shape{0, 1, 1};
  PiecesOfTeam share{0, 1};

  std::string label() const { return std::string(variant->label) + "::dots"; }
};

/// The shape with lanes enough for all packs of a row at once, if a warp has them.
inline DeviceShape one_pass_shape(DeviceShape shape, std::int64_t packs) {
  if (shape.passes(packs) <= 1) return shape;
  shape.grid.column_bits =
      bits_to_hold(ceil_div(packs, std::int64_t{shape.packs_per_lane}), tuning::device_lane_bits);
  shape.grid.entry_bits =
      std::min(shape.grid.entry_bits, tuning::device_lane_bits - shape.grid.column_bits);
  return shape;
}

/// Whether windows or staged tiles gain more than a pass for the sums costs.
template <class Exec, class Offset, class Ordinal>
bool gains_a_pass(PreparedPattern<Exec, Offset, Ordinal> const& prepared) {
  return !prepared.choice.variant->lists_windows() ||
         windows_are_worth_it(prepared.statistics, prepared.windows.count);
}

/// Whether the product can be fused, and how. X as the kernel will read it; `asked`: the variant
/// was asked for by its id.
template <class Exec, class Scalar, class Offset, class Ordinal>
DotsLaunch dots_launch(PreparedPattern<Exec, Offset, Ordinal> const& prepared, bool asked,
                       Product<Scalar> const& product) {
  if (!lanes_exchange_v<Exec>) return {};
  auto const& [op, alpha, X, beta, Y] = product;
  SpmmVariant const* variant = asked ? prepared.choice.variant : &prepared.stand_in();
  BlockFit const fit = fit_of<Exec>(X, Y);
  bool const is_stand_in =
      variant != prepared.choice.variant && fit.serves(*prepared.choice.variant);
  if (is_stand_in && gains_a_pass(prepared) && is_taken(prepared, fit, product)) return {};
  variant = &prepared.at_width(*variant, Y.columns);
  DotsLaunch result;
  auto const known = std::find(dots_variants.begin(), dots_variants.end(), variant->id);
  if (known == dots_variants.end() || alpha == Scalar(0) || Y.rows * Y.columns == 0) return {};
  if (variant->skips_empty_rows() && beta != Scalar(0)) return {};
  if (prepared.pattern.block > 1) return {};
  result.packs = variant->takes_packs && fit.packs;
  if (variant->needs_whole_packs && !result.packs) {
    if (asked) return {};  // the product says what is wrong
    variant = find_spmm_variant("warp_per_row");
  }
  result.share.pieces = prepared.pieces(*variant);
  if (X.row_stride * std::int64_t{sizeof(Scalar)} >= std::int64_t{UINT32_MAX}) return {};
  std::int64_t const packs = result.packs ? X.columns / device_pack_v<Scalar> : X.columns;
  bool const two = dots_two_packs_v<Scalar> && !variant->lists_groups();
  auto const pieces = prepared.piece_statistics(*variant);
  result.lanes = device_shape(true, packs, pieces, two && result.packs ? 2 : 1, prepared.lanes);
  if (two && !result.packs && X.column_stride == 1 && Y.column_stride == 1)
    result.lanes = columns_of_lane(result.lanes, X.columns, 2, pieces, prepared.lanes);
  result.lanes = one_pass_shape(result.lanes, packs);
  if (result.lanes.passes(packs) > 1) return {};
  result.shape = launch_shape<Exec>(variant->worker, result.lanes.grid.lanes(), prepared.statistics,
                                    result.share);
  // more pieces than a league has threads for
  if (result.share.per_team > result.shape.team_size) return {};
  result.variant = variant;
  return result;
}

/// Operands of a fused launch.
template <class Exec, class Scalar, class Offset, class Ordinal>
struct DotsCall {
  PreparedPattern<Exec, Offset, Ordinal> const& prepared;
  DotsLaunch const& launch;
  Scalar const* values;
  CarrySpace<Scalar> carry;
  Product<Scalar> const& product;
  DotRows<Scalar> partials;       ///< those of a column side by side
  real_t<Scalar> const* weights;  ///< of the rows in y_dot_y; null: ones

  PieceOfThread share() const { return {launch.share.pieces, launch.share.per_team}; }
};

template <bool Packed, class Exec, class Scalar, class Offset, class Ordinal, class Schedule,
          class Inner>
void launch_dots_kernel(Exec const& exec, DotsCall<Exec, Scalar, Offset, Ordinal> const& call,
                        Schedule const& schedule, Inner const& inner) {
  auto const& [prepared, launch, values, carry, product, partials, weights] = call;
  auto const with = [&]<bool Squares>() {
    using Epilogue = ScaleAddDots<Scalar, Packed, Squares, Inner::width, Inner::packs>;
    Epilogue const epilogue{product.alpha,
                            product.beta,
                            product.beta == Scalar(0),
                            product.X.data,
                            product.X.row_stride,
                            product.X.column_stride,
                            product.Y,
                            launch.shape.teams,
                            partials.x_dot_y.column_stride,
                            partials.x_dot_y.data,
                            partials.y_dot_y.data,
                            weights,
                            launch.lanes.grid};
    SpmmKernel<Exec, Schedule, Inner, Epilogue>{schedule, inner, epilogue}.launch(
        exec, launch.label().c_str(), launch.shape);
  };
  if (partials.squares())
    with.template operator()<true>();
  else
    with.template operator()<false>();
}

template <class Exec, class Scalar, class Offset, class Ordinal, class Inner, bool Packed>
void launch_dots_schedule(Exec const& exec, DotsCall<Exec, Scalar, Offset, Ordinal> const& call,
                          Inner const& inner) {
  auto const& [prepared, launch, values, carry, product, partials, weights] = call;
  auto const& list = prepared.list;
  if (launch.variant->lists_pieces()) {
    using Schedule = CutRows<Scalar, Offset, Ordinal, PieceOfThread>;
    Schedule const schedule{carry_of(list, product.Y.columns, carry), call.share(),
                            list.target.data(), list.first.data(), list.last.data()};
    launch_dots_kernel<Packed>(exec, call, schedule, inner);
  } else {
    using Schedule = WholeRows<Offset, PieceOfThread>;
    Schedule const schedule{call.share(), prepared.pattern.row_offsets};
    launch_dots_kernel<Packed>(exec, call, schedule, inner);
  }
}

template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_dots_groups(Exec const& exec, DotsCall<Exec, Scalar, Offset, Ordinal> const& call) {
  using Entries = PlainEntries<Scalar, Offset, Ordinal>;
  using Schedule = RowGroups<Offset, Ordinal, PieceOfThread>;
  auto const groups = row_groups_of(call.prepared);
  Schedule const schedule{call.share(), groups.row_offsets, groups.begin};
  GroupInners<Exec, Scalar, Offset, Entries, true> const inners{
      {call.prepared.pattern.column_indices, call.values},
      call.product.X,
      false,
      call.launch.packs};
  auto const run = [&]<bool Packed, class Inner>(Inner const& inner) {
    launch_dots_kernel<Packed>(exec, call, schedule, inner);
  };
  inners.template with<true>(call.prepared.groups.most, call.launch.lanes.grid, run);
}

/// The inners of launch_lanes, for A as it is.
template <class Exec, class Scalar, class Offset, class Ordinal>
void launch_dots(Exec const& exec, DotsCall<Exec, Scalar, Offset, Ordinal> const& call) {
  if (call.launch.variant->lists_groups()) return launch_dots_groups(exec, call);
  using Entries = PlainEntries<Scalar, Offset, Ordinal>;
  Entries const entries{call.prepared.pattern.column_indices, call.values};
  auto const& X = call.product.X;
  LaneGrid const grid = call.launch.lanes.grid;
  auto const row_bytes = static_cast<std::uint32_t>(X.row_stride * std::int64_t{sizeof(Scalar)});
  auto const with = [&]<int Width, bool Packed, int Packs, bool EntryLanes>() {
    using Inner = DirectLanes<Scalar, Entries, Offset, Width, Packed, Packs, EntryLanes, 1, true>;
    launch_dots_schedule<Exec, Scalar, Offset, Ordinal, Inner, Packed>(
        exec, call, {entries, X, false, grid, row_bytes});
  };
  constexpr int width = device_pack_v<Scalar>;
  bool const shared = grid.entry_bits > 0;
  bool const two = call.launch.lanes.packs_per_lane == 2;
  if (!call.launch.packs && shared) return with.template operator()<1, false, 1, true>();
  if constexpr (dots_two_packs_v<Scalar>) {
    if (!call.launch.packs && two) return with.template operator()<1, false, 2, false>();
    if (call.launch.packs && two) return with.template operator()<width, true, 2, false>();
  }
  if (!call.launch.packs) return with.template operator()<1, false, 1, false>();
  if (shared) return with.template operator()<width, true, 1, true>();
  with.template operator()<width, true, 1, false>();
}

}  // namespace blockspan::detail
