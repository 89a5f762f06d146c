#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/column_sums.hpp>
#include <blockspan/spmm/detail/dots.hpp>
#include <blockspan/spmm/detail/epilogue/scale_add_dots.hpp>
#include <blockspan/spmm/detail/launch.hpp>
#include <blockspan/spmm/kernels/groups.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::detail {

/// Whether a lane may own two packs of a row, or two single columns. Of complex ones, registers
/// spill.
template <class Scalar>
inline constexpr bool dots_two_packs_v = !is_complex_v<Scalar>;

inline std::string dots_label(Launch const& launch) {
  return std::string(launch.variant->label) + "::dots";
}

/// Operands of a fused launch.
template <class Exec, class Scalar, class Ordinal>
struct DotsCall {
  PreparedPattern<Exec, Ordinal> const& prepared;
  Launch const& launch;
  LaunchShape shape;
  PieceOfThread share;
  Scalar const* values;
  CarrySpace<Scalar> carry;
  Product<Scalar> const& product;
  Nodes<real_t<Scalar>> nodes;    ///< the sums of teams, then of cut rows
  bool squares;                   ///< whether y_dot_y is wanted
  real_t<Scalar> const* weights;  ///< of the rows in y_dot_y; null: ones
};

template <bool Packed, class Exec, class Scalar, class Ordinal, class Schedule, class Inner>
void launch_dots_kernel(Exec const& exec, DotsCall<Exec, Scalar, Ordinal> const& call,
                        Schedule const& schedule, Inner const& inner) {
  auto const& [prepared, launch, shape, share, values, carry, product, nodes, squares, weights] =
      call;
  auto const with = [&]<bool Squares>() {
    using Epilogue = ScaleAddDots<Scalar, Packed, Squares, Inner::width, Inner::packs>;
    Epilogue const epilogue{product.alpha,
                            product.beta,
                            product.beta == Scalar(0),
                            product.X.data,
                            product.X.row_stride,
                            product.X.column_stride,
                            product.Y,
                            shape.teams,
                            nodes.count,
                            nodes.data,
                            weights,
                            launch.lanes.grid};
    SpmmKernel<Exec, Schedule, Inner, Epilogue>{schedule, inner, epilogue}.launch(
        exec, dots_label(launch).c_str(), shape);
  };
  if (squares)
    with.template operator()<true>();
  else
    with.template operator()<false>();
}

template <class Exec, class Scalar, class Ordinal, class Inner, bool Packed>
void launch_dots_schedule(Exec const& exec, DotsCall<Exec, Scalar, Ordinal> const& call,
                          Inner const& inner) {
  auto const& [prepared, launch, shape, share, values, carry, product, nodes, squares, weights] =
      call;
  auto const& list = prepared.list;
  if (launch.variant->lists_pieces()) {
    using Schedule = CutRows<Scalar, Ordinal, PieceOfThread>;
    Schedule const schedule{carry_of(list, product.Y.columns, carry), call.share,
                            list.target.data(), list.first.data(), list.last.data()};
    launch_dots_kernel<Packed>(exec, call, schedule, inner);
  } else {
    using Schedule = WholeRows<PieceOfThread>;
    Schedule const schedule{call.share, prepared.pattern.row_offsets};
    launch_dots_kernel<Packed>(exec, call, schedule, inner);
  }
}

template <class Exec, class Scalar, class Ordinal>
void launch_dots_groups(Exec const& exec, DotsCall<Exec, Scalar, Ordinal> const& call) {
  using Entries = PlainEntries<Scalar, Ordinal>;
  using Schedule = RowGroups<Ordinal, PieceOfThread>;
  auto const groups = row_groups_of(call.prepared);
  Schedule const schedule{call.share, groups.row_offsets, groups.begin};
  GroupInners<Exec, Scalar, Entries, true> const inners{
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
template <class Exec, class Scalar, class Ordinal>
void launch_dots(Exec const& exec, DotsCall<Exec, Scalar, Ordinal> const& call) {
  if (call.launch.variant->lists_groups()) return launch_dots_groups(exec, call);
  using Entries = PlainEntries<Scalar, Ordinal>;
  Entries const entries{call.prepared.pattern.column_indices, call.values};
  auto const& X = call.product.X;
  LaneGrid const grid = call.launch.lanes.grid;
  auto const row_bytes = static_cast<std::uint32_t>(X.row_stride * std::int64_t{sizeof(Scalar)});
  auto const with = [&]<int Width, bool Packed, int Packs, bool EntryLanes>() {
    using Inner = DirectLanes<Scalar, Entries, Width, Packed, Packs, EntryLanes, 1, true>;
    launch_dots_schedule<Exec, Scalar, Ordinal, Inner, Packed>(
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
